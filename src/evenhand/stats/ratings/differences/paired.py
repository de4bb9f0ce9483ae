"""Whether one model is better than another, item by item, all showings of an item joined to one result first.

Where rows are clustered by raters too, or by something else than items, the interval counts those, and the test flips
their signs as that of `neighbours` does: three raters who like one model are no more than three.
"""

import math
from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL, Range, clustered_mean
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.neighbours import Groupings, largest_flip_test
from evenhand.stats.ratings.sums import FloatArray, summed

_BOTH_WAYS = Range(low=-1.0, high=1.0)

_EXACT = 16
"""Items with a difference up to which all sign flips are counted out, 65,536 of them."""
_FLIPS = 9_999
_NUMBERS = 4_000_000
"""Held at once."""
_HAIR = 1e-9
"""Sums of the same numbers in another order differ by less."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PairedTest:
    model: str
    other: str
    baseline: str | None
    """Through which the two are compared; None: they met."""
    difference: Estimate
    """Mean over items, -1 to 1, in favour of `model`: won less lost, or what it scored against the baseline less what
    the other did, a tie one half."""
    wins: int
    """Items in favour of `model`."""
    losses: int
    ties: int
    p_value: float | None
    """Two-sided; None without items, and with too few raters to test by."""
    test: str

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.model,
            "other": self.other,
            "baseline": self.baseline,
            **self.difference.as_json("difference"),
            "wins": self.wins,
            "losses": self.losses,
            "ties": self.ties,
            "p_value": self.p_value,
            "test": self.test,
        }


def paired(comparisons: Comparisons, model: str, other: str, *, level: float = LEVEL) -> PairedTest:
    """The two models where they met, by the sign test: the exact binomial probability over the items not tied.

    An item's result is the mean of its votes, of all orders and raters; its sign says who won it. Without items every
    row is one. Raises ValueError on a name that is none of the models'.
    """
    found = _results(comparisons, _code(comparisons, model), _code(comparisons, other))
    results = found.value
    wins, losses = int((results > _HAIR).sum()), int((results < -_HAIR).sum())
    test = PairedTest(
        model=model,
        other=other,
        baseline=None,
        difference=_mean(results, level, missing=f"{model} and {other} never met"),
        wins=wins,
        losses=losses,
        ties=len(results) - wins - losses,
        p_value=_sign_test(wins, losses) if len(results) else None,
        test="sign test, exact",
    )
    return _as_clustered(test, comparisons, found.sign, found.share, level=level)


def paired_through(
    comparisons: Comparisons, model: str, other: str, baseline: str, *, level: float = LEVEL, seed: int = 0
) -> PairedTest:
    """The two models on the items where both met `baseline`, by a permutation test of the mean difference.

    If the two were alike, each item's difference might as well have the other sign: the p-value is the share of all
    sign flips, or of 9,999 drawn ones and the observed, whose mean is as far from 0. Raises ValueError on a name that
    is none of the models'.
    """
    ours, theirs, base = (_code(comparisons, name) for name in (model, other, baseline))
    if comparisons.item is None:
        gaps, missing = np.zeros(0), "no items are named, so no two rows are of one"
        sign = share = np.zeros(len(comparisons))
    else:
        one, two = _results(comparisons, ours, base), _results(comparisons, theirs, base)
        gaps, both = _shared_gaps(one, two) / 2, np.isin(comparisons.item, np.intersect1d(one.item, two.item))
        sign, share = one.sign - two.sign, (one.share + two.share) * both / 2
        missing = f"{model} and {other} met {baseline} on no item both"
    gaps = np.where(np.abs(gaps) > _HAIR, gaps, 0.0)
    exact = int(np.count_nonzero(gaps)) <= _EXACT
    test = PairedTest(
        model=model,
        other=other,
        baseline=baseline,
        difference=_mean(gaps, level, missing=missing),
        wins=int((gaps > 0).sum()),
        losses=int((gaps < 0).sum()),
        ties=int((gaps == 0).sum()),
        p_value=_sign_flips(gaps, seed, exact=exact) if len(gaps) else None,
        test="sign flips, exact" if exact else f"sign flips, {_FLIPS} draws, seed {seed}",
    )
    return _as_clustered(test, comparisons, sign, share, level=level, seed=seed)


def _as_clustered(
    test: PairedTest, comparisons: Comparisons, sign: FloatArray, share: FloatArray, *, level: float, seed: int = 0
) -> PairedTest:
    """The interval and the p-value by what rows are clustered by, where that is not items alone."""
    if (comparisons.cluster is None and comparisons.crossed is None) or test.difference.value is None:
        return test
    told = share > 0
    rows, sign, share = comparisons.rows(told), sign[told], share[told]
    by = np.arange(len(rows)) if rows.grouped_by is None else rows.grouped_by.astype(np.int64)
    crossed = None if rows.crossed is None else rows.crossed.astype(np.int64)
    flips = largest_flip_test(Groupings.of(rows).nets(sign * share), seed)
    # Where every cluster is level with itself, no sign tells anything.
    p_value = 1.0 if flips.p_value is None and not flips.items else flips.p_value
    mean = clustered_mean(sign, by, weights=share, crossed_with=crossed, within=_BOTH_WAYS, level=level)
    return replace(test, difference=mean, p_value=p_value, test=flips.test)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Results:
    item: IntArray
    """Ascending."""
    value: FloatArray
    """-1 to 1."""
    sign: FloatArray
    """Of all rows, in favour of the first; 0 where the two did not meet."""
    share: FloatArray
    """Of all rows: how much of its item's result the row is."""


def _code(comparisons: Comparisons, name: str) -> int:
    if name not in comparisons.models:
        raise ValueError(f"No model is named {name!r}; there are {', '.join(comparisons.models)}.")
    return comparisons.models.index(name)


def _results(comparisons: Comparisons, ours: int, theirs: int) -> _Results:
    """Of each item on which the two met: the weighted mean of its signs in favour of `ours`."""
    ahead: BoolArray = (comparisons.model_a == ours) & (comparisons.model_b == theirs)
    behind: BoolArray = (comparisons.model_a == theirs) & (comparisons.model_b == ours)
    rows = ahead | behind
    if comparisons.weight is not None:
        rows &= comparisons.weight > 0
    facing = np.where(ahead, comparisons.sign, -comparisons.sign) * rows.astype(np.float64)
    sign = facing[rows]
    weight = np.ones(len(sign)) if comparisons.weight is None else comparisons.weight[rows]
    labels = np.flatnonzero(rows) if comparisons.item is None else comparisons.item[rows].astype(np.int64)
    item, place = np.unique(labels, return_inverse=True)
    whole = summed(place, weight, len(item))
    share = np.zeros(len(rows))
    share[rows] = weight / whole[place]
    return _Results(item=item, value=summed(place, weight * sign, len(item)) / whole, sign=facing, share=share)


def _shared_gaps(ours: _Results, theirs: _Results) -> FloatArray:
    _, one, other = np.intersect1d(ours.item, theirs.item, assume_unique=True, return_indices=True)
    return ours.value[one] - theirs.value[other]


def _mean(values: FloatArray, level: float, *, missing: str) -> Estimate:
    if not len(values):
        return Estimate(value=None, reason=missing)
    return clustered_mean(values, np.arange(len(values)), within=_BOTH_WAYS, level=level)


def _sign_test(wins: int, losses: int) -> float:
    """P(at most min of the two or at least max) of wins + losses fair coins."""
    decided, fewer = wins + losses, min(wins, losses)
    if wins == losses:
        return 1.0
    count = np.arange(fewer, dtype=np.float64)
    log_choices = np.concatenate(([0.0], np.cumsum(np.log((decided - count) / (count + 1)))))
    return min(1.0, 2 * float(np.exp(log_choices - decided * math.log(2)).sum()))


def _sign_flips(gaps: FloatArray, seed: int, *, exact: bool) -> float:
    observed = abs(float(gaps.sum())) - _HAIR
    sizes, times = np.unique(np.round(np.abs(gaps[gaps != 0]), 12), return_counts=True)
    if exact:
        sums = np.zeros(1)
        for size in np.repeat(sizes, times):
            sums = np.concatenate((sums + size, sums - size))
        return float((np.abs(sums) >= observed).mean())
    rng = np.random.default_rng(seed)
    at_once = max(_NUMBERS // len(sizes), 1)
    as_far = 1
    for start in range(0, _FLIPS, at_once):
        # Equal differences are flipped together: how many of them stay positive is binomial.
        kept = rng.binomial(times, 0.5, size=(min(at_once, _FLIPS - start), len(sizes)))
        as_far += int((np.abs((2 * kept - times) @ sizes) >= observed).sum())
    return as_far / (_FLIPS + 1)
