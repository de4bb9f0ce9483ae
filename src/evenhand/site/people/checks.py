"""What a person is asked beside their share, so that one knows how they work: training, gold items and repeats."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Literal, TypeAlias

from evenhand.domain.identity import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """A comparison of which the owner knows the better answer."""

    item: str
    """Label."""
    better: str
    worse: str
    """Models."""
    why: str = ""
    """What a person is told in a guideline or after a training item."""
    tie: bool = False
    """Whether neither is better, whichever is named first."""

    def as_json(self) -> dict[str, Json]:
        known: dict[str, Json] = asdict(self)
        if not self.tie:
            del known["tie"]
        return known


Kind: TypeAlias = Literal["training", "gold", "repeat"]
Expected: TypeAlias = Literal["first", "second", "tie"]
SIGNS: Mapping[str, int] = {"first": 1, "second": -1, "tie": 0}
"""Of a verdict that says what is expected."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTask:
    """One comparison as one person will be asked it."""

    item: str
    first: str
    second: str
    """Digests of the answers, in the order shown."""
    probability: float | None = None
    kind: Kind | None = None
    """None of what counts."""
    expected: Expected | None = None
    """Which is better, where the owner knows."""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownAnswers:
    """What the owner knows of two answers on record."""

    item: str
    better: str
    worse: str
    """Digests."""
    why: str
    tie: bool = False

    def task(self, kind: Kind, *, swapped: bool) -> PlannedTask:
        first, second = (self.worse, self.better) if swapped else (self.better, self.worse)
        expected: Expected = "tie" if self.tie else "second" if swapped else "first"
        return PlannedTask(item=self.item, first=first, second=second, kind=kind, expected=expected, why=self.why)


def with_checks(
    share: Sequence[PlannedTask],
    *,
    training: Sequence[KnownAnswers],
    gold: Sequence[KnownAnswers],
    repeats: int,
    lots: Random,
) -> list[PlannedTask]:
    """A person's share with what is asked beside it: training first; gold anywhere after it; of the first half so many
    again in the second, the other way round, so that who follows the side contradicts themselves."""
    half = len(share) // 2
    again = [share[place] for place in sorted(lots.sample(range(half), min(repeats, half)))]
    asked = list(share)
    for one in again:
        turned = replace(one, first=one.second, second=one.first, kind="repeat", probability=None)
        asked.insert(lots.randint(half + 1, len(asked)), turned)
    for one in gold:
        asked.insert(lots.randint(0, len(asked)), one.task("gold", swapped=lots.random() < 0.5))
    return [*(one.task("training", swapped=lots.random() < 0.5) for one in training), *asked]
