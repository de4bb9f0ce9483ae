"""Claims about what several teams and everybody learn together from receipts and boards that share items, while
verdicts come in one by one, models join, are published and withdrawn, and answers are replaced.

The same history is played twice. In the second, verdicts against the reference have changed places with others of
their batch, and those that were never released are the opposite. Whoever could tell one from the other by anything that
was given out knew more of a single verdict than the sums over whole batches say.
"""

import json
from collections.abc import Collection, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.identity import canonical_draw, canonical_json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Study, wanted
from evenhand.domain.submission import (
    Approved,
    Confirmed,
    Entered,
    Estimated,
    Judged,
    Published,
    Raised,
    SubmissionTerms,
    Uploaded,
    Withdrawn,
    label,
)
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.read.board_versions import VerdictBatch, released_so_far
from evenhand.ledger.read.newest import newest
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, Intake, find_intake, intakes_on_record, open_intake
from evenhand.ledger.submissions.store import begin_submission, find_submission, submissions_on_record, tell
from evenhand.reports.board.withheld.released import FEWEST
from evenhand.reports.errors import RankError
from evenhand.site.boards.listing import BoardOnRecord, boards_on_record
from evenhand.site.boards.standings import BoardView, ranked, released_of
from tests.database import copy_ledger, ledger_in
from tests.site.house import CONDITION, JUDGE

pytestmark = pytest.mark.slow

MODELS = ("amber", "blue")
SKILLS = ("counting", "reading")
ITEMS = tuple(
    Item(label=f"i{n}", instruction=f"{n}?", reference=f"r {n}", category=SKILLS[n % len(SKILLS)]) for n in range(14)
)
BENCHMARKS = tuple(
    Benchmark(name=name, items=items, licence="CC0-1.0", citation="", protocols=())
    for name, items in (("whole", ITEMS), ("but two", ITEMS[:-2]))
)
TEAMS = tuple(f"team {number}" for number in range(4))
STEPS = 40
AGAINST = 7
"""Battles of a submission against the reference."""
_OF_THIS_COPY = ("made", "chain", "signature", "seal")
_SEALED = ("answers_seal", "row_sha256", "board_sha256", "board_marks")
"""Of receipts, what hangs on the ledger's secret, or on words that nobody is told."""

Shown = tuple[str, str, str, int | str]
"""A showing: item, who is shown first, who second, which replicate, or which person in which study."""
_OfItem = dict[tuple[str, int | str], tuple[Shown, tuple[int, ...], bool]]


@dataclass
class History:
    """What happens hangs on the lots alone, and not on who wins."""

    ledger: Ledger
    lots: Random
    instead: Mapping[Shown, Shown] = field(default_factory=dict[Shown, Shown])
    """Showings that get the verdict of another one."""
    opposite: Collection[Shown] = ()
    told: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])
    """All that was given out, by what it is."""
    showings: dict[int, tuple[Shown, bool]] = field(default_factory=dict[int, tuple[Shown, bool]])
    """By the number of the judgement, and whether it holds a verdict."""
    _left: list[tuple[str, Trial]] = field(default_factory=list[tuple[str, Trial]])
    _unread: list[tuple[str, Trial]] = field(default_factory=list[tuple[str, Trial]])
    _placed: dict[str, str] = field(default_factory=dict[str, str])
    """By submission, the study that places it."""
    _model_of: dict[str, str] = field(default_factory=dict[str, str])

    def plays(self) -> None:
        for benchmark in BENCHMARKS:
            self.asks(benchmark, (*MODELS, REFERENCE))
        for _ in range(STEPS):
            self.something_happens()
            if self.lots.random() < 0.2:
                self.everybody_looks()
        for one in sorted(self.waiting):
            self.places(one)
        while self._left:
            self.judges(*self._left.pop(0))
        for one in sorted(self._placed):
            self.team_goes_on(one)
        self.everybody_looks()

    @property
    def waiting(self) -> set[str]:
        return {one.id for one in submissions_on_record(self.ledger)} - self._placed.keys()

    def something_happens(self) -> None:
        waiting = self.waiting
        match self.lots.choice(("judge", "judge", "judge", "place", "team", "team", "replace", "again")):
            case "place" if waiting:
                self.places(self.lots.choice(sorted(waiting)))
            case "team" if self._placed:
                self.team_goes_on(self.lots.choice(sorted(self._placed)))
            case "replace":
                item, model = self.lots.choice(ITEMS).digest, self.lots.choice(MODELS)
                text = f"{model} says {self.lots.random()}"
                self.ledger.add_responses([Response(item=item, model=model, text=text)], replace=True)
            case "again" if self._unread:
                self.judges(*self._unread.pop(), read=True)
            case _:
                for _ in range(self.lots.choice((1, 3, 10, 40))):
                    if self._left:
                        self.judges(*self._left.pop(self.lots.randrange(min(4, len(self._left)))))

    def asks(self, benchmark: Benchmark, models: tuple[str, ...], new: str | None = None) -> str:
        placing: dict[str, Any] = {"pairing": "placing", "new": new, "battles": 2 * AGAINST}
        again: dict[str, Any] = {} if new else {"replicates": self.lots.choice((1, 2))}
        study = Study(
            benchmark=benchmark.name, data=benchmark.digest, items=tuple(one.digest for one in benchmark.items),
            models=models, rater=JUDGE.key, condition=CONDITION.key, reference_battles=AGAINST if new else 0,
            **(placing if new else again),
        )  # fmt: skip
        given: dict[str, dict[str, str]] = {}
        for answer in self.ledger.responses_to(study.items):
            given.setdefault(answer.item, {})[answer.model] = answer.digest
            self._model_of[answer.digest] = answer.model
        trials = list(wanted(study, given))
        self.ledger.register_study(study, rater=JUDGE, condition=CONDITION, wanted=len(trials))
        self._left += [(study.key, trial) for trial in trials]
        return study.key

    def judges(self, study: str, trial: Trial, *, read: bool | None = None) -> None:
        entries = Entries(trials=[trial])
        entries.links = [(study, trial.key)]
        if read or not self.ledger.decided([trial.key], reader="r1"):
            read = self.lots.random() > 0.05 if read is None else read
            shown = self.shown(trial)
            if not read:
                self._unread.append((study, trial))
            verdict = Preference(value=self.value(shown), levels=3) if read else NoVerdict(reason="unreadable")
            made = Judgement(trial=trial.key, verdict=verdict, reader="r1", calls=(), run="run", at=1.0)
            entries.judgements.append(made)
            self.showings[newest(self.ledger).judgement + 1] = (shown, read)
        self.ledger.commit(entries)

    def shown(self, trial: Trial) -> Shown:
        first, second = (self._model_of[digest] for digest in trial.responses)
        return trial.item, first, second, trial.replicate

    def value(self, shown: Shown) -> int:
        """By lot; often the same in both orders."""
        item, first, second, replicate = self.instead.get(shown, shown)
        alike = canonical_draw(canonical_json([item, *sorted((first, second))]))[0]
        lot = canonical_draw(canonical_json([item, first, second, replicate]))[0]
        value = (1 if (alike % 2 == 0) == (first < second) else -1) if lot % 3 else 0
        return value if shown not in self.opposite else -value or 1

    def places(self, submission: str) -> None:
        found = find_submission(self.ledger, submission)
        assert found
        intake = self.intake(found.intake)
        benchmark = next(one for one in BENCHMARKS if one.name == intake.benchmark)
        named = label(submission)
        self.ledger.add_responses(
            [Response(item=one.digest, model=named, text=f"{named} on {one.label}") for one in benchmark.items]
        )
        self._placed[submission] = self.asks(benchmark, (*MODELS, REFERENCE, named), new=named)

    def team_goes_on(self, submission: str) -> None:
        found = find_submission(self.ledger, submission)
        assert found
        stands, study = found.standing, self._placed[submission]
        in_part = any(key == study for key, _ in self._left)
        if stands.stage == "approved":
            receipt: dict[str, Any] = dict(receipt_of(self.ledger, found, self.intake(found.intake), study))
            tell(self.ledger, submission, Judged(receipt=receipt, partial=in_part), person=None)
            self.told.append((f"receipt {submission}", words_of(receipt)))
        elif stands.judged is not None and stands.judged.partial and stands.stage == "judged":
            tell(self.ledger, submission, Raised(budget=None), person="owner")
        elif stands.stage == "judged":
            said = Withdrawn() if stands.published else Published()
            tell(self.ledger, submission, said, person=found.person)

    def intake(self, intake: str) -> Intake:
        found = find_intake(self.ledger, intake)
        assert found
        return found

    def everybody_looks(self) -> None:
        for board in boards_on_record(self.ledger):
            self.looks_at(board)

    def looks_at(self, board: BoardOnRecord) -> None:
        given, study = released_of(self.ledger, board), None if board.part is None else board.part.study
        for method, skill in (("bradley-terry", None), ("elo", None), ("bradley-terry", SKILLS[0])):
            view = BoardView(board=board.id, method=method, category=skill, study=study, withheld=True)
            try:
                words = ranked(self.ledger, board, view, given).board.to_json()
            except RankError as error:
                words = str(error)
            self.told.append((f"{board.benchmark} by {method}, {skill}, {given.version.number}", words))

    @property
    def batches(self) -> tuple[VerdictBatch, ...]:
        return released_so_far(self.ledger, "", boards_on_record(self.ledger)[0].judged_as).batches


def words_of(receipt: Mapping[str, Any]) -> str:
    told = {name: value for name, value in receipt.items() if name not in _OF_THIS_COPY}
    told["record"] = {name: value for name, value in receipt["record"].items() if name not in _SEALED}
    return json.dumps(told, sort_keys=True)


TERMS = SubmissionTerms(policy="Do not train on it.")


def founded(folder: Path, *, terms: SubmissionTerms = TERMS, submissions: Sequence[str] = TEAMS) -> None:
    """Two benchmarks that share items, and submissions, each by a team; they have ids by lot."""
    folder.mkdir()
    drawn: dict[str, Any] = {
        "opponents": MODELS, "battles": 2 * AGAINST, "reference_battles": AGAINST, "seed": 0,
    }  # fmt: skip
    estimate = Estimated(
        **drawn, trials=1, calls_at_least=1, calls_at_most=1, input_tokens=1, output_tokens=1, cost_usd=0.1
    )
    with closing(ledger_in(folder)) as ledger:
        for benchmark in BENCHMARKS:
            ledger.register_benchmark(benchmark)
            board = BoardIdentity(data=benchmark.digest, rater=JUDGE.key, condition=CONDITION.key)
            open_intake(ledger, benchmark.name, board, terms, by="owner")
        ledger.add_responses(
            [
                Response(item=one.digest, model=model, text=f"{model} " * (1 + place % 5))
                for place, one in enumerate(ITEMS)
                for model in (*MODELS, REFERENCE)
            ]
        )
        for number, team in enumerate(submissions):
            intake = intakes_on_record(ledger)[number % 2]
            entered = Entered(model=f"m{number}", version="1", team=team)
            made = begin_submission(ledger, intake, entered, person=team)
            upload = Uploaded(file="ab" * 32, name="a.jsonl", size=1, answered=len(ITEMS), faults=0)
            seq = tell(ledger, made, upload, person=team).upload_seq
            assert seq is not None
            tell(ledger, made, Confirmed(about=seq, checked=True), person=team)
            tell(ledger, made, estimate, person=None)
            tell(ledger, made, Approved(budget=None, **drawn), person="owner")


def exchanged(showings: Mapping[int, tuple[Shown, bool]], batches: Sequence[VerdictBatch]) -> dict[Shown, Shown]:
    """Showings of the items of a batch, each with the like one of another item; only where all of an item's with these
    two models have a verdict and lie in the same batches as the other's."""
    batch_of: dict[int, tuple[int, ...]] = {}
    for place, one in enumerate(batches):
        for number in one.judgements:
            batch_of[number] = (*batch_of.get(number, ()), place)
    of_item: dict[tuple[str, tuple[str, ...]], _OfItem] = {}
    for number, (shown, read) in showings.items():
        item, first, second, replicate = shown
        told = of_item.setdefault((item, tuple(sorted((first, second)))), {})
        told[first, replicate] = (shown, batch_of.get(number, ()), read and (first, replicate) not in told)
    alike: dict[Any, list[_OfItem]] = {}
    for (_, models), told in sorted(of_item.items()):
        if all(read and lies_in for _, lies_in, read in told.values()):
            where = sorted((of, lies_in) for of, (_, lies_in, _) in told.items())
            alike.setdefault((models, tuple(where)), []).append(told)
    return {
        mine[of][0]: other[of][0]
        for some in alike.values()
        for one, two in list(pairwise(some))[::2]
        for mine, other in ((one, two), (two, one))
        for of in mine
    }


@pytest.mark.parametrize("seed", range(2))
def test_nothing_that_anybody_gets_tells_where_in_its_batch_a_verdict_lies_nor_what_was_not_released(
    tmp_path: Path, seed: int
):
    founded(tmp_path / "once")
    copy_ledger(tmp_path / "once", tmp_path / "again")
    with closing(ledger_in(tmp_path / "once")) as ledger:
        once = History(ledger, Random(seed))
        once.plays()
        released = [number for one in once.batches for number in one.judgements]
        for one in once.batches:
            assert len({once.showings[at][0][0] for at in one.judgements if once.showings[at][1]}) >= FEWEST
        instead = exchanged(once.showings, once.batches)
    assert len(released) == len({*released}), "no verdict is in two batches"
    given_out = {once.showings[at][0] for at in released}
    opposite = {shown for shown, _ in once.showings.values() if REFERENCE in shown and shown not in given_out}
    with closing(ledger_in(tmp_path / "again")) as ledger:
        again = History(ledger, Random(seed), instead=instead, opposite=opposite)
        again.plays()
    others = sum(once.value(shown) != again.value(shown) for shown, _ in once.showings.values())
    print(f"{others} of {len(once.showings)} verdicts are others, {len(once.told)} documents")
    assert others
    assert len({what for what, _ in once.told if what.startswith("receipt")}) == len(TEAMS)
    assert [what for what, _ in once.told] == [what for what, _ in again.told]
    for (what, words), (_, others_words) in zip(once.told, again.told, strict=True):
        assert words == others_words, what
