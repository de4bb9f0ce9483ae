"""Where all proposals of a benchmark stand, kept between two looks: only what was said since is read and followed."""

import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.domain.proposal import Event, Stage
from evenhand.ledger.proposals import Proposal, events_since, followed
from evenhand.ledger.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """As of one moment; what comes later makes another one."""

    last: int = 0
    """The sequence number of the last event."""
    found: Mapping[str, Proposal] = field(default_factory=dict[str, Proposal])
    """By id, in the order they were made."""
    worked_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """By person, the ids of those that they said anything about."""

    stages: Mapping[Stage, list[Proposal]] = field(default_factory=dict[Stage, list[Proposal]])

    @property
    def proposals(self) -> Iterable[Proposal]:
        return self.found.values()

    def at(self, stage: Stage) -> Sequence[Proposal]:
        return self.stages.get(stage, ())

    def of_person(self, person: str) -> list[Proposal]:
        return [self.found[one] for one in self.worked_on.get(person, ())]

    def after(self, said: list[tuple[str, Event]]) -> "Known":
        if not said:
            return self
        worked_on = dict(self.worked_on)
        for proposal, event in said:
            if event.person is not None and proposal not in (theirs := worked_on.get(event.person, ())):
                worked_on[event.person] = (*theirs, proposal)
        found = followed(self.found, said)
        stages: dict[Stage, list[Proposal]] = {}
        for one in found.values():
            stages.setdefault(one.standing.stage, []).append(one)
        return Known(last=said[-1][1].seq, found=found, worked_on=worked_on, stages=stages)


class ProposalsAtHand:
    """For several threads. Writers of one benchmark take turns, so that no event appears before one already seen."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._turn = threading.Lock()
        self._known: dict[str, Known] = {}

    def of(self, growing: str) -> Known:
        """As they stand now."""
        with self._turn:
            known = self._known.get(growing, Known())
            with self.ledger.reading() as connection:
                said = events_since(connection, growing, known.last)
            self._known[growing] = known = known.after(said)
        return known
