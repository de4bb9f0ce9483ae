"""Something that was said about a thing, by whom and when; where the thing stands follows from its events alone."""

from dataclasses import dataclass
from typing import Generic, TypeVar

SaidT_co = TypeVar("SaidT_co", covariant=True)


@dataclass(frozen=True, slots=True, kw_only=True)
class Event(Generic[SaidT_co]):
    seq: int
    """Its number in the log: of two events the later has the greater one."""
    at: float
    person: str | None
    """Who; None for the worker."""
    said: SaidT_co
