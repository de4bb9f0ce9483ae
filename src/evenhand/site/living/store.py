"""What was said about proposed items: events that are added one after the other, each checked against those before."""

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, bindparam, delete, insert, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.event_log import EventLog, TooLate, in_turn
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.audit_log import LogEvent as Noted
from evenhand.site.http.audit_log import write_down_within
from evenhand.site.living.events import (
    OVER,
    Answer,
    AnswerFailed,
    Caption,
    ImageCame,
    ImageFailed,
    Instruction,
    Joined,
    ProposalEvent,
    ProposalState,
    Said,
    Verification,
    Word,
)
from evenhand.site.living.following import after, said_already, standing

LEASE_SECONDS = 1800.0
"""How long something that a person has before them is offered to nobody else."""

LOG: EventLog[Said, ProposalState | None] = EventLog(
    table=schema.proposal_events,
    about="proposal",
    kinds={
        "instruction": Instruction,
        "image": ImageCame,
        "no image": ImageFailed,
        "caption": Caption,
        "answer": Answer,
        "no answer": AnswerFailed,
        "verification": Verification,
        "word": Word,
        "joined": Joined,
    },
    after=after,
    tuples=frozenset({"pictures", "captions", "texts"}),
    later=frozenset({"round", "pictures", "captions", "source", "instance", "place", "texts"}),
)

# Each built once: building one takes SQLAlchemy longer than running it takes SQLite.
_said, _leases, _skips, _handed = schema.proposal_events, schema.leases, schema.skips, schema.handed_out
_here = _said.c.growing == bindparam("growing")
_theirs = _said.c.person == bindparam("person"), _said.c.kind == LOG.name(Instruction)
_SAID = select(_said).where(_here).order_by(_said.c.seq)
_SAID_OF = _SAID.where(_said.c.proposal == bindparam("proposal"))
_SAID_SINCE = _SAID.where(_said.c.seq > bindparam("seq"))
# Without the benchmark's own condition, for which SQLite would read all that was ever said there.
_SAID_OF_WRITER = (
    select(_said).where(_said.c.proposal.in_(select(_said.c.proposal).where(_here, *_theirs))).order_by(_said.c.seq)
)
_SKIPPED = select(_skips.c.what).where(_skips.c.person == bindparam("person"))
_LEASES = select(_leases.c.what, _leases.c.person)
_HOLDER = select(_leases.c.person).where(_leases.c.what == bindparam("what"), _leases.c.until >= bindparam("now"))
_END_LEASES = delete(_leases).where(_leases.c.until < bindparam("now"))
_GIVE_BACK = delete(_leases).where(
    _leases.c.person == bindparam("person"), _leases.c.what.startswith(bindparam("start"))
)
_LEASE = insert(_leases)
_HANDED_OUT = (
    select(_handed.c.what)
    .where(_handed.c.person == bindparam("person"), _handed.c.what.startswith(bindparam("start")))
    .limit(1)
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    id: str
    events: tuple[ProposalEvent, ...]
    standing: ProposalState

    @property
    def since(self) -> float:
        return self.events[0].at

    @property
    def at(self) -> float:
        return self.events[-1].at


def propose(ledger: Ledger, growing: str, said: Instruction, *, person: str, noted: Noted | None = None) -> str:
    """A new proposal's id, added with a line of the audit log where one is `noted`; the very same proposed twice is
    one. Raises TooLate where this person has another one under way for this skill and round."""
    proposal = secrets.token_hex(4)
    with ledger.writing() as connection:
        in_turn(connection, schema.growing.c.id, growing)
        for one in _written_by(connection, growing, person):
            if one.standing.asked == said and not _over(one.standing):
                return one.id
            asked = one.standing.asked
            if (asked.skill, asked.round) == (said.skill, said.round) and not _over(one.standing):
                raise TooLate
        _add(connection, growing, proposal, said, person=person)
        if noted is not None:
            write_down_within(connection, noted)
    return proposal


def _over(found: ProposalState) -> bool:
    """Whether its writer may propose another for the same skill."""
    return found.stage in OVER


def _written_by(connection: Connection, growing: str, person: str) -> Iterator[Proposal]:
    rows = connection.execute(_SAID_OF_WRITER, {"growing": growing, "person": person})
    said = [(row.proposal, LOG.event(row)) for row in rows if row.growing == growing]
    for found in followed({}, said).values():
        if found.standing.instruction.by == person:
            yield found


def say(
    ledger: Ledger,
    growing: str,
    proposal: str,
    said: Said,
    *,
    person: str | None,
    allowed: Callable[[ProposalState], bool] = lambda _: True,
    noted: Noted | None = None,
) -> ProposalState:
    """Adds an event, with a line of the audit log where one is `noted`, and returns where the proposal stands then.

    The very same said twice by one person is added once. Raises TooLate, and adds nothing, where it is not `allowed` or
    would change nothing.
    """
    with ledger.writing() as connection:
        in_turn(connection, schema.growing.c.id, growing)
        events = _events(connection, growing, proposal)
        before = standing(events)
        if before is None:
            raise TooLate
        # First, as what was said may be what no longer allows to say it: a no that sent the answer back.
        if person is not None and said_already(before, events, person, said):
            return before
        if not allowed(before):
            raise TooLate
        LOG.must_change(before, said, person=person)
        event = _add(connection, growing, proposal, said, person=person)
        if noted is not None:
            write_down_within(connection, noted)
        done = after(before, event)
    assert done is not None
    return done


def find_proposal(ledger: Ledger, growing: str, proposal: str) -> Proposal | None:
    with ledger.reading() as connection:
        return _proposal(proposal, _events(connection, growing, proposal))


def proposals(ledger: Ledger, growing: str) -> list[Proposal]:
    """In the order they were made, all read and followed from the beginning; see ProposalsAtHand."""
    with ledger.reading() as connection:
        return list(followed({}, events_since(connection, growing, 0)).values())


def skip(ledger: Ledger, person: str, what: str) -> None:
    with ledger.writing() as connection:
        row = {"person": person, "what": what, "at": time.time()}
        ledger.insert_new(connection, schema.skips, [row])


def skipped(ledger: Ledger, person: str) -> set[str]:
    with ledger.reading() as connection:
        return set(connection.execute(_SKIPPED, {"person": person}).scalars())


def unskip(ledger: Ledger, person: str, start: str) -> None:
    """Offers again what begins so."""
    table = schema.skips
    with ledger.writing() as connection:
        connection.execute(delete(table).where(table.c.person == person, table.c.what.startswith(start)))


def lease(ledger: Ledger, person: str, candidates: Iterable[str], *, start: str) -> str | None:
    """The first that nobody else has before them, now this person's.

    Of what they had before, all that begins with `start` is free unless it is that.
    """
    now = time.time()
    with ledger.writing() as connection:
        connection.execute(_END_LEASES, {"now": now})
        held: dict[str, str] = dict(connection.execute(_LEASES).all())
        taken = next((one for one in candidates if held.get(one, person) == person), None)
        connection.execute(_GIVE_BACK, {"person": person, "start": start})
        if taken is not None:
            connection.execute(_LEASE, {"what": taken, "person": person, "until": now + LEASE_SECONDS})
            ledger.insert_new(connection, schema.handed_out, [{"person": person, "what": taken, "at": now}])
    return taken


def was_handed_out(ledger: Ledger, person: str, start: str) -> bool:
    """Whether this person ever had something before them that begins so."""
    with ledger.reading() as connection:
        return connection.execute(_HANDED_OUT, {"person": person, "start": start}).first() is not None


def lease_holder(ledger: Ledger, what: str) -> str | None:
    """Who has it before them."""
    with ledger.reading() as connection:
        return connection.execute(_HOLDER, {"what": what, "now": time.time()}).scalar()


def all_in_turn(connection: Connection, growing: str) -> list[Proposal]:
    """As they stand, in the order they were made: nothing more is said of any until the transaction ends."""
    in_turn(connection, schema.growing.c.id, growing)
    return list(followed({}, events_since(connection, growing, 0)).values())


def let_join(connection: Connection, growing: str, joining: Mapping[str, Joined], *, by: str) -> None:
    """Those that were found accepted, by id, in the same transaction."""
    for proposal, said in joining.items():
        _add(connection, growing, proposal, said, person=by)


def add_said(connection: Connection, growing: str, proposal: str, said: Said, *, person: str | None) -> ProposalEvent:
    """Unchecked, in a transaction that has its turn: a row that was taken in, or what a sheet says."""
    return _add(connection, growing, proposal, said, person=person)


def _add(connection: Connection, growing: str, proposal: str, said: Said, *, person: str | None) -> ProposalEvent:
    return LOG.add(connection, proposal, said, person=person, growing=growing, once=_once(proposal, said))


def _once(proposal: str, said: Said) -> str | None:
    match said:
        case Answer():
            return f"answer {said.about} {said.attempt}"
        case ImageCame():
            return f"image {said.about} {said.place}" if said.place else f"image {said.about}"
        case Joined():
            return f"joined {proposal}"
        case _:
            return None


def _events(connection: Connection, growing: str, proposal: str) -> list[ProposalEvent]:
    return [LOG.event(row) for row in connection.execute(_SAID_OF, {"growing": growing, "proposal": proposal})]


def events_since(connection: Connection, growing: str, seq: int) -> list[tuple[str, ProposalEvent]]:
    """With the proposal of each, in their order."""
    found = connection.execute(_SAID_SINCE, {"growing": growing, "seq": seq})
    return [(row.proposal, LOG.event(row)) for row in found]


def followed(found: Mapping[str, Proposal], said: Iterable[tuple[str, ProposalEvent]]) -> dict[str, Proposal]:
    """By id, where all stand after what was said, in the order they were made."""
    now = dict(found)
    for name, event in said:
        before = now.get(name)
        stands = after(None if before is None else before.standing, event)
        if stands is not None:
            now[name] = Proposal(id=name, events=(*(before.events if before else ()), event), standing=stands)
    return now


def _proposal(name: str, events: Sequence[ProposalEvent]) -> Proposal | None:
    found = standing(events)
    return None if found is None else Proposal(id=name, events=tuple(events), standing=found)
