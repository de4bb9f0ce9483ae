"""What the lines of the audit log are about, for the owner: names and links in place of bare ids.

The log itself holds no names, as it outlives them; they are looked up when it is read.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import intakes_on_record
from evenhand.ledger.submissions.store import submissions_on_record
from evenhand.site.accounts.requests import requests_on_record
from evenhand.site.accounts.store import people
from evenhand.site.http.audit_log import LogEvent
from evenhand.site.living.cache import ProposalCache
from evenhand.site.living.settings import growing_benchmarks
from evenhand.site.people.studies import people_studies

_ID = re.compile(r"(\b(?:person-)?[0-9a-f]{8,64}\b)")
_LONGEST = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class LogPart:
    words: str
    link: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LogLine:
    at: float
    what: str
    who: str | None
    """None where nobody was signed in."""
    address: str
    about: tuple[LogPart, ...]


def log_lines(at_hand: ProposalCache, found: Sequence[LogEvent]) -> tuple[LogLine, ...]:
    named = _named(at_hand, {one for event in found for one in _ids(event.detail)})
    people_named = {one.id: one.shown for one in people(at_hand.ledger)}
    return tuple(
        LogLine(
            at=one.at,
            what=one.what,
            who=None if one.person is None else people_named.get(one.person, one.person),
            address=one.address,
            about=_parts(one.detail, named),
        )
        for one in found
    )


def _ids(detail: str) -> Iterable[str]:
    return (one.removeprefix("person-") for one in _ID.findall(detail))


def _parts(detail: str, named: Mapping[str, LogPart]) -> tuple[LogPart, ...]:
    pieces = [piece for piece in _ID.split(detail) if piece]
    return tuple(named.get(piece.removeprefix("person-"), LogPart(words=piece)) for piece in pieces)


def _named(at_hand: ProposalCache, wanted: set[str]) -> dict[str, LogPart]:
    """Kind after kind, as long as an id is left that nothing bears."""
    found: dict[str, LogPart] = {}
    kinds: tuple[Callable[[], Iterator[tuple[str, LogPart]]], ...] = (
        lambda: _people(at_hand.ledger),
        lambda: _studies(at_hand.ledger),
        lambda: _submissions(at_hand.ledger),
        lambda: _benchmarks(at_hand.ledger),
        lambda: _growing(at_hand),
    )
    for kind in kinds:
        if wanted - found.keys():
            found |= {name: part for name, part in kind() if name in wanted}
    return found


def _people(ledger: Ledger) -> Iterator[tuple[str, LogPart]]:
    for one in people(ledger):
        yield one.id, LogPart(words=one.shown, link=f"/admin#person-{one.id}")


def _studies(ledger: Ledger) -> Iterator[tuple[str, LogPart]]:
    for one in people_studies(ledger):
        yield one.id, LogPart(words=one.title, link=f"/admin/studies/{one.id}")


def _submissions(ledger: Ledger) -> Iterator[tuple[str, LogPart]]:
    for one in submissions_on_record(ledger):
        yield one.id, LogPart(words=one.entered.shown, link=f"/admin/submissions/{one.id}")
    for intake in intakes_on_record(ledger):
        yield intake.id, LogPart(words=intake.benchmark, link=f"/admin/submissions/intakes/{intake.id}")
    for request in requests_on_record(ledger):
        yield request.id, LogPart(words=request.name, link="/admin/submissions")


def _benchmarks(ledger: Ledger) -> Iterator[tuple[str, LogPart]]:
    for one in benchmarks(ledger):
        yield one.data, LogPart(words=one.name, link=f"/admin#benchmark-{one.data}")


def _growing(at_hand: ProposalCache) -> Iterator[tuple[str, LogPart]]:
    for growing in growing_benchmarks(at_hand.ledger):
        address = f"/admin/growing/{growing.id}"
        yield growing.id, LogPart(words=growing.name, link=address)
        for one in at_hand.of(growing.id).proposals:
            yield one.id, LogPart(words=_short(one.standing.instruction.text), link=f"{address}/proposals/{one.id}")


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1].rstrip()}…"
