"""How often ranks, anchored ratings and tests of the fit are right: `bench/coverage.py` has the intervals.

    python -m bench.coverage_ranks [--repetitions 1000] [--seed 0] [--only anchored]

Items have strengths of their own around the models' (some suit a model better), so rows of one item are not
independent, and every pair of models meets on every item unless a design says otherwise.
"""

import argparse
from collections.abc import Callable
from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl

import evenhand as eh
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.level_tests import level_tests
from evenhand.stats.ratings.fit_tests import ratings_tell_every_pair, same_on_every_item
from evenhand.stats.ratings.neighbours import neighbour_tests, with_neighbours
from evenhand.stats.ratings.ranks import RankRanges, rank_ranges
from evenhand.stats.ratings.scale import Scale

ITEM_SPREAD = 1.0
"""Standard deviation of an item's own strengths, in natural units."""
TIED = 0.15


def made(
    rng: np.random.Generator,
    strength: np.ndarray,
    items: int,
    *,
    spread: float = ITEM_SPREAD,
    repeats: np.ndarray | None = None,
    tied: float = TIED,
) -> Comparisons:
    """`repeats`: of each item, how many times each pair is judged on it; once where none are given."""
    first, second = np.triu_indices(len(strength), 1)
    times = np.ones(items, dtype=np.int64) if repeats is None else repeats
    item = np.repeat(np.arange(items), times * len(first))
    pair = np.tile(np.arange(len(first)), int(times.sum()))
    own = strength + rng.normal(0, spread, (items, len(strength)))
    gap = own[item, first[pair]] - own[item, second[pair]]
    sign = np.where(rng.random(len(gap)) < 1 / (1 + np.exp(-gap)), 1, -1) * (rng.random(len(gap)) >= tied)
    return Comparisons(
        models=tuple(f"model {code}" for code in range(len(strength))),
        model_a=first[pair].astype(np.int32),
        model_b=second[pair].astype(np.int32),
        sign=sign.astype(np.int8),
        item=item.astype(np.int32),
    )


def ranked(seen: Comparisons) -> RankRanges:
    """As a board has it: the differences' ranges, and what neighbours' tests add."""
    fitted = bradley_terry(seen)
    listed = [one.model for one in sorted(fitted.models, key=lambda one: (one.rank or 0, one.model))]
    return with_neighbours(rank_ranges(fitted), neighbour_tests(seen, [listed]))


def falsely_separated(*, models: int, items: int, repetitions: int, seed: int, heavy: int = 0) -> float:
    """Share of boards of equal models that call any two separated; the first item is judged `heavy` times more."""
    rng = np.random.default_rng(seed)
    repeats = np.ones(items, dtype=np.int64)
    repeats[0] += heavy
    return float(
        np.mean(
            [ranked(made(rng, np.zeros(models), items, repeats=repeats)).separated.any() for _ in range(repetitions)]
        )
    )


def pairs_falsely_separated(*, models: int, items: int, repetitions: int, seed: int) -> float:
    """Of models that are equal two by two and far from the others: boards with a wrong claim."""
    rng = np.random.default_rng(seed)
    strength = np.repeat(np.linspace(-1.5, 1.5, models // 2), 2)
    better = strength[:, None] > strength[None, :] + 1e-9
    return float(np.mean([(ranked(made(rng, strength, items)).separated & ~better).any() for _ in range(repetitions)]))


def boards_falsely_separated(
    *, models: int, items: int, raters: int, repetitions: int, seed: int, item_spread: float = ITEM_SPREAD
) -> float:
    """Share of boards, as `rank` makes them, of models that are equal to raters on the whole, and call two separated.

    Every pair meets once on every item, before one of the raters, who have tastes of their own.
    """
    rng = np.random.default_rng(seed)
    names = np.array([f"model {code}" for code in range(models)])
    wrong = 0
    for _ in range(repetitions):
        seen = made(rng, np.zeros(models), items, spread=0.0, tied=0.0)
        assert seen.item is not None
        rater, a, b = rng.integers(0, raters, len(seen)), seen.model_a, seen.model_b
        taste, own = rng.normal(0, 1.0, (raters, models)), rng.normal(0, item_spread, (items, models))
        gap = taste[rater, a] - taste[rater, b] + own[seen.item, a] - own[seen.item, b]
        won = rng.random(len(gap)) < 1 / (1 + np.exp(-gap))
        frame = pl.DataFrame(
            {
                "item": [f"item {code}" for code in seen.item],
                "model_a": names[a],
                "model_b": names[b],
                "winner": np.where(won, "model_a", "model_b"),
                "rater": [f"rater {code}" for code in rater],
            }
        )
        wrong += any((one.tier or 1) > 1 for one in eh.rank(frame).models)
    return wrong / repetitions


def separated_at(*, wins: int, losses: int, ties: int) -> bool:
    """Whether a board of two models that met on so many items calls them separated."""
    sign = np.array([1] * wins + [-1] * losses + [0] * ties, dtype=np.int8)
    one = np.zeros(len(sign), dtype=np.int32)
    seen = Comparisons(
        models=("A", "B"), model_a=one, model_b=one + 1, sign=sign, item=np.arange(len(sign), dtype=np.int32)
    )
    return bool(ranked(seen).separated.any())


def ranges_covered(*, models: int, items: int, repetitions: int, seed: int) -> tuple[float, float, float, float]:
    """Own ranges that hold the true rank, their mean width; boards whose simultaneous ranges all do, theirs."""
    rng = np.random.default_rng(seed)
    strength = np.linspace(1.0, -1.0, models)
    held, wide, all_held, all_wide = 0.0, 0.0, 0, 0.0
    for _ in range(repetitions):
        found = ranked(made(rng, strength, items)).ranges
        own = [(one.own_lower or 0, one.own_upper or 0) for one in found]
        together = [(one.rank_lower or 0, one.rank_upper or 0) for one in found]
        held += float(np.mean([low <= rank <= high for rank, (low, high) in enumerate(own, start=1)]))
        all_held += all(low <= rank <= high for rank, (low, high) in enumerate(together, start=1))
        wide += float(np.mean([1 + high - low for low, high in own]))
        all_wide += float(np.mean([1 + high - low for low, high in together]))
    return held / repetitions, wide / repetitions, all_held / repetitions, all_wide / repetitions


_ANCHORED = np.array([0.8, 0.4, 0.0, -0.4, -0.8])


def anchored_covered(*, items: int, repetitions: int, seed: int) -> float:
    """Of the 95 % intervals of models that are not the anchor: those that hold the true distance to it."""
    rng = np.random.default_rng(seed)
    truth = _anchored_truth()
    held, told = 0, 0
    for _ in range(repetitions):
        fitted = bradley_terry(made(rng, _ANCHORED, items), scale=Scale(anchor="model 0", anchor_value=1000))
        for code, one in enumerate(fitted.models[1:], start=1):
            if one.rating.lower is not None and one.rating.upper is not None:
                told += 1
                held += one.rating.lower <= truth[code] <= one.rating.upper
    return held / told


@cache
def _anchored_truth() -> list[float]:
    """Of the fit to so many items that their own error is out of sight."""
    seen = made(np.random.default_rng(0), _ANCHORED, 400_000)
    found = bradley_terry(seen, scale=Scale(anchor="model 0", anchor_value=1000)).models
    return [one.rating.value or 0.0 for one in found]


def print_anchored(repetitions: int, seed: int) -> None:
    print("anchored ratings: intervals that hold the true distance to the anchor (95 % wanted)")
    for items in (10, 30, 100):
        print(f"  {items:4} items  {anchored_covered(items=items, repetitions=repetitions, seed=seed):6.1%}")


def print_ranges(repetitions: int, seed: int) -> None:
    print("ranges: own ones that hold the true rank (95 % or more wanted), mean width; simultaneous, all of a board")
    for models, items in ((5, 16), (5, 60), (12, 60), (12, 200)):
        held, wide, all_held, all_wide = ranges_covered(models=models, items=items, repetitions=repetitions, seed=seed)
        own = f"own {held:6.1%}, {wide:.1f}"
        print(f"  {models:3} models {items:4} items  {own}  simultaneous {all_held:6.1%}, {all_wide:.1f}")


def print_separation(repetitions: int, seed: int) -> None:
    print("boards of equal models that call any two separated (5 % at the most wanted)")
    for models, items, heavy in (
        (2, 10, 0), (2, 12, 0), (2, 40, 0), (2, 40, 27), (2, 40, 200), (3, 12, 0), (5, 12, 0), (5, 40, 27),
        (10, 16, 0), (10, 60, 0),
    ):  # fmt: skip
        share = falsely_separated(models=models, items=items, heavy=heavy, repetitions=repetitions, seed=seed)
        about = "" if not heavy else f", one with {(1 + heavy) / (items + heavy):.0%} of the rows"
        print(f"  {models:3} models {items:4} items{about}  {share:6.1%}")
    for models, items, raters in ((2, 90, 3), (2, 90, 8), (2, 90, 20), (6, 60, 5), (6, 60, 12)):
        share = boards_falsely_separated(models=models, items=items, raters=raters, repetitions=repetitions, seed=seed)
        print(f"  {models:3} models {items:4} items, {raters} raters of unequal taste  {share:6.1%}")
    print("boards of models equal two by two with a wrong claim")
    for models, items in ((6, 12), (10, 30)):
        share = pairs_falsely_separated(models=models, items=items, repetitions=repetitions, seed=seed)
        print(f"  {models:3} models {items:4} items  {share:6.1%}")
    print(f"10 to 0 on 12 items: {'separated' if separated_at(wins=10, losses=0, ties=2) else 'not separated'}")


def misfit_found(
    *, models: int, items: int, repetitions: int, seed: int, item_spread: float = 0.0, cycle: float = 0.0
) -> tuple[float, float]:
    """Shares of boards on which the tests of items and of pairs find a misfit.

    `item_spread` makes items differ; `cycle` gives every model that much, in logits, against the next one round a ring
    (every second model, where they are more than three), which no rating for each can tell.
    """
    rng = np.random.default_rng(seed)
    found = np.zeros(2)
    for _ in range(repetitions):
        seen = made(rng, np.linspace(0.8, -0.8, models), items, spread=item_spread, tied=0.0)
        if cycle:
            seen = _in_a_ring(rng, seen, models, cycle)
        fitted = bradley_terry(seen)
        for place, test in enumerate((same_on_every_item(fitted), ratings_tell_every_pair(fitted))):
            found[place] += test.fits is False
    items_found, pairs_found = (found / repetitions).tolist()
    return items_found, pairs_found


def _in_a_ring(rng: np.random.Generator, seen: Comparisons, models: int, cycle: float) -> Comparisons:
    strength = np.linspace(0.8, -0.8, models)
    a, b = seen.model_a, seen.model_b
    step = (b - a) % models
    turn = np.where(step == 1, cycle, np.where(step == models - 1, -cycle, 0.0))
    chance = 1 / (1 + np.exp(-(strength[a] - strength[b] + turn)))
    return replace(seen, sign=np.where(rng.random(len(seen)) < chance, 1, -1).astype(np.int8))


def level_misfit_found(
    *, items: int, repetitions: int, seed: int, outer: float = 0.0, shift: float = 0.0, item_spread: float = ITEM_SPREAD
) -> tuple[float, float]:
    """Shares in which the tests of proportional odds and of symmetric thresholds find a misfit.

    A lead counts 1 + `outer` times as much for much better as for better; much better lies `shift` nearer for the
    answer shown first.
    """
    rng = np.random.default_rng(seed)
    found = np.zeros(2)
    for _ in range(repetitions):
        tests = level_tests(five_levels(rng, items, outer=outer, shift=shift, item_spread=item_spread))
        found += [one.fits is False for one in tests]
    odds, sides = (found / repetitions).tolist()
    return odds, sides


def five_levels(
    rng: np.random.Generator, items: int, *, outer: float = 0.0, shift: float = 0.0, item_spread: float = 0.0
) -> Comparisons:
    """Four models, every pair in both orders on every item; thresholds .3 and 1.5, being shown first is worth .2."""
    strength = np.linspace(0.9, -0.9, 4)
    one, other = np.triu_indices(4, 1)
    item = np.repeat(np.arange(items), 2 * len(one))
    a, b = (np.tile(np.concatenate(sides), items) for sides in ((one, other), (other, one)))
    own = strength + rng.normal(0, item_spread, (items, 4))
    lead = own[item, a] - own[item, b]
    draw = rng.random(len(lead))
    cuts = [
        1 / (1 + np.exp(-(scale * lead + 0.2 + moved - cut)))
        for scale, moved, cut in ((1 + outer, shift, 1.5), (1, 0, 0.3), (1, 0, -0.3), (1 + outer, shift, -1.5))
    ]
    # Cuts that a misfit lets cross are put back into their order.
    value = np.sum([draw < cut for cut in np.maximum.accumulate(cuts)], axis=0) - 2
    return Comparisons(
        models=tuple(f"model {code}" for code in range(4)),
        model_a=a.astype(np.int32),
        model_b=b.astype(np.int32),
        sign=np.sign(value).astype(np.int8),
        item=item.astype(np.int32),
        first=np.ones(len(a), dtype=np.int8),
        value=value.astype(np.int8),
    )


def print_fit(repetitions: int, seed: int) -> None:
    print("tests of the fit: boards on which they find a misfit; 5 % wanted where there is none")
    for about, models, items, spread, cycle in (
        ("the model holds", 4, 20, 0.0, 0.0),
        ("the model holds", 8, 60, 0.0, 0.0),
        ("items differ (sd 1 logit)", 4, 20, 1.0, 0.0),
        ("items differ (sd 1 logit)", 8, 60, 1.0, 0.0),
        ("a ring (0.8 logit)", 4, 60, 0.0, 0.8),
        ("a ring (0.8 logit)", 8, 60, 0.0, 0.8),
    ):
        by_items, by_pairs = misfit_found(
            models=models, items=items, item_spread=spread, cycle=cycle, repetitions=repetitions, seed=seed
        )
        print(f"  {about:26} {models} models {items:3} items  items {by_items:6.1%}  pairs {by_pairs:6.1%}")
    for about, items, outer, shift, spread in (
        ("the five-level model holds", 20, 0.0, 0.0, 0.0),
        ("the five-level model holds", 60, 0.0, 0.0, 0.0),
        ("it holds, items differ", 60, 0.0, 0.0, 0.5),
        ("a lead counts 1.6 outside", 60, 0.6, 0.0, 0.0),
        ("outside .4 nearer if first", 60, 0.0, 0.4, 0.0),
    ):
        odds, sides = level_misfit_found(
            items=items, outer=outer, shift=shift, item_spread=spread, repetitions=repetitions, seed=seed
        )
        print(f"  {about:26} 4 models {items:3} items  odds {odds:6.1%}  thresholds {sides:6.1%}")


DESIGNS: dict[str, Callable[[int, int], None]] = {
    "anchored": print_anchored,
    "ranges": print_ranges,
    "separation": print_separation,
    "fit": print_fit,
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repetitions", type=int, default=1000)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", choices=tuple(DESIGNS), action="append")
    chosen = options.parse_args()
    print(f"{chosen.repetitions} repetitions, seed {chosen.seed}")
    for name, design in DESIGNS.items():
        if chosen.only is None or name in chosen.only:
            design(chosen.repetitions, chosen.seed)


if __name__ == "__main__":
    main()
