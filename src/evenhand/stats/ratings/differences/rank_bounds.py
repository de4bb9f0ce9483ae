"""Between which ranks a model might stand if the verdicts that are missing had all gone one way."""

from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.identity import Json
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray, structure
from evenhand.stats.ratings.bradley_terry.likelihood import Ties
from evenhand.stats.ratings.bradley_terry.placement import core_models, estimated_ranks
from evenhand.stats.ratings.bradley_terry.solution import Solution, solve
from evenhand.stats.ratings.codes import Codes
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.sums import FloatArray, summed
from evenhand.stats.ratings.table import TIE, WIN, pair_table

Method: TypeAlias = Literal["bradley-terry", "win-rate"]

REFITTED = 100
"""Models up to which Bradley-Terry is fitted anew, twice for each model with missing verdicts."""

_HAIR = 1e-9
"""Equal shares come out a rounding error apart."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Missing:
    """Comparisons wanted without a verdict; codes as in the Comparisons they are missing from."""

    model_a: Codes
    model_b: Codes

    def __post_init__(self) -> None:
        if self.model_a.shape != self.model_b.shape:
            raise ValueError(f"Two columns of one length are needed, not {self.model_a.shape}, {self.model_b.shape}.")
        alike = self.model_a == self.model_b
        if alike.any():
            raise ValueError(f"Missing row {int(alike.argmax()) + 1} compares a model with itself.")


@dataclass(frozen=True, slots=True, kw_only=True)
class RankBounds:
    rating: float | None
    """Points, or a share for win rates; None: no finite one."""
    rank: int | None
    """Within the model's component as it then is; None: no battles."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RankBand:
    model: str
    missing: int
    """Its comparisons without a verdict."""
    worst: RankBounds
    """As if it had lost all of those."""
    best: RankBounds
    """As if it had won them."""

    def as_json(self) -> dict[str, Json]:
        return {
            "missing": self.missing,
            "rating_worst": self.worst.rating,
            "rating_best": self.best.rating,
            "rank_worst": self.worst.rank,
            "rank_best": self.best.rank,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    bands: tuple[RankBand, ...]
    """In the order of the comparisons' models."""
    method: Method
    """What ratings and ranks are of; win rates also where there are too many models to fit anew."""
    notes: tuple[str, ...]


def bands(
    comparisons: Comparisons,
    missing: Missing,
    *,
    method: Method = "bradley-terry",
    ties: Ties = "half",
    scale: Scale | None = None,
) -> Bands:
    """For each model, all its own missing comparisons go to it, then all against it; those of others are left out.

    A band is no interval: it holds whatever the missing verdicts would have been for this model, and says nothing about
    chance. A model without missing comparisons stands where it does.
    """
    counts = missing_counts(missing, len(comparisons.models))
    notes = [
        "If own missing: a model's ranks if all its own missing verdicts went to it, and if all went against it, those "
        "of other models left out; not the worst that all of them together could do."
    ]
    used: Method = method
    if method == "bradley-terry" and len(comparisons.models) > REFITTED:
        used = "win-rate"
        notes.append(f"With more than {REFITTED} models the bands are of win rates, not of ratings fitted anew.")
    if used == "win-rate":
        worst, best = (_win_rate_standings(comparisons, counts, won=won) for won in (False, True))
    else:
        worst, best = _refitted(comparisons, counts, ties, scale or Scale())
    return Bands(
        bands=tuple(
            RankBand(model=model, missing=int(counts[code].sum()), worst=worst[code], best=best[code])
            for code, model in enumerate(comparisons.models)
        ),
        method=used,
        notes=tuple(notes) if counts.any() else (),
    )


def missing_counts(missing: Missing, models: int) -> FloatArray:
    """M x M: how many comparisons of two models are missing."""
    pairs = missing.model_a.astype(np.int64) * models + missing.model_b
    one_way = summed(pairs, None, models * models).reshape(models, models)
    return one_way + one_way.T


def _win_rate_standings(comparisons: Comparisons, counts: FloatArray, *, won: bool) -> list[RankBounds]:
    table = pair_table(comparisons).table
    of_models = table.of_models()
    points, played = of_models[:, WIN] + of_models[:, TIE] / 2, of_models.sum(axis=1)
    own = counts.sum(axis=1)
    share = _ratio(points + own * won, played + own)
    # [m, o]: the share of model o where the missing comparisons of m are decided.
    others = _ratio(points[None, :] + counts * (not won), played[None, :] + counts)
    better = _joined(structure(table).component, counts) & (others > share[:, None] + _HAIR)
    ranks = 1 + (better & ~np.eye(len(own), dtype=np.bool_)).sum(axis=1)
    return [
        RankBounds(rating=float(share[code]), rank=int(ranks[code]))
        if played[code] + own[code]
        else RankBounds(rating=None, rank=None)
        for code in range(len(own))
    ]


def _ratio(part: FloatArray, whole: FloatArray) -> FloatArray:
    return np.divide(part, whole, out=np.full(np.broadcast(part, whole).shape, np.nan), where=whole > 0)


def _joined(component: IntArray, counts: FloatArray) -> BoolArray:
    """[m, o]: model o is in m's component, or in one that m's missing comparisons join to it."""
    alone = component < 0
    own = np.where(alone, component.max(initial=-1) + np.cumsum(alone), component)
    touched = np.zeros((len(own), int(own.max(initial=-1)) + 1), dtype=np.bool_)
    touched[np.arange(len(own)), own] = True
    model, opponent = np.nonzero(counts)
    touched[model, own[opponent]] = True
    return touched[:, own]


def _refitted(
    comparisons: Comparisons, counts: FloatArray, ties: Ties, scale: Scale
) -> tuple[list[RankBounds], list[RankBounds]]:
    cells = pair_cells(comparisons)
    solution = solve(cells, ties=ties)
    usual = _standings(solution, scale)
    worst, best = list(usual), list(usual)
    for code in np.flatnonzero(counts.any(axis=1)).tolist():
        for sign, standing in ((-1, worst), (1, best)):
            decided = with_verdicts(cells, counts[code], code, sign)
            standing[code] = _standings(solve(decided, ties=ties, near=solution.fit.strength), scale)[code]
    return worst, best


def pair_cells(comparisons: Comparisons) -> Comparisons:
    """The same results, a row for each pair and outcome: as good for a fit, and far fewer."""
    table = pair_table(comparisons).table
    row, column = np.nonzero(table.counts)
    return Comparisons(
        models=comparisons.models,
        model_a=table.first[row],
        model_b=table.second[row],
        sign=(column - 1).astype(np.int8),
        weight=table.counts[row, column],
    )


def with_verdicts(cells: Comparisons, counts: FloatArray, code: int, sign: int) -> Comparisons:
    """All missing comparisons of one model decided for it (1) or against it (-1)."""
    opponents = np.flatnonzero(counts)
    assert cells.weight is not None
    return replace(
        cells,
        model_a=np.concatenate((cells.model_a, np.full(len(opponents), code))).astype(np.int32),
        model_b=np.concatenate((cells.model_b, opponents)).astype(np.int32),
        sign=np.concatenate((cells.sign, np.full(len(opponents), sign))).astype(np.int8),
        weight=np.concatenate((cells.weight, counts[opponents])),
    )


def _standings(solution: Solution, scale: Scale) -> list[RankBounds]:
    models = solution.everything.models
    component, ranks = solution.structure.component, estimated_ranks(solution)
    value = np.where(core_models(solution), scale.start + scale.unit * solution.fit.strength, np.nan)
    if scale.anchor in models:
        anchor = models.index(scale.anchor)
        value[component == component[anchor]] += scale.anchor_value - value[anchor]
    return [
        RankBounds(
            rating=float(value[code]) if np.isfinite(value[code]) else None,
            rank=int(ranks[code]) if component[code] >= 0 else None,
        )
        for code in range(len(value))
    ]
