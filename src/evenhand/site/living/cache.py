"""Where all proposals of a benchmark stand, kept between two looks: only what was said since is read and followed."""

import threading
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from evenhand.ledger.store.record import Ledger
from evenhand.site.living.events import ProposalEvent, Stage
from evenhand.site.living.store import Proposal, events_since, followed


@dataclass(frozen=True, slots=True, kw_only=True)
class KnownProposals:
    """As of one moment; what comes later makes another one."""

    last: int = 0
    """The sequence number of the last event."""
    found: Mapping[str, Proposal] = field(default_factory=dict[str, Proposal])
    """By id, in the order they were made."""
    worked_on: Mapping[str, tuple[str, ...]] = field(default_factory=dict[str, tuple[str, ...]])
    """By person, the ids of those that they said anything about."""

    stages: Mapping[Stage, list[Proposal]] = field(default_factory=dict[Stage, list[Proposal]])
    """By stage, in the order they were made."""

    @property
    def proposals(self) -> Iterable[Proposal]:
        return self.found.values()

    def at(self, stage: Stage) -> Sequence[Proposal]:
        return self.stages.get(stage, ())

    def of_person(self, person: str) -> list[Proposal]:
        return [self.found[one] for one in self.worked_on.get(person, ())]

    def after(self, said: list[tuple[str, ProposalEvent]]) -> "KnownProposals":
        if not said:
            return self
        worked_on = dict(self.worked_on)
        for proposal, event in said:
            if event.person is not None and proposal not in (theirs := worked_on.get(event.person, ())):
                worked_on[event.person] = (*theirs, proposal)
        found = followed(self.found, said)
        changed = [one for one in dict.fromkeys(proposal for proposal, _ in said) if one in found]
        before = [self.found[one] for one in changed if one in self.found]
        stages = _moved(self.stages, before, [found[one] for one in changed])
        return KnownProposals(last=said[-1][1].seq, found=found, worked_on=worked_on, stages=stages)


def _moved(
    stages: Mapping[Stage, list[Proposal]], before: Iterable[Proposal], now: Iterable[Proposal]
) -> Mapping[Stage, list[Proposal]]:
    """Only what was said anything about is taken out of its place and put where it belongs."""
    lists: dict[Stage, list[Proposal]] = {stage: list(found) for stage, found in stages.items()}
    for one in before:
        there = lists[one.standing.stage]
        del there[bisect_left(there, _made(one), key=_made)]
    for one in now:
        insort(lists.setdefault(one.standing.stage, []), one, key=_made)
    return lists


def _made(one: Proposal) -> int:
    """Where it stands in the order they were made."""
    return one.events[0].seq


class ProposalCache:
    """For several threads. Writers of one benchmark take turns, so that no event appears before one already seen."""

    def __init__(self, ledger: Ledger) -> None:
        self.ledger = ledger
        self._turn = threading.Lock()
        self._known: dict[str, KnownProposals] = {}

    def of(self, growing: str) -> KnownProposals:
        """As they stand now."""
        with self._turn:
            known = self._known.get(growing, KnownProposals())
            with self.ledger.reading() as connection:
                said = events_since(connection, growing, known.last)
            self._known[growing] = known = known.after(said)
        return known
