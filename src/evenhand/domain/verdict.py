"""What a rater decided about one trial, or why nothing could be read; never a number that stands for a failure."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

from evenhand.domain.identity import Json

Levels: TypeAlias = Literal[2, 3, 5]

Undecided: TypeAlias = Literal["refused", "truncated", "unreadable", "conflicting"]
"""A reply came and holds no decision: kept, counted in coverage, read again by newer readers."""

CallFailed: TypeAlias = Literal["api-error", "timeout", "bad-reply", "empty-reply", "over-budget", "interrupted"]
"""No reply came: never cached, asked again by the next plan."""

Unsaid: TypeAlias = Literal["skipped", "withdrawn"]
"""A person passed over the comparison, or took back what they had said and said nothing else."""

Reason: TypeAlias = Undecided | CallFailed | Unsaid

UNDECIDED: tuple[Undecided, ...] = get_args(Undecided)
CALL_FAILED: tuple[CallFailed, ...] = get_args(CallFailed)
UNSAID: tuple[Unsaid, ...] = get_args(Unsaid)


_VALUES: Mapping[int, tuple[int, ...]] = {2: (1, -1), 3: (1, 0, -1), 5: (2, 1, 0, -1, -2)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Positive for the response shown first: +1 at levels 2; +1, 0, -1 at 3; +2 .. -2 at 5."""

    value: int
    levels: Levels

    def __post_init__(self) -> None:
        allowed = _VALUES.get(self.levels)
        if allowed is None:
            raise ValueError(f"A preference has 2, 3 or 5 levels, not {self.levels}.")
        if self.value not in allowed:
            raise ValueError(f"A preference at {self.levels} levels is one of {allowed}, not {self.value}.")

    @property
    def sign(self) -> int:
        return (self.value > 0) - (self.value < 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grades:
    """One number per response, in the order shown; where one response was shown alone, one per criterion."""

    values: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.values or not all(map(math.isfinite, self.values)):
            raise ValueError(f"Grades are finite numbers, one for each response, not {self.values}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice:
    """Index, from 0 and as shown, of the response chosen."""

    value: int

    def __post_init__(self) -> None:
        if self.value < 0:
            raise ValueError(f"A choice is an index from 0, not {self.value}.")


@dataclass(frozen=True, slots=True, kw_only=True)
class NoVerdict:
    reason: Reason
    detail: str = ""

    @property
    def call_failed(self) -> bool:
        return self.reason in CALL_FAILED


Verdict: TypeAlias = Preference | Grades | Choice


def verdict_json(verdict: Verdict) -> dict[str, Json]:
    match verdict:
        case Preference(value=value, levels=levels):
            return {"kind": "preference", "value": value, "levels": levels}
        case Grades(values=values):
            return {"kind": "grades", "values": list(values)}
        case Choice(value=value):
            return {"kind": "choice", "value": value}


def verdict_from_json(document: Mapping[str, Any]) -> Verdict:
    """The inverse of verdict_json; raises ValueError or KeyError on anything else."""
    match document["kind"]:
        case "preference":
            return Preference(value=document["value"], levels=document["levels"])
        case "grades":
            return Grades(values=tuple(document["values"]))
        case "choice":
            return Choice(value=document["value"])
        case other:
            raise ValueError(f"A verdict is a preference, grades or a choice, not {other!r}.")
