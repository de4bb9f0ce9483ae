"""What a run is for: the things to be asked, and what is put on record for each reply."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

from evenhand.domain.call import Reply, Request
from evenhand.domain.verdict import NoVerdict
from evenhand.ledger.store.claims import Claimed
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.record import Ledger, StoredCall

S = TypeVar("S")
"""What is asked about: a Trial, or an Item that a model is to answer."""
R = TypeVar("R")
"""What a reply is read as."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Due(Generic[S]):
    """Something without a result; `stored` where the very same request was answered before: no call is needed."""

    key: str
    """What a claim names."""
    subject: S
    request: Request
    stored: StoredCall | None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedChunk(Generic[S]):
    known: tuple[str, ...]
    """Keys of what has a result."""
    due: tuple[Due[S], ...]
    beyond: int = 0
    """Of what is due, how much was not among what was wanted: later attempts, read again."""
    undecided: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of the known, how many hold no decision, by reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Circumstances:
    """When and in which run the replies came, and what they cost."""

    run: str
    at: float
    cost_usd: float | None
    calls: tuple[str, ...]
    """Keys of the calls that were answered, in order."""


class Task(Protocol[S, R]):
    @property
    def study(self) -> str | None: ...

    def claim(self, ledger: Ledger, batch: Sequence[Due[S]], *, holder: str) -> Claimed:
        """Takes what is still without a result and held by nobody else."""
        ...

    def read(self, due: Due[S], replies: Sequence[Reply]) -> R | Request:
        """What the replies so far come to, or what is to be asked next."""
        ...

    def record(self, due: Due[S], result: R | NoVerdict, now: Circumstances) -> Entries:
        """What to commit for this result, besides the call itself."""
        ...

    def outcome(self, result: R | NoVerdict) -> NoVerdict | None:
        """Why there is no result worth the name, if so; for the tally."""
        ...
