"""Whether the models of Bradley and Terry, and of five levels, fit the verdicts: how far they are off, and where.

A p-value alone says how many verdicts there are. So each test comes with its size: how much items differ, how far pairs
lie from what the ratings say, how much more a lead counts for one level than for another.
"""

import math
from dataclasses import dataclass

import numpy as np

from evenhand.domain.identity import Json
from evenhand.format.words import per_cent
from evenhand.stats.ratings.bradley_terry.components import IntArray
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, centred_inverse, laplacian
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry
from evenhand.stats.ratings.sums import FloatArray, summed, summed_each
from evenhand.stats.ratings.table import PairTable, pair_table

LEVEL = 0.05
_DRAWS, _FEW_DRAWS = 999, 199
_FEW_ROWS = 20_000
"""Up to so many rows the larger number is drawn."""
_AT_ONCE = 100_000
"""Rows of all draws that are made together."""
_LEAST_ITEMS = 6
_TOLD = 3
_STRIKING = 2.5
"""Standard deviations from which a pair is worth a look."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FitTest:
    name: str
    p_value: float | None
    size: float | None
    """In the unit that `unit` names; 0 where chance alone would look so."""
    unit: str
    test: str
    reason: str | None = None
    """Why there is no test."""
    look: tuple[str, ...] = ()
    """What lies furthest off."""

    @property
    def fits(self) -> bool | None:
        return None if self.p_value is None else self.p_value > LEVEL

    def as_json(self) -> dict[str, Json]:
        return {
            "name": self.name,
            "fits": self.fits,
            "p_value": self.p_value,
            "size": self.size,
            "unit": self.unit,
            "test": self.test,
            "reason": self.reason,
            "look": list(self.look),
        }


def untested(name: str, unit: str, reason: str) -> FitTest:
    return FitTest(name=name, p_value=None, size=None, unit=unit, test="none", reason=reason)


def same_on_every_item(rated: BradleyTerry, *, seed: int = 0) -> FitTest:
    """Whether a model is as strong on one item as on another: do its results on one item go together?

    All verdicts on one item and pair are one result, less the pair's mean over items, so that neither repeats nor a
    misfit of the pair count. If items are alike, a pair's results may as well stand at other items: they are exchanged
    within pairs. The size is the standard deviation of a model's strength over items, in points.
    """
    name, unit = "items", "points, standard deviation of a model's strength over items"
    rows = rated.solution.comparisons
    if rows.item is None:
        return untested(name, unit, "no items are named")
    results = _results(rated)
    if results is None:
        return untested(name, unit, "no model met two others on one item")
    observed = float(results.together(results.residual[np.newaxis])[0])
    expected = results.products(results.slope)
    spread = math.sqrt(max(results.products(results.variance), 0.0))
    if expected <= 0 or spread <= 0:
        return untested(name, unit, "no model met two others on one item with results that differ")
    rng = np.random.default_rng(seed)
    if len(results.residual) <= _FEW_ROWS:
        as_far = sum(
            int((results.together(results.exchanged(rng, draws)) >= observed).sum())
            for draws in _portions(_DRAWS, len(results.residual))
        )
        p_value = (1 + as_far) / (_DRAWS + 1)
        test = f"results exchanged between items within pairs, {_DRAWS} draws, seed {seed}"
    else:
        p_value = 0.5 * math.erfc(observed / spread / math.sqrt(2))
        test = "sum of products of results on one item, normal"
    size = math.sqrt(max(observed / expected, 0.0)) * rated.scale.unit
    return FitTest(name=name, p_value=float(p_value), size=size, unit=unit, test=test)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Results:
    """Of an item and a pair each: one result."""

    pair: IntArray
    """Ascending, so that those of a pair stand together."""
    one: IntArray
    """Item and model, numbered together; `other` of the pair's other model."""
    other: IntArray
    places: int
    residual: FloatArray
    slope: FloatArray
    """By strength."""
    variance: FloatArray

    def together(self, residuals: FloatArray) -> FloatArray:
        """Of each row of residuals the sum of products of two results of a model on an item."""
        sums = summed_each(self.one, residuals, self.places) - summed_each(self.other, residuals, self.places)
        return ((sums**2).sum(axis=1) - 2 * (residuals**2).sum(axis=1)) / 2

    def products(self, size: FloatArray) -> float:
        sums = summed(self.one, size, self.places) + summed(self.other, size, self.places)
        return float((sums**2).sum() - 2 * (size**2).sum()) / 2

    def exchanged(self, rng: np.random.Generator, draws: int) -> FloatArray:
        """A row for each draw."""
        lots = rng.random((draws, len(self.pair)))
        return self.residual[np.argsort(self.pair + lots, axis=1)]


def _results(rated: BradleyTerry) -> _Results | None:
    rows = rated.solution.comparisons
    assert rows.item is not None
    models, items = len(rows.models), int(rows.item.max(initial=-1)) + 1
    low, high = np.minimum(rows.model_a, rows.model_b), np.maximum(rows.model_a, rows.model_b)
    sign = np.where(rows.model_a == low, rows.sign, -rows.sign).astype(np.float64)
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    key = (low.astype(np.int64) * models + high) * items + rows.item
    found, place = np.unique(key, return_inverse=True)
    score = (1 + summed(place, weight * sign, len(found)) / summed(place, weight, len(found))) / 2
    pairs, pair = np.unique(found // items, return_inverse=True)
    number = np.bincount(pair)
    mean = summed(pair, score, len(pairs)) / number
    residual = score - mean[pair]
    # Less a degree for the mean.
    variance = summed(pair, residual**2, len(pairs)) / np.maximum(number - 1, 1)
    item, strength = found % items, rated.solution.fit.strength
    one, other = pairs // models, pairs % models
    chance = 1 / (1 + np.exp(np.clip(strength[other] - strength[one], -50, 50)))
    slope = np.where(number > 1, chance * (1 - chance) * (1 - 1 / number), 0.0)
    places, spot = np.unique(
        np.concatenate((item * models + one[pair], item * models + other[pair])), return_inverse=True
    )
    if len(places) == 2 * len(found):
        return None
    return _Results(
        pair=pair,
        one=spot[: len(found)],
        other=spot[len(found) :],
        places=len(places),
        residual=residual,
        slope=slope[pair],
        variance=variance[pair],
    )


def ratings_tell_every_pair(rated: BradleyTerry, *, seed: int = 0) -> FitTest:
    """Whether pairs win against each other as often as one rating for each model says: A beats B beats C beats A.

    The pairs' results less what the ratings say, squared and added up, against the same with the items' signs flipped,
    what the fit takes away taken away again. The size is how far pairs' win rates lie off beyond chance, in points of
    100, root mean square over verdicts.
    """
    name, unit = "pairs", "points of 100, win rates of pairs against what the ratings say"
    rows, found = rated.solution.comparisons, rated.solution.structure
    grouped = pair_table(rows)
    table = grouped.table
    free = len(table) - sum(len(found.members(int(one))) - 1 for one in np.unique(found.group))
    if free < 1:
        return untested(name, unit, "no pair of models is left over once the ratings are fitted")
    item = np.arange(len(rows)) if rows.item is None else rows.item.astype(np.int64)
    items, item = _numbered(item)
    if items < _LEAST_ITEMS:
        return untested(name, unit, f"fewer than {_LEAST_ITEMS} items")
    strength = rated.solution.fit.strength
    gap = strength[table.first] - strength[table.second]
    chance = 1 / (1 + np.exp(np.clip(-gap, -50, 50)))
    weight = np.ones(len(rows)) if rows.weight is None else rows.weight
    played = table.counts.sum(axis=1)
    curvature = played * chance * (1 - chance)
    try:
        inverse = centred_inverse(laplacian(table, curvature), found.group)
    except NoFiniteFit:
        return untested(name, unit, "the ratings have no finite fit")
    pull = weight * ((grouped.sign + 1) / 2 - chance[grouped.row])
    observed = summed(grouped.row, pull, len(table))
    rng = np.random.default_rng(seed)
    draws = _DRAWS if len(rows) <= _FEW_ROWS else _FEW_DRAWS
    flipped = np.concatenate(
        [
            _left_over(table, summed_each(grouped.row, pull * signs[:, item], len(table)), inverse, curvature)
            for portion in _portions(draws, len(rows))
            for signs in (2.0 * rng.integers(0, 2, (portion, items)) - 1.0,)
        ]
    )
    known = curvature > 0
    misfit, chances = (
        np.divide(part**2, curvature, out=np.zeros_like(part), where=known).sum(axis=-1) for part in (observed, flipped)
    )
    p_value = (1 + int((chances >= misfit * (1 - 1e-9)).sum())) / (draws + 1)
    usual = (flipped**2).mean(axis=0)
    beyond = float(((observed**2 - usual) / played).sum() / played.sum())
    return FitTest(
        name=name,
        p_value=p_value,
        size=100 * math.sqrt(max(beyond, 0.0)),
        unit=unit,
        test=f"sign flips of items, {draws} draws, seed {seed}",
        look=_striking(rated, table, observed, usual, chance) if p_value <= LEVEL else (),
    )


def _numbered(item: IntArray) -> tuple[int, IntArray]:
    distinct, place = np.unique(item, return_inverse=True)
    return len(distinct), place.astype(np.int64)


def _portions(draws: int, rows: int) -> list[int]:
    """How many draws are made at once: of few rows many, as each step takes its time however little there is to do."""
    at_once = max(1, _AT_ONCE // max(rows, 1))
    return [min(at_once, draws - start) for start in range(0, draws, at_once)]


def _left_over(table: PairTable, pulls: FloatArray, inverse: FloatArray, curvature: FloatArray) -> FloatArray:
    """What of each row's pull on the pairs no change of strengths could explain."""
    first, second, models = table.first, table.second, table.models
    on_models = summed_each(first, pulls, models) - summed_each(second, pulls, models)
    moved = (inverse[:models, :models] @ on_models[:, :, np.newaxis])[:, :, 0]
    return pulls - curvature * (moved[:, first] - moved[:, second])


def _striking(
    rated: BradleyTerry, table: PairTable, observed: FloatArray, usual: FloatArray, chance: FloatArray
) -> tuple[str, ...]:
    names, played = rated.solution.everything.models, table.counts.sum(axis=1)
    far = np.divide(np.abs(observed), np.sqrt(usual), out=np.zeros_like(observed), where=usual > 0)
    return tuple(
        f"{names[table.first[row]]} against {names[table.second[row]]}: won "
        f"{per_cent(float(chance[row] + observed[row] / played[row]), decimals=0)}, the ratings say "
        f"{per_cent(float(chance[row]), decimals=0)}"
        for row in np.argsort(-far, kind="stable")[:_TOLD].tolist()
        if far[row] > _STRIKING
    )
