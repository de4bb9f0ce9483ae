"""What soft verdicts gain over hard ones, where the truth is known.

    python -m bench.soft [--items 200000] [--boards 40] [--seed 0]

A steady judge: 20 models as far apart as VisIT-Bench's of August 2023, stretched; an item's own taste for each model,
an order effect that differs by item, and logistic noise fresh for every call. Information for each item, one random
pair on each, in the place of hard verdicts in both orders; then what a whole board of 60 items prints, and how often
its intervals of differences hold the truth, which is the fit to 400,000 items.
"""

import argparse
import time
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.soft import soft_gain, soft_rows

Floats: TypeAlias = npt.NDArray[np.float64]

_AUGUST = (1370, 1106, 1082, 1081, 1011, 991, 972, 921, 877, 826, 763)
MODELS = 20
SOFTNESS = 0.75
"""Of the hard verdicts' variance between equal models: what soft ones have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Judge:
    pair_sd: float = 4.0
    order: float = 1.05
    order_sd: float = 1.0
    band: float = 0.6
    """A tie where the latent difference is smaller."""
    scale: float = 2.7

    def strengths(self) -> Floats:
        elo = np.sort((np.array(_AUGUST, dtype=np.float64) - 1000) * np.log(10) / 400)
        return self.scale * np.interp(np.linspace(0, len(elo) - 1, MODELS), np.arange(len(elo)), elo)

    def latent(self, rng: np.random.Generator, rows: Comparisons, items: int) -> Floats:
        """In favour of model_a; each row a call."""
        assert rows.item is not None
        assert rows.first is not None
        taste = rng.normal(0, self.pair_sd / np.sqrt(2), (items, MODELS)) + self.strengths()
        order = rng.normal(self.order, self.order_sd, items)
        gap = taste[rows.item, rows.model_a] - taste[rows.item, rows.model_b]
        return gap + rows.first * order[rows.item] + rng.logistic(size=len(rows))

    def judged(self, rng: np.random.Generator, rows: Comparisons, items: int, kappa: float) -> Comparisons:
        latent = self.latent(rng, rows, items)
        sign = np.where(np.abs(latent) < self.band, 0, np.sign(latent)).astype(np.int8)
        return replace(rows, sign=sign, soft=1 / (1 + np.exp(-kappa * latent)))

    def kappa(self, rng: np.random.Generator, calls: int = 400_000) -> float:
        """With which sigma(kappa L) of equal models varies SOFTNESS as much as hard verdicts do."""
        gap = rng.normal(0, self.pair_sd, calls) + rng.normal(self.order, self.order_sd, calls) * rng.choice(
            [-1, 1], calls
        )
        latent = gap + rng.logistic(size=calls)
        hard = np.where(np.abs(latent) < self.band, 0.0, np.sign(latent)) / 2
        low, high = 0.01, 10.0
        for _ in range(40):
            middle = np.sqrt(low * high)
            wide = float((1 / (1 + np.exp(-middle * latent))).var()) > SOFTNESS * float(hard.var())
            low, high = (low, middle) if wide else (middle, high)
        return float(np.sqrt(low * high))


def asked(item: npt.NDArray[np.intp], one: npt.NDArray[np.intp], other: npt.NDArray[np.intp]) -> Comparisons:
    """Both orders of each pair, one after the other."""
    number = len(item)
    return Comparisons(
        models=tuple(f"m{place:02}" for place in range(MODELS)),
        model_a=np.tile(one, 2).astype(np.int32),
        model_b=np.tile(other, 2).astype(np.int32),
        sign=np.zeros(2 * number, np.int8),
        item=np.tile(item, 2).astype(np.int32),
        first=np.repeat(np.array([1, -1], np.int8), number),
    )


def one_pair_an_item(rng: np.random.Generator, items: int) -> Comparisons:
    one = rng.integers(0, MODELS, items)
    return asked(np.arange(items), one, (one + rng.integers(1, MODELS, items)) % MODELS)


def round_robin(items: int) -> Comparisons:
    first, second = np.triu_indices(MODELS, 1)
    return asked(np.repeat(np.arange(items), len(first)), np.tile(first, items), np.tile(second, items))


def informations(rows: Comparisons, rng: np.random.Generator) -> dict[str, float]:
    """By the product's own measure, hard verdicts in both orders being 1."""
    half = len(rows) // 2
    one_call = np.arange(half) + half * rng.integers(0, 2, half)
    hard = (rows.sign + 1) / 2
    ways = {
        "soft, both orders": rows,
        "hard, both orders": replace(rows, soft=hard),
        "soft, one call": rows.rows(one_call),
        "hard, one call": replace(rows, soft=hard).rows(one_call),
        "VisIT's joined battle": _joined(rows, half),
    }
    found: dict[str, float] = {}
    for name, way in ways.items():
        gain = soft_gain(rows, way)
        assert gain is not None
        found[name] = gain.times
    return found


def _joined(rows: Comparisons, half: int) -> Comparisons:
    both = rows.rows(np.arange(half))
    return replace(both, soft=(np.sign(rows.sign[:half] + rows.sign[half:]) + 1) / 2)


def boards(judge: Judge, kappa: float, number: int, seed: int, items: int = 60) -> tuple[float, float, float]:
    """The mean of the gain that a board prints, and how often hard and soft intervals of differences hold the truth."""
    rng = np.random.default_rng(seed)
    many = judge.judged(rng, one_pair_an_item(rng, 400_000), 400_000, kappa)
    truth = [differences(bradley_terry(rows)).value for rows in (replace(many, soft=None), soft_rows(many))]
    gains: list[float] = []
    held: list[list[float]] = [[], []]
    apart = np.triu_indices(MODELS, 1)
    for _ in range(number):
        rows = judge.judged(rng, round_robin(items), items, kappa)
        gain = soft_gain(rows, rows)
        assert gain is not None
        gains.append(gain.times)
        for way, made in enumerate((replace(rows, soft=None), soft_rows(rows))):
            found = differences(bradley_terry(made))
            inside = (found.lower <= truth[way]) & (truth[way] <= found.upper)
            held[way].append(float(inside[apart].mean()))
    return float(np.mean(gains)), float(np.mean(held[0])), float(np.mean(held[1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--boards", type=int, default=40)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    began, judge, rng = time.process_time(), Judge(), np.random.default_rng(given.seed)
    kappa = judge.kappa(rng)
    rows = judge.judged(rng, one_pair_an_item(rng, given.items), given.items, kappa)
    print(f"kappa {kappa:.3f}, {given.items:,} items\n\n| verdicts | information for each item |\n|---|---|")
    for name, information in informations(rows, rng).items():
        print(f"| {name} | {information:.3f} |")
    if given.boards:
        gain, hard, soft = boards(judge, kappa, given.boards, given.seed + 1)
        print(f"\n{given.boards} boards of 60 items: gain printed {gain:.2f}; 95 % intervals of differences hold")
        print(f"{100 * hard:.1f} % hard, {100 * soft:.1f} % soft")
    print(f"\n{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
