"""The sandwich's filling where every row is its own cluster, and what any filling is: see `sandwich`."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.stats.intervals import left_out
from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import LikelihoodSlopes, laplacian, spread_over_models
from evenhand.stats.ratings.bradley_terry.score_cells import CellScores, likelihood_cells
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import PairTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ScoreVectors:
    product: FloatArray
    """Sum over clusters of score score'; models, then slopes, then log_tie."""
    clusters: int
    clusters_of: IntArray
    """Of each model: the clusters it appears in."""
    weight: FloatArray
    """Of each parameter: the sum of its clusters' information."""
    squares: FloatArray
    """The same of its squares."""

    def plus(self, other: "ScoreVectors") -> "ScoreVectors":
        """With those of other clusters."""
        return ScoreVectors(
            product=self.product + other.product,
            clusters=self.clusters + other.clusters,
            clusters_of=self.clusters_of + other.clusters_of,
            weight=self.weight + other.weight,
            squares=self.squares + other.squares,
        )

    @property
    def effective(self) -> FloatArray:
        """Of each parameter: the number of clusters of equal weight that would tell as much about the spread."""
        return np.divide(self.weight**2, self.squares, out=np.zeros_like(self.weight), where=self.squares > 0)


def unclustered_scores(
    table: PairTable, slopes: LikelihoodSlopes, bread: FloatArray, rows_of: IntArray
) -> ScoreVectors:
    """Every row its own cluster, from the table alone; `rows_of`: of each model, how many rows it is in."""
    cells, weight = likelihood_cells(table, slopes), table.counts.sum(axis=1)
    usual = np.divide(table.squares.sum(axis=1), weight, out=np.zeros(len(table)), where=weight > 0)
    leverage = cells.leverage(bread).reshape(-1, 3)[:, 0] * usual
    counted = table.squares * enlargement(leverage, np.array(len(cells.factors)))[:, None] ** 2
    squares = np.einsum("ro,ro->r", counted, slopes.by_difference**2)
    mixed = [squares * column for column in table.covariates.T]
    corner = table.covariates.T @ (squares[:, None] * table.covariates)
    if slopes.by_log_tie is not None:
        with_tie = np.einsum("ro,ro->r", counted, slopes.by_difference * slopes.by_log_tie)
        tie = np.einsum("ro,ro->", counted, slopes.by_log_tie**2)
        edge = (table.covariates.T @ with_tie)[:, None]
        corner = np.block([[corner, edge], [edge.T, np.array([[tie]])]])
        mixed.append(with_tie)
    lead, along = cells.bends()
    bends = [lead[::3], *(one[::3] for one in along)]
    each, square = weight, table.squares.sum(axis=1)
    return ScoreVectors(
        product=assembled(table, squares, mixed, corner),
        clusters=int(rows_of.sum()) // 2,
        clusters_of=rows_of,
        weight=of_parameters(table, [bend * each for bend in bends]),
        squares=of_parameters(table, [bend**2 * square for bend in bends]),
    )


def of_parameters(table: PairTable, of_rows: Sequence[FloatArray]) -> FloatArray:
    """Of each model the sum over its rows of the first column, then the sums of the others."""
    lead, *extras = of_rows
    models = summed(table.first, lead, table.models) + summed(table.second, lead, table.models)
    return np.concatenate((models, [float(one.sum()) for one in extras]))


def single_scores(cells: CellScores, count: FloatArray, bread: FloatArray) -> ScoreVectors:
    """Every comparison its own cluster: so many of each cell, each of weight 1."""
    bend, extra_bends = cells.bends()
    bends = (bend, *extra_bends)
    rank = np.minimum(sum((one > 0).astype(np.int64) for one in bends), len(cells.factors))
    grown = np.sqrt(count) * enlargement(cells.leverage(bread), rank)
    pairs, pair, many = cells.pairs, cells.pair, len(cells.pairs)
    pull, extras = cells.pull * grown, [extra * grown for extra in cells.extras]
    corner = np.array([[one @ other for other in extras] for one in extras]).reshape(len(extras), len(extras))
    return ScoreVectors(
        product=assembled(
            pairs, summed(pair, pull**2, many), [summed(pair, pull * extra, many) for extra in extras], corner
        ),
        clusters=int(count.sum()),
        clusters_of=np.diagonal(laplacian(pairs, summed(pair, count, many))).astype(np.int64),
        weight=of_parameters(pairs, [summed(pair, one * count, many) for one in bends]),
        squares=of_parameters(pairs, [summed(pair, one**2 * count, many) for one in bends]),
    )


def enlargement(trace: FloatArray, rank: IntArray) -> FloatArray:
    """What a score is multiplied by if its cluster's leverage is spread evenly over so many parameters."""
    return left_out(trace / np.maximum(rank, 1))


def assembled(table: PairTable, squares: FloatArray, mixed: Sequence[FloatArray], corner: FloatArray) -> FloatArray:
    """Sums by pair as one symmetric matrix."""
    edges = [spread_over_models(table, one) for one in mixed]
    if not edges:
        return laplacian(table, squares)
    edge = np.stack(edges, axis=1)
    return np.block([[laplacian(table, squares), edge], [edge.T, corner]])
