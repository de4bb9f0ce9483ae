"""Whether a jury's intervals know that its weights were learned: how often they hold the truth.

    python -m bench.jury [--boards 200] [--seed 0]

Three or four judges of known worth on the same items, one of them hardly better than a coin, two with errors in common;
an order effect that differs by judge; people on a third of the items, or none. The truth is the fit of the same jury
to 4,000 items with its true weights, those that it learns there. "Without" counts the weights as known.
"""

import argparse
import time
from dataclasses import dataclass

import numpy as np

from evenhand.stats.ratings.bradley_terry.covariance import spread
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.jury import Bench, JuryVotes, bench_of, held_out, jury_votes
from evenhand.stats.ratings.soft import soft_rows
from evenhand.stats.ratings.sums import FloatArray

STRENGTHS = np.array([0.8, 0.4, 0.1, -0.3, -1.0])
NOISE = np.array([0.5, 1.5, 1.5, 6.0])
ORDER = np.array([0.2, 0.8, -0.3, 0.5])
COMMON = np.array([0.0, 1.2, 1.2, 0.0])
"""What of an item's and model's liking judges share, beside what people feel."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    items: int = 120
    people: float = 0.33
    judges: int = 4

    def drawn(self, rng: np.random.Generator) -> Bench:
        models = len(STRENGTHS)
        first, second = np.triu_indices(models, 1)
        item = np.repeat(np.arange(self.items), len(first))
        a, b = np.tile(first, self.items), np.tile(second, self.items)
        felt = STRENGTHS + rng.normal(0, 1.0, (self.items, models))
        shared = rng.normal(0, 1.0, (self.items, models))
        gap, common = felt[item, a] - felt[item, b], shared[item, a] - shared[item, b]
        parts: list[tuple[int, int, FloatArray]] = []
        for judge in range(self.judges):
            own = gap + COMMON[judge] * common + NOISE[judge] * rng.normal(size=len(item))
            parts += [(judge, side, own + side * ORDER[judge] + 0.5 * rng.logistic(size=len(item))) for side in (1, -1)]
        names = tuple(f"m{place}" for place in range(models))
        votes = Comparisons(
            models=names,
            model_a=np.tile(a, len(parts)).astype(np.int32),
            model_b=np.tile(b, len(parts)).astype(np.int32),
            sign=np.concatenate([np.sign(lead) for *_, lead in parts]).astype(np.int8),
            item=np.tile(item, len(parts)).astype(np.int32),
            first=np.concatenate([np.full(len(item), side) for _, side, _ in parts]).astype(np.int8),
            rater=np.concatenate([np.full(len(item), judge) for judge, *_ in parts]).astype(np.int32),
            raters=tuple(f"judge {judge}" for judge in range(self.judges)),
        )
        asked = item < self.people * self.items
        people = Comparisons(
            models=names,
            model_a=a[asked].astype(np.int32),
            model_b=b[asked].astype(np.int32),
            sign=np.sign(gap + rng.logistic(size=len(item)))[asked].astype(np.int8),
            item=item[asked].astype(np.int32),
        )
        return bench_of(votes, people if asked.any() else None)


def fitted(jury: JuryVotes) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Differences of every two, their errors with the weights taken for known, and with what learning them adds."""
    solution = solve(soft_rows(jury.votes))
    known = spread(solution)
    apart = np.triu_indices(len(STRENGTHS), 1)
    strength = solution.fit.strength
    whole = known.covariance + jury.covariance_of_weights()
    errors = [_errors(one)[apart] for one in (known.covariance, whole)]
    return (strength[:, None] - strength)[apart], errors[0], errors[1]


def _errors(covariance: FloatArray) -> FloatArray:
    own = np.diagonal(covariance)
    return np.sqrt(np.maximum(own[:, None] + own - 2 * covariance, 0.0))


def run(world: World, boards: int, seed: int) -> str:
    rng = np.random.default_rng(seed)
    large = World(items=4_000, people=world.people, judges=world.judges)
    truth, *_ = fitted(jury_votes(large.drawn(rng), "learned"))
    without, within, gains = [], [], []
    for _ in range(boards):
        jury = jury_votes(world.drawn(rng), "learned")
        value, known, whole = fitted(jury)
        without.append(np.abs(value - truth) <= 1.98 * known)
        within.append(np.abs(value - truth) <= 1.98 * whole)
        found = held_out(jury)
        gains.append(np.nan if found is None or found.gain.value is None else found.gain.value)
    told = f"people on {100 * world.people:.0f} %" if world.people else "no people"
    return (
        f"| {world.judges} judges, {world.items} items, {told} | {100 * np.mean(without):.1f} % "
        f"| {100 * np.mean(within):.1f} % | {100 * np.nanmean(gains):+.1f} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--boards", type=int, default=200)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began = time.process_time()
    print("| world | weights taken for known | learned | points right over the best single |\n|---|---|---|---|")
    worlds = (World(), World(items=60, people=0.5), World(people=0.0), World(items=60, people=0.0, judges=3))
    for world in worlds:
        print(run(world, given.boards, given.seed), flush=True)
    print(f"\n{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
