"""Whether planted effects of order and length are found again, and how often 95 % intervals hold them.

    python -m bench.planted [--repetitions 500] [--seed 0]

Each pair of models is judged on every item in both orders, by a lead drawn around the planted one; the second showing
mostly repeats the draw of the first, so rows of one item are not independent while every row by itself follows the
model exactly. In the trap the second-best of two middle models mostly stands first and writes more, so that a plain
board ranks the two the wrong way round.
"""

import argparse
from dataclasses import dataclass

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, differences
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.effects.length import length_effect
from evenhand.stats.ratings.effects.order import order_effect
from evenhand.stats.ratings.effects.ordinal import ordinal

STRENGTHS = np.array([-0.6, -0.15, 0.15, 0.6])
ORDER = 0.8
SLOPE = 0.4
"""Of 100 words more."""
THRESHOLDS = (0.4, 1.5)
REPEATED = 0.7
"""Probability that the second showing repeats the draw of the first."""
FAVOURED, BETTER = 1, 2
SECOND = 0.3
"""Share of the showings with the favoured model in second place that a trap keeps."""
VERBOSE = 120.0
"""Words by which a trap makes the favoured model's answers longer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """Shares of the repetitions."""

    order: float
    """Intervals of the order effect that hold the planted one; likewise the next three."""
    length: float
    ordinal_order: float
    ordinal_gaps: float
    """Of every two models' difference."""
    right_before: float
    """Boards that rank the two middle models rightly, in a trap of order and length."""
    right_after: float


def judged(
    rng: np.random.Generator, items: int, *, levels: int = 2, slope: float = 0.0, trap: bool = False
) -> Comparisons:
    """Every row's model_a stands first."""
    one, other = np.triu_indices(len(STRENGTHS), 1)
    shape = (items, len(one))
    words = rng.normal(0, 80, (items, len(STRENGTHS)))
    words[:, FAVOURED] += VERBOSE * trap
    longer = words[:, one] - words[:, other]
    lead = STRENGTHS[one] - STRENGTHS[other] + slope * longer / 100
    noise = rng.logistic(size=shape)
    again = np.where(rng.random(shape) < REPEATED, noise, rng.logistic(size=shape))
    leads = np.concatenate(((lead + noise).ravel(), -(lead + again).ravel())) + ORDER
    cuts = (0.0,) if levels == 2 else (-THRESHOLDS[1], -THRESHOLDS[0], *THRESHOLDS)
    value = np.digitize(leads, cuts) * 2 - 1 if levels == 2 else np.digitize(leads, cuts) - 2
    every = Comparisons(
        models=tuple(f"model {code}" for code in range(len(STRENGTHS))),
        model_a=np.concatenate((np.tile(one, items), np.tile(other, items))).astype(np.int32),
        model_b=np.concatenate((np.tile(other, items), np.tile(one, items))).astype(np.int32),
        sign=np.sign(value).astype(np.int8),
        item=np.tile(np.repeat(np.arange(items), len(one)), 2).astype(np.int32),
        first=np.ones(len(leads), dtype=np.int8),
        value=value.astype(np.int8) if levels == 5 else None,
        length=np.concatenate((longer.ravel(), -longer.ravel())),
    )
    seldom = trap & (every.model_b == FAVOURED) & (rng.random(len(leads)) >= SECOND)
    return every.rows(~seldom)


def found(*, items: int, repetitions: int, seed: int) -> Found:
    rng = np.random.default_rng(seed)
    rows = np.array([_once(rng, items) for _ in range(repetitions)])
    order, length, ordinal_order, ordinal_gaps, before, after = rows.mean(axis=0).tolist()
    return Found(
        order=order, length=length, ordinal_order=ordinal_order, ordinal_gaps=ordinal_gaps, right_before=before,
        right_after=after,
    )  # fmt: skip


def _once(rng: np.random.Generator, items: int) -> list[float]:
    order = order_effect(judged(rng, items)).overall.natural
    trapped = length_effect(judged(rng, items, slope=SLOPE, trap=True))
    levels = ordinal(judged(rng, items, levels=5)).levels
    if levels is None or levels.order is None or trapped.after is None:
        raise ValueError(f"{items} items are too few to have a finite fit at every draw: try another seed.")
    gaps = differences(levels.board)
    truth = (STRENGTHS[:, None] - STRENGTHS[None, :]) * levels.board.scale.unit
    above = np.triu_indices(len(STRENGTHS), 1)
    return [
        _holds(order, ORDER),
        _holds(trapped.slope.natural, SLOPE),
        _holds(levels.order.natural, ORDER),
        float(np.mean(((gaps.lower <= truth) & (truth <= gaps.upper))[above])),
        _right(trapped.before),
        _right(trapped.after),
    ]


def _holds(estimate: Estimate, truth: float) -> float:
    return float(
        estimate.lower is not None and estimate.upper is not None and estimate.lower <= truth <= estimate.upper
    )


def _right(board: BradleyTerry) -> float:
    strength = board.solution.fit.strength
    return float(strength[BETTER] > strength[FAVOURED])


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repetitions", type=int, default=500)
    options.add_argument("--seed", type=int, default=0)
    chosen = options.parse_args()
    print(
        f"{chosen.repetitions} repetitions, {len(STRENGTHS)} models, each pair shown in both orders, seed {chosen.seed}"
    )
    print("       95 % intervals that hold the planted value            middle models ranked rightly")
    print("items   order  length  ordinal: order  differences          plain  order and length corrected")
    for items in (16, 30, 100):
        share = found(items=items, repetitions=chosen.repetitions, seed=chosen.seed)
        print(
            f"{items:5}  {share.order:6.1%}  {share.length:6.1%}  {share.ordinal_order:14.1%}"
            f"  {share.ordinal_gaps:11.1%}  {share.right_before:13.1%}  {share.right_after:6.1%}"
        )


if __name__ == "__main__":
    main()
