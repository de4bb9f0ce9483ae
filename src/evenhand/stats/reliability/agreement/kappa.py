"""Cohen's kappa, plain and weighted, and Gwet's AC1 of two raters on the same cases; clustered by item."""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, MANY, UNSEEN, Basis, left_out, reach, wilson
from evenhand.stats.reliability.grade_score.option_rows import FloatArray, IntArray

Weighting: TypeAlias = Literal["none", "quadratic"]

MOST_VALUES = 2_000
"""Different values that a table of every pair of them can hold."""

FEWEST_OUTSIDE = 15
"""Cases that each rater must have put outside its largest class, for kappa to have an interval: with fewer, intervals
of any kind that was tried (delta method, Fisher's z, smoothed tables, bootstrap) miss the truth too often."""

FEWEST_ITEMS_OUTSIDE = 3
"""Items that those cases must be worth, by their share: with fewer, a class that is bound to items may not be met."""

SIGNS = 3
"""Classes of a verdict's sign: better, equal, worse."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Table:
    shares: FloatArray
    cost: FloatArray
    """What a pair of different verdicts costs."""

    @property
    def observed(self) -> float:
        return float((self.shares * self.cost).sum())

    @property
    def expected(self) -> float:
        return float(self.shares.sum(axis=1) @ self.cost @ self.shares.sum(axis=0))

    def influence(self) -> FloatArray:
        """What one more case in a cell does to kappa, times the number of cases."""
        by_row, by_column = self.cost @ self.shares.sum(axis=0), self.shares.sum(axis=1) @ self.cost
        moved = by_row[:, None] + by_column[None, :] - 2 * self.expected
        return (self.observed * moved / self.expected - (self.cost - self.observed)) / self.expected


def cohens_kappa(
    one: FloatArray,
    other: FloatArray,
    item: IntArray,
    *,
    weighting: Weighting = "none",
    either_way: bool = False,
    level: float = LEVEL,
) -> Estimate:
    """1 - observed / expected disagreement (Cohen 1960 and 1968); 0 for verdicts that have nothing in common.

    Weighted kappa is the quadratic one, which takes means of several people as they are
    and does not depend on how they are binned. Distances are those of the values themselves. The interval is the delta
    method's, clustered by item, on Fisher's z; there is none, with its reason, where a rater put fewer than
    FEWEST_OUTSIDE cases outside its largest class.

    `either_way`: the sign of a case hangs on which of its two sides is named first, and nothing says which: every case
    then counts half one way round and half the other.
    """
    _refuse_lengths(one, other, item)
    if not len(one):
        return Estimate(value=None, reason="no cases")
    values, row, column = _coded(one, other, either_way=either_way)
    if len(values) > MOST_VALUES:
        raise ValueError(f"Kappa takes at most {MOST_VALUES} different values, not {len(values)}.")
    counts = np.bincount(row * len(values) + column, minlength=len(values) ** 2).reshape(len(values), -1)
    shares = (counts + counts[::-1, ::-1]) / 2 if either_way else counts
    table = _Table(shares=shares / len(one), cost=_cost(values, weighting))
    if table.expected == 0:
        return Estimate(value=None, n=len(one), reason="both raters gave one and the same verdict throughout")
    # With a rater who always says the same kappa is 0 whatever the other says, and rounding must not make it -0.
    outside = [_outside(verdicts, len(values), either_way=either_way) for verdicts in (row, column)]
    varied = all(part.any() for part in outside)
    value = 1 - table.observed / table.expected if varied else 0.0
    few = _too_few_outside(outside, item)
    if few is not None:
        return Estimate(value=value, n=len(one), clusters=len(np.unique(item)), reason=few)
    spread = ItemSpread.of(table.influence()[row, column] / len(one), np.ones(len(one)), item)
    basis = _items_that_tell(spread.basis, outside)
    differ = 1 - float(table.shares.sum(axis=1) @ table.shares.sum(axis=0))
    throughout = differ if weighting == "none" else table.expected / _opposed(values, table.shares)
    return fisher_estimate(
        value,
        replace(spread, basis=basis),
        n=len(one),
        apart=spread.hidden(row != column, item, throughout),
        throughout=throughout,
        differ=differ if weighting == "none" else None,
        level=level,
    )


def _coded(one: FloatArray, other: FloatArray, *, either_way: bool) -> tuple[FloatArray, IntArray, IntArray]:
    """All values, and which of them each case has; either way, the opposite of each is there too."""
    both = np.concatenate([one, other])
    values = np.unique(np.concatenate([both, -both]) if either_way else both)
    code = np.searchsorted(values, both)
    return values, code[: len(one)], code[len(one) :]


def _outside(code: IntArray, values: int, *, either_way: bool) -> FloatArray:
    """Of each case: whether it lies outside the rater's largest class; either way, how often in its two ways round."""
    counts = np.bincount(code, minlength=values)
    largest = int((counts + counts[::-1] if either_way else counts).argmax())
    outside = (code != largest).astype(np.float64)
    return (outside + (values - 1 - code != largest)) / 2 if either_way else outside


def gwets_ac1(
    one: FloatArray,
    other: FloatArray,
    item: IntArray,
    *,
    classes: int = SIGNS,
    either_way: bool = False,
    level: float = LEVEL,
) -> Estimate:
    """(pa - pe) / (1 - pe) with pe = sum of p (1 - p) / (classes - 1), p a class's mean share of both raters.

    Gwet 2008, Br. J. Math. Stat. Psychol. 61, 29. Unlike kappa it does not fall towards 0 where nearly all verdicts are
    of one class, and its interval holds there too: his linearised variance, clustered by item, on Fisher's z.
    `classes` are all that could be given, seen or not; `either_way` as for kappa. Raises ValueError where more are
    seen.
    """
    _refuse_lengths(one, other, item)
    if not len(one):
        return Estimate(value=None, reason="no cases")
    values, row, column = _coded(one, other, either_way=either_way)
    if len(values) > classes or classes < 2:
        raise ValueError(f"AC1 takes two classes at least, and all that are given: not {classes} of {len(values)}.")
    alike = (row == column).astype(np.float64)
    counts = np.bincount(np.concatenate([row, column]), minlength=len(values))
    share = ((counts + counts[::-1]) / 2 if either_way else counts) / (2 * len(one))
    agreed, chance = float(alike.mean()), float(share @ (1 - share)) / (classes - 1)
    value = (agreed - chance) / (1 - chance)
    # What a case adds to the chance agreement: each class counts by how far it is from one half.
    slope = (1 - 2 * share) / (classes - 1)
    of_chance = (slope[row] + slope[column]) / 2 - float(slope @ share)
    influence = (alike - agreed - (1 - value) * of_chance) / (1 - chance)
    spread = ItemSpread.of(influence / len(one), np.ones(len(one)), item)
    apart = spread.hidden(row != column, item, 1 - chance)
    return fisher_estimate(
        value, spread, n=len(one), apart=apart, throughout=1 - chance, differ=1 - chance, level=level
    )


def _refuse_lengths(one: FloatArray, other: FloatArray, item: IntArray) -> None:
    if not one.shape == other.shape == item.shape or one.ndim != 1:
        raise ValueError("The two raters' verdicts and the items are three lists of one length.")


def _opposed(values: FloatArray, shares: FloatArray) -> float:
    """What quadratic costs are where the higher one rater's verdict is, the lower is the other's."""
    one, other = np.cumsum(shares.sum(axis=1)), np.cumsum(shares.sum(axis=0)[::-1])
    ends = np.sort(np.concatenate([[0.0], one, other])).clip(max=1.0)
    middle = (ends[1:] + ends[:-1]) / 2
    apart = values[np.searchsorted(one[:-1], middle)] - values[::-1][np.searchsorted(other[:-1], middle)]
    return float(np.diff(ends) @ apart**2)


def _too_few_outside(raters: Sequence[FloatArray], item: IntArray) -> str | None:
    """Why kappa has no interval; None where it has one.

    Cases outside the largest class must also lie on several items: as many, or half of the items where they are fewer.
    And items must be so many that some would have been met if each had one verdict of its own: where none was, nothing
    in the cases tells that there are such items.
    """
    items = len(np.unique(item))
    for outside in raters:
        cases, on = int(outside.sum()), len(np.unique(item[outside > 0]))
        told = f"no interval: one side has only {cases} of {len(item)} cases"
        if cases < FEWEST_OUTSIDE or on < min(FEWEST_OUTSIDE, items / 2):
            where = f" on {on} items" if cases >= FEWEST_OUTSIDE else ""
            return f"{told}{where} outside its largest class, {FEWEST_OUTSIDE} are needed"
        worth = items * cases / len(item)
        if items > 1 and worth < min(FEWEST_ITEMS_OUTSIDE, items / 2):
            of_items = f"worth {worth:.1f} of {items} items; {FEWEST_ITEMS_OUTSIDE} are needed"
            return f"{told} outside its largest class, {of_items}"
    return None


def _items_that_tell(basis: Basis, raters: Sequence[FloatArray]) -> Basis:
    """Fewer where few items are left outside the largest class: towards what as many on both sides would be worth."""
    outside = min(float(one.mean()) for one in raters)
    lacking = max(1 - basis.effective * outside / FEWEST_OUTSIDE, 0.0)
    return replace(basis, effective=basis.effective * min(2 * outside, 1.0) ** lacking)


def _cost(values: FloatArray, weighting: Weighting) -> FloatArray:
    apart = np.abs(values[:, None] - values[None, :])
    match weighting:
        case "none":
            return (apart > 0).astype(np.float64)
        case "quadratic":
            return apart**2


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSpread:
    """How far a coefficient would move if its items were drawn anew."""

    error: float
    basis: Basis
    skew: float = 0.0
    """By how much the variance rises while the coefficient falls, where few items draw it down."""

    @classmethod
    def of(cls, influence: FloatArray, weight: FloatArray, item: IntArray) -> "ItemSpread":
        """`influence`: what each case adds to the coefficient; `weight`: how much it has a say in it.

        An item that carries much of the weight draws the coefficient to itself and so hides how far it lies from the
        others: each item counts as if it had had no say. Of items alike this is the usual G/(G-1).

        Items in which cases offset each other show no spread, and that proves little: as for a share (`Basis.cases`),
        they are taken to vary as if so many had gone all one way as Wilson's bound of none seen allows, but no more
        than cases that have nothing in common would.
        """
        size = np.bincount(item, weights=weight).astype(np.float64)
        there = size > 0
        share = size[there] / size.sum()
        sums = np.bincount(item, weights=influence)[there]
        apart = (sums - share * sums.sum()) * left_out(share)
        basis = Basis.of(size[there])
        shown = float(apart @ apart) * (basis.effective - 1) / basis.effective
        rows, alone = weight / size.sum(), float(influence @ influence)
        one_way = alone / float(rows @ rows) * UNSEEN / (basis.effective + UNSEEN) / basis.effective
        skew = -float(np.sum(apart**3)) / float(apart @ apart) if apart.any() else 0.0
        return cls(error=math.sqrt(max(shown, min(one_way, alone))), basis=basis, skew=max(skew, 0.0))

    def hidden(self, faults: npt.NDArray[np.bool_], item: IntArray, apart: float) -> float:
        """How often verdicts may be taken to differ by chance, for what was not seen; in truth they do `apart`.

        Where no item has a case in which raters disagree, those not seen may disagree throughout. The more evenly the
        items have them, the more those not seen are taken to be what the coefficient calls chance, which counts as 1.
        """
        by_item = np.bincount(item, weights=faults)
        on = float(by_item.sum()) ** 2 / float(by_item @ by_item) if by_item.any() else 0.0
        few = max(1 - on / self.basis.effective, 0.0)
        return 1 / (1 + (1 / apart - 1) * few)


def fisher_estimate(
    value: float,
    spread: ItemSpread,
    *,
    n: float,
    apart: float = 1.0,
    throughout: float = 1.0,
    differ: float | None = None,
    level: float = LEVEL,
) -> Estimate:
    """A coefficient of agreement, at most 1, with bounds from its standard error on the scale of Fisher's z.

    Student's t counts the effective items, as many of equal weight as would tell as much. A record without a flaw
    shows no spread. As many disagreements as Wilson's bound of none in so many items leaves may be there all the same,
    and the lower bound stays at or below what the coefficient then is: `apart` (`ItemSpread.hidden`) is how often such
    verdicts would differ by chance, and `throughout` what chance costs where disagreement throughout costs 1. So does
    the upper one where raters never agreed, if every disagreement costs the same: `differ` is how often verdicts differ
    by chance.
    """
    error, basis = spread.error, spread.basis
    quantile = reach(basis.effective, level)
    flawless, _ = wilson(1.0, basis.effective, quantile)
    highest_lower = 1 - (1 - flawless) / apart
    lowest_upper = -flawless if differ is None else max(1 - flawless / differ, -flawless)
    if basis.clusters == 1:
        return Estimate(value=value, lower=-1.0, upper=1.0, n=n, clusters=1)
    lower = upper = value
    if abs(value) < 1:
        z, half = math.atanh(value), quantile * error / (1 - value**2)
        lower = min(math.tanh(z - half), _with_failing_items(value, spread, throughout, level))
        upper = max(math.tanh(z + half), _with_fewest_faults(value, error, quantile, level))
    return Estimate(
        value=value,
        # There and back through Fisher's z rounding leaves a bound a hair beside the value.
        lower=max(min(lower, highest_lower, value), -1.0),
        upper=min(max(upper, lowest_upper, value), 1.0),
        n=n,
        clusters=basis.clusters,
        effective=basis.effective,
    )


def _with_failing_items(value: float, spread: ItemSpread, throughout: float, level: float) -> float:
    """The lower bound of Wilson's kind: the lower the coefficient, the more items there are that fail as a whole, and
    the more it varies. Items that failed show how much, by their skew. Where none did, so many may be among those not
    seen as a bound of one side allows, half of them failing by chance and half throughout."""
    items, quantile = spread.basis.effective, reach(spread.basis.effective, level)
    failing = (1 / throughout - 1) / 2
    none_seen, _ = wilson(1.0, items, reach(items, 2 * level - 1))
    pull = max(quantile**2 * spread.skew, (1 - none_seen) * (value + failing))
    return value - (pull + math.sqrt(pull**2 + 4 * (quantile * spread.error) ** 2)) / 2


def _with_fewest_faults(value: float, error: float, quantile: float, level: float) -> float:
    """What the coefficient is if disagreements are as rare as those seen allow: Garwood's bound of a Poisson count
    (1936, Biometrika 28, 437), for as many as would vary so much. One seen in twenty may be one in eight hundred."""
    if error == 0:
        return value
    from scipy.special import gammaincinv

    faults = ((1 - value) / error * reach(MANY, level) / quantile) ** 2
    return 1 - (1 - value) * float(gammaincinv(faults, (1 - level) / 2)) / faults
