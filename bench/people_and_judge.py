"""People and judge in one estimate: how often its intervals hold the truth, and how much narrower they are.

    python -m bench.people_and_judge [--repetitions 300] [--seed 0] [--only TEXT ...]

A row for people alone, for people and judge together and for the judge alone, of differences of two models. In made
worlds the truth is known; LLMFAO's is what all its people say, and each repetition gives people a tenth of its pairs.
"narrower" is the ratio of half-widths to those of people alone; "worth" what the board says a verdict of people is
worth beside the judge; "error" the root mean square error beside that of people alone. A second table has what
`align --plan` tells from a first part of people's verdicts, against the half-widths that come with all of them.
"""

import argparse
import csv
import gzip
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache, partial
from importlib.resources import files
from typing import Protocol

import numpy as np

from bench.coverage_designs import Found, World, true_strengths
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry, differences
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.shares.win_rate import win_rates
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge
from evenhand.stats.ratings.with_people.means import joined_win_rates
from evenhand.stats.ratings.with_people.plan import planned
from evenhand.stats.ratings.with_people.ratings import joined_ratings

BOARD = World(items=500, models=8, apart=2.0, item_spread=0.7, tied=0.0)
LEAST = 0.93


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """A world of people, a judge of it, and what people are asked."""

    copies: float
    """How often the judge feels what people feel; else it has a mind of its own about the item."""
    world: World = BOARD
    bias: float = 0.4
    """The judge's taste for models, in natural units, to either side."""
    asked: int = 500
    """Pairs that people have, one an item before any item has two."""
    times: int = 1
    """People for each pair; from two on each is one of the world's raters."""
    skew: float = 0.0
    """How unevenly they fall on items: a pair's chance is as its item's number to this power, and is known."""
    lies: bool = False
    """The judge says the opposite of what it feels."""

    def drawn(self, rng: np.random.Generator) -> PeopleAndJudge:
        world = self.world
        first, second = np.triu_indices(world.models, 1)
        item, pair = np.repeat(np.arange(world.items), len(first)), np.tile(np.arange(len(first)), world.items)
        a, b = first[pair], second[pair]
        lead, noise = self._lead(rng, item, a, b), rng.logistic(0, 1, len(item))
        own = self._lead(rng, item, a, b) + rng.logistic(0, 1, len(item))
        felt = np.where(rng.random(len(item)) < self.copies, lead + noise, own)
        taste = np.linspace(-self.bias, self.bias, world.models)[np.random.default_rng(1).permutation(world.models)]
        judged = _signs(rng, felt + taste[a] - taste[b], world.tied) * (-1 if self.lies else 1)
        probability = self._probability(item)
        asked = np.repeat(self._asked(rng, item, probability), self.times)
        felt, rater = (lead + noise)[asked], None
        if self.times > 1:
            rater = rng.integers(0, world.raters, len(asked)).astype(np.int32)
            likes = rng.normal(0, world.rater_spread, (world.raters, world.models))
            felt = lead[asked] + likes[rater, a[asked]] - likes[rater, b[asked]] + rng.logistic(0, 1, len(asked))
        said = _rows(world, a[asked], b[asked], _signs(rng, felt, world.tied), item[asked])
        return PeopleAndJudge.of(
            _rows(world, a, b, judged, item),
            replace(said, crossed=rater, probability=probability[asked] if self.skew else None),
        )

    def _lead(self, rng: np.random.Generator, item: np.ndarray, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        mind = self.world.strengths + rng.normal(0, self.world.item_spread, (self.world.items, self.world.models))
        return mind[item, a] - mind[item, b]

    def _probability(self, item: np.ndarray) -> np.ndarray:
        share = (item + 1.0) ** -self.skew
        return np.minimum(self.asked * share / share.sum(), 1.0)

    def _asked(self, rng: np.random.Generator, item: np.ndarray, probability: np.ndarray) -> np.ndarray:
        if self.skew:
            return np.flatnonzero(rng.random(len(item)) < probability)
        order = np.lexsort((rng.random(len(item)), item))
        turn = np.empty(len(item), dtype=np.int64)
        turn[order] = np.arange(len(item)) - np.searchsorted(item[order], item[order])
        return np.sort(np.lexsort((rng.random(len(item)), turn))[: self.asked])


def _signs(rng: np.random.Generator, felt: np.ndarray, tied: float) -> np.ndarray:
    return np.where(rng.random(len(felt)) < tied, 0, np.where(felt > 0, 1, -1)).astype(np.int8)


def _rows(world: World, a: np.ndarray, b: np.ndarray, sign: np.ndarray, item: np.ndarray) -> Comparisons:
    return Comparisons(
        models=tuple(f"model {code}" for code in range(world.models)),
        model_a=a.astype(np.int32),
        model_b=b.astype(np.int32),
        sign=sign,
        item=item.astype(np.int32),
    )


@cache
def agreeing(agreement: float, world: World = BOARD) -> Judged:
    """A judge who agrees with people on so many single verdicts."""
    low, high = 0.0, 1.0
    every = world.items * world.models * (world.models - 1) // 2
    for _ in range(10):
        judge = Judged(copies=(low + high) / 2, world=world, asked=every)
        given = judge.drawn(np.random.default_rng(0))
        same = float((given.judged[given.pair] == given.said).mean())
        low, high = (judge.copies, high) if same < agreement else (low, judge.copies)
    return Judged(copies=(low + high) / 2, world=world)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Repetition:
    """Of people alone, both together, the judge alone: rows of `held`, `half` and `off`."""

    held: np.ndarray
    half: np.ndarray
    """Mean half-width of the differences that have an interval under all three."""
    off: np.ndarray
    """Mean squared error of the differences."""
    lambda_: float
    worth: float
    left_out: int
    """Models that cannot be placed."""
    rates: np.ndarray
    """Of people alone and both together: how often the intervals of win rates hold the truth; NaN: it is not known."""


def _looked(given: PeopleAndJudge, truth: np.ndarray, rates: np.ndarray | None = None) -> Repetition:
    held_rates = np.full(2, np.nan) if rates is None else _rates_held(given, rates)
    every, given = given.models, given.placed().given
    if len(given.models) < 2:
        raise NoFiniteFit("People's verdicts rate nobody.")
    kept = np.isin(every, given.models)
    truth = truth[kept]
    judge = Comparisons(
        models=given.models, model_a=given.first, model_b=given.second, item=given.item,
        sign=np.sign(given.judged - 0.5).astype(np.int8),
    )  # fmt: skip
    joined = joined_ratings(given)
    found = [differences(one) for one in (bradley_terry(given.people), joined.rated, bradley_terry(judge))]
    upper = np.triu_indices(len(truth), 1)
    real = ((truth[:, None] - truth[None, :]) * joined.rated.scale.unit)[upper]
    known = np.logical_and.reduce([np.isfinite(one.lower[upper]) for one in found])
    held, half, off = [], [], []
    for one in found:
        lower, high, value = one.lower[upper], one.upper[upper], one.value[upper]
        own = np.isfinite(lower)
        held.append(float(((lower <= real) & (real <= high))[own].mean()))
        half.append(float((high - lower)[known].mean() / 2))
        off.append(float(((value - real)[known] ** 2).mean()))
    return Repetition(
        held=np.array(held), half=np.array(half), off=np.array(off), lambda_=joined.lambda_,
        worth=joined.worth / len(given.pair), left_out=int((~kept).sum()),
        rates=held_rates,
    )  # fmt: skip


def _rates_held(given: PeopleAndJudge, truth: np.ndarray) -> np.ndarray:
    both, alone = [one.mean for one in joined_win_rates(given)], [one.win_rate for one in win_rates(given.people)]
    return np.array([np.nanmean(Found.of(some, truth).held) for some in (alone, both)])


def made(judged: Judged, seed: int) -> Repetition:
    world = judged.world
    # Against every other model alike; with itself a model would be level.
    rates = (world.won().sum(axis=1) - 0.5) / (world.models - 1)
    return _looked(judged.drawn(np.random.default_rng(seed)), true_strengths(world), rates)


@cache
def _llmfao(judge: str) -> tuple[Comparisons, Comparisons]:
    """Of the judge, and of people."""
    packed = files("evenhand.benchmarks.llmfao") / "verdicts.csv.gz"
    with packed.open("rb") as file, gzip.open(file, "rt", encoding="utf-8") as text:
        rows = list(csv.DictReader(text))
    names = sorted({row[side] for row in rows for side in ("left", "right")})
    number = {name: code for code, name in enumerate(names)}
    sides = {"left": 1, "right": -1, "tie": 0}

    def of(chosen: list[dict[str, str]]) -> Comparisons:
        raters = {name: code for code, name in enumerate(sorted({row["rater"] for row in chosen}))}
        return Comparisons(
            models=tuple(names),
            model_a=np.array([number[row["left"]] for row in chosen], dtype=np.int32),
            model_b=np.array([number[row["right"]] for row in chosen], dtype=np.int32),
            sign=np.array([sides[row["winner"]] for row in chosen], dtype=np.int8),
            item=np.array([int(row["item"]) for row in chosen], dtype=np.int32),
            crossed=np.array([raters[row["rater"]] for row in chosen], dtype=np.int32),
        )

    judges = {"gpt-4", "gpt-3.5"}
    return of([row for row in rows if row["rater"] == judge]), of([row for row in rows if row["rater"] not in judges])


@cache
def _everyone(judge: str) -> np.ndarray:
    """Strengths by all people."""
    return solve(PeopleAndJudge.of(*_llmfao(judge)).people).fit.strength


def llmfao(judge: str, share: float, seed: int) -> Repetition:
    judged, people = _llmfao(judge)
    assert people.item is not None
    items = np.unique(people.item)
    chosen = np.random.default_rng(seed).choice(items, round(share * len(items)), replace=False)
    return _looked(PeopleAndJudge.of(judged, people.rows(np.isin(people.item, chosen))), _everyone(judge))


@dataclass(frozen=True, slots=True, kw_only=True)
class Foretold:
    """Half-widths that a plan tells beforehand, and those that came: of people alone, and together."""

    told: np.ndarray
    came: np.ndarray


def foretold(judged: Judged, begun: int, seed: int) -> Foretold:
    """From a first part of the pairs, and with all of them, another draw of the same world."""
    before = replace(judged, asked=begun).drawn(np.random.default_rng([seed, 1]))
    after = judged.drawn(np.random.default_rng([seed, 2]))
    then = planned(before, len(after.pair) - len(before.pair)).then
    now = planned(after, 0).now
    return Foretold(told=np.array([then.people, then.together]), came=np.array([now.people, now.together]))


PLANS = {
    "agreement 0.6, 150 then 500 pairs": (0.6, {}, 150, BOARD),
    "agreement 0.7, 150 then 500 pairs": (0.7, {}, 150, BOARD),
    "agreement 0.8, 150 then 500 pairs": (0.8, {}, 150, BOARD),
    "agreement 0.9, 150 then 500 pairs": (0.9, {}, 150, BOARD),
    "agreement 0.8, 250 then 2000 pairs": (0.8, {"asked": 2000}, 250, BOARD),
    "agreement 0.8, 4 models, 60 then 240 pairs": (0.8, {"asked": 240}, 60, replace(BOARD, models=4)),
}


def print_plans(repetitions: int, seed: int, only: list[str]) -> None:
    print("\n| plan | people: told / came | together: told / came | nine in ten, together |\n|---|---|---|---|")
    for name, (agreement, changes, begun, world) in PLANS.items():
        if not any(part in name for part in only):
            continue
        judged = replace(agreeing(agreement, world), **changes)
        found = [foretold(judged, begun, seed * 1_000_003 + number) for number in range(repetitions)]
        came = np.stack([one.came for one in found]).mean(axis=0)
        ratios = np.stack([one.told for one in found]) / came
        people, together = ratios.mean(axis=0)
        low, high = np.quantile(ratios[:, 1], [0.05, 0.95])
        print(f"| {name} | {people:.3f} | {together:.3f} | {low:.2f} to {high:.2f} |", flush=True)


class Once(Protocol):
    """One repetition of a world."""

    def __call__(self, *, seed: int) -> Repetition: ...


def _designs() -> Iterator[tuple[str, Once]]:
    for agreement in (0.6, 0.7, 0.8, 0.9):
        yield f"agreement {agreement:g}, 500 pairs", partial(_made_at, agreement, {})
    few = replace(BOARD, models=4)
    for asked in (30, 60):
        yield f"agreement 0.8, 4 models, {asked} pairs", partial(_made_at, 0.8, {"asked": asked}, few)
    for models, items, asked in ((2, 1000, 30), (3, 1000, 30), (4, 1000, 60), (8, 500, 150)):
        hidden = replace(BOARD, models=models, items=items)
        name = f"nearly people's, {models} models, {asked} pairs"
        yield name, partial(made, Judged(world=hidden, asked=asked, copies=0.95, bias=0.2))
    yield "agreement 0.8, uneven items with known probabilities", partial(_made_at, 0.8, {"skew": 0.8})
    rated = replace(BOARD, raters=20, rater_spread=0.4, item_spread=2.0)
    yield "agreement 0.8, 3 of 20 raters a pair", partial(_made_at, 0.8, {"times": 3, "asked": 200}, rated)
    yield "worse than chance, 500 pairs", partial(_made_at, 0.8, {"lies": True})
    yield "worse than chance, 4 models, 30 pairs", partial(_made_at, 0.8, {"lies": True, "asked": 30}, few)
    yield "knows nothing, 4 models, 30 pairs", partial(made, Judged(copies=0.0, world=few, asked=30))
    for judge in ("gpt-4", "gpt-3.5"):
        yield f"LLMFAO, people on a tenth, {judge}", partial(llmfao, judge, 0.1)
        yield f"LLMFAO, people on a half, {judge}", partial(llmfao, judge, 0.5)


def _made_at(agreement: float, changes: dict[str, float], world: World = BOARD, seed: int = 0) -> Repetition:
    return made(replace(agreeing(agreement, world), **changes), seed)


def told(name: str, found: list[Repetition], vain: int) -> str:
    held, half = np.stack([one.held for one in found]), np.stack([one.half for one in found])
    off, error = np.stack([one.off for one in found]).mean(axis=0) ** 0.5, held.std(axis=0) / len(found) ** 0.5
    covered = [f"{share:.1%} ± {each:.1%}" for share, each in zip(held.mean(axis=0), error, strict=True)]
    narrower = f"{(half[:, 1] / half[:, 0]).mean():.3f}"
    lambdas, worth = np.mean([one.lambda_ for one in found]), np.median([one.worth for one in found])
    marks = [] if held.mean(axis=0)[1] + 2 * error[1] >= LEAST else ["BELOW 93 %"]
    left, rates = float(np.mean([one.left_out for one in found])), np.stack([one.rates for one in found]).mean(axis=0)
    marks += [f"{left:.1f} models not placed, on average"] if left >= 0.05 else []
    marks += [f"no finite fit in {vain} of {vain + len(found)}"] if vain else []
    cells = [name, *covered, f"{half[:, 0].mean():.1f}", narrower, f"{worth:.2f}", f"{off[1] / off[0]:.3f}",
             f"{lambdas:.2f}", " and ".join(f"{one:.1%}" for one in rates), "; ".join(marks)]  # fmt: skip
    return f"| {' | '.join(cells)} |"


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--repetitions", type=int, default=300)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--only", nargs="+", default=[""], help="worlds whose names hold one of these")
    chosen = options.parse_args()
    print(f"{chosen.repetitions} repetitions of each, seed {chosen.seed}\n")
    heads = ("world", "people hold", "together hold", "judge holds", "half-width of people", "narrower", "worth",
             "error", "lambda", "win rates: people and together hold", "")  # fmt: skip
    print(f"| {' | '.join(heads)} |")
    print("|---|---|---|---|---|---|---|---|---|---|---|", flush=True)
    began = time.process_time()
    for name, once in _designs():
        if not any(part in name for part in chosen.only):
            continue
        found: list[Repetition] = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RuntimeWarning)
            for number in range(chosen.repetitions):
                try:
                    found.append(once(seed=chosen.seed * 1_000_003 + number))
                except NoFiniteFit:
                    continue
        print(told(name, found, chosen.repetitions - len(found)), flush=True)
    print_plans(chosen.repetitions, chosen.seed, chosen.only)
    print(f"\n{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
