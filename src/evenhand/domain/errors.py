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
        "EH-ANSWERS-TOO-FEW": "Fewer than two models have answers to compare.",
        "EH-BENCHMARK-UNKNOWN": "No benchmark has that name.",
        "EH-CHOOSE-NOTHING": "The ledger holds nothing that fits what was chosen.",
        "EH-CHOOSE-SEVERAL": "The ledger holds several of what is never mixed; choose one.",
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
        "EH-EXTRA-MISSING": "An optional part of Evenhand is not installed.",
        "EH-FILE-MISSING": "A file that was named is not there.",
        "EH-FILE-OTHER": "A file is of another kind than the command takes; the sentence names the command for it.",
        "EH-FOLDER-UNTRUSTED": "A file of the current folder sets what a folder may not choose.",
        "EH-IMAGES-NOT-FETCHED": "Images that are to be sent are only addresses so far.",
        "EH-INTAKE": "The server takes no submissions to what was named, or to several.",
        "EH-ITEM-UNKNOWN": "A row is of no item of the benchmark.",
        "EH-KEY-MISSING": "The endpoint needs a key, and its variable is not set.",
        "EH-KEY-REFUSED": "The endpoint does not accept the key.",
        "EH-LEDGER-BUSY": "Another process has held the ledger for too long.",
        "EH-LEDGER-FOREIGN": "The database is another program's.",
        "EH-LEDGER-FULL": "The disk of the ledger is full, or cannot be written.",
        "EH-LEDGER-MISSING": "There is no ledger yet.",
        "EH-LEDGER-NEWER": "A newer Evenhand wrote the ledger.",
        "EH-LEDGER-OLDER": "An older Evenhand wrote the ledger, which can only be read here.",
        "EH-LEDGER-READ-ONLY": "The ledger cannot be written.",
        "EH-LEDGER-UNUSABLE": "The file is no ledger, or is damaged.",
        "EH-MODEL-UNKNOWN": "The endpoint does not know the model.",
        "EH-NAME-RESERVED": "A model has a name that is kept for the references, or for what teams submit.",
        "EH-ON-RECORD": "The ledger holds something else of the same name, which only `--replace` lets go.",
        "EH-OUTPUT-EXISTS": "A file is there already, and was not written by the same command.",
        "EH-POLICY-MISMATCH": "A policy is not the one that its hash names.",
        "EH-PRICE-UNKNOWN": "A budget needs a price, and none is known for the model.",
        "EH-PROTOCOL-UNKNOWN": "No protocol has that name.",
        "EH-PROVIDER-UNKNOWN": "No provider has that name.",
        "EH-REFERENCE-UNKNOWN": "The benchmark offers no references of that name to choose.",
        "EH-RUN-UNKNOWN": "No run, or several, have that name.",
        "EH-SERVER-FOREIGN": "What answers there is no server of Evenhand.",
        "EH-SERVER-UNREACHABLE": "The server of submissions does not answer.",
        "EH-SETTINGS": "A file of settings cannot be read, or sets what no command takes.",
        "EH-SUBMISSION-CLOSED": "A submission may not be judged, or its answers not be read.",
        "EH-SUBMISSION-STAGE": "That cannot be done with the submission as it stands.",
        "EH-TOKEN": "The token is missing, is none, or was given where others see it.",
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


CALL_CODES: Mapping[CallFailed, str] = {reason: f"EH-CALL-{reason.upper()}" for reason in CALL_FAILED}
"""By the reason that coverage counts."""


class Misuse(EvenhandError):
    """A wrong key, model, address or setting: every further call would fail alike, so the run stops."""

    code = "EH-MISUSE"

    usage: Usage | None = None
    """Tokens billed for the reply that showed it."""
