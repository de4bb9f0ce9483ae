"""Shares won, and all that their intervals need, from sums: by pair of models, and by cluster and model."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Basis, left_out, share_of_sums
from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import LOSS, TIE, WIN, PairTable

Policy: TypeAlias = Literal["average", "creation", "visit"]
"""`average`: a tie is half a win. `creation`: a tie is not won, wins / all. `visit`: ties are left out, wins / (wins +
losses)."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShareSums:
    """Of each model: its share, and all that the share's interval needs."""

    share: FloatArray
    n: FloatArray
    items: IntArray
    variance: FloatArray
    """Of the share, between clusters."""
    squares: FloatArray
    """Of the clusters' weights, summed."""
    rows: FloatArray
    """The same of the rows' weights."""

    def estimates(self, level: float) -> tuple[Estimate, ...]:
        return tuple(
            share_of_sums(
                float(share),
                float(self.variance[code]),
                Basis(clusters=int(items), effective=_like(n, self.squares[code])),
                float(self.rows[code] / n**2) if n > 0 else 0.0,
                n=float(n),
                level=level,
            )
            for code, (share, n, items) in enumerate(zip(self.share, self.n, self.items, strict=True))
        )


def _like(n: float, squares: float) -> float:
    return float(n**2 / squares) if squares > 0 else 0.0


POINTS: dict[Policy, tuple[float, float, float]] = {
    "average": (0.0, 0.5, 1.0),
    "creation": (0.0, 0.0, 1.0),
    "visit": (0.0, 0.0, 1.0),
}
"""What a loss, a tie and a win are worth."""
COUNTED: dict[Policy, tuple[int, ...]] = {
    "average": (LOSS, TIE, WIN),
    "creation": (LOSS, TIE, WIN),
    "visit": (LOSS, WIN),
}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ModelSums:
    """Of each model; what clusters add to its share's interval is added up."""

    n: FloatArray
    won: FloatArray
    rows: FloatArray
    variance: FloatArray = field(init=False)
    squares: FloatArray = field(init=False)
    items: npt.NDArray[np.int64] = field(init=False)

    def __post_init__(self) -> None:
        for name, kind in (("variance", np.float64), ("squares", np.float64), ("items", np.int64)):
            object.__setattr__(self, name, np.zeros(len(self.n), dtype=kind))

    @classmethod
    def of(cls, table: PairTable, policy: Policy) -> "ModelSums":
        counts, squares, counted = table.of_models(), table.of_models(table.squares), list(COUNTED[policy])
        return cls(
            n=counts[:, counted].sum(axis=1),
            won=counts @ np.array(POINTS[policy]),
            rows=squares[:, counted].sum(axis=1),
        )

    @property
    def shares(self) -> ShareSums:
        return ShareSums(
            share=self.share,
            n=self.n,
            items=self.items,
            variance=self.variance,
            squares=self.squares,
            rows=self.rows,
        )

    @property
    def share(self) -> FloatArray:
        return np.clip(self.won / np.where(self.n > 0, self.n, 1.0), 0.0, 1.0)

    def add(self, weight: FloatArray, won: FloatArray, there: npt.NDArray[np.bool_]) -> None:
        """Clusters x models."""
        n = np.where(self.n > 0, self.n, 1.0)
        deviation = (won - self.share * weight) / n * left_out(weight / n)
        self.variance[:] += np.einsum("im,im->m", deviation, deviation)
        self.squares[:] += np.einsum("im,im->m", weight, weight)
        self.items[:] += np.count_nonzero(there, axis=0)

    def add_outcomes(self, outcomes: FloatArray, there: npt.NDArray[np.bool_], policy: Policy) -> None:
        """Clusters x models x 3: the weight of the losses, ties and wins, and whether there are any."""
        counted = list(COUNTED[policy])
        met = np.logical_or.reduce([there[:, :, column] for column in counted])
        self.add(outcomes[:, :, counted].sum(axis=2), outcomes @ np.array(POINTS[policy]), np.asarray(met, np.bool_))

    def add_alike(self, model: Codes, count: FloatArray, weight: FloatArray | float, worth: float) -> None:
        """Clusters of one row each: of a model so many of this weight, which won so much."""
        n, models = np.where(self.n > 0, self.n, 1.0)[model], len(self.n)
        each = np.broadcast_to(weight, count.shape)
        deviation = each * (worth - self.share[model]) / n * left_out(each / n)
        self.variance[:] += summed(model, count * deviation**2, models)
        self.squares[:] += summed(model, count * each**2, models)
        self.items[:] += summed(model, count, models).astype(np.int64)


def sides_of(table: PairTable) -> tuple[tuple[Codes, FloatArray], ...]:
    """The models of each row's side, and their losses, ties and wins."""
    return (table.first, table.counts), (table.second, table.counts[:, ::-1])


def opponent_weights(table: PairTable) -> FloatArray:
    """Of each model, what its rows with one opponent weigh where each opponent weighs the same."""
    opponents = summed(table.first, None, table.models) + summed(table.second, None, table.models)
    return table.of_models().sum(axis=1) / np.maximum(opponents, 1)


def opponents_alike(table: PairTable) -> tuple[ModelSums, tuple[FloatArray, FloatArray]]:
    """Where each opponent met weighs the same: sums without clusters yet; and of each pair, what its rows weigh for its
    two models."""
    models, met, per_opponent = table.models, table.counts.sum(axis=1), opponent_weights(table)
    n, won, squares = np.zeros(models), np.zeros(models), np.zeros(models)
    one, other = (per_opponent[side] / met for side in (table.first, table.second))
    for (side, counts), each in zip(sides_of(table), (one, other), strict=True):
        n += summed(side, each * met, models)
        won += summed(side, each * (counts @ np.array(POINTS["average"])), models)
        squares += summed(side, each**2 * table.squares.sum(axis=1), models)
    return ModelSums(n=n, won=won, rows=squares), (one, other)


def worth_to_models(
    table: PairTable, each: tuple[FloatArray, FloatArray], points: tuple[float, float, float]
) -> FloatArray:
    """Cells x models: what a row of the cell is worth to each of its two models. `each`: what it weighs for them."""
    found = np.zeros((len(table), 3, table.models))
    rows, worth = np.arange(len(table)), np.array(points)
    found[rows, :, table.first] = each[0][:, None] * worth
    found[rows, :, table.second] = each[1][:, None] * worth[::-1]
    return found.reshape(-1, table.models)
