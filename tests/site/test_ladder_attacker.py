"""Claims about what is told of a submission to a ladder over time: one figure of the items that count, and one of the
reserve. Of two that differ in an item its verdict would follow."""

from contextlib import closing
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import pytest

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.judgement import Judgement
from evenhand.domain.response import Response
from evenhand.domain.submission import Judged, Published, Raised
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.ledger.store.record import Entries
from evenhand.ledger.submissions.intakes import intakes_on_record
from evenhand.ledger.submissions.store import find_submission, receipts_on_record, submissions_on_record, tell
from evenhand.reports.receipts.check import verify
from evenhand.reports.receipts.ladder import published_figures
from evenhand.reports.receipts.reading import read_receipt
from tests.database import ledger_in
from tests.site.test_receipt_attacker import ITEMS, MODELS, TERMS, History, founded

RESERVED = tuple(one.digest for one in ITEMS[:7])
LADDER = replace(TERMS, feedback="ladder", reserve=0.5, reserved=RESERVED)


@dataclass
class Climb(History):
    figures: dict[tuple[str, str], list[tuple[float, int]]] = field(
        default_factory=dict[tuple[str, str], list[tuple[float, int]]]
    )
    """By what it is of, row or reserve, and the submission: share and number of items, whenever it was another one."""
    last: str | None = None
    """A submission that is placed when all else is done."""

    @property
    def waiting(self) -> set[str]:
        return super().waiting - {self.last or ""}

    def wants(self, submission: str) -> tuple[str, list[Trial]]:
        """The study that places it, and what is to be asked for it."""
        self.places(submission)
        trials, self._left = [trial for _, trial in self._left], []
        return self._placed[submission], trials

    def ends(self) -> None:
        """Every answer that was met is replaced, and then a team hears of one more submission."""
        for item in ITEMS:
            again = [Response(item=item.digest, model=model, text=f"{model} at last") for model in MODELS]
            self.ledger.add_responses(again, replace=True)
            self.everybody_looks()
        assert self.last is not None
        self.places(self.last)
        while self._left:
            self.judges(*self._left.pop(0))
        self.team_goes_on(self.last)
        self.everybody_looks()

    def team_goes_on(self, submission: str) -> None:
        found = find_submission(self.ledger, submission)
        assert found
        stands, study = found.standing, self._placed[submission]
        if stands.stage == "approved":
            in_part = any(key == study for key, _ in self._left)
            receipt = receipt_of(self.ledger, found, self.intake(found.intake), study)
            tell(self.ledger, submission, Judged(receipt=receipt, partial=in_part), person=None)
            row = receipt["row"]
            assert isinstance(row, dict)
            self.noted("row", row["shown_of"], (row["shown"], row["shown_n"]))
        elif stands.stage == "judged" and not stands.published:
            tell(self.ledger, submission, Published(), person=found.person)
        elif stands.judged is not None and stands.judged.partial and stands.stage == "judged":
            tell(self.ledger, submission, Raised(budget=None), person="owner")

    def everybody_looks(self) -> None:
        for intake in intakes_on_record(self.ledger):
            for one in published_figures(self.ledger, intake):
                self.noted("reserve", one.submission.label, (one.share.value, one.share.n))

    def something_happens(self) -> None:
        super().something_happens()
        self.everybody_looks()

    def noted(self, what: str, of: object, figure: object) -> None:
        match of, figure:
            case str(), (float() | int() as share, int() as n):
                told = self.figures.setdefault((what, of), [])
                if (share, n) not in told:
                    told.append((share, n))
            case _:
                pass


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(3))
def test_of_a_submission_to_a_ladder_one_figure_is_ever_told(tmp_path: Path, seed: int):
    """Whatever is judged, replaced or published meanwhile. Ids are drawn anew each time, and in one of ten histories
    nothing is told: then another is looked at."""
    for turn in range(6):
        if figures := climbed(tmp_path / str(turn), 10 * turn + seed):
            assert [told for told in figures.values() if len(told) > 1] == []
            return
    pytest.fail("nothing was ever told")


def climbed(folder: Path, seed: int) -> dict[tuple[str, str], list[tuple[float, int]]]:
    founded(folder, terms=LADDER, submissions=("birds", "fish") * 4)
    with closing(ledger_in(folder)) as ledger:
        climb = Climb(ledger, Random(seed), last=submissions_on_record(ledger)[-1].id)
        climb.plays()
        climb.ends()
        for one in submissions_on_record(ledger):
            for receipt in receipts_on_record(ledger, one.id).values():
                found = verify(ledger, read_receipt(receipt.encode()))
                differs = [one for check in found.checks for one in check.differs]
                assert [one for one in differs if one.startswith("row.")] == []
    return climb.figures


def test_of_a_submission_with_a_call_that_failed_nothing_is_told_before_it_is_asked_again(tmp_path: Path):
    """The owner lets it be judged by what is there, and goes on later: two figures would differ in that item."""
    founded(tmp_path / "ladder", terms=replace(LADDER, reserved=RESERVED[:3]), submissions=("birds",))
    with closing(ledger_in(tmp_path / "ladder")) as ledger:
        (submission,) = (one.id for one in submissions_on_record(ledger))
        climb = Climb(ledger, Random(0))
        study, trials = climb.wants(submission)
        one = next(trial.item for trial in trials if trial.item not in RESERVED)
        told: list[tuple[object, object]] = []
        for reply in (False, True):
            entries = Entries(trials=trials, links=[(study, trial.key) for trial in trials])
            entries.judgements = [
                Judgement(
                    trial=trial.key, reader="r1", calls=(), run="run", at=1.0,
                    verdict=NoVerdict(reason="timeout") if trial.item == one and not reply
                    else Preference(value=1, levels=3),
                )
                for trial in trials
                if not reply or trial.item == one
            ]  # fmt: skip
            ledger.commit(entries)
            found = find_submission(ledger, submission)
            assert found is not None
            receipt = receipt_of(ledger, found, climb.intake(found.intake), study)
            tell(ledger, submission, Judged(receipt=receipt, partial=not reply), person=None)
            if not reply:
                tell(ledger, submission, Raised(budget=None), person="owner")
            row = receipt["row"]
            assert isinstance(row, dict)
            told.append((row["changed"], row["shown_n"]))
    others = {trial.item for trial in trials} - {*RESERVED[:3]}
    assert told == [(False, 0), (True, len(others))]
