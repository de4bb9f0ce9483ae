"""Which studies a report is made of: those of one board, and the grades of the same answers beside it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.domain.rater import PEOPLE
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.reports.board.choosing import FACTUALITY, PREFERENCE, MixedError
from evenhand.reports.papers.scores.creation_choosing import CreationChoice, CreationStudies, choose_creation

COMPARED = (PREFERENCE, "creation_people")
"""Protocols whose verdicts make Creation-MMBench's Reward."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportStudies:
    board: tuple[StudyOnRecord, ...]
    """They agree in all that a board must not mix."""
    papers: tuple[CreationStudies, ...] = ()
    """Of Creation-MMBench: one for each baseline, preferences with the grades that belong to them."""

    @property
    def graded(self) -> tuple[StudyOnRecord, ...]:
        return tuple({one.key: one for paper in self.papers for one in paper.factuality}.values())

    @property
    def everything(self) -> tuple[StudyOnRecord, ...]:
        return (*self.board, *self.graded)


def with_grades(
    board: Sequence[StudyOnRecord], found: Sequence[StudyOnRecord], *, see: str | None = None, run: str | None = None
) -> ReportStudies:
    """The board's studies with the grades on record that belong to them: those that `see` or a run's study chose, where
    there are several."""
    first = board[0]
    if first.condition.protocol not in COMPARED:
        return ReportStudies(board=tuple(board))
    graded = [one for one in found if one.condition.protocol == FACTUALITY and one.benchmark == first.benchmark]
    baselines = sorted({one.against for one in board if one.against is not None})
    return ReportStudies(board=tuple(board), papers=tuple(_paper(board, graded, one, see, run) for one in baselines))


def _paper(
    board: Sequence[StudyOnRecord],
    graded: Sequence[StudyOnRecord],
    baseline: str,
    see: str | None,
    run: str | None,
) -> CreationStudies:
    first = board[0]
    choice = CreationChoice(
        benchmark=first.benchmark,
        judge=PEOPLE if first.rater.kind == "human" else first.rater.name,
        protocol=first.condition.protocol,
        readout=first.condition.readout,
        variant=first.variant or "default",
        against=baseline,
        see=see,
        studies=frozenset(one.key for one in graded if (one.key, one.against) == (run, baseline)),
    )
    try:
        return choose_creation([*board, *graded], choice)
    except MixedError:
        # Grades under several settings: none of them belongs to these preferences more than another.
        return choose_creation(board, replace(choice, studies=frozenset()))
