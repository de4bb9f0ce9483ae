"""Placing a model on a board: what it costs for the paper's precision, and how often a claim is wrong.

    python -m bench.placing [--runs 400] [--soft 200] [--seed 0] [--world steady noisy] [--one-order]

Two made worlds: 20 models on a board (every pair on 700 items, both orders) and a newcomer as strong as one of them
might be. A judge's verdict is the sign of (strength + what the item likes of the model) less the other's, more or less
what the item gives to the first shown, and chance; a tie where that is small. The newcomer is placed by the product's
own planner and fit, the judge answering in this process. The truth is the strength that fits the expected scores.
The paper's precision is that of its own reading: 700 opponents by lot, each in both orders, and the two verdicts joined
to one battle (a tie where they contradict each other), on a board of such battles. Beside it that of the same 1,400
verdicts one by one, which tell more.
The same judge is read softly too: sigma(kappa times what it felt), which varies .75 as much between equal models as its
hard verdicts do; strengths of such a board are closer together, and errors are told on the scale of the hard one.
"""

import argparse
import time
from collections.abc import Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from evenhand.domain.placing import LookPlan, Until
from evenhand.engine.tasks.placing import Course, PlacingLook, Said, Shown
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.placing import FrozenBoard, Meetings, Placed
from evenhand.stats.ratings.soft import soft_rows
from evenhand.stats.sequential import look_values

ELO = (1370, 1106, 1082, 1081, 1011, 991, 972, 921, 877, 826, 763)
"""VisIT-Bench's board of August 2023."""
MODELS, ITEMS, NEW = 20, 700, "new"
NAMES = tuple(f"m{code:02}" for code in range(MODELS))
LABELS = tuple(f"item {number}" for number in range(ITEMS))
PAPER_BATTLES = 700
PLANS = {"7 looks, cap 560": (7, 560), "7 looks, cap 700": (7, 700)}
SOFT_PLANS = {"soft, 7 looks, cap 420": (7, 420)}
SOFTNESS = 0.75
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
    kappa: float | None = None
    """Of soft verdicts: how steep they are. None of hard ones."""

    @cached_property
    def softly(self) -> "World":
        """Kappa such that sigma(kappa L) of equal models varies SOFTNESS as much as hard verdicts do."""
        rng, calls = np.random.default_rng(0), 400_000
        order = rng.normal(self.order, self.order_sd, calls) * rng.choice([-1, 1], calls)
        felt = rng.normal(0, self.pair_sd, calls) + order + rng.logistic(size=calls)
        most, low, high = SOFTNESS * float(self.won(felt).var()), 0.01, 10.0
        for _ in range(40):
            middle = float(np.sqrt(low * high))
            low, high = (low, middle) if replace(self, kappa=middle).won(felt).var() > most else (middle, high)
        return replace(self, kappa=low)

    @property
    def founders(self) -> Floats:
        return self.scale * stretched(np.linspace(0, 1, MODELS))

    def won(self, felt: Floats) -> Floats:
        """From 0 to 1 for the one whose lead is felt."""
        if self.kappa is not None:
            return 1 / (1 + np.exp(-self.kappa * felt))
        return np.where(np.abs(felt) < self.band, 0.5, felt > 0)

    def verdict(self, lead: Floats, rng: np.random.Generator) -> Floats:
        """From 0 to 1 for the one whose lead it is."""
        return self.won(lead + rng.logistic(0, 1, np.shape(lead)))

    def expected(self, gap: Floats, shown: int) -> Floats:
        """Mean score at these gaps where it is shown first (1) or second (-1)."""
        nodes, weights = np.polynomial.hermite_e.hermegauss(80)
        spread = np.sqrt(self.pair_sd**2 + self.order_sd**2)
        at = np.asarray(gap)[..., None] + shown * self.order + spread * nodes
        if self.kappa is not None:
            shares = (np.arange(400) + 0.5) / 400
            return self.won(at[..., None] + np.log(shares / (1 - shares))).mean(axis=-1) @ weights / weights.sum()
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

    @cached_property
    def shrunk(self) -> float:
        """How far apart strengths by soft verdicts are, by hard ones."""
        hard, soft = self.truth.strength, self.softly.truth.strength
        return float(hard @ soft / (hard @ hard))

    def true_strength(self, strength: float) -> float:
        """What fits the newcomer's expected scores against all, in both orders."""
        won = (self.expected(strength - self.founders, 1) + self.expected(strength - self.founders, -1)) / 2
        return _fitting(self.truth, float(won.sum()))

    def expected_joined(self, gap: Floats) -> Floats:
        """Mean score of a battle that joins both orders."""
        (minds, by_mind), (orders, by_order) = (np.polynomial.hermite_e.hermegauss(nodes) for nodes in (40, 20))
        lead = np.asarray(gap)[..., None, None] + self.pair_sd * minds[:, None]
        shown = self.order + self.order_sd * orders
        (up, down), (up_turned, down_turned) = self._decided(lead + shown), self._decided(lead - shown)
        won = up * (1 - down_turned) + (1 - up - down) * up_turned
        lost = down * (1 - up_turned) + (1 - up - down) * down_turned
        weights = np.outer(by_mind, by_order)
        return ((1 + won - lost) / 2 * weights).sum(axis=(-1, -2)) / weights.sum()

    def _decided(self, lead: Floats) -> tuple[Floats, Floats]:
        """How probable a win and a loss are."""
        return 1 / (1 + np.exp(self.band - lead)), 1 / (1 + np.exp(self.band + lead))

    @cached_property
    def truth_joined(self) -> FrozenBoard:
        a, b = (np.tile(side, 4) for side in np.triu_indices(MODELS, 1))
        sign, first = (np.repeat(kinds, len(a) // 4) for kinds in ([1, -1, 1, -1], [1, 1, -1, -1]))
        won = self.expected_joined(self.founders[a] - self.founders[b])
        return FrozenBoard.of(_rows(a, b, sign, first, np.where(sign > 0, won, 1 - won)), items=ITEMS)

    def true_joined(self, strength: float) -> float:
        return _fitting(self.truth_joined, float(self.expected_joined(strength - self.founders).sum()))

    @cached_property
    def stretched(self) -> float:
        """How far apart strengths by joined battles are, by verdicts one by one."""
        hard, joined = self.truth.strength, self.truth_joined.strength
        return float(hard @ joined / (hard @ hard))


def _fitting(board: FrozenBoard, won: float) -> float:
    """The strength at which so much is expected against all, in both orders alike."""
    low, high = -30.0, 30.0
    for _ in range(80):
        middle = (low + high) / 2
        lead = middle - board.strength
        fits = (1 / (1 + np.exp(-lead - board.order)) + 1 / (1 + np.exp(-lead + board.order))) / 2
        low, high = (middle, high) if fits.sum() < won else (low, middle)
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

    def __init__(self, world: World, rng: np.random.Generator, *, one_order: bool = False) -> None:
        self.world, self._rng, self.one_order = world, rng, one_order
        self._mind = rng.normal(0, world.pair_sd / np.sqrt(2), (ITEMS, MODELS + 1))
        self.strength = float(world.scale * stretched(rng.random(1))[0])
        self._mind += np.append(world.founders, self.strength)
        self._order = rng.normal(world.order, world.order_sd, ITEMS)

    def softly(self) -> "Judge":
        """The same one, read otherwise."""
        twin = copy(self)
        twin.world = self.world.softly
        return twin

    def board(self) -> FrozenBoard:
        rows, won = self._everything()
        soft = self.world.kappa is not None
        return FrozenBoard.of(soft_rows(replace(rows, soft=won.ravel())) if soft else rows, items=ITEMS)

    def boards(self) -> tuple[FrozenBoard, FrozenBoard]:
        """Of its hard verdicts, and of those of both orders joined."""
        rows, won = self._everything()
        joined = np.sign(won.sum(axis=0) - 1).ravel()
        # A joined battle has no order: turned by turns, so that what the board makes of one is nothing.
        turned = np.where(np.arange(joined.size) % 2, 1, -1).astype(np.int8)
        battles = replace(rows.rows(np.arange(joined.size)), sign=joined.astype(np.int8), first=turned)
        of_both = FrozenBoard.of(battles, items=ITEMS)
        of_both.influence[:, -1] = 0
        return FrozenBoard.of(rows, items=ITEMS), replace(of_both, order=0.0)

    def _everything(self) -> tuple[Comparisons, Floats]:
        """Every pair on every item, all in one order and then in the other; and what each scored."""
        a, b = np.triu_indices(MODELS, 1)
        lead = self._mind[:, a] - self._mind[:, b]
        shown = self._order[:, None]
        won = np.stack((self.world.verdict(lead + shown, self._rng), self.world.verdict(lead - shown, self._rng)))
        first = np.broadcast_to(np.array([1, -1])[:, None, None], won.shape)
        item = np.broadcast_to(np.arange(ITEMS)[None, :, None], won.shape)
        one, other = (np.broadcast_to(side, won.shape).ravel() for side in (a, b))
        return _rows(one, other, np.sign(2 * won - 1).ravel(), first.ravel(), None, item.ravel()), won

    def scores(self, item: Floats, opponent: Floats, first: Floats) -> Floats:
        lead = self._mind[item, MODELS] - self._mind[item, opponent] + first * self._order[item]
        return self.world.verdict(lead, self._rng)

    def said(self, shown: Sequence[Shown]) -> list[Said]:
        item = np.array([NUMBER[one[0]] for one in shown])
        first = np.array([1 if one[1] == NEW else -1 for one in shown])
        opponent = np.array([CODE[one[2] if one[1] == NEW else one[1]] for one in shown])
        scores = self.scores(item, opponent, first)
        return [Said(shown=one, score=float(score)) for one, score in zip(shown, scores, strict=True)]


NUMBER = {label: code for code, label in enumerate(LABELS)}
CODE = {name: code for code, name in enumerate(NAMES)}
ANSWERED = dict.fromkeys(LABELS, frozenset(NAMES))


def placed_by_plan(judge: Judge, board: FrozenBoard, plan: LookPlan, seed: int) -> tuple[list[PlacingLook], list[Said]]:
    course = Course(plan=plan, board=board, number=NUMBER, seed=seed)
    if judge.one_order:
        course = replace(course, both_orders=10**9)
    said: list[Said] = []
    looks: list[PlacingLook] = []
    while not (looks and looks[-1].last):
        said += judge.said(course.following(said, ANSWERED))
        looks = course.looks(said, looks)
    return looks, said


def unaware(board: FrozenBoard) -> FrozenBoard:
    """Without what it knows of single items, so that there is nothing to take off."""
    nothing = np.zeros((ITEMS, MODELS))
    return replace(board, residual=nothing, _verdicts=nothing)


def as_the_paper(
    judge: Judge, board: FrozenBoard, board_joined: FrozenBoard, rng: np.random.Generator
) -> tuple[Placed, Placed]:
    """By its verdicts one by one, and joined."""
    item, opponent = np.arange(PAPER_BATTLES) % ITEMS, rng.integers(0, MODELS, PAPER_BATTLES)
    first = np.ones(PAPER_BATTLES)
    verdicts = np.stack([judge.scores(item, opponent, first), judge.scores(item, opponent, -first)])
    joined = (np.sign(verdicts.sum(axis=0) - 1) + 1) / 2
    one_by_one = unaware(board).place(
        _meetings(np.tile(item, 2), np.tile(opponent, 2), np.concatenate((first, -first)), verdicts.ravel())
    )
    together = unaware(board_joined).place(_meetings(item, opponent, first, joined))
    assert one_by_one is not None
    assert together is not None
    return one_by_one, together


def _meetings(item: Floats, opponent: Floats, first: Floats, score: Floats) -> Meetings:
    return Meetings(
        item=item.astype(np.int32), opponent=opponent.astype(np.int32), first=first.astype(np.int8), score=score
    )


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
    def of(cls, looks: Sequence[PlacingLook], board: FrozenBoard, true: float, founders: Floats) -> "Ended":
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
class SoftRun:
    """With soft verdicts, on the scale of the hard board, at each look of the precise plan."""

    off: Floats
    error: Floats
    plans: dict[str, Ended]

    @classmethod
    def of(cls, hard: Judge, until: Until, seed: int) -> "SoftRun":
        judge, world = hard.softly(), hard.world
        board, true = judge.board(), world.softly.true_strength(judge.strength)
        looks = [one.placed for one in placed_by_plan(judge, board, PRECISE, seed)[0] if one.placed]
        plans = {name: LookPlan(new=NEW, until=until, looks=k, max_calls=cap, record=0)
                 for name, (k, cap) in SOFT_PLANS.items()}  # fmt: skip
        return cls(
            off=np.array([one.strength - true for one in looks]) / world.shrunk,
            error=np.array([one.error for one in looks]) / world.shrunk,
            plans={
                name: Ended.of(placed_by_plan(judge, board, plan, seed)[0], board, true, world.softly.truth.strength)
                for name, plan in plans.items()
            },
        )


@dataclass(frozen=True, kw_only=True)
class Run:
    off_paper: float
    apart_paper: int
    wrong_paper: bool
    error_paper: float
    off_joined: float
    """Likewise by joined battles, on the scale of verdicts one by one."""
    error_joined: float
    off: Floats
    """At each look of the precise plan."""
    error: Floats
    """The standard error told there."""
    error_plain: Floats
    """Likewise without the control."""
    soft: "SoftRun | None"
    plans: dict[str, Ended]


def once(world: World, until: Until, seed: int, *, soft: bool, one_order: bool = False) -> Run:
    rng = np.random.default_rng(seed)
    judge = Judge(world, rng, one_order=one_order)
    board, board_joined = judge.boards()
    true, founders = world.true_strength(judge.strength), world.truth.strength
    paper, joined = as_the_paper(judge, board, board_joined, rng)
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
    found = SoftRun.of(judge, until, seed) if soft else None
    return Run(
        off_paper=paper.strength - true,
        apart_paper=int((told != 0).sum()),
        wrong_paper=bool((told * np.sign(true - founders) < 0).any()),
        error_paper=paper.error,
        off_joined=(joined.strength - world.true_joined(judge.strength)) / world.stretched,
        error_joined=joined.error / world.stretched,
        off=np.array([one.placed.strength - true for one in looks if one.placed]),
        error=np.array([one.placed.error for one in looks if one.placed]),
        error_plain=np.array([one.error for one in without if one]),
        soft=found,
        plans=plans if found is None else plans | found.plans,
    )


def calls_for(paper: Floats, error: Floats) -> float:
    """Calls at which the mean squared standard error, a part that falls with the calls and one that does not, comes to
    the paper's. Squared errors themselves are too few to tell; that the standard errors are right, sd of z tells."""
    calls = np.array(PRECISE.borders)
    square = (error**2).mean(axis=0)
    fit = np.linalg.lstsq(np.stack((1 / calls, np.ones(len(calls))), axis=1) / square[:, None], np.ones(len(calls)))[0]
    return float(fit[0] / ((paper**2).mean() - fit[1]))


def with_error(paper: Floats, error: Floats) -> str:
    if not len(paper):
        return "–"
    rng, runs = np.random.default_rng(0), len(paper)
    drawn = [calls_for(paper[some], error[some]) for some in rng.integers(0, runs, (200, runs))]
    return f"{calls_for(paper, error):.0f} ± {np.std(drawn):.0f}"


def share(found: Sequence[bool]) -> str:
    mean = float(np.mean(found))
    return f"{mean:.3f} ± {np.sqrt(max(mean * (1 - mean), 1e-9) / len(found)):.3f}"


def _root(off: Floats) -> Floats:
    return np.sqrt((off**2).mean(axis=0))


def told(name: str, runs: Sequence[Run]) -> None:
    off_paper, paper, off_joined, joined, off, error, plain = (
        np.array([getattr(one, field) for one in runs])
        for field in ("off_paper", "error_paper", "off_joined", "error_joined", "off", "error", "error_plain")
    )
    softly = [one.soft for one in runs if one.soft is not None]
    world = WORLDS[name]
    off_soft, soft = np.array([one.off for one in softly]), np.array([one.error for one in softly])
    some = len(softly)
    apart, wrong = np.mean([one.apart_paper for one in runs]), share([one.wrong_paper for one in runs])
    print(f"\n{name}, {len(runs)} runs")
    print(f"the paper's 1,400 calls: root mean square error {np.sqrt((off_paper**2).mean()):.4f}, mean standard error")
    print(f"  {paper.mean():.4f}, sd of z {(off_paper / paper).std():.3f}, {apart:.1f} of {MODELS} told apart,")
    print(f"  any claim wrong {wrong}")
    print(f"  joined to battles: root mean square error {np.sqrt((off_joined**2).mean()):.4f}, mean standard error")
    z = (off_joined / joined).std()
    print(f"  {joined.mean():.4f}, sd of z {z:.3f}, strengths {world.stretched:.3f} times as far apart")
    for what, of, by in (("joined", joined, off_joined), ("one by one", paper, off_paper)):
        print(f"calls for its standard error, {what}: nearest and one order {with_error(of, plain)},")
        print(f"  with the control {with_error(of, error)}, with soft verdicts too {with_error(of[:some], soft)}")
        print(f"calls for its sd, {what}, by the errors themselves: with the control {with_error(by, off)},")
        print(f"  with soft verdicts too {with_error(by[:some], off_soft)} ({some} runs of soft verdicts)")
    print(f"after {', '.join(map(str, PRECISE.borders))} calls, with the control: root mean square error")
    print("  " + ", ".join(f"{each:.4f}" for each in _root(off)))
    print("  sd of z " + ", ".join(f"{each:.3f}" for each in (off / error).std(axis=0)))
    if softly:
        print("  with soft verdicts, on the hard scale, " + ", ".join(f"{each:.4f}" for each in _root(off_soft)))
        print("  sd of z " + ", ".join(f"{each:.3f}" for each in (off_soft / soft).std(axis=0)))
        print(f"  soft strengths are {world.shrunk:.3f} of the hard ones apart\n")
    print("| plan | calls | told apart | any claim wrong | ever missed | 1.96 ever missed | paper's calls, as told |")
    print("|---|---|---|---|---|---|---|")
    for plan in (*PLANS, *SOFT_PLANS):
        ends = [one.plans[plan] for one in runs if plan in one.plans]
        if not ends:
            continue
        cells = [
            plan, f"{np.mean([one.calls for one in ends]):.0f}", f"{np.mean([one.apart for one in ends]):.1f}",
            share([one.wrong for one in ends]), share([one.missed for one in ends]), share([one.naive for one in ends]),
            f"{np.nanmedian([one.of_paper for one in ends]):.0f}",
        ]  # fmt: skip
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=400)
    options.add_argument("--soft", type=int, default=200, help="runs with soft verdicts too, which take as long again")
    options.add_argument("--seed", type=int, default=0)
    options.add_argument("--world", nargs="+", default=list(WORLDS), choices=WORLDS)
    options.add_argument("--until", default="rank=3")
    options.add_argument("--one-order", action="store_true", help="no item in both orders, which the product asks")
    chosen = options.parse_args()
    began = time.process_time()
    for name in chosen.world:
        until = Until.from_text(chosen.until)
        runs: list[Run] = []
        for run in range(chosen.runs):
            drawn = chosen.seed * 1_000_003 + run
            runs.append(once(WORLDS[name], until, drawn, soft=run < chosen.soft, one_order=chosen.one_order))
            if (run + 1) % 100 == 0 or run + 1 == chosen.runs:
                told(name, runs)
    print(f"\n{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
