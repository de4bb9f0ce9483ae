"""How a model that joins a board is judged until enough is known: the rule, and the looks planned beforehand."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json

RuleKind: TypeAlias = Literal["rank", "tier", "above", "width"]
BATCH = 20
"""Calls after which opponents are chosen anew."""
LOOKS, MOST_CALLS = 7, 560
MOST_LOOKS = 50
_NUMBER = re.compile(r"[0-9]+(\.[0-9]+)?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Until:
    """When enough is known of a model that joins."""

    kind: RuleKind
    number: float = 0.0
    """Of rank: how many ranks the best and the worst may lie apart; of width: points to each side."""
    model: str = ""
    """Of above: better than this one, or not."""

    @classmethod
    def from_text(cls, text: str) -> "Until":
        """`rank=3`, `tier`, `above=NAME` or `width=W`. Raises Misuse."""
        kind, _, value = text.partition("=")
        if text == "tier":
            return cls(kind="tier")
        if kind == "above" and value:
            return cls(kind="above", model=value)
        if kind == "rank" and value.isdecimal() and value.isascii():
            return cls(kind="rank", number=int(value))
        if kind == "width" and _NUMBER.fullmatch(value) and float(value) > 0:
            return cls(kind="width", number=float(value))
        raise Misuse(
            f"--until is rank=3 (the rank is known within 3), tier, above=NAME or width=50 (points to each side), not "
            f"'{text}'."
        )

    def __str__(self) -> str:
        match self.kind:
            case "tier":
                return "tier"
            case "above":
                return f"above={self.model}"
            case _:
                return f"{self.kind}={self.number:g}"


def enough_words(until: Until) -> str:
    """When enough is known, as the end of a sentence."""
    match until.kind:
        case "rank":
            return f"its rank is known within {until.number:g}"
        case "tier":
            return "all that it cannot be told from are of one tier"
        case "above":
            return f"it is known to be better than {until.model}, or worse"
        case "width":
            points = "point" if until.number == 1 else "points"
            return f"its rating is known within {until.number:g} {points} to each side"


@dataclass(frozen=True, slots=True)
class Newcomer:
    """A model that joins a board, and how it is placed: against its nearest, until enough is known."""

    model: str
    until: str = "rank=3"
    """`rank=3` (the rank is known within 3), `tier`, `above=NAME` (better or not) or `width=50` (points to a side)."""
    looks: int = LOOKS
    """How often it is looked at whether enough is known, 2 to 50."""
    max_calls: int = MOST_CALLS
    seed: int = 0

    def __post_init__(self) -> None:
        """Raises Misuse."""
        Until.from_text(self.until)
        if not 2 <= self.looks <= MOST_LOOKS:
            raise Misuse(f"Looks are 2 to {MOST_LOOKS}, not {self.looks}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class LookPlan:
    """Settled before the first call, and part of every study of the placing: so no look can be added afterwards."""

    new: str
    until: Until
    looks: int
    max_calls: int
    record: int
    """Sequence number of the last judgement of the board that the model joins."""
    items: str = ""
    """A digest of all items that may be asked about: none is chosen once verdicts are in."""
    batch: int = 0
    """Of which batch of calls this is, from 0."""
    soft: bool = False
    """Whether looks are taken at soft verdicts: how likely the judge was to prefer each side."""
    among: tuple[str, ...] = ()
    """The models whose board it joins, where others play on it too; empty for all."""

    @property
    def shared(self) -> "LookPlan":
        """What all batches of the placing have in common."""
        return replace(self, batch=0)

    @property
    def borders(self) -> tuple[int, ...]:
        """After how many calls each look is taken."""
        return tuple(round(self.max_calls * look / self.looks) for look in range(1, self.looks + 1))

    def next_border(self, calls: int) -> int:
        """At which number of calls the batch ends that begins after so many."""
        look = next((one for one in self.borders if one > calls), self.max_calls)
        return min(look, (calls // BATCH + 1) * BATCH)

    def as_json(self) -> dict[str, Json]:
        return {
            "new": self.new,
            "until": str(self.until),
            "looks": self.looks,
            "max_calls": self.max_calls,
            "record": self.record,
            "items": self.items,
            "batch": self.batch,
            **({"soft": True} if self.soft else {}),
            **({"among": [*self.among]} if self.among else {}),
        }

    @classmethod
    def from_json(cls, fields: Mapping[str, Json]) -> "LookPlan":
        return cls(
            new=str(fields["new"]),
            until=Until.from_text(str(fields["until"])),
            looks=cast("int", fields["looks"]),
            max_calls=cast("int", fields["max_calls"]),
            record=cast("int", fields["record"]),
            items=str(fields.get("items", "")),
            batch=cast("int", fields["batch"]),
            soft=bool(fields.get("soft", False)),
            among=tuple(cast("list[str]", fields.get("among", []))),
        )
