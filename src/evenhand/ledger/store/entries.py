"""What is committed together, and who has a part in it."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Protocol

from sqlalchemy import Connection

from evenhand.domain.call import Reply, Request
from evenhand.domain.judgement import Judgement
from evenhand.domain.response import Response
from evenhand.domain.trial import Trial
from evenhand.ledger.store import rows


class Settling(Protocol):
    """A budget's part in a commit, within it and after it."""

    def settle(self, connection: Connection, charges: Collection[float]) -> int: ...

    def settled(self, charges: Collection[float], held: int) -> None: ...


class SettlingBatches(Protocol):
    """The part in a commit of the batches that calls came through, within it and after it."""

    def settled_by_others(self, connection: Connection, calls: Sequence[str]) -> set[str]: ...

    def settle(self, connection: Connection, calls: Sequence[str]) -> None: ...

    def settled(self, calls: Sequence[str]) -> None: ...


@dataclass(slots=True, kw_only=True)
class Entries:
    """What is committed together: all of it or none."""

    study: str | None = None
    trials: list[Trial] = field(default_factory=list)
    calls: list[rows.Fields] = field(default_factory=list)
    judgements: list[Judgement] = field(default_factory=list)
    responses: list[Response] = field(default_factory=list)
    said_in: dict[str, str] = field(default_factory=dict[str, str])
    """By a response's digest, the key of the call that it is the reply to."""
    links: list[tuple[str, str]] = field(default_factory=list)
    """Study and trial, where trials of several studies are committed together."""
    release: list[str] = field(default_factory=list)
    """Claims that end with this commit."""
    holder: str = ""
    """Whose claims those are: one that another run has taken over stays. Empty: whoever holds them."""
    charges: dict[str, float] = field(default_factory=dict[str, float])
    """Dollars off the budget, by run."""
    purse: Settling | None = None
    """That the charges come out of; None where there is no limit."""
    settled: dict[str, float] = field(default_factory=dict[str, float])
    """By key, calls that came through a batch, or failed in one, and the dollars of the charges that are for them."""
    batches: SettlingBatches | None = None
    """That those calls came through."""

    def add_call(self, request: Request, reply: Reply, *, run: str, at: float, cost_usd: float | None) -> None:
        self.calls.append(rows.call_row(request, reply, run=run, at=at, cost_usd=cost_usd))

    def charge(self, run: str, usd: float) -> None:
        if usd:
            self.charges[run] = self.charges.get(run, 0.0) + usd

    def take_calls(self) -> "Entries":
        """The calls and what was charged for them, which are not here any more then."""
        taken = Entries(calls=self.calls, charges=self.charges, settled=self.settled)
        self.calls, self.charges, self.settled = [], {}, {}
        return taken

    def extend(self, other: "Entries") -> None:
        self.trials += other.trials
        self.calls += other.calls
        self.judgements += other.judgements
        self.release += other.release
        if other.responses:
            self.responses += other.responses
            self.said_in |= other.said_in
        if other.links:
            self.links += other.links
        if other.settled:
            self.settled |= other.settled
        for run, usd in other.charges.items():
            self.charge(run, usd)

    def without_charges(self, calls: set[str]) -> "Entries":
        """For these settled calls."""
        spared = sum(self.settled[call] for call in calls)
        assert len(self.charges) <= 1, "calls of one run are settled together"
        charges = {run: left for run, usd in self.charges.items() if (left := round(usd - spared, 9)) > 0}
        return replace(self, charges=charges)
