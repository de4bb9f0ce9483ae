"""How often each model won, under the name of the rule by which ties are counted."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL, left_out
from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.by_item import cells_by_item, outcomes_by_item
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.item_blocks import crossing, item_blocks, played_and_items
from evenhand.stats.ratings.shares.share_sums import (
    POINTS,
    ModelSums,
    Policy,
    ShareSums,
    opponent_weights,
    opponents_alike,
    worth_to_models,
)
from evenhand.stats.ratings.sums import FloatArray, products, summed
from evenhand.stats.ratings.table import LOSS, TIE, WIN, PairTable, pair_table

_Sides: TypeAlias = tuple[FloatArray, FloatArray]
"""Of each row: for model_a, for model_b."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WinRate:
    """Counts are sums of weights, so fractional where replicates share a trial."""

    model: str
    win_rate: Estimate
    wins: float
    losses: float
    ties: float

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.model,
            **self.win_rate.as_json("win_rate"),
            "wins": whole(self.wins),
            "losses": whole(self.losses),
            "ties": whole(self.ties),
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class WinTally:
    """Of each model: its share, and the sums that the share's interval needs."""

    rows: Comparisons
    """Those that count."""
    share: FloatArray
    """0 where `n` is 0."""
    n: FloatArray
    """The weight of its rows."""
    items: IntArray
    weights: _Sides
    residuals: _Sides
    """Weight x (score - share); rows of one item are summed before they are squared."""

    def estimates(self, level: float) -> tuple[Estimate, ...]:
        models, sides = len(self.share), (self.rows.model_a, self.rows.model_b)
        variance, squares = self._squares()
        rows = sum((summed(who, w**2, models) for who, w in zip(sides, self.weights, strict=True)), np.zeros(models))
        return ShareSums(
            share=self.share, n=self.n, items=self.items, variance=variance, squares=squares, rows=rows
        ).estimates(level)

    def spread(self) -> _Sides:
        """Of each model: the variance of its share, and how many clusters of equal weight would tell as much."""
        variance, squares = self._squares()
        return variance, np.divide(self.n**2, squares, out=np.zeros_like(squares), where=squares > 0)

    def covariance(self) -> FloatArray:
        """M x M, of the shares, clustered as the rows are; 0 for a model without cases."""
        models, by, crossed = len(self.share), self.rows.grouped_by, self.rows.crossed
        if by is None:
            one, other = self._row_shares()
            pair = self.rows.model_a.astype(np.int64) * models + self.rows.model_b
            product = summed(pair, one * other, models * models).reshape(models, models)
            return product + product.T + np.diag(self._squares()[0])
        found = self._products(by)
        if crossed is not None:
            found = found + self._products(crossed) - self._products(crossing(by, crossed))
            np.fill_diagonal(found, self._squares()[0])
        return found

    def _products(self, by: Codes) -> FloatArray:
        return sum((products(block) for block, _ in self._cluster_shares(by)), np.zeros((1, 1)))

    def _squares(self) -> tuple[FloatArray, FloatArray]:
        """Of each model: the variance of its share between clusters, and the sum of its clusters' squared weights.

        Of two groupings the variance is that of Cameron, Gelbach and Miller (2011), at least that of either alone, and
        the squares are those of the one that weighs more unevenly.
        """
        models, by, crossed = len(self.share), self.rows.grouped_by, self.rows.crossed
        if by is None:
            variance, squares = np.zeros(models), np.zeros(models)
            sides = zip((self.rows.model_a, self.rows.model_b), self._row_shares(), self.weights, strict=True)
            for who, share, weight in sides:
                variance += summed(who, share**2, models)
                squares += summed(who, weight**2, models)
            return variance, squares
        one, even = self._between(by)
        if crossed is None:
            return one, even
        other, uneven = self._between(crossed)
        both = one + other - self._within_cells(crossing(by, crossed))
        return np.maximum(both, np.maximum(one, other)), np.maximum(even, uneven)

    def _between(self, by: Codes) -> tuple[FloatArray, FloatArray]:
        models = len(self.share)
        variance, squares = np.zeros(models), np.zeros(models)
        for block, weight in self._cluster_shares(by):
            variance += np.einsum("im,im->m", block, block)
            squares += np.einsum("im,im->m", weight, weight)
        return variance, squares

    def _within_cells(self, cell: Codes) -> FloatArray:
        """Of each model: the variance of its share between cells, which are nearly as many as rows."""
        models = len(self.share)
        keys = np.concatenate([cell * np.int64(models) + who for who in (self.rows.model_a, self.rows.model_b)])
        distinct, place = np.unique(keys, return_inverse=True)
        residual, weight = (
            summed(place.ravel(), np.concatenate(both), len(distinct)) for both in (self.residuals, self.weights)
        )
        who = distinct % models
        n = self.n[who]
        return summed(who, (residual / n * left_out(weight / n)) ** 2, models)

    def _row_shares(self) -> _Sides:
        """Of each row: what it adds to the deviation of each side's share, as if it had had no say in it."""
        n = np.where(self.n > 0, self.n, 1.0)
        sides = zip((self.rows.model_a, self.rows.model_b), self.residuals, self.weights, strict=True)
        one, other = (residual / n[who] * left_out(weight / n[who]) for who, residual, weight in sides)
        return one, other

    def _cluster_shares(self, by: Codes) -> Iterator[_Sides]:
        """Clusters x models, some at a time: what each adds to the deviation of each share, and its weight."""
        n = np.where(self.n > 0, self.n, 1.0)
        weights = _cluster_sums(self.rows, by, self.weights)
        for residual, weight in zip(_cluster_sums(self.rows, by, self.residuals), weights, strict=True):
            yield residual / n * left_out(weight / n), weight


def win_rates(comparisons: Comparisons, *, policy: Policy = "average", level: float = LEVEL) -> tuple[WinRate, ...]:
    """One for each model over all its comparisons, in the order of `comparisons.models`; intervals clustered.

    Every comparison counts alike, so that an opponent met often weighs more: see `mean_win_rates`.
    """
    comparisons = _with_weight(comparisons)
    table = pair_table(comparisons).table
    outcomes = None if comparisons.crossed is not None else comparisons.once(outcomes_by_item)
    if outcomes is None:
        return named_rates(table, comparisons.models, tally(comparisons, policy).estimates(level))
    sums = ModelSums.of(table, policy)
    sums.add_outcomes(outcomes, outcomes > 0, policy)
    return named_rates(table, comparisons.models, sums.shares.estimates(level))


def win_rates_against(
    comparisons: Comparisons, baseline: str, *, policy: Policy = "average", level: float = LEVEL
) -> tuple[WinRate, ...]:
    """Of every other model against `baseline` alone; one that never met it has no rate.

    Raises ValueError where no model has that name.
    """
    if baseline not in comparisons.models:
        raise ValueError(f"No model is named {baseline!r}; there are {', '.join(comparisons.models)}.")
    code = comparisons.models.index(baseline)
    met = comparisons.rows((comparisons.model_a == code) | (comparisons.model_b == code))
    return tuple(rate for rate in win_rates(met, policy=policy, level=level) if rate.model != baseline)


def mean_win_rates(comparisons: Comparisons, *, level: float = LEVEL) -> tuple[WinRate, ...]:
    """The mean over the opponents met of the win rate against each, a tie half a win: an arena's average win rate.

    Every opponent weighs the same, however often it was met. The interval takes the opponents for a sample like the
    items, so that a model that met each opponent once still has one.
    """
    comparisons = _with_weight(comparisons)
    grouped = pair_table(comparisons)
    table = grouped.table
    cells = None if comparisons.crossed is not None else comparisons.once(cells_by_item)
    if cells is not None:
        sums, each = opponents_alike(table)
        worth = [worth_to_models(table, each, points) for points in ((1.0, 1.0, 1.0), POINTS["average"])]
        weight, won = (cells @ one for one in worth)
        sums.add(weight, won, weight > 0)
        return named_rates(table, comparisons.models, sums.shares.estimates(level))
    per_opponent = opponent_weights(table)
    of_row = (1.0 if comparisons.weight is None else comparisons.weight) / table.counts.sum(axis=1)[grouped.row]
    weights = of_row * per_opponent[comparisons.model_a], of_row * per_opponent[comparisons.model_b]
    return named_rates(
        table, comparisons.models, _tallied(comparisons, _scores(comparisons, 0.5), weights).estimates(level)
    )


def tally(comparisons: Comparisons, policy: Policy) -> WinTally:
    comparisons = _with_weight(comparisons)
    if policy == "visit":
        comparisons = comparisons.rows(comparisons.sign != 0)
    weight = comparisons.weight if comparisons.weight is not None else np.ones(len(comparisons))
    return _tallied(comparisons, _scores(comparisons, 0.5 if policy == "average" else 0.0), (weight, weight))


def _tallied(comparisons: Comparisons, scores: _Sides, weights: _Sides) -> WinTally:
    models = len(comparisons.models)
    one, other = comparisons.model_a, comparisons.model_b
    n = summed(one, weights[0], models) + summed(other, weights[1], models)
    won = summed(one, weights[0] * scores[0], models) + summed(other, weights[1] * scores[1], models)
    # Rounding may leave the share of a model that won everything a hair above 1.
    share = np.clip(won / np.where(n > 0, n, 1.0), 0.0, 1.0)
    return WinTally(
        rows=comparisons,
        share=share,
        n=n,
        items=played_and_items(comparisons)[1],
        weights=weights,
        residuals=(weights[0] * (scores[0] - share[one]), weights[1] * (scores[1] - share[other])),
    )


def _with_weight(comparisons: Comparisons) -> Comparisons:
    if comparisons.weight is None or comparisons.weight.all():
        return comparisons
    return comparisons.rows(comparisons.weight > 0)


def _scores(comparisons: Comparisons, tie: float) -> _Sides:
    points = np.array([0.0, tie, 1.0])
    return points[comparisons.sign + 1], points[1 - comparisons.sign]


def _cluster_sums(comparisons: Comparisons, by: Codes, residuals: _Sides) -> Iterator[FloatArray]:
    """Clusters x models, some at a time: the sum of the residuals."""
    models = len(comparisons.models)
    for block in item_blocks(by, int(by.max(initial=-1)) + 1, models):
        sums = np.zeros(block.items * models)
        for who, one in zip((comparisons.model_a, comparisons.model_b), residuals, strict=True):
            sums += summed(block.item * np.int32(models) + who[block.rows], one[block.rows], len(sums))
        yield sums.reshape(block.items, models)


def named_rates(table: PairTable, models: Sequence[str], estimates: Sequence[Estimate]) -> tuple[WinRate, ...]:
    """Under the models' names, with the counts of the table."""
    counts = table.of_models()
    return tuple(
        WinRate(
            model=model,
            win_rate=estimate,
            wins=float(counts[code, WIN]),
            losses=float(counts[code, LOSS]),
            ties=float(counts[code, TIE]),
        )
        for code, (model, estimate) in enumerate(zip(models, estimates, strict=True))
    )
