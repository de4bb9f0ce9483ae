"""A board of three founding players and a submitted model, judged as a run judges: prompts, calls, replies, readings.

Captions, references and the judge's words hold a phrase each that no receipt may hold.
"""

import copy
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from evenhand.domain.call import Reply, Request
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import Approved, Confirmed, Entered, Judged, SubmissionTerms, Uploaded, label
from evenhand.domain.trial import Readout, Trial
from evenhand.engine.run.task import Circumstances, Due
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, find_intake, intakes_on_record, open_intake
from evenhand.ledger.submissions.store import Submission, begin_submission, find_submission, tell
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.closing import trial_token
from evenhand.reports.receipts.receipt import ReceiptSubject, make_receipt
from tests.database import copy_ledger, ledger_in, url_in

CAPTION, TRUTH, WORDS = "heron over the weir", "thirty-one lanterns", "I weigh the marmalade"
CATEGORIES = ("counting", "colours", None)
ITEMS = tuple(
    Item(
        label=f"i{number}",
        instruction=f"What of {number}?",
        caption=f"{CAPTION} {number}",
        reference=f"{TRUTH} {number}",
        category=CATEGORIES[number % 3],
    )
    for number in range(6)
)
BENCHMARK = Benchmark(
    name="visit-bench", items=ITEMS, licence="CC0", citation="Ours.", protocols=("visit_pairwise",)
)  # fmt: skip
JUDGE = Rater(kind="model", name="vllm/judge", endpoint="the-judge")
OTHER_TEAM = "Another Team"


def answer(item: Item, model: str) -> Response:
    text = item.reference if model == REFERENCE else f"{model} says so {item.label}"
    return Response(item=item.digest, model=model, text=text or "")


@dataclass(frozen=True, kw_only=True)
class Shown:
    """What the judge is asked about."""

    item: str
    """Its label."""
    first: str
    second: str
    key: str
    """Of the call."""


Takes = Callable[[Shown], str | None]
"""The model that the judge takes; None: what it says holds no readable decision, and the extractor finds the first."""


@dataclass(kw_only=True)
class House:
    folder: Path
    battles: int = 10
    reference_battles: int = 4
    worth: dict[str, int] = field(default_factory=lambda: {"amber": 3, REFERENCE: 2, "blue": 0})
    """The judge mostly takes the one that is worth more."""
    judge: Rater = JUDGE
    readout: Readout = "free"
    opened: bool = True
    """Whether nothing is withheld, so that a receipt tells everything."""
    ledger: Ledger = field(init=False)
    run: str = field(init=False)

    def __post_init__(self) -> None:
        self.ledger = ledger_in(self.folder)
        self.ledger.register_benchmark(BENCHMARK)
        if self.opened:
            open_benchmark(self.ledger, BENCHMARK.digest, by=None)
        self.run = self.ledger.begin_run("judge", {}, study=None, version="test")

    @property
    def url(self) -> str:
        return url_in(self.folder)

    @property
    def database(self) -> Path:
        return self.folder / "ledger.db"

    def judged(
        self,
        models: Sequence[str],
        *,
        new: str | None = None,
        takes: Takes | None = None,
        limit: int | None = None,
        items: Sequence[Item] = ITEMS,
    ) -> PreparedStudy:
        """All that is wanted, or the first `limit` trials of it; `takes`: else as `mostly`."""
        answers = [answer(item, model) for item in ITEMS for model in models]
        self.ledger.add_responses(answers)
        matching = Matching()
        if new is not None:
            matching = Matching(
                pairing="placing", new=new, battles=self.battles, reference_battles=self.reference_battles, seed=5
            )
        protocol = load_protocol("visit_pairwise")
        prepared = prepare(
            BENCHMARK,
            answers,
            items=items,
            judge=self.judge,
            model="judge",
            showing=Showing(
                protocol=protocol, readout=self.readout, extractor=Extractor(rater=self.judge, model="judge")
            ),
            matching=matching,
            fence_secret=self.ledger.fence_secret(),
        )
        asking = prepared.asking
        extractor = None if asking.extraction is None else asking.extraction.extractor.rater
        self.ledger.register_study(
            prepared.study, rater=self.judge, condition=asking.condition, wanted=prepared.wanted, extractor=extractor
        )
        for trial in list(prepared.trials())[:limit]:
            self._judge(prepared, trial, takes or self.mostly)
        return prepared

    def better(self, shown: Shown) -> str:
        """The one that is worth more."""
        return max(shown.first, shown.second, key=self.worth.__getitem__)

    def mostly(self, shown: Shown) -> str | None:
        """The better one, but as the call's key says the other, or no readable word."""
        lot = int(shown.key[:4], 16) % 10
        if lot == 9:
            return None
        better = self.better(shown)
        return better if lot > 1 else next(name for name in (shown.first, shown.second) if name != better)

    def _judge(self, prepared: PreparedStudy, trial: Trial, takes: Takes) -> None:
        asking, at = prepared.asking, time.time()
        first, second = (asking.responses[digest].model for digest in trial.responses)
        request = asking.request(trial)
        due = Due(key=trial.key, subject=trial, request=request, stored=None)
        item = asking.items[trial.item].label
        taken = takes(Shown(item=item, first=first, second=second, key=request.key))
        words = f"Overall, Response {'A' if taken == first else 'B'} is better." if taken else "The first, by a nose."
        if self.readout == "token":
            words = f"{trial_token(self.ledger.fence_secret(), trial.key)}: {words}"
        replies = [Reply(text=f"{WORDS} of the {CAPTION}.\n\n{words}", model="judge-1")]
        entries = Entries(study=prepared.study.key)
        entries.add_call(request, replies[0], run=self.run, at=at, cost_usd=0.125)
        calls = [request.key]
        read = asking.read(due, replies)
        if isinstance(read, Request):
            replies.append(Reply(text="Final Answer: A", model="judge-1"))
            entries.add_call(read, replies[1], run=self.run, at=at, cost_usd=0.125)
            calls.append(read.key)
            read = asking.read(due, replies)
        assert not isinstance(read, Request)
        now = Circumstances(run=self.run, at=at, cost_usd=0.25, calls=tuple(calls))
        entries.extend(asking.record(due, read, now))
        self.ledger.commit(entries)

    def subject(self, placing: PreparedStudy, submission: str, *, counted: tuple[str, ...] = ()) -> ReceiptSubject:
        found = find_submission(self.ledger, submission)
        assert found is not None
        assert found.standing.upload is not None
        assert found.standing.approved is not None
        return ReceiptSubject(
            submission=submission,
            label=found.label,
            file=found.standing.upload.file,
            entered=found.entered,
            board=self.board(placing),
            study=placing.study.key,
            approved=found.standing.approved,
            counted=counted,
        )

    @staticmethod
    def board(judged: PreparedStudy) -> BoardIdentity:
        return BoardIdentity(data=judged.study.data, rater=judged.study.rater, condition=judged.study.condition)

    def approved(
        self, intake: str, *, team: str = "The Team", opponents: Sequence[str] = ("amber", "blue", REFERENCE)
    ) -> Submission:
        """A submission up to the owner's approval; the judge thinks it worth more than `blue`."""
        found = find_intake(self.ledger, intake)
        assert found is not None
        entered = Entered(model="Ours", version="2", team=team, link="https://team.example")
        submission = begin_submission(self.ledger, found, entered, person="p1")
        self.worth[label(submission)] = 1
        answers = [answer(item, label(submission)) for item in ITEMS]
        labels = {item.digest: item.label for item in ITEMS}
        lines = [json.dumps({"item": labels[one.item], "response": one.text}) for one in answers]
        data = "\n".join(lines).encode()
        upload = Uploaded(
            file=self.ledger.submitted.add(data), name="ours.jsonl", size=len(data), answered=len(ITEMS), faults=0
        )
        standing = tell(self.ledger, submission, upload, person="p1")
        tell(self.ledger, submission, Confirmed(about=standing.upload_seq), person="p1")
        approved = Approved(
            budget=777.125,
            opponents=tuple(opponents),
            battles=self.battles,
            reference_battles=self.reference_battles,
            seed=5,
        )
        tell(self.ledger, submission, approved, person="owner")
        made = find_submission(self.ledger, submission)
        assert made is not None
        return made


@dataclass(frozen=True, kw_only=True)
class Receipted:
    house: House
    subject: ReceiptSubject
    placing: PreparedStudy
    receipt: dict[str, Json]


PLAYERS = ["amber", "blue", REFERENCE]


def receipted(house: House, *, takes: Takes | None = None, limit: int | None = None) -> Receipted:
    """The founding board, and a submitted model placed on it, with its receipt."""
    founding = house.judged(PLAYERS, takes=takes)
    intake = open_intake(
        house.ledger, BENCHMARK.name, house.board(founding), SubmissionTerms(policy="None."), by="owner"
    )
    submission = house.approved(intake)
    placing = house.judged([*PLAYERS, submission.label], new=submission.label, takes=takes, limit=limit)
    subject = house.subject(placing, submission.id)
    receipt = make_receipt(house.ledger, subject)
    tell(house.ledger, submission.id, Judged(receipt=receipt), person=None)
    return Receipted(house=house, subject=subject, placing=placing, receipt=receipt)


def copied(made: Receipted, folder: Path) -> Receipted:
    """The same in another folder; both ledgers are closed."""
    copy_ledger(made.house.folder, folder)
    house = copy.copy(made.house)
    house.folder = folder
    house.ledger = Ledger(house.url)
    house.ledger.close()
    return replace(made, house=house)


def another_joins(made: Receipted) -> Submission:
    """Another team's model, judged after the receipt was made."""
    (intake,) = intakes_on_record(made.house.ledger)
    other = made.house.approved(intake.id, team=OTHER_TEAM)
    made.house.judged([*PLAYERS, made.subject.label, other.label], new=other.label)
    return other
