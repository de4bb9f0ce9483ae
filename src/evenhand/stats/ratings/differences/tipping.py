"""What share of the missing verdicts would have to go against the leader for the lead to change hands."""

from dataclasses import dataclass

import numpy as np

from evenhand.domain.identity import Json
from evenhand.format.words import per_cent
from evenhand.stats.ratings.bradley_terry.components import IntArray, structure
from evenhand.stats.ratings.bradley_terry.likelihood import Ties
from evenhand.stats.ratings.bradley_terry.placement import estimated_ranks
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.rank_bounds import (
    REFITTED,
    Method,
    Missing,
    missing_counts,
    pair_cells,
    with_verdicts,
)
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import LOSS, TIE, WIN, pair_table

_HALVINGS = 14
"""Of the share: it is known to a ten-thousandth."""
_HAIR = 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class TippingPoint:
    leader: str | None
    """None where several share the lead, or nobody was judged."""
    challenger: str | None
    """Who would lead then; None where nobody could."""
    share: float | None
    """0 to 1, of `missing`; None where the leader stays, whatever the missing verdicts would have been."""
    missing: int
    """Verdicts that bear on it: the leader's own and, where there is one, the challenger's."""
    against: float | None
    """0 to 1: of the leader's verdicts that were read, those against it, a tie half."""

    def as_json(self) -> dict[str, Json]:
        return {
            "leader": self.leader,
            "challenger": self.challenger,
            "share": self.share,
            "missing": self.missing,
            "against_read": self.against,
        }

    @property
    def sentence(self) -> str:
        if self.leader is None:
            return "Several models share the lead, so no missing verdict can take it from one."
        read = ""
        if self.against is not None:
            read = f"; of {self.leader}'s verdicts that were read, {per_cent(self.against, decimals=0)} went against it"
        if self.share is None:
            who = f"{self.missing:,} missing verdict{'' if self.missing == 1 else 's'} of its own"
            return f"{self.leader} stays first even if all went against it: {who}, and those of any one other model."
        return (
            f"The leader changes if more than {_floored(self.share)} % of the {self.missing:,} missing verdicts of "
            f"{self.leader} and {self.challenger} went against {self.leader} or for {self.challenger}{read}."
        )


def tipping_point(
    comparisons: Comparisons, missing: Missing, *, method: Method = "bradley-terry", ties: Ties = "half"
) -> TippingPoint:
    """Of the largest component's leader.

    For each challenger a share of the leader's own missing verdicts goes against the leader and the same share of the
    challenger's to the challenger, the rest the other way; those of other models are left out. The smallest share at
    which some challenger stands above the leader is the tipping point.
    """
    counts = missing_counts(missing, len(comparisons.models))
    used: Method = method if len(comparisons.models) <= REFITTED else "win-rate"
    board = _Decided(comparisons, counts, used, ties)
    leader = board.leader()
    names = comparisons.models
    if leader is None:
        return TippingPoint(leader=None, challenger=None, share=None, missing=0, against=None)
    challenger, share = None, 1.0
    for other in board.others(leader):
        if not board.overtaken(leader, other, share):
            continue
        low, high = 0.0, share
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            low, high = (low, middle) if board.overtaken(leader, other, middle) else (middle, high)
        challenger, share = other, low
    own = counts[leader].sum()
    bearing = own if challenger is None else own + counts[challenger].sum() - counts[leader, challenger]
    return TippingPoint(
        leader=names[leader],
        challenger=None if challenger is None else names[challenger],
        share=None if challenger is None else share,
        missing=int(bearing),
        against=board.against(leader),
    )


class _Decided:
    """The results with missing verdicts decided in shares."""

    def __init__(self, comparisons: Comparisons, counts: FloatArray, method: Method, ties: Ties) -> None:
        self._cells = pair_cells(comparisons)
        self._counts = counts
        self._method: Method = method
        self._ties: Ties = ties
        table = pair_table(comparisons).table
        self._of_models = table.of_models()
        self._component = structure(table).component
        self._near: FloatArray | None = None
        """Strengths near which all others lie."""
        self._ranks = self._ranked(self._cells)

    def leader(self) -> int | None:
        first = np.flatnonzero((self._component == 0) & (self._ranks == 1))
        return int(first[0]) if len(first) == 1 else None

    def others(self, leader: int) -> list[int]:
        """The nearest first; a model that only missing verdicts join to the leader too."""
        able = (self._component == 0) | (self._counts[leader] > 0)
        able[leader] = False
        rank = np.where(self._component == 0, self._ranks, len(able) + 1)
        return [int(code) for code in np.argsort(rank, kind="stable") if able[code]]

    def against(self, model: int) -> float | None:
        played = float(self._of_models[model].sum())
        return float(self._of_models[model, LOSS] + self._of_models[model, TIE] / 2) / played if played else None

    def overtaken(self, leader: int, other: int, share: float) -> bool:
        decided = [(leader, self._counts[leader], 1 - share)]
        rest = self._counts[other].copy()
        rest[leader] = 0.0
        decided.append((other, rest, share))
        cells = self._cells
        for code, counts, won in decided:
            for sign, part in ((1, won), (-1, 1 - won)):
                if part > 0 and counts.any():
                    cells = with_verdicts(cells, counts * part, code, sign)
        ranks = self._ranked(cells)
        return bool(0 < ranks[other] < ranks[leader])

    def _ranked(self, cells: Comparisons) -> IntArray:
        if self._method == "bradley-terry":
            solution = solve(cells, ties=self._ties, near=self._near)
            self._near = solution.fit.strength if self._near is None else self._near
            return estimated_ranks(solution)
        of_models = pair_table(cells).table.of_models()
        played = of_models.sum(axis=1)
        share = (of_models[:, WIN] + of_models[:, TIE] / 2) / np.where(played > 0, played, 1.0)
        same = self._component[:, None] == self._component[None, :]
        better = same & (share[:, None] > share[None, :] + _HAIR) & (played > 0)[:, None]
        return np.where(played > 0, 1 + better.sum(axis=0), 0)


def _floored(share: float) -> str:
    """Per cent, never above the share: "more than" must stay true."""
    return f"{np.floor(1000 * share) / 10:g}"
