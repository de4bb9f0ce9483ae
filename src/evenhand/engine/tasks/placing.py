"""Whom a model that joins a board meets next, and when it has been judged enough; from what was said so far alone."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
from typing import TypeAlias

import numpy as np

from evenhand.domain.identity import draw
from evenhand.domain.placing import LookPlan
from evenhand.stats.intervals import MANY
from evenhand.stats.intervals import reach as reach_of
from evenhand.stats.ratings.placing import NEAREST, FrozenBoard, Meetings, Placed
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.sequential import look_values

Shown: TypeAlias = tuple[str, str, str]
"""An item, and two models in the order they are shown."""
Answered: TypeAlias = Mapping[str, frozenset[str]]
"""By item that the newcomer answered, the models of the board that did too."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Said:
    shown: Shown
    score: float | None
    """1 where the newcomer won, 0 where it lost, 1/2 for a tie; of a soft verdict how likely the judge was to prefer
    it. None where the judge decided nothing."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacingLook:
    number: int
    """From 1."""
    calls: int
    placed: Placed | None
    """None where the verdicts have no finite fit."""
    reach: float
    """Standard errors to each side; more of few items, whose own error is not well known."""
    settled: bool
    """Whether the rule is met."""
    last: bool
    """Whether it is the last one: the rule is met, or no more are planned."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Course:
    """A placing on one board."""

    plan: LookPlan
    board: FrozenBoard
    number: Mapping[str, int]
    """Of each item, as the board numbers them."""
    seed: int = 0
    tiers: Callable[[], Sequence[int]] = tuple
    """Of the board's models; asked for only where the rule is about them."""
    both_orders: int = 8
    """One item in so many is asked in both, for what the judge makes of a swap."""
    to_the_end: bool = False
    """Whether no look ends it before the last one planned: where other verdicts than these say when it ends."""

    def met(self, said: Sequence[Said]) -> Meetings:
        told = [one for one in said if one.score is not None]
        code = {model: place for place, model in enumerate(self.board.models)}
        new = self.plan.new
        return Meetings(
            item=np.array([self.number[one.shown[0]] for one in told], dtype=np.int32),
            opponent=np.array([code[_opponent(one.shown, new)] for one in told], dtype=np.int32),
            first=np.array([1 if one.shown[1] == new else -1 for one in told], dtype=np.int8),
            score=np.array([one.score for one in told], dtype=np.float64),
        )

    def following(self, said: Sequence[Said], answered: Answered) -> tuple[Shown, ...]:
        """The next batch, up to the next look at most; empty where all is asked."""
        plan, board = self.plan, self.board
        most = min(plan.next_border(len(said)), plan.max_calls) - len(said)
        near = board.nearest(board.guess(self.met(said)))
        before: dict[str, set[str]] = {}
        for one in said:
            before.setdefault(one.shown[0], set()).add(_opponent(one.shown, plan.new))
        done = sum(map(len, before.values()))
        chosen: list[Shown] = []
        for turn, item in islice(enumerate(self._turns(answered)), done, None):
            left = most - len(chosen)
            if left <= 0:
                break
            others = answered[item] - before.setdefault(item, set())
            able = [model for model in near if model in others][:NEAREST]
            if not able:
                continue
            opponent = able[draw(self.seed, "nearest", item, plan.new, str(turn)) % len(able)]
            before[item].add(opponent)
            pair = (plan.new, opponent)
            first, second = pair[::-1] if draw(self.seed, "order", item, plan.new, str(turn)) & 1 else pair
            chosen.append((item, first, second))
            if turn % self.both_orders == self.both_orders - 1 and left > 1:
                chosen.append((item, second, first))
        return tuple(chosen)

    def _turns(self, answered: Answered) -> Iterator[str]:
        """Items in an order that hangs on the seed alone, so that all who join share them; each comes again, for a
        further opponent, when all have been asked."""
        order = _by_lot(self.seed, tuple(answered))
        for played in range(max(map(len, answered.values()), default=0)):
            yield from (item for item in order if len(answered[item]) > played)

    def look(self, number: int, said: Sequence[Said]) -> PlacingLook:
        """The look of this number, at the verdicts of the calls up to it."""
        plan, calls = self.plan, self.plan.borders[number - 1]
        met = self.met(said[:calls])
        placed = self.board.place(met)
        few = reach_of(max(len(np.unique(met.item)), 2)) / reach_of(MANY)
        reach = look_values(plan.looks)[number - 1] * few
        settled = placed is not None and self.settled(placed, reach)
        return PlacingLook(
            number=number,
            calls=calls,
            placed=placed,
            reach=reach,
            settled=settled,
            last=(settled and not self.to_the_end) or number == plan.looks,
        )

    def looks(self, said: Sequence[Said], taken: Sequence[PlacingLook] = ()) -> list[PlacingLook]:
        """Those that the calls so far have come to, up to the last; `taken` are known from before."""
        found = list(taken)
        while not (found and found[-1].last) and self.plan.borders[len(found)] <= len(said):
            found.append(self.look(len(found) + 1, said))
        return found

    def settled(self, placed: Placed, reach: float) -> bool:
        """Whether the rule is met where intervals reach so many standard errors to each side."""
        until, told = self.plan.until, placed.told(reach)
        match until.kind:
            case "rank":
                return int((told == 0).sum()) <= until.number
            case "above":
                return bool(told[self.board.models.index(until.model)])
            case "tier":
                tiers = np.asarray(self.tiers())
                return len(set(tiers[told == 0].tolist())) <= 1
            case "width":
                low, high = interval(self.board, placed, reach)
                return (high - low) / 2 * Scale().unit <= until.number


def interval(board: FrozenBoard, placed: Placed, reach: float) -> tuple[float, float]:
    """Natural units, on the scale of the printed board."""
    half = reach * placed.error
    return board.printed(placed.strength - half), board.printed(placed.strength + half)


def calls_there_are(answered: Answered) -> int:
    """So many can be made at least, each item against each opponent."""
    return sum(map(len, answered.values()))


@lru_cache(maxsize=8)
def _by_lot(seed: int, items: tuple[str, ...]) -> list[str]:
    return sorted(items, key=lambda item: (draw(seed, "placing", item), item))


def _opponent(shown: Shown, new: str) -> str:
    return shown[2] if shown[1] == new else shown[1]
