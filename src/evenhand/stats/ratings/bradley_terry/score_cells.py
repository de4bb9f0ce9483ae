"""Scores and information of comparisons, told once for all that are alike: one pair of models and one outcome."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import LikelihoodSlopes
from evenhand.stats.ratings.sums import FloatArray
from evenhand.stats.ratings.table import PairTable


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Factor:
    """A part of the curvature of each cell's log-likelihood: size times the square of lead + extras . parameters."""

    size: FloatArray
    lead: bool
    extras: FloatArray
    """Cells x E."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class CellScores:
    """Comparisons of one cell have one score: its pair of models, and its slopes and curvature for a weight of 1."""

    pairs: PairTable
    pair: IntArray
    pull: FloatArray
    extras: tuple[FloatArray, ...]
    factors: tuple[Factor, ...]

    @property
    def width(self) -> int:
        return self.pairs.models + len(self.extras)

    def leverage(self, bread: FloatArray) -> FloatArray:
        """Of each cell: the trace of its information times the inverse of all."""
        models = self.pairs.models
        one, other = self.pairs.first[self.pair], self.pairs.second[self.pair]
        own = np.diagonal(bread)
        apart = own[one] + own[other] - 2 * bread[one, other]
        beside, corner = bread[one, models:] - bread[other, models:], bread[models:, models:]
        found = np.zeros(len(self.pair))
        for factor in self.factors:
            along = np.einsum("ce,ef,cf->c", factor.extras, corner, factor.extras)
            if factor.lead:
                along += apart + 2 * np.einsum("ce,ce->c", beside, factor.extras)
            found += factor.size * along
        return found

    def bends(self) -> tuple[FloatArray, tuple[FloatArray, ...]]:
        """Of each cell: its information on a model's strength, and on each of the extras."""
        lead = np.zeros(len(self.pair)) + sum(factor.size for factor in self.factors if factor.lead)
        along = np.zeros((len(self.pair), len(self.extras)))
        for factor in self.factors:
            along += factor.size[:, None] * factor.extras**2
        return lead, tuple(np.ascontiguousarray(along.T))

    def information(self, cells: IntArray, weight: FloatArray, models: IntArray) -> FloatArray:
        """Of some cells with these weights: models as numbered there, then the extras."""
        size, extras = len(models), len(self.extras)
        width = size + extras
        one, other = (np.searchsorted(models, side[self.pair[cells]]) for side in (self.pairs.first, self.pairs.second))
        found = np.zeros((width, width))
        for factor in self.factors:
            bend, beside = factor.size[cells] * weight, factor.extras[cells]
            found[size:, size:] += beside.T @ (bend[:, None] * beside)
            if factor.lead:
                found.ravel()[:] -= np.bincount(one * width + other, weights=bend, minlength=width**2)
                for place, column in enumerate(beside.T, start=size):
                    edge = np.bincount(one, weights=bend * column, minlength=width)
                    found[:, place] += edge - np.bincount(other, weights=bend * column, minlength=width)
        # So far of each pair of models one side only, and nothing of a model with itself.
        inner = found[:size, :size] + found[:size, :size].T
        found[:size, :size] = inner - np.diag(inner.sum(axis=1))
        found[size:, :size] = found[:size, size:].T
        return found

    def factors_of(self, cells: IntArray, weight: FloatArray | None) -> tuple[Factor, ...]:
        """Of rows of these cells and weights, in place of the cells' own."""
        sizes = (factor.size.take(cells) for factor in self.factors)
        return tuple(
            replace(factor, size=size if weight is None else size * weight, extras=factor.extras.take(cells, axis=0))
            for factor, size in zip(self.factors, sizes, strict=True)
        )


def along(factors: Sequence[Factor], apart: FloatArray, beside: Sequence[FloatArray]) -> list[FloatArray]:
    """Of rows with these factors: what their information makes of parameters that are so far `apart` between the row's
    two models, and of these extras. As scores are told: by the difference of the two models, and by each of the extras.
    """
    lead, extras = np.zeros(len(apart)), [np.zeros(len(apart)) for _ in beside]
    for factor in factors:
        columns = factor.extras.T
        found = apart * factor.size if factor.lead else np.zeros(len(apart))
        for column, own in zip(columns, beside, strict=True):
            found += factor.size * column * own
        if factor.lead:
            lead += found
        for place, column in enumerate(columns):
            extras[place] += found * column
    return [lead, *extras]


def likelihood_cells(table: PairTable, slopes: LikelihoodSlopes) -> CellScores:
    """Three cells for each row of the table: lost, tied, won."""
    extras = [(slopes.by_difference * column[:, None]).ravel() for column in table.covariates.T]
    if slopes.by_log_tie is not None:
        extras.append(slopes.by_log_tie.ravel())
    pairs, pair = distinct_pairs(table)
    return CellScores(
        pairs=pairs,
        pair=np.repeat(pair, 3),
        pull=slopes.by_difference.ravel(),
        extras=tuple(extras),
        factors=tuple(
            Factor(size=np.repeat(one.size, 3), lead=one.lead, extras=np.repeat(one.extras, 3, axis=0))
            for one in _factors(table, slopes)
        ),
    )


def _factors(table: PairTable, slopes: LikelihoodSlopes) -> Iterator[Factor]:
    """Of each row of the table; with Davidson's ties the curvature by difference and log_tie is two squares."""
    if slopes.curvature_mixed is None or slopes.curvature_tie is None:
        yield Factor(size=slopes.curvature, lead=True, extras=table.covariates)
        return
    curved = slopes.curvature > 0
    slant = np.divide(slopes.curvature_mixed, slopes.curvature, out=np.zeros(len(table)), where=curved)
    yield Factor(size=slopes.curvature, lead=True, extras=np.column_stack((table.covariates, slant)))
    left = np.maximum(slopes.curvature_tie - slant * slopes.curvature_mixed, 0.0)
    yield Factor(size=left, lead=False, extras=np.eye(1 + table.covariates.shape[1])[[-1] * len(table)])


def distinct_pairs(table: PairTable) -> tuple[PairTable, IntArray]:
    """Each pair of models once, and the place of each row's pair among them."""
    if not table.covariates.shape[1]:
        return table, np.arange(len(table))
    keys = table.first.astype(np.int64) * table.models + table.second
    _, one, place = np.unique(keys, return_index=True, return_inverse=True)
    first_rows = np.zeros(len(table), dtype=np.bool_)
    first_rows[one] = True
    # Rows stand in order of their pairs, so a pair's number is its place among the first rows.
    return table.rows(first_rows), place.ravel().astype(np.int64)
