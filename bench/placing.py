"""Placing a model on a board: what it costs for the paper's precision, and how often a claim is wrong.

    python -m bench.placing [--runs 400] [--seed 0] [--world steady noisy]

Two made worlds: 20 models on a board (every pair on 700 items, both orders) and a newcomer as strong as one of them
might be. A judge's verdict is the sign of (strength + what the item likes of the model) less the other's, more or less
what the item gives to the first shown, and chance; a tie where that is small. The newcomer is placed by the product's
own planner and fit, the judge answering in this process. The truth is the strength that fits the expected scores.
"""

import argparse
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand.domain.placing import LookPlan, Until
from evenhand.engine.tasks.placing import Course, Look, Said, Shown
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.placing import FrozenBoard, Meetings, Placed
from evenhand.stats.sequential import look_values

ELO = (1370, 1106, 1082, 1081, 1011, 991, 972, 921, 877, 826, 763)
"""VisIT-Bench's board of August 2023."""
MODELS, ITEMS, NEW = 20, 700, "new"
NAMES = tuple(f"m{code:02}" for code in range(MODELS))
LABELS = tuple(f"item {number}" for number in range(ITEMS))
PAPER_BATTLES = 700
PLANS = {"7 looks, cap 560": (7, 560), "7 looks, cap 700": (7, 700)}
PRECISE = LookPlan(new=NEW, until=Until(kind="width", number=1e-9), looks=6, max_calls=840, record=0)
"""Never settled: to see how the error falls."""
Floats = np.ndarray


def stretched(places: Floats) -> Floats:
    """Strengths of the paper's board, in natural units, at places from 0 (the weakest) to 1."""
    known = np.sort((np.array(ELO) - 1000) * np.log(10) / 400)
    return np.interp(places, np.linspace(0, 1, len(known)), known)


@dataclass(frozen=True, kw_only=True)
class World:
    pair_sd: float
    order: float
    order_sd: float
    band: float
    scale: float

    @property
    def founders(self) -> Floats:
        return self.scale * stretched(np.linspace(0, 1, MODELS))

    def verdict(self, lead: Floats, rng: np.random.Generator) -> Floats:
        """1, 0 or -1 for the one whose lead it is."""
        felt = lead + rng.logistic(0, 1, np.shape(lead))
        return np.where(np.abs(felt) < self.band, 0, np.sign(felt)).astype(np.int8)

    def expected(self, gap: Floats, shown: int) -> Floats:
        """Mean score at these gaps where it is shown first (1) or second (-1)."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(80)
        spread = np.sqrt(self.pair_sd**2 + self.order_sd**2)
        at = np.asarray(gap)[..., None] + shown * self.order + spread * nodes
        above, below = 1 / (1 + np.exp(self.band - at)), 1 / (1 + np.exp(-self.band - at))
        return ((above + below) / 2) @ weights / weights.sum()

    @cached_property
    def truth(self) -> FrozenBoard:
        """The board of the expected scores: every pair in both orders, as many rows as shares of wins."""
        a, b = np.triu_indices(MODELS, 1)
        rows = []
        for shown in (1, -1):
            won = self.expected(self.founders[a] - self.founders[b], shown)
            rows += [(a, b, won, 1, shown), (a, b, 1 - won, -1, shown)]
        columns = [np.concatenate([np.broadcast_to(row[place], a.shape) for row in rows]) for place in range(5)]
        return FrozenBoard.of(_rows(columns[0], columns[1], columns[3], columns[4], columns[2]), items=ITEMS)

    def true_strength(self, strength: float) -> float:
        """What fits the newcomer's expected scores against all, in both orders."""
        won = (self.expected(strength - self.founders, 1) + self.expected(strength - self.founders, -1)) / 2
        low, high = -30.0, 30.0
        board = self.truth
        for _ in range(80):
            middle = (low + high) / 2
            lead = middle - board.strength
            fits = (1 / (1 + np.exp(-lead - board.order)) + 1 / (1 + np.exp(-lead + board.order))) / 2
            low, high = (middle, high) if fits.sum() < won.sum() else (low, middle)
        return (low + high) / 2


WORLDS = {
    "steady": World(pair_sd=4.0, order=1.05, order_sd=1.0, band=0.60, scale=2.7),
    "noisy": World(pair_sd=1.0, order=0.45, order_sd=0.5, band=0.30, scale=1.2),
}


def _rows(
    a: Floats, b: Floats, sign: Floats, first: Floats, weight: Floats | None, item: Floats | None = None
) -> Comparisons:
    return Comparisons(
        models=NAMES,
        model_a=a.astype(np.int32),
        model_b=b.astype(np.int32),
        sign=sign.astype(np.int8),
        first=first.astype(np.int8),
        weight=weight,
        item=np.zeros(len(a), dtype=np.int32) if item is None else item.astype(np.int32),
    )


class Judge:
    """Of one world drawn anew: what its items like, the founders' board, and the newcomer."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self._world, self._rng = world, rng
        self._mind = rng.normal(0, world.pair_sd / np.sqrt(2), (ITEMS, MODELS + 1))
        self.strength = float(world.scale * stretched(rng.random(1))[0])
        self._mind += np.append(world.founders, self.strength)
        self._order = rng.normal(world.order, world.order_sd, ITEMS)

    def board(self) -> FrozenBoard:
        a, b = np.triu_indices(MODELS, 1)
        lead = self._mind[:, a] - self._mind[:, b]
        shown = self._order[:, None]
        sign = np.stack((self._world.verdict(lead + shown, self._rng), self._world.verdict(lead - shown, self._rng)))
        first = np.broadcast_to(np.array([1, -1])[:, None, None], sign.shape)
        item = np.broadcast_to(np.arange(ITEMS)[None, :, None], sign.shape)
        one, other = (np.broadcast_to(side, sign.shape).ravel() for side in (a, b))
        return FrozenBoard.of(_rows(one, other, sign.ravel(), first.ravel(), None, item.ravel()), items=ITEMS)

    def scores(self, item: Floats, opponent: Floats, first: Floats) -> Floats:
        lead = self._mind[item, MODELS] - self._mind[item, opponent] + first * self._order[item]
        return (self._world.verdict(lead, self._rng) + 1) / 2

    def said(self, shown: Sequence[Shown]) -> list[Said]:
        item = np.array([NUMBER[one[0]] for one in shown])
        first = np.array([1 if one[1] == NEW else -1 for one in shown])
        opponent = np.array([CODE[one[2] if one[1] == NEW else one[1]] for one in shown])
        scores = self.scores(item, opponent, first)
        return [Said(shown=one, score=float(score)) for one, score in zip(shown, scores, strict=True)]


NUMBER = {label: code for code, label in enumerate(LABELS)}
CODE = {name: code for code, name in enumerate(NAMES)}
ANSWERED = dict.fromkeys(LABELS, frozenset(NAMES))


def placed_by_plan(judge: Judge, board: FrozenBoard, plan: LookPlan, seed: int) -> tuple[list[Look], list[Said]]:
    course = Course(plan=plan, board=board, number=NUMBER, seed=seed)
    said: list[Said] = []
    looks: list[Look] = []
    while not (looks and looks[-1].last):
        said += judge.said(course.following(said, ANSWERED))
        looks = course.looks(said, looks)
    return looks, said


def unaware(board: FrozenBoard) -> FrozenBoard:
    """Without what it knows of single items, so that there is nothing to take off."""
    nothing = np.zeros((ITEMS, MODELS))
    return replace(board, residual=nothing, _verdicts=nothing)


def as_the_paper(judge: Judge, board: FrozenBoard, rng: np.random.Generator) -> Placed:
    item, opponent = np.arange(PAPER_BATTLES) % ITEMS, rng.integers(0, MODELS, PAPER_BATTLES)
    item, opponent, first = np.tile(item, 2), np.tile(opponent, 2), np.repeat([1, -1], PAPER_BATTLES)
    met = Meetings(
        item=item.astype(np.int32), opponent=opponent.astype(np.int32), first=first.astype(np.int8),
        score=judge.scores(item, opponent, first),
    )  # fmt: skip
    placed = unaware(board).place(met)
    assert placed is not None
    return placed


@dataclass(frozen=True, kw_only=True)
class Ended:
    """How one plan came out in one run."""

    calls: int
    apart: int
    """Models told apart."""
    wrong: bool
    """Whether any look made a wrong claim."""
    missed: bool
    """Whether any look's interval missed the truth."""
    naive: bool
    """Whether 1.96 standard errors missed it at any look."""
    of_paper: float
    """Calls that opponents at random would have taken, by the product's own word."""

    @classmethod
    def of(cls, looks: Sequence[Look], board: FrozenBoard, true: float, founders: Floats) -> "Ended":
        wrong = missed = naive = False
        for look in looks:
            assert look.placed is not None
            told = look.placed.told(look.reach)
            wrong |= bool((told * np.sign(true - founders) < 0).any())
            off = abs(look.placed.strength - true)
            missed |= off > look.reach * look.placed.error
            naive |= off > look_values(1)[0] * look.placed.error
        assert looks[-1].placed is not None
        return cls(
            calls=looks[-1].calls,
            apart=int((looks[-1].placed.told(looks[-1].reach) != 0).sum()),
            wrong=wrong,
            missed=missed,
            naive=naive,
            of_paper=board.calls_at_random(looks[-1].placed) or np.nan,
        )


@dataclass(frozen=True, kw_only=True)
class Run:
    off_paper: float
    apart_paper: int
    wrong_paper: bool
    error_paper: float
    off: Floats
    """At each look of the precise plan."""
    error: Floats
    """The standard error told there."""
    error_plain: Floats
    """Likewise without the control."""
    plans: dict[str, Ended]


def once(world: World, until: Until, seed: int) -> Run:
    rng = np.random.default_rng(seed)
    judge = Judge(world, rng)
    board, true, founders = judge.board(), world.true_strength(judge.strength), world.truth.strength
    paper = as_the_paper(judge, board, rng)
    told = paper.told(look_values(1)[0])
    looks, said = placed_by_plan(judge, board, PRECISE, seed)
    plain = replace(Course(plan=PRECISE, board=unaware(board), number=NUMBER))
    without = [plain.look(number, said).placed for number in range(1, PRECISE.looks + 1)]
    plans = {
        name: Ended.of(
            placed_by_plan(judge, board, LookPlan(new=NEW, until=until, looks=k, max_calls=cap, record=0), seed)[0],
            board, true, founders,
        )
        for name, (k, cap) in PLANS.items()
    }  # fmt: skip
    return Run(
        off_paper=paper.strength - true,
        apart_paper=int((told != 0).sum()),
        wrong_paper=bool((told * np.sign(true - founders) < 0).any()),
        error_paper=paper.error,
        off=np.array([one.placed.strength - true for one in looks if one.placed]),
        error=np.array([one.placed.error for one in looks if one.placed]),
        error_plain=np.array([one.error for one in without if one]),
        plans=plans,
    )


def calls_for(paper: Floats, error: Floats) -> float:
    """Calls at which the mean squared standard error, a part that falls with the calls and one that does not, comes to
    the paper's. Squared errors themselves are too few to tell; that the standard errors are right, sd of z tells."""
    calls = np.array(PRECISE.borders)
    square = (error**2).mean(axis=0)
    fit = np.linalg.lstsq(np.stack((1 / calls, np.ones(len(calls))), axis=1) / square[:, None], np.ones(len(calls)))[0]
    return float(fit[0] / ((paper**2).mean() - fit[1]))


def with_error(paper: Floats, error: Floats) -> str:
    rng, runs = np.random.default_rng(0), len(paper)
    drawn = [calls_for(paper[some], error[some]) for some in rng.integers(0, runs, (200, runs))]
    return f"{calls_for(paper, error):.0f} ± {np.std(drawn):.0f}"


def share(found: Sequence[bool]) -> str:
    mean = float(np.mean(found))
    return f"{mean:.3f} ± {np.sqrt(max(mean * (1 - mean), 1e-9) / len(found)):.3f}"


def told(name: str, runs: Sequence[Run]) -> None:
    off_paper, paper, off, error, plain = (
        np.array([getattr(one, field) for one in runs])
        for field in ("off_paper", "error_paper", "off", "error", "error_plain")
    )
    apart, wrong = np.mean([one.apart_paper for one in runs]), share([one.wrong_paper for one in runs])
    print(f"\n{name}, {len(runs)} runs")
    print(f"the paper's 1,400 calls: root mean square error {np.sqrt((off_paper**2).mean()):.4f}, mean standard error")
    print(f"  {paper.mean():.4f}, sd of z {(off_paper / paper).std():.3f}, {apart:.1f} of {MODELS} told apart,")
    print(f"  any claim wrong {wrong}")
    print(f"calls for its standard error: nearest and one order {with_error(paper, plain)},")
    print(f"  with the control {with_error(paper, error)}")
    print(f"after {', '.join(map(str, PRECISE.borders))} calls, with the control: root mean square error")
    print("  " + ", ".join(f"{each:.4f}" for each in np.sqrt((off**2).mean(axis=0))))
    print("  sd of z " + ", ".join(f"{each:.3f}" for each in (off / error).std(axis=0)) + "\n")
    print("| plan | calls | told apart | any claim wrong | ever missed | 1.96 ever missed | paper's calls, as told |")
    print("|---|---|---|---|---|---|---|")
    for plan in PLANS:
        ends = [one.plans[plan] for one in runs]
        cells = [
            plan, f"{np.mean([one.calls for one in ends]):.0f}", f"{np.mean([one.apart for one in ends]):.1f}",
            share([one.wrong for one in ends]), share([one.missed for one in ends]), share([one.naive for one in ends]),
            f"{np.nanmedian([one.of_paper for one in ends]):.0f}",
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=400)
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--world", nargs="+", default=list(WORLDS), choices=WORLDS)
    options.add_argument("--until", default="rank=3")
    chosen = options.parse_args()
    began = time.process_time()
    for name in chosen.world:
        until = Until.from_text(chosen.until)
        runs: list[Run] = []
        for run in range(chosen.runs):
            runs.append(once(WORLDS[name], until, chosen.seed * 1_000_003 + run))
            if (run + 1) % 100 == 0:
                told(name, runs)
    print(f"\n{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
