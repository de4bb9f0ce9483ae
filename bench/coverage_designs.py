"""Worlds in which the truth is known, and what intervals of ratings, win rates and effects say of it.

An item has its own strengths around the models' (some suit a model better), and so has a rater; rows of one item, or of
one rater, are therefore far from independent. The truth is what a fit tends to with ever more items and raters.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cache, partial
from statistics import NormalDist

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.bradley_terry.shrinking import shrunk_bradley_terry
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.neighbours import neighbour_tests, with_neighbours
from evenhand.stats.ratings.differences.ranks import RankRanges, rank_ranges
from evenhand.stats.ratings.effects.length import length_effect
from evenhand.stats.ratings.effects.order import order_effect
from evenhand.stats.ratings.effects.ordinal import ordinal
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.shares.win_rate import win_rates


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one repetition showed; NaN: nothing to look at."""

    held: np.ndarray
    """Of each interval, whether it holds the truth."""
    width: float
    """The median one's, in the unit of the design."""
    claimed: float = np.nan
    """Whether something was claimed: equal models told apart, or a misfit."""

    @classmethod
    def within(cls, lower: np.ndarray, upper: np.ndarray, truth: np.ndarray, *, claimed: float = np.nan) -> "Found":
        known = np.isfinite(upper - lower)
        held = np.where(known, ((lower <= truth) & (truth <= upper)).astype(np.float64), np.nan)
        return cls(
            held=held, width=float(np.median((upper - lower)[known])) if known.any() else np.nan, claimed=claimed
        )

    @classmethod
    def of(cls, estimates: Iterable[Estimate], truth: np.ndarray | float) -> "Found":
        bounds = [[np.nan if bound is None else bound for bound in (one.lower, one.upper)] for one in estimates]
        lower, upper = np.array(bounds).T
        return cls.within(lower, upper, np.broadcast_to(truth, lower.shape))

    @classmethod
    def claim(cls, made: bool) -> "Found":
        return cls(held=np.array([np.nan]), width=np.nan, claimed=float(made))


Drawn = Callable[[np.random.Generator], Found]

_HIDDEN = 100_000
"""Items behind the truth of what has no closed form."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Every item compares all pairs once, or `rows` of them at random."""

    items: int
    models: int = 4
    apart: float = 1.2
    """From the worst model to the best, in natural units."""
    worth: tuple[float, ...] = ()
    """Of each model, where they do not lie evenly."""
    item_spread: float = 1.0
    rater_spread: float = 0.0
    tied: float = 0.15
    rows: int = 0
    sizes: tuple[int, ...] = ()
    """How often each item's rows are asked again, of other raters; () once."""
    raters: int = 0
    diligence: float = 0.0
    """A rater's share of the rows falls as its number to this power."""
    follows: float = 0.0
    """Share of verdicts that go to the answer shown first; each row is then shown in both orders."""
    order: float = 0.0
    """Log-odds for the answer shown first; likewise both orders."""
    repeated: float = 0.0
    """How often the second order repeats the first one's verdict whatever it thinks."""
    length: float | None = None
    """Log-odds for each hundred words more."""
    levels: bool = False

    @property
    def strengths(self) -> np.ndarray:
        return np.array(self.worth) if self.worth else np.linspace(-self.apart / 2, self.apart / 2, self.models)

    @property
    def both_orders(self) -> bool:
        return bool(self.follows or self.order or self.levels or self.repeated)

    def equal(self) -> "World":
        return replace(self, apart=0.0, worth=())

    def drawn(self, rng: np.random.Generator) -> Comparisons:
        first, second = np.triu_indices(self.models, 1)
        if self.rows:
            item = np.repeat(np.arange(self.items), self.rows)
            pair = rng.integers(0, len(first), len(item))
        else:
            item, pair = np.repeat(np.arange(self.items), len(first)), np.tile(np.arange(len(first)), self.items)
        if self.sizes:
            times = np.array(self.sizes)[item]
            item, pair = np.repeat(item, times), np.repeat(pair, times)
        a, b = first[pair], second[pair]
        mind = self.strengths + rng.normal(0, self.item_spread, (self.items, self.models))
        lead = mind[item, a] - mind[item, b]
        rater = self._raters(rng, len(item))
        if rater is not None:
            taste = rng.normal(0, self.rater_spread, (self.raters, self.models))
            lead += taste[rater, a] - taste[rater, b]
        words = None
        if self.length is not None:
            written = rng.normal(0, 60, (self.items, self.models)) + 20 * np.arange(self.models)
            words = written[item, a] - written[item, b]
            lead += self.length * words / 100
        return self._judged(rng, item, a, b, lead, rater, words)

    def _raters(self, rng: np.random.Generator, rows: int) -> np.ndarray | None:
        if not self.raters:
            return None
        share = np.arange(1, self.raters + 1.0) ** -self.diligence
        return rng.choice(self.raters, rows, p=share / share.sum())

    def _judged(
        self,
        rng: np.random.Generator,
        item: np.ndarray,
        a: np.ndarray,
        b: np.ndarray,
        lead: np.ndarray,
        rater: np.ndarray | None,
        words: np.ndarray | None,
    ) -> Comparisons:
        places = (1, -1) if self.both_orders else (0,)
        signs, values = zip(*(self._said(rng, lead + self.order * place, place) for place in places), strict=True)
        if self.repeated:
            signs = (signs[0], np.where(rng.random(len(lead)) < self.repeated, *signs))
        times = len(places)

        def codes(column: np.ndarray) -> np.ndarray:
            return np.tile(column, times).astype(np.int32)

        return Comparisons(
            models=tuple(f"model {code}" for code in range(self.models)),
            model_a=codes(a),
            model_b=codes(b),
            sign=np.concatenate(signs).astype(np.int8),
            value=np.concatenate(values).astype(np.int8) if self.levels else None,
            item=codes(item),
            first=np.repeat(places, len(a)).astype(np.int8) if self.both_orders else None,
            length=None if words is None else np.tile(words, times),
            rater=None if rater is None else codes(rater),
            raters=tuple(f"rater {code}" for code in range(self.raters)),
            crossed=None if rater is None else codes(rater),
        )

    def _said(self, rng: np.random.Generator, lead: np.ndarray, place: int) -> tuple[np.ndarray, np.ndarray]:
        felt = lead + rng.logistic(0, 1, len(lead))
        if self.levels:
            value = np.searchsorted([-1.5, -0.4, 0.4, 1.5], felt) - 2
            return np.sign(value), value
        sign = np.where(felt > 0, 1, -1)
        sign = np.where(rng.random(len(lead)) < self.tied, 0, sign)
        sign = np.where(rng.random(len(lead)) < self.follows, place, sign)
        return sign, sign

    def won(self) -> np.ndarray:
        """M x M: the share that the row's model wins of the column's in the long run, ties half, orders together."""
        node, weight = np.polynomial.hermite_e.hermegauss(60)
        spread = np.sqrt(2 * (self.item_spread**2 + self.rater_spread**2))
        gap = self.strengths[:, None] - self.strengths[None, :]
        won = (1 / (1 + np.exp(-(gap[..., None] + spread * node)))) @ (weight / weight.sum())
        kept = (1 - self.tied) * (1 - self.follows)
        return kept * won + (1 - kept) / 2


@cache
def true_strengths(world: World) -> np.ndarray:
    """Of Bradley-Terry, in natural units."""
    first, second = np.triu_indices(world.models, 1)
    won = world.won()[first, second]
    sign = np.repeat([1, -1], len(first)).astype(np.int8)
    return solve(
        Comparisons(
            models=tuple(f"model {code}" for code in range(world.models)),
            model_a=np.tile(first, 2).astype(np.int32),
            model_b=np.tile(second, 2).astype(np.int32),
            sign=sign,
            weight=np.concatenate((won, 1 - won)),
        )
    ).fit.strength


def _of_levels(seen: Comparisons) -> Estimate:
    fitted = ordinal(seen).levels
    assert fitted is not None
    assert fitted.order is not None
    return fitted.order.natural


EFFECTS: dict[str, Callable[[Comparisons], Estimate]] = {
    "order": lambda seen: order_effect(seen).overall.natural,
    "length": lambda seen: length_effect(seen).slope.natural,
    "ordinal": _of_levels,
}


@cache
def true_effect(world: World, effect: str) -> float:
    seen = replace(world, items=_HIDDEN, sizes=()).drawn(np.random.default_rng(0))
    value = EFFECTS[effect](seen).value
    assert value is not None
    return value


def _zipf(items: int, most: int) -> tuple[int, ...]:
    return tuple(max(1, most // place) for place in range(1, items + 1))


def ranked(seen: Comparisons) -> RankRanges:
    """As a board has it: the differences' ranges, and what neighbours' tests add."""
    fitted = bradley_terry(seen)
    listed = [one.model for one in sorted(fitted.models, key=lambda one: (one.rank or 0, one.model))]
    return with_neighbours(rank_ranges(fitted), neighbour_tests(seen, [listed]))


def of_ratings(world: World, rng: np.random.Generator, *, clustered: bool = True) -> Found:
    truth = true_strengths(world)
    board = bradley_terry(world.drawn(rng), clustered=clustered)
    gaps = differences(board)
    above = np.triu_indices(world.models, 1)
    apart = (truth[:, None] - truth[None, :]) * board.scale.unit
    alike = float(ranked(world.equal().drawn(rng)).separated.any()) if clustered else np.nan
    return Found.within(gaps.lower[above], gaps.upper[above], apart[above], claimed=alike)


def of_resamples(world: World, rng: np.random.Generator) -> Found:
    truth = true_strengths(world)
    drawn = Resampling(rounds=400, seed=int(rng.integers(1 << 30)))
    board = bradley_terry_bootstrap(world.drawn(rng), drawn)
    return Found.of((one.rating for one in board.models), board.scale.start + board.scale.unit * (truth - truth.mean()))


def of_shares(world: World, rng: np.random.Generator) -> Found:
    truth = (world.won().sum(axis=1) - 0.5) / (world.models - 1)
    return Found.of((one.win_rate for one in win_rates(world.drawn(rng))), truth)


def of_shrunk(world: World, rng: np.random.Generator) -> Found:
    """Drawn towards the mean: intervals are to hold over the models on average, not for each."""
    truth = true_strengths(world)
    board = shrunk_bradley_terry(world.drawn(rng)).rated
    return Found.of((one.rating for one in board.models), board.scale.start + board.scale.unit * (truth - truth.mean()))


def of_effect(effect: str, world: World, rng: np.random.Generator) -> Found:
    return Found.of([EFFECTS[effect](world.drawn(rng))], true_effect(world, effect))


_NEWCOMERS = np.array([0.5, 0.3, -0.3])
"""Strengths of a newcomer and of the two models it meets."""


def of_newcomer(items: int, follows: float, rng: np.random.Generator) -> Found:
    """Its own rating. The old ones met on 100 items; the judge follows position in so great a share of its verdicts.

    Nearly all of its items split one to one, and that they are so alike must not be taken for knowledge.
    """
    met = bradley_terry(_position_followed(rng, items, 100, follows)).models[0].rating
    return Found.of([met], _newcomers_truth(follows))


def _position_followed(rng: np.random.Generator, items: int, old_items: int, follows: float) -> Comparisons:
    pairs = ((1, 2, old_items), (0, 1, items), (0, 2, items))
    signs: list[np.ndarray] = []
    for first, second, count in pairs:
        chance = 1 / (1 + np.exp(_NEWCOMERS[second] - _NEWCOMERS[first]))
        liked = np.where(rng.random(count) < chance, 1, -1)
        signs += [np.where(rng.random(count) < follows, position, liked) for position in (1, -1)]
    return Comparisons(
        models=("newcomer", "old one", "other"),
        model_a=np.concatenate([np.full(2 * count, first) for first, _, count in pairs]).astype(np.int32),
        model_b=np.concatenate([np.full(2 * count, second) for _, second, count in pairs]).astype(np.int32),
        sign=np.concatenate(signs).astype(np.int8),
        item=np.concatenate([np.tile(np.arange(count), 2) for _, _, count in pairs]).astype(np.int32),
    )


@cache
def _newcomers_truth(follows: float) -> float:
    value = (
        bradley_terry(_position_followed(np.random.default_rng(0), 200_000, 200_000, follows)).models[0].rating.value
    )
    assert value is not None
    return value


RATED: dict[str, World] = {
    "10 items": World(items=10),
    "16 items": World(items=16),
    "30 items": World(items=30),
    "100 items": World(items=100),
    "30 models, 60 items": World(items=60, models=30, rows=60),
    "Zipf items": World(items=40, sizes=_zipf(40, 60)),
    "one item 41 %": World(items=40, sizes=(27, *[1] * 39)),
    "one item 84 %": World(items=40, sizes=(205, *[1] * 39)),
    "near-separable": World(items=40, apart=7.0, item_spread=0.5, tied=0.0),
    "ties 40 %": World(items=30, tied=0.4),
    "position 95 %": World(items=30, follows=0.95),
    "raters, unequal": World(items=60, rows=20, raters=25, rater_spread=0.7, diligence=1.0),
    "raters, equal": World(items=60, rows=20, raters=25, rater_spread=0.7),
    "8 raters": World(items=60, rows=20, raters=8, rater_spread=0.7),
    "100 raters, unequal": World(items=200, rows=8, raters=100, rater_spread=0.7, diligence=1.0),
    "raters of one mind": World(items=60, rows=20, raters=25),
    "one rater 60 %, one item 30 %": World(items=40, sizes=(16, *[1] * 39), raters=20, rater_spread=0.7, diligence=2.0),
    "2 models, 12 uneven items": World(items=12, models=2, sizes=_zipf(12, 24), apart=0.6, item_spread=1.5),
}
"""Whose ratings are looked at. The last three are there to break it."""

RESAMPLED = ("10 items", "16 items", "30 items", "Zipf items", "one item 41 %", "raters, unequal")

SHARES = ("10 items", "30 items", "Zipf items", "one item 41 %", "one item 84 %", "raters, unequal")

AFFECTED: dict[str, tuple[str, World]] = {
    "order effect, 12 items": ("order", World(items=12, order=0.5)),
    "order effect, 60 items": ("order", World(items=60, order=0.5)),
    "order effect, one item 41 %": ("order", World(items=40, order=0.5, sizes=(27, *[1] * 39))),
    "order effect, raters": ("order", World(items=60, rows=10, order=0.5, raters=20, rater_spread=0.5)),
    "length effect, 16 items": ("length", World(items=16, length=0.5)),
    "length effect, 60 items": ("length", World(items=60, length=0.5)),
    "length effect, Zipf items": ("length", World(items=40, length=0.5, sizes=_zipf(40, 60))),
    "ordinal order effect, 16 items": ("ordinal", World(items=16, order=0.5, levels=True)),
    "ordinal order effect, 60 items": ("ordinal", World(items=60, order=0.5, levels=True)),
    "ordinal order effect, one item 41 %": ("ordinal", World(items=40, order=0.5, levels=True, sizes=(27, *[1] * 39))),
}

SHRUNK = {
    f"{models} models, {items} items of {rows} rows" + ("" if spread else ", all alike"): World(
        items=items,
        models=models,
        rows=rows,
        worth=tuple(0.6 * NormalDist().inv_cdf((place + 0.5) / models) for place in range(models)),
        item_spread=spread,
    )
    for models, items, rows, spread in ((10, 40, 6, 0.0), (10, 40, 6, 1.0), (20, 60, 10, 1.0), (10, 16, 45, 1.0))
}

_SHOWN_TWICE = {items: World(items=items, repeated=0.85) for items in (16, 30, 100)}

DESIGNS: dict[str, Drawn] = {
    **{f"ratings, {name}": partial(of_ratings, world) for name, world in RATED.items()},
    **{f"ratings, {items} items shown twice": partial(of_ratings, world) for items, world in _SHOWN_TWICE.items()},
    **{
        f"unclustered, {items} items shown twice": partial(of_ratings, world, clustered=False)
        for items, world in _SHOWN_TWICE.items()
    },
    **{
        f"newcomer, {items} items, position {follows:.0%}": partial(of_newcomer, items, follows)
        for follows in (0.5, 0.8, 0.9)
        for items in (4, 8, 16, 40)
    },
    **{f"bootstrap, {name}": partial(of_resamples, RATED[name]) for name in RESAMPLED},
    **{f"win rate, {name}": partial(of_shares, RATED[name]) for name in SHARES},
    **{f"shrunk, {name}": partial(of_shrunk, world) for name, world in SHRUNK.items()},
    **{name: partial(of_effect, *affected) for name, affected in AFFECTED.items()},
}
