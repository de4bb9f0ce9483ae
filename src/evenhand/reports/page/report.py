"""All that a report tells of one board: gathered from the ledger, before anything is written."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.item import Item
from evenhand.domain.verdict import Preference
from evenhand.ledger.columns import joint
from evenhand.ledger.entrants import counted_battles
from evenhand.ledger.projection import items_of
from evenhand.ledger.record import Ledger
from evenhand.ledger.runs import RunOnRecord, runs
from evenhand.ledger.spending import Spent, Terms, endpoints_said, spending, terms_of
from evenhand.ledger.votes import JudgedBattles
from evenhand.ratings.win_rate import WinRate
from evenhand.reports.audit_on_record import Audits, latest_audits
from evenhand.reports.board import Board
from evenhand.reports.page.cases import MOST, CaseList, case_list
from evenhand.reports.page.studies import ReportStudies
from evenhand.reports.ranking import rank
from evenhand.reports.scores.creation_score import CreationScore, creation_evidence, creation_score
from evenhand.reports.scores.visit_bench import Asked, VisitScore, visit_score
from evenhand.reports.win_rates_by import by_category

Score: TypeAlias = CreationScore | VisitScore

VISIT = ("visit_pairwise", "visit_pairwise_reference", "visit_people")
"""Protocols whose battles make VisIT-Bench's table."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Swapped:
    """Pairs with a verdict in both orders, by what became of it when the answers changed places."""

    same_winner: int
    tie_twice: int
    first_twice: int
    """The answer shown first was chosen both times."""
    second_twice: int
    tie_once: int

    @property
    def pairs(self) -> int:
        return self.same_winner + self.tie_twice + self.first_twice + self.second_twice + self.tie_once


@dataclass(frozen=True, kw_only=True, eq=False)
class Report:
    ledger: Ledger
    studies: ReportStudies
    board: Board
    judged: JudgedBattles
    graded: JudgedBattles | None
    """Grades of the same answers, where some are on record."""
    items: tuple[Item, ...]
    """All of the benchmark's."""
    cases: CaseList
    scores: tuple[Score, ...]
    """The paper's own tables."""
    audits: Audits | None
    """None where people judged."""
    runs: tuple[RunOnRecord, ...]
    """Of the studies, the oldest first."""
    spent: Mapping[str, Spent]
    """By run."""
    endpoints: tuple[str, ...]
    """What the endpoints said they ran."""
    terms: Terms
    seed: int

    @cached_property
    def by_category(self) -> dict[str, dict[str, WinRate]]:
        """Of each category, the commonest first, the models' win rates; empty where items have no categories."""
        found = by_category(self.judged, {item.digest: item.category for item in self.items})
        counts = {
            name: sum(one.wins + one.losses + one.ties for one in rates.values()) for name, rates in found.items()
        }
        return {name: found[name] for name in sorted(found, key=lambda name: -counts[name])}

    @cached_property
    def swapped(self) -> Swapped:
        """A pair is an item, two models and a rater; of replicates the first read of each order."""
        showings = self.judged.showings.rows(self.judged.showings.where(lambda one: isinstance(one, Preference)))
        low, high = showings.pair_by_name
        pair = joint(showings.item.code, low, high, showings.rater.code)
        signs = [one.sign if isinstance(one, Preference) else 0 for one in showings.endings]
        sign = np.array(signs, dtype=np.int8)[showings.ending]
        straight = showings.first_model == low
        first, second = (_by_pair(pair[where], sign[where], pair) for where in (straight, ~straight))
        both = (first != _UNREAD) & (second != _UNREAD)
        # `second` is in favour of the other model: the same winner has opposite signs.
        one, other = first[both], second[both]
        return Swapped(
            same_winner=_count((one * other) < 0),
            tie_twice=_count((one == 0) & (other == 0)),
            first_twice=_count((one > 0) & (other > 0)),
            second_twice=_count((one < 0) & (other < 0)),
            tie_once=_count((one == 0) ^ (other == 0)),
        )


_UNREAD = 9

_Signs: TypeAlias = npt.NDArray[np.int8]


def _by_pair(pair: npt.NDArray[np.int32], sign: _Signs, every: npt.NDArray[np.int32]) -> _Signs:
    """Of each pair the sign for the answer shown first; _UNREAD where this order has none."""
    found = np.full(int(every.max(initial=-1)) + 1, _UNREAD, dtype=np.int8)
    found[pair] = sign
    return found


def _count(where: npt.NDArray[np.bool_]) -> int:
    return int(np.count_nonzero(where))


def report_of(ledger: Ledger, studies: ReportStudies, *, seed: int = 0, most: int = MOST) -> Report:
    """`most`: judgements up to which all are listed. Raises RankError where the verdicts make no board."""
    judged = counted_battles(ledger, studies.board)
    board = rank(judged, seed=seed)
    graded = counted_battles(ledger, studies.graded) if studies.graded else None
    items = items_of(ledger, judged.study.data)
    results = [one.results for one in (judged, graded) if one is not None]
    ran = _runs(ledger, studies)
    names = [one.id for one in ran]
    return Report(
        ledger=ledger,
        studies=studies,
        board=board,
        judged=judged,
        graded=graded,
        items=tuple(items),
        cases=case_list(results, [item.digest for item in items], seed=seed, most=most),
        scores=_scores(ledger, studies, judged, items, seed),
        audits=None if board.origin.human else latest_audits(ledger, board.origin),
        runs=ran,
        spent=spending(ledger, names),
        endpoints=endpoints_said(ledger, names),
        terms=terms_of(ledger, judged.study.data),
        seed=seed,
    )


def _runs(ledger: Ledger, studies: ReportStudies) -> tuple[RunOnRecord, ...]:
    keys = {one.key for one in studies.everything}
    return tuple(sorted((one for one in runs(ledger) if one.study in keys), key=lambda one: one.at))


def _scores(
    ledger: Ledger, studies: ReportStudies, judged: JudgedBattles, items: list[Item], seed: int
) -> tuple[Score, ...]:
    if judged.study.condition.protocol in VISIT:
        asked = Asked(items={item.digest: item for item in items})
        return (visit_score(judged, asked, seed=seed),)
    return tuple(creation_score(creation_evidence(ledger, paper)) for paper in studies.papers)
