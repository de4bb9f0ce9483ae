"""How often 95 % intervals of rating differences hold the truth when an item's showings are alike.

    python -m bench.coverage [--repetitions 2000] [--seed 0]
    python -m bench.coverage --design all --repetitions 1000 --processes 2

Every item is answered by all models and each pair is judged in both orders. An item has its own strengths around the
models' (some suit a model better), and the second showing repeats the first one's verdict most of the time, so rows of
one item are far from independent. The truth is what the fit tends to with ever more items.

A second design has a newcomer on few items and a judge who mostly follows position: nearly all of its items split one
to one, and that they are so alike must not be taken for knowledge.

With `--design` the worlds of `coverage_designs`: few items, uneven ones, crossed raters; ratings by the sandwich and by
resamples, win rates, effects; and how often models that are all alike are told apart.
"""

import argparse
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import cache

import numpy as np

from bench.coverage_designs import AFFECTED, EFFECTS, RATED, RESAMPLED, SHARES, true_effect, true_strengths
from evenhand.domain.estimate import Estimate
from evenhand.stats.ratings.bradley_terry.bootstrap import bradley_terry_bootstrap
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.ranks import rank_ranges
from evenhand.stats.ratings.resampling import Resampling
from evenhand.stats.ratings.win_rate import win_rates

MODELS = 4
REPEATED = 0.85
"""Probability that the second showing repeats the first one's verdict."""
TIED = 0.15
ITEM_SPREAD = 1.0
"""Standard deviation of an item's own strengths, in natural units."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Covered:
    """Shares of the intervals that held the truth."""

    clustered: float
    unclustered: float
    without_interval: float
    """Share of the repetitions in which the data were separable."""


def covered(*, items: int, repetitions: int, seed: int) -> Covered:
    rng = np.random.default_rng(seed)
    truth = _truth()
    hits = {True: 0.0, False: 0.0}
    finite = 0
    above = np.triu_indices(MODELS, 1)
    for _ in range(repetitions):
        seen = _judged(rng, items)
        boards = {clustered: bradley_terry(seen, clustered=clustered) for clustered in (True, False)}
        if any(one.rating.value is None for one in boards[True].models):
            continue
        finite += 1
        for clustered, board in boards.items():
            gaps = differences(board)
            hits[clustered] += float(np.mean(((gaps.lower <= truth) & (truth <= gaps.upper))[above]))
    return Covered(
        clustered=hits[True] / finite, unclustered=hits[False] / finite, without_interval=1 - finite / repetitions
    )


def newcomer_covered(*, items: int, follows: float, repetitions: int, seed: int) -> float:
    """Of the newcomer's own 95 % intervals; the judge follows position in so great a share of its verdicts."""
    rng = np.random.default_rng(seed)
    truth = _newcomers_truth(follows)
    hits = 0
    for _ in range(repetitions):
        found = bradley_terry(_position_followed(rng, items, _OLD_ITEMS, follows)).models[0].rating
        hits += found.lower is not None and found.upper is not None and found.lower <= truth <= found.upper
    return hits / repetitions


_OLD_ITEMS = 100
_NEWCOMERS = np.array([0.5, 0.3, -0.3])
"""Strengths of the newcomer and of the two models it meets."""


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
    seen = _position_followed(np.random.default_rng(0), 200_000, 200_000, follows)
    value = bradley_terry(seen).models[0].rating.value
    assert value is not None
    return value


def _judged(rng: np.random.Generator, items: int) -> Comparisons:
    first, second = np.triu_indices(MODELS, 1)
    strength = _strengths() + rng.normal(0, ITEM_SPREAD, (items, MODELS))
    chance = 1 / (1 + np.exp(strength[:, second] - strength[:, first]))
    showings = [_verdicts(rng, chance), _verdicts(rng, chance)]
    again = np.where(rng.random(chance.shape) < REPEATED, showings[0], showings[1])
    pairs = len(first)
    return Comparisons(
        models=tuple(f"model {code}" for code in range(MODELS)),
        model_a=np.concatenate((np.tile(first, items), np.tile(second, items))).astype(np.int32),
        model_b=np.concatenate((np.tile(second, items), np.tile(first, items))).astype(np.int32),
        sign=np.concatenate((showings[0].ravel(), -again.ravel())).astype(np.int8),
        item=np.tile(np.repeat(np.arange(items), pairs), 2).astype(np.int32),
    )


def _verdicts(rng: np.random.Generator, chance: np.ndarray) -> np.ndarray:
    won = np.where(rng.random(chance.shape) < chance, 1, -1)
    return np.where(rng.random(chance.shape) < TIED, 0, won)


def _strengths() -> np.ndarray:
    return np.linspace(-0.6, 0.6, MODELS)


@cache
def _truth() -> np.ndarray:
    """Rating differences of the fit to so many items that their own error is out of sight."""
    return differences(bradley_terry(_judged(np.random.default_rng(0), 400_000))).value


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What one repetition showed; NaN: nothing to look at."""

    held: np.ndarray
    """Of each interval, whether it holds the truth."""
    width: float
    """The median one's, in the unit of the design."""
    separated: float
    """Whether two of models that are all alike were told apart."""


def of_ratings(design: str, rng: np.random.Generator) -> Found:
    world = RATED[design]
    truth = true_strengths(world)
    board = bradley_terry(world.drawn(rng))
    gaps = differences(board)
    above = np.triu_indices(world.models, 1)
    held = np.abs(gaps.value - (truth[:, None] - truth[None, :]) * board.scale.unit) <= gaps.upper - gaps.value
    shown = np.where(np.isfinite(gaps.upper), held.astype(np.float64), np.nan)[above]
    alike = rank_ranges(bradley_terry(world.equal().drawn(rng)))
    return Found(
        held=shown, width=float(np.nanmedian((gaps.upper - gaps.lower)[above])), separated=float(alike.separated.any())
    )


def of_resamples(design: str, rng: np.random.Generator) -> Found:
    world = RATED[design]
    truth = true_strengths(world)
    drawn = Resampling(rounds=400, seed=int(rng.integers(1 << 30)))
    board = bradley_terry_bootstrap(world.drawn(rng), drawn)
    truth = board.scale.start + board.scale.unit * (truth - truth.mean())
    return _held([one.rating for one in board.models], truth)


def of_shares(design: str, rng: np.random.Generator) -> Found:
    world = RATED[design]
    won = world.won()
    truth = (won.sum(axis=1) - 0.5) / (world.models - 1)
    return _held([one.win_rate for one in win_rates(world.drawn(rng))], truth)


def of_effects(design: str, rng: np.random.Generator) -> Found:
    effect, world = AFFECTED[design]
    return _held([EFFECTS[effect](world.drawn(rng))], np.array([true_effect(world, effect)]))


def _held(estimates: list[Estimate], truth: np.ndarray) -> Found:
    lower, upper = (
        np.array([np.nan if bound is None else bound for bound in bounds])
        for bounds in zip(*((one.lower, one.upper) for one in estimates), strict=True)
    )
    held = np.where(np.isfinite(upper - lower), ((lower <= truth) & (truth <= upper)).astype(np.float64), np.nan)
    return Found(
        held=held, width=float(np.nanmedian(upper - lower)) if np.isfinite(held).any() else np.nan, separated=np.nan
    )


KINDS: dict[str, tuple[Callable[[str, np.random.Generator], Found], tuple[str, ...]]] = {
    "ratings": (of_ratings, tuple(RATED)),
    "bootstrap": (of_resamples, RESAMPLED),
    "win rate": (of_shares, SHARES),
    "effect": (of_effects, tuple(AFFECTED)),
}


def _some(asked: tuple[str, str, list[int]]) -> list[Found]:
    kind, design, seeds = asked
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        return [KINDS[kind][0](design, np.random.default_rng(seed)) for seed in seeds]


def told(kind: str, design: str, found: list[Found]) -> str:
    """One line: how many of the intervals hold the truth, the worst one, how wide they are, and what was told apart."""
    held = np.stack([one.held for one in found])
    share, worst = float(np.nanmean(held)), float(np.nanmean(held, axis=0).min())
    none = float(np.isnan(held).mean())
    apart = [one.separated for one in found if one.separated == one.separated]
    line = f"{kind:9}  {design:36}  {share:6.1%}  {worst:6.1%}  {np.nanmedian([one.width for one in found]):9.4g}"
    line += f"  {np.mean(apart):6.1%}" if apart else "        "
    return line + (f"  no interval in {none:.1%}" if none else "")


def designs_covered(wanted: str, *, repetitions: int, processes: int, seed: int) -> None:
    print(f"{repetitions} repetitions, seed {seed}; simulation error of 95 % is {0.2179 / repetitions**0.5:.1%}")
    print("kind       design                                 holds   worst      width   equal models separated")
    with ProcessPoolExecutor(processes) as pool:
        for kind, (_, designs) in KINDS.items():
            for design in designs:
                if wanted not in f"{kind}: {design}":
                    continue
                seeds = [seed * 1_000_003 + one for one in range(repetitions)]
                parts = [(kind, design, seeds[start :: 4 * processes]) for start in range(4 * processes)]
                found = [one for some in pool.map(_some, parts) for one in some]
                print(told(kind, design, found), flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repetitions", type=int, default=2000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--design", help="only designs whose kind and name hold this; 'all' for all of them")
    options.add_argument("--processes", type=int, default=1)
    chosen = options.parse_args()
    if chosen.design is not None:
        wanted = "" if chosen.design == "all" else chosen.design
        designs_covered(wanted, repetitions=chosen.repetitions, processes=chosen.processes, seed=chosen.seed)
        return
    print(f"{chosen.repetitions} repetitions, {MODELS} models, each pair shown twice an item, seed {chosen.seed}")
    print("items  clustered  unclustered  (95 % wanted; share of pairwise intervals that hold the truth)")
    for items in (16, 30, 100):
        found = covered(items=items, repetitions=chosen.repetitions, seed=chosen.seed)
        note = f"  no finite fit in {found.without_interval:.1%}" if found.without_interval else ""
        print(f"{items:5}  {found.clustered:9.1%}  {found.unclustered:11.1%}{note}")
    print("items of a newcomer; its interval holds the truth where the judge follows position in 50, 80, 90 %")
    for items in (4, 8, 16, 40):
        shares = [
            newcomer_covered(items=items, follows=follows, repetitions=chosen.repetitions, seed=chosen.seed)
            for follows in (0.5, 0.8, 0.9)
        ]
        print(f"{items:5}  {'  '.join(f'{share:6.1%}' for share in shares)}")


if __name__ == "__main__":
    main()
