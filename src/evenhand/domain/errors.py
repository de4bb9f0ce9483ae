"""The root of all errors that are sentences for a user, and why a model gave no reply.

Every such error has a code that stays when its sentence is reworded: its class's, or its own where the fault is one
that scripts tell from others. docs/reference/errors.md lists them.
"""

from collections.abc import Mapping
from types import MappingProxyType

from evenhand.domain.call import Usage
from evenhand.domain.verdict import CALL_FAILED, CallFailed


class EvenhandError(Exception):
    """Something that a user can act on; the message is a sentence."""

    code: str = "EH-ERROR"

    def __init__(self, *said: object, code: str | None = None) -> None:
        """`code`: of a fault that scripts tell from others of its class; one of DISTINCT."""
        super().__init__(*said)
        if code is not None:
            self.code = code


UNEXPECTED, USAGE = "EH-UNEXPECTED", "EH-USAGE"

DISTINCT: Mapping[str, str] = MappingProxyType(
    {
        "EH-ADDRESS": "The address of a server is none that may have the token.",
        "EH-ANSWERS-EXCHANGED": "A file holds the references in the place of the answers.",
        "EH-ANSWERS-MISSING": "Items have no answer in the file, or a model none in the ledger.",
        "EH-ANSWERS-OF-MODEL": "The model that was named has no answers here.",
        "EH-ANSWERS-TOO-FEW": "Fewer than two models have answers to compare.",
        "EH-BACKUP-ITSELF": "What was named as the backup is the ledger itself.",
        "EH-BACKUP-NONE": "The folder holds no backup, or several.",
        "EH-BACKUP-UNSOUND": "The backup is damaged, so nothing was restored.",
        "EH-BASELINE-MISSING": "Nothing was judged against the baseline that a table needs.",
        "EH-BATCH-REFUSED": "The provider takes no batches, or not this one.",
        "EH-BATCH-UNREACHABLE": "The provider of a batch that is on record could not be reached.",
        "EH-BENCHMARK-UNKNOWN": "No benchmark has that name.",
        "EH-BOARD-MODEL": "No model of the board has that name.",
        "EH-BOARD-WITHHELD": "People are still judging, and the board is shown when their study is closed.",
        "EH-BUDGET-TOO-SMALL": "The budget of trials does not allow one item of every part.",
        "EH-CHANGED-SINCE": "Somebody changed it since it was opened.",
        "EH-CHART-EMPTY": "There is nothing to draw.",
        "EH-CHOICE-KIND": "What is ranked is not chosen from in that way.",
        "EH-CHOOSE-NOTHING": "The ledger holds nothing that fits what was chosen.",
        "EH-CHOOSE-SEVERAL": "The ledger holds several of what is never mixed; choose one.",
        "EH-CHOOSE-UNLIKE": "Runs that were judged differently cannot stand in one table.",
        "EH-CHOSEN-UNDECIDED": "Figures would tell single verdicts, and the owner has not decided about that.",
        "EH-COPY-DIFFERS": "The copy of a ledger is not what was read, so it was not kept.",
        "EH-DATA-BLANK": "A cell that is needed is empty.",
        "EH-DATA-CELL": "A cell holds what is not expected in its column.",
        "EH-DATA-COLUMN": "A table lacks a column that is needed.",
        "EH-DATA-EMPTY": "A file or a table has no row, or none that counts.",
        "EH-DATA-ENCODING": "A file is not UTF-8.",
        "EH-DATA-FORMAT": "A file, or a row of it, cannot be read as what its name says it is.",
        "EH-DATA-IMAGE": "An image of a data file is not there, or cannot be used.",
        "EH-DATA-NEEDED": "The benchmark comes without its data, which must be given.",
        "EH-DATA-TWICE": "A column, an item or an answer is given twice, or in two ways.",
        "EH-DATA-TYPE": "A column or a cell is of another type than is expected.",
        "EH-ESTIMATE-CHANGED": "The estimate of a submission is not the one that was looked at.",
        "EH-ESTIMATE-MISSING": "What a submission would cost is not estimated yet, or not named.",
        "EH-EXTRA-MISSING": "An optional part of Evenhand is not installed.",
        "EH-FILE-FAULTS": "The file of answers has faults.",
        "EH-FILE-MISSING": "A file that was named is not there.",
        "EH-FILE-OTHER": "A file is of another kind than the command takes; the sentence names the command for it.",
        "EH-FOLDER-TAKEN": "The folder for a backup holds files that are no backup's.",
        "EH-FOLDER-UNTRUSTED": "A file of the current folder sets what a folder may not choose.",
        "EH-IMAGE-ALTERED": "An image's file was altered since it was stored.",
        "EH-IMAGE-DAMAGED": "An image's data is damaged or cut short.",
        "EH-IMAGE-KIND": "The data is no image of a kind that is taken.",
        "EH-IMAGE-MISSING": "An image is not in the store.",
        "EH-IMAGE-NAME": "What was given is not an image's digest.",
        "EH-IMAGES-ELSEWHERE": "The file of a ledger says that its images lie elsewhere, and nobody else says so.",
        "EH-IMAGES-HELD": "Images are to lie in another place than where the ledger has them.",
        "EH-IMAGES-NOT-FETCHED": "Images that are to be sent are only addresses so far.",
        "EH-IMAGES-URL": "What was given names no place where images can lie.",
        "EH-INTAKE": "The server takes no submissions to what was named, or to several.",
        "EH-INTAKE-CLOSED": "The board takes no submissions at this moment.",
        "EH-ITEM-UNKNOWN": "A row is of no item of the benchmark.",
        "EH-JURY-FAMILY": "All judges of a jury are of one maker.",
        "EH-JURY-UNFIT": "These verdicts make no jury, or no weights can be learned from them.",
        "EH-KEY-MISSING": "The endpoint needs a key, and its variable is not set.",
        "EH-KEY-REFUSED": "The endpoint does not accept the key.",
        "EH-KEY-UNENCRYPTED": "The key would be sent to another machine unencrypted.",
        "EH-LADDER": "A board whose feedback is the ladder tells no verdict by item.",
        "EH-LAST-OWNER": "Nobody could come in as an owner afterwards.",
        "EH-LEDGER-BUSY": "Another process has held the ledger for too long.",
        "EH-LEDGER-EXISTS": "A ledger is there already, and is not overwritten.",
        "EH-LEDGER-FOREIGN": "The database is another program's.",
        "EH-LEDGER-FULL": "The disk of the ledger is full, or cannot be written.",
        "EH-LEDGER-HEAD-EDITED": "The head of a ledger's chain was edited.",
        "EH-LEDGER-KEYS": "The keys that sign receipts are not as they were written.",
        "EH-LEDGER-MISSING": "There is no ledger yet.",
        "EH-LEDGER-NEWER": "A newer Evenhand wrote the ledger.",
        "EH-LEDGER-OLDER": "An older Evenhand wrote the ledger, which can only be read here.",
        "EH-LEDGER-READ-ONLY": "The ledger cannot be written.",
        "EH-LEDGER-SERVER-OLD": "The database server is of a version that can keep no ledger.",
        "EH-LEDGER-UNUSABLE": "The file is no ledger, or is damaged.",
        "EH-LEDGER-URL": "The store cannot be the address of a ledger.",
        "EH-LICENCE-NOT-PUBLIC": "The licence does not let everybody use the image.",
        "EH-LOGPROBS-MISSING": "The endpoint does not give what a constrained readout needs.",
        "EH-METHOD-OPTION": "The rating method does not take that option.",
        "EH-MODEL-BLIND": "The model cannot see images.",
        "EH-MODEL-NAME": "The name looks like that of another model here.",
        "EH-MODEL-UNKNOWN": "The endpoint does not know the model.",
        "EH-NAME-RESERVED": "A model has a name that is kept for the references, or for what teams submit.",
        "EH-NO-REPLIES": "The first trials all failed, so the run was ended.",
        "EH-ON-RECORD": "The ledger holds something else of the same name, which only `--replace` lets go.",
        "EH-OPENS-MORE": "Other benchmarks hold items of the one that is to be opened, and it is not said to be meant.",
        "EH-ORDERS-TOO-MANY": "A row has more orders than are shown of it.",
        "EH-OUTPUT-EXISTS": "A file is there already, and was not written by the same command.",
        "EH-OUTPUT-UNWRITTEN": "The system does not let the file be written.",
        "EH-PAUSED": "The benchmark is paused by its owner.",
        "EH-PEOPLE-FEW": "People judged too few items for an interval.",
        "EH-PEOPLE-UNMATCHED": "People judged what the judge did not, so that they cannot correct it.",
        "EH-PLACING-NO-BOARD": "No board is on record that the model could join, or it is on it already.",
        "EH-PLACING-OTHER-LOOKS": "The placing was begun with other looks, which cannot be changed afterwards.",
        "EH-POLICY-CHANGED": "The policy is not the one that was accepted.",
        "EH-POLICY-MISMATCH": "A policy is not the one that its hash names.",
        "EH-POLICY-NOT-ACCEPTED": "The policy was not accepted.",
        "EH-PRICE-UNKNOWN": "A budget needs a price, and none is known for the model.",
        "EH-PROTOCOL-CHANGED": "The protocol's prompt is not the one that a board was judged with.",
        "EH-PROTOCOL-NO-PROMPT": "The protocol can read replies, but asks nothing.",
        "EH-PROTOCOL-READOUT": "The protocol does not offer that readout, or not for so many options.",
        "EH-PROTOCOL-SEE": "The protocol does not let a judge see that.",
        "EH-PROTOCOL-SLOTS": "Values were given for other slots than the protocol's prompt has.",
        "EH-PROTOCOL-UNFIT": "The protocol does not ask what is to be judged.",
        "EH-PROTOCOL-UNKNOWN": "No protocol has that name.",
        "EH-PROVIDER-UNKNOWN": "No provider has that name.",
        "EH-REFERENCE-SHOWN": "The judge is shown the reference, so it cannot be compared with.",
        "EH-REFERENCE-UNKNOWN": "The benchmark offers no references of that name to choose.",
        "EH-ROWS-USED-UP": "Every verdict on record was asked again, and none is asked twice.",
        "EH-RUN-UNKNOWN": "No run, or several, have that name.",
        "EH-RUNNER-STORE": "Workers of other machines cannot share a ledger that is a file.",
        "EH-RUNNER-UNREACHABLE": "No Ray takes the workers where they are to run.",
        "EH-RUNNER-VERSION": "Where the workers are to run, another version is installed.",
        "EH-SEE-MISSING": "Items lack what the judge is to be shown.",
        "EH-SERVER-FOREIGN": "What answers there is no server of Evenhand.",
        "EH-SERVER-UNREACHABLE": "The server of submissions does not answer.",
        "EH-SETTING-REFUSED": "The endpoint does not take a setting that was given.",
        "EH-SETTINGS": "A file of settings cannot be read, or sets what no command takes.",
        "EH-SIGN-IN-AGAIN": "This needs a sign-in within the last hour.",
        "EH-SOFT-MIXED": "Some verdicts have their probabilities and others do not.",
        "EH-SOFT-NONE": "No verdict has its probabilities.",
        "EH-STEERING-UNDECIDED": "Answers speak to the judge, and the owner has not said what is to become of that.",
        "EH-STILL-JUDGED": "Which battles of a submission have a verdict is not told before its judging has ended.",
        "EH-SUBMISSION-CLOSED": "A submission may not be judged, or its answers not be read.",
        "EH-SUBMISSION-STAGE": "That cannot be done with the submission as it stands.",
        "EH-SUBMISSIONS-MOST": "The team has as many submissions as it may.",
        "EH-TASK-NOT-YOURS": "The task is somebody else's.",
        "EH-TEAM-NAME": "The account has another name.",
        "EH-TERMS-CHANGED": "The terms were changed since the file was uploaded, and it has faults now.",
        "EH-TOKEN": "The token is missing, is none, or was given where others see it.",
        "EH-UNRELATED-MISSING": "The data holds no answer that could be the unrelated option.",
        "EH-VERIFY-INCOMPLETE": "It is not said what is at fault.",
        "EH-VERSION-EMPTY": "A version without items is not made.",
        "EH-WEIGHTS-DAMAGED": "The weights are not those that are expected.",
        "EH-WEIGHTS-DISK": "The weights could not be written.",
        "EH-WEIGHTS-MISSING": "The weights are not on this machine.",
    }
)
"""Codes that are given where an error is raised, with what each says. A class's own code says what the class says."""


def code_of(error: BaseException) -> str:
    """A fault that was only passed on has the code of its cause: a protocol's, though the run was refused for it."""
    if not isinstance(error, EvenhandError):
        return UNEXPECTED
    cause = error.__cause__
    if error.code == type(error).code and isinstance(cause, EvenhandError):
        return code_of(cause)
    return error.code


class CallFailure(EvenhandError):
    """No reply to this request came. `transient`: the same request may go through later."""

    code = "EH-CALL"

    def __init__(
        self,
        message: str,
        *,
        reason: CallFailed,
        transient: bool = False,
        retry_after: float | None = None,
        status: int | None = None,
        usage: Usage | None = None,
        unheard: bool = False,
    ) -> None:
        super().__init__(message, code=CALL_CODES[reason])
        self.reason: CallFailed = reason
        self.transient = transient
        self.retry_after = retry_after
        """Seconds the endpoint asked us to wait."""
        self.status = status
        self.usage = usage
        """Tokens billed for a reply that was of no use; None where the endpoint did not say."""
        self.maybe_billed = unheard or status == 200 or usage is not None
        """`unheard`: the request went out, and what became of it nobody knows."""
        self.requests = 1
        """HTTP requests made before giving up."""
        self.no_room = False
        """The provider had no room for calls of this service tier, which says nothing of how many it is sent."""


CALL_CODES: Mapping[CallFailed, str] = {reason: f"EH-CALL-{reason.upper()}" for reason in CALL_FAILED}
"""By the reason that coverage counts."""


class Misuse(EvenhandError):
    """A wrong key, model, address or setting: every further call would fail alike, so the run stops."""

    code = "EH-MISUSE"

    usage: Usage | None = None
    """Tokens billed for the reply that showed it."""
