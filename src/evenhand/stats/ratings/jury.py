"""Several judges of the same cases as one jury: by majority, by mean, or by weights that were learned.

A case is one item and two models. What a judge says of it is the mean over its showings, its order effect taken out.
Weights are learned on other items than those they are used on (cross-fitting): where people judged, by what tells their
verdicts best (least squares, no weight below 0); without people, from how often each judge agrees with what all of them
make probable (Dawid and Skene 1979, Appl. Stat. 28, 20, with one rate for each judge), the log-odds of that.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import LEVEL, Range, clustered_mean
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.soft import soft_rows
from evenhand.stats.ratings.sums import FloatArray, summed

Way: TypeAlias = Literal["majority", "mean", "learned"]
IntArray: TypeAlias = npt.NDArray[np.int64]

FOLDS = 5
GROUPS = 20
"""Of items, each left out once, from which it is told how far learned weights may lie from the true ones."""
FEWEST = 3
"""Judges from whom weights can be learned without people: of two that differ nobody knows which is right."""
_STEPS, _SETTLED = 200, 1e-9
_LEAST_RATE, _MOST_RATE = 0.505, 0.99
_NUDGE = 0.05


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Bench:
    """What every judge says of each case."""

    judges: tuple[str, ...]
    models: tuple[str, ...]
    item: IntArray
    """Of each case; so the next two."""
    one: IntArray
    other: IntArray
    said: FloatArray
    """Judges x cases, from -1 to 1 in favour of `one`, each judge's order effect taken out; NaN: nothing."""
    people: FloatArray
    """Of each case the mean of people's verdicts, likewise; NaN: they have none."""
    order: FloatArray
    """Of each judge: what being shown first adds to what it says, from -1 to 1."""

    @property
    def asked(self) -> npt.NDArray[np.bool_]:
        return ~np.isnan(self.people)

    def without(self, judge: int) -> "Bench":
        """As if this one had not sat."""
        others = [place for place in range(len(self.judges)) if place != judge]
        names = tuple(self.judges[place] for place in others)
        return replace(self, judges=names, said=self.said[others], order=self.order[others])

    def cases(self, kept: npt.NDArray[np.bool_]) -> "Bench":
        return replace(
            self,
            item=self.item[kept],
            one=self.one[kept],
            other=self.other[kept],
            said=self.said[:, kept],
            people=self.people[kept],
        )

    def votes(self, score: FloatArray) -> Comparisons:
        """A soft vote for each case; `score` from -1 to 1."""
        soft = np.clip((score + 1) / 2, 0.0, 1.0)
        return Comparisons(
            models=self.models,
            model_a=self.one.astype(np.int32),
            model_b=self.other.astype(np.int32),
            sign=np.sign(score).astype(np.int8),
            item=np.unique(self.item, return_inverse=True)[1].astype(np.int32).ravel(),
            soft=soft,
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JuryVotes:
    bench: Bench
    way: Way
    score: FloatArray
    """Of each case, from -1 to 1; learned weights are those of other items."""
    weights: FloatArray
    """Of each judge, of all items; they add up to 1."""
    spread: FloatArray
    """Judges x judges: the covariance of learned weights; 0 where none were learned."""

    @property
    def votes(self) -> Comparisons:
        return self.bench.votes(self.score)

    def covariance_of_weights(self) -> FloatArray:
        """M x M: what not knowing the weights adds to the covariance of strengths, natural units."""
        models = len(self.bench.models)
        if not self.spread.any():
            return np.zeros((models, models))
        at = _strengths(self.bench, self.weights)
        slopes = np.stack([(_strengths(self.bench, nudged) - at) / _NUDGE for nudged in self._nudged()], axis=1)
        return slopes @ self.spread @ slopes.T

    def _nudged(self) -> Iterator[FloatArray]:
        for judge in range(len(self.weights)):
            weights = self.weights.copy()
            weights[judge] += _NUDGE
            yield weights


def bench_of(votes: Comparisons, people: Comparisons | None) -> Bench:
    """Of votes with raters, items and orders; `people` has the same models and items. Raises ValueError."""
    if votes.rater is None or len(votes.raters) < 2:
        raise ValueError("A jury has two judges at least.")
    if votes.item is None:
        raise ValueError("A jury's cases are told by their items, and none are named.")
    judges, models = len(votes.raters), len(votes.models)
    key, turned = _cases(votes)
    named = np.unique(key) if people is None else np.unique(np.concatenate((key, _cases(people)[0])))
    place = np.searchsorted(named, key)
    said = np.full((judges, len(named)), np.nan)
    order = np.zeros(judges)
    for judge in range(judges):
        own = votes.rater == judge
        first = np.zeros(int(own.sum())) if votes.first is None else votes.first[own].astype(np.float64)
        sign = votes.sign[own].astype(np.float64)
        order[judge] = _order_effect(place[own], first, sign)
        said[judge] = _mean(place[own], turned[own] * (sign - first * order[judge]), len(named))
    asked = np.full(len(named), np.nan)
    if people is not None:
        of_people, theirs = _cases(people)
        asked = _mean(np.searchsorted(named, of_people), theirs * people.sign, len(named))
    found = Bench(
        judges=votes.raters,
        models=votes.models,
        item=named // models**2,
        one=named // models % models,
        other=named % models,
        said=said,
        people=asked,
        order=order,
    )
    return found.cases(np.asarray((~np.isnan(said)).any(axis=0)))


def _cases(rows: Comparisons) -> tuple[IntArray, FloatArray]:
    """Of each row its case, and 1 where its model_a is the case's first, else -1."""
    assert rows.item is not None
    models = len(rows.models)
    low, high = np.minimum(rows.model_a, rows.model_b), np.maximum(rows.model_a, rows.model_b)
    key = (rows.item.astype(np.int64) * models + low) * models + high
    return key, np.where(rows.model_a == low, 1.0, -1.0)


def _order_effect(case: IntArray, first: FloatArray, sign: FloatArray) -> float:
    """Half of what the two orders of one case differ by, in favour of the first shown; all rows where none has both."""
    cases = int(case.max(initial=-1)) + 1
    forward, backward = (_mean(case[first == side], sign[first == side], cases) for side in (1, -1))
    both = ~np.isnan(forward) & ~np.isnan(backward)
    if both.any():
        return float((forward - backward)[both].mean() / 2)
    known = first != 0
    return float((first * sign)[known].mean()) if known.any() else 0.0


def _mean(place: IntArray, values: FloatArray, number: int) -> FloatArray:
    count = summed(place, None, number)
    return np.divide(summed(place, values, number), count, out=np.full(number, np.nan), where=count > 0)


def jury_votes(bench: Bench, way: Way, *, folds: int = FOLDS, seed: int = 0) -> JuryVotes:
    """Raises ValueError where weights cannot be learned."""
    judges = len(bench.judges)
    even, none = np.full(judges, 1 / judges), np.zeros((judges, judges))
    if way == "majority":
        score = np.sign(np.nansum(np.sign(bench.said), axis=0))
        return JuryVotes(bench=bench, way=way, score=score, weights=even, spread=none)
    if way == "mean":
        return JuryVotes(bench=bench, way=way, score=weighted(bench, even), weights=even, spread=none)
    learn = learner(bench)
    fold = _dealt(bench.item, folds, seed)
    score = np.empty(len(bench.item))
    for one in range(int(fold.max()) + 1):
        inside = fold == one
        score[inside] = weighted(bench.cases(inside), learn(bench.cases(~inside)))
    group = _dealt(bench.item, GROUPS, seed + 1)
    number = int(group.max()) + 1
    left_out = np.stack([learn(bench.cases(group != one)) for one in range(number)])
    apart = left_out - left_out.mean(axis=0)
    # Of all but one part in `folds`, as each item's weights are learned.
    spread = apart.T @ apart * (number - 1) / number * folds / (folds - 1)
    return JuryVotes(bench=bench, way=way, score=score, weights=learn(bench), spread=spread)


def learner(bench: Bench) -> Callable[[Bench], FloatArray]:
    """By people where they judged, else by the judges' own agreement. Raises ValueError with too little of either."""
    if bench.asked.any():
        if len(np.unique(bench.item[bench.asked])) < GROUPS:
            raise ValueError(f"Weights are learned from people's verdicts on {GROUPS} items at least.")
        return by_people
    if len(bench.judges) < FEWEST:
        raise ValueError(
            "Two judges alone cannot tell which of them is right: give people's verdicts, or a third judge."
        )
    if len(np.unique(bench.item)) < GROUPS:
        raise ValueError(f"Weights are learned from {GROUPS} items at least.")
    return by_agreement


def by_people(bench: Bench) -> FloatArray:
    """Weights that add up to 1, by least squares of people's verdicts on what the judges say; who would have less than
    0 is left out, the lowest first."""
    known = bench.asked
    said, people = np.nan_to_num(bench.said[:, known]), bench.people[known]
    squares, products = said @ said.T, said @ people
    # A hair of evenness, so that judges who say the same share their weight.
    squares += np.eye(len(said)) * max(1e-3 * float(np.trace(squares)) / len(said), 1e-12)
    held = np.arange(len(said))
    weights = np.zeros(len(said))
    while len(held):
        weights[:] = 0.0
        weights[held] = np.linalg.solve(squares[np.ix_(held, held)], products[held])
        if (weights >= 0).all():
            break
        held = held[held != int(np.argmin(weights))]
    return _as_shares(weights)


def by_agreement(bench: Bench) -> FloatArray:
    """Log-odds of each judge's rate of being right, as shares of 1."""
    right = rates(bench)
    return _as_shares(np.log(right / (1 - right)))


def rates(bench: Bench) -> FloatArray:
    """Of each judge how often it is right, of what all judges together make probable; what is even says nothing."""
    signs = np.sign(np.nan_to_num(bench.said))
    there = signs != 0
    number = np.maximum(there.sum(axis=1), 1)
    found = np.full(len(signs), 0.7)
    for _ in range(_STEPS):
        lean = np.log(found / (1 - found)) @ signs
        first = 1 / (1 + np.exp(-lean))
        right = np.where(signs > 0, first, 1 - first) * there
        after = np.clip(right.sum(axis=1) / number, _LEAST_RATE, _MOST_RATE)
        if float(np.abs(after - found).max()) < _SETTLED:
            return after
        found = after
    return found


def weighted(bench: Bench, weights: FloatArray) -> FloatArray:
    """Of each case the judges' mean; those who said nothing leave their weight to the others."""
    there = ~np.isnan(bench.said)
    held = weights @ there
    even = np.nan_to_num(bench.said).sum(axis=0) / there.sum(axis=0)
    return np.divide(weights @ np.nan_to_num(bench.said), held, out=even, where=held > 0)


def _as_shares(weights: FloatArray) -> FloatArray:
    whole = float(weights.sum())
    return weights / whole if whole > 0 else np.full(len(weights), 1 / len(weights))


def _dealt(item: IntArray, parts: int, seed: int) -> IntArray:
    """Of each case its part; all cases of an item are in one."""
    named, number = np.unique(item, return_inverse=True)
    return (np.random.default_rng(seed).permutation(len(named)) % min(parts, len(named)))[number.ravel()]


def _strengths(bench: Bench, weights: FloatArray) -> FloatArray:
    return solve(soft_rows(bench.votes(weighted(bench, _as_shares(weights))))).fit.strength


@dataclass(frozen=True, slots=True, kw_only=True)
class HeldOut:
    """How often jury and best single judge are right, on items on which neither was chosen or weighed; an even verdict
    is half right. By people where they judged, else by what the judges together make probable."""

    by_people: bool
    jury: Estimate
    single: Estimate
    gain: Estimate
    """Jury minus single."""
    chosen: tuple[str, ...]
    """The best judge of the other items, by fold."""


def held_out(jury: JuryVotes, *, folds: int = FOLDS, seed: int = 0) -> HeldOut | None:
    """None where there is nothing to go by: two judges without people."""
    bench = jury.bench
    by_people = bool(bench.asked.any())
    if not by_people and len(bench.judges) < FEWEST:
        return None
    fold = _dealt(bench.item, folds, seed)
    single, truth = np.zeros(len(fold)), np.full(len(fold), np.nan)
    chosen: list[str] = []
    for one in range(int(fold.max()) + 1):
        inside, others = fold == one, bench.cases(fold != one)
        merits = _merits(others) if by_people else rates(others)
        best = int(np.argmax(merits))
        chosen.append(bench.judges[best])
        single[inside] = np.nan_to_num(bench.said[best, inside])
        # How probable it is that the first of the two is the better one.
        signs = np.sign(np.nan_to_num(bench.said[:, inside]))
        truth[inside] = 1 / (1 + np.exp(-np.log(merits / (1 - merits)) @ signs)) if not by_people else np.nan
    if by_people:
        truth = np.where(bench.people == 0, np.nan, (np.sign(bench.people) + 1) / 2)
    known = ~np.isnan(truth)
    if len(np.unique(bench.item[known])) < 2:
        return None
    together, alone = _right(jury.score, truth)[known], _right(single, truth)[known]
    items = bench.item[known]
    return HeldOut(
        by_people=by_people,
        jury=clustered_mean(together, items),
        single=clustered_mean(alone, items),
        gain=clustered_mean(together - alone, items, within=Range(low=-1.0, high=1.0)),
        chosen=tuple(chosen),
    )


def _merits(bench: Bench) -> FloatArray:
    truth = np.where(bench.people == 0, np.nan, (np.sign(bench.people) + 1) / 2)
    return np.array([np.nanmean(_right(np.nan_to_num(own), truth)) for own in bench.said], dtype=np.float64)


def _right(score: FloatArray, truth: FloatArray) -> FloatArray:
    """`truth`: how probable it is that the first is better."""
    return np.where(score > 0, truth, np.where(score < 0, 1 - truth, 0.5))


def shared_errors(bench: Bench) -> FloatArray | None:
    """Judges x judges: how the judges' deviations from people's verdicts correlate; None without people."""
    known = bench.asked & ~np.isnan(bench.said).any(axis=0)
    if int(known.sum()) < GROUPS:
        return None
    return np.atleast_2d(np.corrcoef(bench.said[:, known] - bench.people[known]))


@dataclass(frozen=True, slots=True, kw_only=True)
class TooAlike:
    """Two judges who agree more than their own rates of being right, and what all judges have in common, explain."""

    judges: tuple[str, str]
    agree: float
    """Share of the cases that both decide."""
    expected: float
    """If each erred for itself."""


_COPIES = 0.98
"""Agreement beyond which two of three judges are taken for one: with no fourth their rates cannot be told."""
_LITTLE = 0.05
"""Of agreement beyond the others': with less, counting it twice changes little."""


def too_alike(bench: Bench) -> list[TooAlike]:
    """Pairs of judges that weights learned without people count twice, the most alike first. One of each is set aside
    before the others are looked at: by a judge that counts twice all others seem wrong together."""
    told: list[TooAlike] = []
    while len(bench.judges) >= FEWEST and (found := _most_alike(bench)) is not None:
        told.append(found)
        bench = bench.without(bench.judges.index(found.judges[1]))
    return told


def _most_alike(bench: Bench) -> TooAlike | None:
    """Of the pairs that agree more than they should. Items of which some are easy make all judges agree more than if
    each erred for itself; so a pair must be well beyond what the other pairs are, at 95 % for all pairs together."""
    signs = np.sign(np.nan_to_num(bench.said))
    pairs = [(one, other) for one in range(len(signs)) for other in range(one + 1, len(signs))]
    known = {pair: one for pair in pairs if (one := _alike(bench, signs, *pair)) is not None}
    told: list[TooAlike] = []
    for at, (pair, items, same) in known.items():
        rest = [own.agree - own.expected for other, (own, _, _) in known.items() if other != at]
        if len(bench.judges) == FEWEST:
            apart = pair.agree >= _COPIES
        else:
            more = _at_least(same - pair.expected, items, level=1 - (1 - LEVEL) / len(pairs))
            apart = more > max(float(np.median(rest)) if rest else 0.0, 0.0) + _LITTLE
        if apart:
            told.append(pair)
    return max(told, key=lambda one: one.agree, default=None)


def _at_least(more: FloatArray, items: IntArray, *, level: float) -> float:
    """The lower end of the mean's interval; where there is no spread to go by, of the widest that it might have."""
    lower = clustered_mean(more, items, level=level, within=Range(low=-1.0, high=1.0)).lower
    return lower if lower is not None and more.std() > 0 else float(more.mean()) - 1 / len(more) ** 0.5


def _alike(bench: Bench, signs: FloatArray, one: int, other: int) -> tuple[TooAlike, IntArray, FloatArray] | None:
    """With the items of the cases that both decide, and whether they agree there; None of too few items."""
    both = (signs[one] != 0) & (signs[other] != 0)
    items = bench.item[both]
    if len(np.unique(items)) < GROUPS:
        return None
    same = (signs[one, both] == signs[other, both]).astype(np.float64)
    expected = 1.0
    if len(signs) > FEWEST:
        # Each by those others that are not its double.
        right = [rates(bench.without(away))[at - (at > away)] for at, away in ((one, other), (other, one))]
        expected = float(right[0] * right[1] + (1 - right[0]) * (1 - right[1]))
    names = (bench.judges[one], bench.judges[other])
    return TooAlike(judges=names, agree=float(same.mean()), expected=expected), items, same
