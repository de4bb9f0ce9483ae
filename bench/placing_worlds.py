"""How often the interval of a placed model ever misses the truth, in worlds that are hard on it.

    python -m bench.placing_worlds [--runs 400] [--only TEXT]

Judges that tie or follow position in nearly all verdicts, boards of three models, of few or unevenly judged items, a
newcomer better than all, or with the very answers of another. Judge and truth as in `bench.placing`, and beside it the
strength that fits what is expected against those whom the newcomer met: where Bradley and Terry's model does not
hold, the two differ. A wrong claim is any, at any look, that a model is better or worse than it is.
"""

import argparse
import time
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from evenhand.domain.placing import LookPlan, Until
from evenhand.engine.tasks.placing import Course, PlacingLook, Said
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.placing import FrozenBoard, Meetings, NoBoard

Floats = np.ndarray
NEW = "new"
EIGHT = np.linspace(-1.5, 1.5, 8)


@dataclass(frozen=True, kw_only=True, eq=False)
class Hard:
    founders: Floats = field(default_factory=lambda: EIGHT)
    new: float = 0.3
    items: int = 200
    pair_sd: float = 1.5
    order: float = 0.5
    order_sd: float = 0.5
    band: float = 0.3
    judged: float = 1.0
    """Share of the pairs that the board has on each item."""
    zipf: float | None = None
    """That share on the first item; the n-th has n ** 0.8 times less, at most all."""
    twin: int | None = None
    """Which founder's very answers the newcomer gives."""
    missing: float = 0.0
    """Share of the founders' answers that are not there."""
    looks: int = 7
    most: int = 560

    def expected(self, gap: Floats, shown: Floats | int) -> Floats:
        nodes, weights = np.polynomial.hermite_e.hermegauss(60)
        spread = np.sqrt(self.pair_sd**2 + self.order_sd**2)
        at = (np.asarray(gap) + np.asarray(shown) * self.order)[..., None] + spread * nodes
        won = (1 / (1 + np.exp(self.band - at)) + 1 / (1 + np.exp(-self.band - at))) / 2
        return won @ weights / weights.sum()

    def verdict(self, lead: Floats, rng: np.random.Generator) -> Floats:
        felt = lead + rng.logistic(size=np.shape(lead))
        return np.where(np.abs(felt) < self.band, 0.5, felt > 0)

    @cached_property
    def names(self) -> tuple[str, ...]:
        return tuple(f"m{code:02}" for code in range(len(self.founders)))

    def rows(self, a: Floats, b: Floats, won: Floats, first: Floats, item: Floats, *, parts: bool) -> Comparisons:
        """`parts`: each score told as a win and a loss that share it, else its sign."""
        if parts:
            a, b, first, item = (np.tile(one, 2) for one in (a, b, first, item))
            sign, weight = np.repeat([1, -1], len(won)), np.concatenate((won, 1 - won))
        else:
            sign, weight = np.sign(2 * won - 1), None
        return Comparisons(
            models=self.names, model_a=a.astype(np.int32), model_b=b.astype(np.int32), sign=sign.astype(np.int8),
            first=first.astype(np.int8), item=item.astype(np.int32), weight=weight,
        )  # fmt: skip

    @cached_property
    def truth(self) -> FrozenBoard:
        a, b = (np.tile(side, 2) for side in np.triu_indices(len(self.founders), 1))
        first = np.repeat([1, -1], len(a) // 2)
        won = self.expected(self.founders[a] - self.founders[b], first)
        return FrozenBoard.of(self.rows(a, b, won, first, np.zeros(len(a)), parts=True), items=self.items)

    def true_against(self, opponent: Floats, first: Floats) -> float:
        """The strength that fits what is expected of the newcomer in these meetings."""
        won, board = self.expected(self.new - self.founders[opponent], first).sum(), self.truth
        low, high = -30.0, 30.0
        for _ in range(80):
            middle = (low + high) / 2
            fits = 1 / (1 + np.exp(board.strength[opponent] - middle - first * board.order))
            low, high = (middle, high) if fits.sum() < won else (low, middle)
        return (low + high) / 2

    @cached_property
    def true(self) -> float:
        everybody = np.arange(len(self.founders))
        return self.true_against(np.tile(everybody, 2), np.repeat([1, -1], len(everybody)))


@dataclass(frozen=True, kw_only=True)
class Run:
    missed: bool
    missed_of_met: bool
    """Likewise the strength that fits those whom it met."""
    wrong: bool
    calls: int
    unfitted: int
    """Looks without a finite fit, and so without an interval."""


class Drawn:
    """One draw of such a world."""

    def __init__(self, world: Hard, seed: int) -> None:
        self.world, self.rng, self._seed = world, np.random.default_rng(seed), seed
        mind = self.rng.normal(0, world.pair_sd / np.sqrt(2), (world.items, len(world.founders) + 1))
        if world.twin is not None:
            mind[:, -1] = mind[:, world.twin]
        self._mind = mind + np.append(world.founders, world.new)
        self._order = self.rng.normal(world.order, world.order_sd, world.items)

    def board(self) -> FrozenBoard:
        """Raises NoBoard."""
        world, rng = self.world, self.rng
        a, b = np.triu_indices(len(world.founders), 1)
        lead, shown = self._mind[:, a] - self._mind[:, b], self._order[:, None]
        won = np.stack((world.verdict(lead + shown, rng), world.verdict(lead - shown, rng)))
        share = np.full(world.items, world.judged)
        if world.zipf is not None:
            share = rng.permutation(np.minimum(1, world.zipf / np.arange(1, world.items + 1) ** 0.8))
        kept = np.broadcast_to(rng.random(lead.shape) < share[:, None], won.shape)
        first = np.broadcast_to(np.array([1, -1])[:, None, None], won.shape)
        item = np.broadcast_to(np.arange(world.items)[None, :, None], won.shape)
        one, other = (np.broadcast_to(side, won.shape) for side in (a, b))
        rows = world.rows(one[kept], other[kept], won[kept], first[kept], item[kept], parts=False)
        return FrozenBoard.of(rows, items=world.items)

    def placed(self) -> Run | None:
        """None where its verdicts make no board."""
        world, names = self.world, self.world.names
        try:
            board = self.board()
        except NoBoard:
            return None
        number = {f"item {code}": code for code in range(world.items)}
        there = self.rng.random((world.items, len(names))) >= world.missing
        answered = {
            item: frozenset(name for name, is_there in zip(names, there[code], strict=True) if is_there)
            for item, code in number.items()
            if there[code].any()
        }
        most = min(world.most, int(there.sum()))
        plan = LookPlan(new=NEW, until=Until(kind="rank", number=1), looks=world.looks, max_calls=most, record=0)
        course = Course(plan=plan, board=board, number=number, seed=self._seed)
        said, looks = list[Said](), list[PlacingLook]()
        while not (looks and looks[-1].last):
            said += [
                Said(shown=one, score=self._score(number[one[0]], one)) for one in course.following(said, answered)
            ]
            looks = course.looks(said, looks)
        return self._run(looks, [course.met(said[: look.calls]) for look in looks])

    def _score(self, item: int, shown: tuple[str, str, str]) -> float:
        first = 1 if shown[1] == NEW else -1
        opponent = self.world.names.index(shown[2] if first == 1 else shown[1])
        lead = self._mind[item, -1] - self._mind[item, opponent] + first * self._order[item]
        return float(self.world.verdict(lead, self.rng))

    def _run(self, looks: list[PlacingLook], met: list[Meetings]) -> Run:
        world, missed, of_met, wrong = self.world, False, False, False
        lead = world.true - world.truth.strength
        lead = np.where(np.abs(lead) < 1e-9, 0.0, lead)
        for look, meetings in zip(looks, met, strict=True):
            if look.placed is None:
                continue
            half = look.reach * look.placed.error
            missed |= abs(look.placed.strength - world.true) > half
            against = world.true_against(meetings.opponent, meetings.first)
            of_met |= abs(look.placed.strength - against) > half
            told = look.placed.told(look.reach)
            wrong |= bool(((told != 0) & (told != np.sign(lead))).any())
        unfitted = sum(look.placed is None for look in looks)
        return Run(missed=missed, missed_of_met=of_met, wrong=wrong, calls=looks[-1].calls, unfitted=unfitted)


THREE = np.array([1.0, 0.0, -1.0])
WORLDS = {
    "as they come: 8 models, 200 items": Hard(),
    "76 % ties": Hard(band=3.0),
    "96 % ties": Hard(band=6.0, founders=2 * EIGHT),
    "89 % to the first position": Hard(order=3.0, order_sd=1.0),
    "99 % to the first position": Hard(order=6.0, order_sd=1.0),
    "order effects of items, sd 4": Hard(order=1.0, order_sd=4.0),
    "uneven items: most of the board's verdicts on few": Hard(zipf=3.0),
    "a tenth of the board's pairs": Hard(judged=0.1),
    "3 models": Hard(founders=THREE, new=0.4),
    "3 models, 20 items, 4 looks, 56 calls": Hard(founders=THREE, new=0.4, items=20, most=56, looks=4),
    "8 models, 40 items, 280 calls": Hard(new=0.4, items=40, most=280),
    "better than all by 4": Hard(new=5.5),
    "the answers of another": Hard(new=float(EIGHT[4]), twin=4),
    "half of the answers missing": Hard(missing=0.5),
    "items that differ much, sd 6": Hard(founders=2 * EIGHT, pair_sd=6.0),
    "50 looks": Hard(looks=50),
}


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--runs", type=int, default=400)
    options.add_argument("--only", nargs="+", default=[""], help="worlds whose names hold one of these")
    chosen = options.parse_args()
    began = time.process_time()
    print("| world | ever missed | of those met | any claim wrong | calls | looks without a fit |")
    print("|---|---|---|---|---|---|")
    for name, world in WORLDS.items():
        if not any(part in name for part in chosen.only):
            continue
        runs = [run for seed in range(chosen.runs) if (run := Drawn(world, seed).placed()) is not None]
        cells = [
            f"{mean:.1%} ± {np.sqrt(mean * (1 - mean) / len(runs)):.1%}"
            for mean in (
                float(np.mean([getattr(run, what) for run in runs])) for what in ("missed", "missed_of_met", "wrong")
            )
        ]
        cells += [f"{np.mean([run.calls for run in runs]):.0f}", f"{np.mean([run.unfitted for run in runs]):.2f}"]
        without = "" if len(runs) == chosen.runs else f" ({chosen.runs - len(runs)} draws made no board)"
        print(f"| {name}{without} | {' | '.join(cells)} |", flush=True)
    print(f"\n{time.process_time() - began:.0f} s of CPU")


if __name__ == "__main__":
    main()
