"""What ranks, anchored ratings and tests of the fit say of a known truth."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl

import evenhand as eh
from bench.coverage_designs import Drawn, Found, World, ranked, true_strengths
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.level_tests import level_tests
from evenhand.stats.ratings.fit_tests import ratings_tell_every_pair, same_on_every_item
from evenhand.stats.ratings.scale import Scale


def of_separation(world: World, rng: np.random.Generator) -> Found:
    """Whether a board calls any two separated that are equal, or the wrong way round."""
    strength = world.strengths
    better = strength[:, None] > strength[None, :] + 1e-9
    return Found.claim(bool((ranked(world.drawn(rng)).separated & ~better).any()))


def boards_falsely_separated(
    *, models: int, items: int, raters: int, repetitions: int, seed: int, item_spread: float = 1.0
) -> float:
    """Share of boards, as `rank` makes them, of models that are equal to raters on the whole, and call two separated.

    Every pair meets once on every item, before one of the raters, who have tastes of their own.
    """
    rng = np.random.default_rng(seed)
    names = np.array([f"model {code}" for code in range(models)])
    world = World(
        models=models, items=items, apart=0.0, raters=raters, rater_spread=1.0, item_spread=item_spread, tied=0.0
    )
    wrong = 0
    for _ in range(repetitions):
        seen = world.drawn(rng)
        assert seen.item is not None
        assert seen.rater is not None
        frame = pl.DataFrame(
            {
                "item": [f"item {code}" for code in seen.item],
                "model_a": names[seen.model_a],
                "model_b": names[seen.model_b],
                "winner": np.where(seen.sign > 0, "model_a", "model_b"),
                "rater": [f"rater {code}" for code in seen.rater],
            }
        )
        wrong += any((one.tier or 1) > 1 for one in eh.rank(frame).models)
    return wrong / repetitions


def equal(models: int, items: int, heavy: int = 0) -> World:
    """The first item is judged `heavy` times more."""
    return World(models=models, items=items, apart=0.0, sizes=(1 + heavy, *[1] * (items - 1)) if heavy else ())


def of_ranges(models: int, items: int, together: bool, rng: np.random.Generator) -> Found:
    """Ranges of ranks: each model's own; or the simultaneous ones, of which all of a board must hold."""
    found = ranked(World(models=models, items=items, worth=tuple(np.linspace(1.0, -1.0, models))).drawn(rng)).ranges
    bounds = [(one.rank_lower, one.rank_upper) if together else (one.own_lower, one.own_upper) for one in found]
    lower, upper = np.array(bounds, dtype=np.float64).T
    held = (lower <= np.arange(1, models + 1)) & (np.arange(1, models + 1) <= upper)
    return Found(
        held=np.array([held.all()]) if together else held.astype(float), width=float(np.mean(1 + upper - lower))
    )


def of_anchored(items: int, rng: np.random.Generator) -> Found:
    """Of models that are not the anchor: their distance to it."""
    world = World(models=5, items=items, worth=(0.8, 0.4, 0.0, -0.4, -0.8))
    fitted = bradley_terry(world.drawn(rng), scale=Scale(anchor="model 0", anchor_value=1000))
    truth = true_strengths(world)
    apart = 1000 + fitted.scale.unit * (truth - truth[0])
    return Found.of((one.rating for one in fitted.models[1:]), apart[1:])


def of_fit(test: str, models: int, items: int, spread: float, cycle: float, rng: np.random.Generator) -> Found:
    """Whether a misfit is found over items, or over pairs.

    `spread` makes items differ; `cycle` gives every model that much, in logits, against the next one round a ring,
    which no rating for each can tell.
    """
    world = World(models=models, items=items, worth=tuple(np.linspace(0.8, -0.8, models)), item_spread=spread, tied=0.0)
    seen = world.drawn(rng)
    fitted = bradley_terry(_in_a_ring(rng, seen, models, cycle) if cycle else seen)
    return Found.claim((same_on_every_item if test == "items" else ratings_tell_every_pair)(fitted).fits is False)


def _in_a_ring(rng: np.random.Generator, seen: Comparisons, models: int, cycle: float) -> Comparisons:
    strength = np.linspace(0.8, -0.8, models)
    a, b = seen.model_a, seen.model_b
    step = (b - a) % models
    turn = np.where(step == 1, cycle, np.where(step == models - 1, -cycle, 0.0))
    chance = 1 / (1 + np.exp(-(strength[a] - strength[b] + turn)))
    return replace(seen, sign=np.where(rng.random(len(seen)) < chance, 1, -1).astype(np.int8))


def of_levels(test: str, items: int, outer: float, shift: float, spread: float, rng: np.random.Generator) -> Found:
    """Whether a misfit of proportional odds, or of symmetric thresholds, is found.

    A lead counts 1 + `outer` times as much for much better as for better; much better lies `shift` nearer for the
    answer shown first.
    """
    odds, sides = level_tests(five_levels(rng, items, outer=outer, shift=shift, item_spread=spread))
    return Found.claim((odds if test == "odds" else sides).fits is False)


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


_EQUAL = (
    (2, 10, 0), (2, 12, 0), (2, 40, 0), (2, 40, 26), (2, 40, 204), (3, 12, 0), (5, 12, 0), (5, 40, 26), (10, 16, 0),
    (10, 60, 0),
)  # fmt: skip

DESIGNS: dict[str, Drawn] = {
    **{f"anchored ratings, {items} items": partial(of_anchored, items) for items in (10, 30, 100)},
    **{
        f"{'simultaneous' if together else 'own'} rank ranges, {models} models, {items} items": partial(
            of_ranges, models, items, together
        )
        for together in (False, True)
        for models, items in ((5, 16), (5, 60), (12, 60), (12, 200))
    },
    **{
        f"{models} equal models, {items} items"
        + (f", one with {(1 + heavy) / (items + heavy):.0%} of the rows" if heavy else ""): partial(
            of_separation, equal(models, items, heavy)
        )
        for models, items, heavy in _EQUAL
    },
    **{
        f"{models} models equal two by two, {items} items": partial(
            of_separation,
            World(models=models, items=items, worth=tuple(np.repeat(np.linspace(-1.5, 1.5, models // 2), 2))),
        )
        for models, items in ((6, 12), (10, 30))
    },
    **{
        f"fit of {test} holds, {models} models, {items} items": partial(of_fit, test, models, items, 0.0, 0.0)
        for test in ("items", "pairs")
        for models, items in ((4, 20), (8, 60))
    },
    **{
        f"fit of {test} holds, {items} items" + (", which differ" if spread else ""): partial(
            of_levels, test, items, 0.0, 0.0, spread
        )
        for test in ("odds", "thresholds")
        for items, spread in ((20, 0.0), (60, 0.0), (60, 0.5))
    },
}

MISFITS: dict[str, Drawn] = {
    **{
        f"items differ (sd 1 logit), {models} models, {items} items": partial(of_fit, "items", models, items, 1.0, 0.0)
        for models, items in ((4, 20), (8, 60))
    },
    **{
        f"a ring (0.8 logit), {models} models, 60 items": partial(of_fit, "pairs", models, 60, 0.0, 0.8)
        for models in (4, 8)
    },
    "a lead counts 1.6 outside, 60 items": partial(of_levels, "odds", 60, 0.6, 0.0, 0.0),
    "outside .4 nearer if first, 60 items": partial(of_levels, "thresholds", 60, 0.0, 0.4, 0.0),
}
"""Where a misfit is there to be found, so that a claim is right."""
