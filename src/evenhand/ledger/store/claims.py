"""Claims: who is asking what at this moment, so that two runs on one ledger do not pay for the same thing."""

import os
import socket
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, Row, Select, and_, delete, or_, update

from evenhand.ledger.store import schema, server, statements
from evenhand.ledger.store.faults import until_made
from evenhand.ledger.store.links import mark
from evenhand.ledger.store.presence import LOCKED, absent
from evenhand.ledger.store.record import Ledger

LEASE_SECONDS = 120.0
"""How long a claim outlives its holder where the holder's death cannot be seen; a live run renews it well before."""
ABSENT_SECONDS = 10.0
"""How long a claim outlives the connection of a holder elsewhere; a live one that was cut off is back sooner."""

_BOOT = Path("/proc/sys/kernel/random/boot_id")


@dataclass(frozen=True, slots=True, kw_only=True)
class Claimed:
    mine: set[str]
    decided: set[str]
    """Decided by somebody between our plan and our claim."""
    others: set[str]
    """Being asked by another live process."""
    crew: set[str] = field(default_factory=set[str])
    """Of these, by one that shares the run."""


def holder_name(run: str, *, present: bool = False) -> str:
    """Names a run and its process, so that another one on this machine can tell whether it still lives.

    `present`: it shows runs on other machines that it does, by a Presence.
    """
    return f"{_here()}|{os.getpid()}|{_started(os.getpid())}|{run}{LOCKED if present else ''}"


def claim(ledger: Ledger, trials: Sequence[str], *, reader: str, holder: str) -> Claimed:
    """Takes the trials that are neither decided nor held by another live run, in one transaction."""
    return _claim(ledger, statements.DECIDED, {"keys": trials, "reader": reader}, holder=holder)


def claim_calls(ledger: Ledger, keys: Sequence[str], *, holder: str) -> Claimed:
    """Takes the calls that are neither answered nor held by another live run, in one transaction."""
    return _claim(ledger, statements.ANSWERED, {"keys": keys}, holder=holder)


@until_made
def claim_steps(ledger: Ledger, keys: Sequence[str], *, holder: str) -> Claimed:
    """Takes what no other live run holds, also where the first call of several is answered: the next is to be asked."""
    with ledger.writing() as connection:
        taken = _taken(ledger, connection, keys, holder=holder)
    return Claimed(mine=taken.mine, decided=set(), others=set(keys) - taken.mine, crew=taken.crew)


@until_made
def claim_one(ledger: Ledger, what: str, *, holder: str) -> bool:
    """Whether the holder has it now; no, where another live one has."""
    with ledger.writing() as connection:
        return claim_within(ledger, connection, what, holder=holder)


def claim_within(ledger: Ledger, connection: Connection, what: str, *, holder: str) -> bool:
    """As `claim_one`, together with what goes by it."""
    return what in _taken(ledger, connection, [what], holder=holder).mine


@until_made
def held_now(ledger: Ledger, keys: Sequence[str]) -> set[str]:
    """Those of the keys that any live holder has."""
    with ledger.reading() as connection:
        held, now = connection.execute(statements.CLAIMS, {"keys": keys}).all(), server.now(connection)
    return {row.what for row in held if not is_gone(row.holder, row.until, now)}


@until_made
def _claim(ledger: Ledger, decided_now: Select[Any], given: Mapping[str, Any], *, holder: str) -> Claimed:
    keys: Sequence[str] = given["keys"]
    with ledger.writing() as connection:
        taken = _taken(ledger, connection, keys, holder=holder)
        # Only now: on PostgreSQL another run may decide a trial and let go of it at any moment before we hold it.
        decided = set(connection.execute(decided_now, given).scalars())
        if taken.mine & decided:
            statements.release(connection, sorted(taken.mine & decided), holder=holder)
    others = set(keys) - taken.mine - decided
    return Claimed(mine=taken.mine - decided, decided=decided, others=others, crew=taken.crew & others)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Taken:
    mine: set[str]
    crew: set[str]


def _taken(ledger: Ledger, connection: Connection, keys: Sequence[str], *, holder: str) -> _Taken:
    """Those of the keys that the holder has now, and those that another process of its run has."""
    now = server.now(connection)
    rows = [{"what": key, "holder": holder, "until": now + LEASE_SECONDS} for key in keys]
    new = ledger.insert_new(connection, schema.claims, rows)
    held = connection.execute(statements.CLAIMS, {"keys": keys}).all()
    if _bury_the_dead(connection, [row for row in held if row.holder != holder], now=now):
        new += ledger.insert_new(connection, schema.claims, rows)
        held = connection.execute(statements.CLAIMS, {"keys": keys}).all()
    if new:
        mark(connection)
    mine = {row.what for row in held if row.holder == holder}
    run = _run_of(holder)
    return _Taken(mine=mine, crew={row.what for row in held if _run_of(row.holder) == run} - mine)


def _run_of(holder: str) -> str:
    return holder.rsplit("|", 3)[-1]


@until_made
def renew(ledger: Ledger, *, holder: str) -> int:
    """How many claims the holder has; one whose lease ran out may be another's by now."""
    with ledger.writing() as connection:
        until = server.now(connection) + LEASE_SECONDS
        claims = schema.claims
        return connection.execute(update(claims).where(claims.c.holder == holder).values(until=until)).rowcount


@until_made
def release_all(ledger: Ledger, *, holder: str) -> None:
    with ledger.writing() as connection:
        connection.execute(delete(schema.claims).where(schema.claims.c.holder == holder))


def still_held(connection: Connection, what: str, *, holder: str) -> bool:
    """Whether nobody has taken it since the holder did; then its lease begins anew. Nobody takes it until the
    transaction ends."""
    own = and_(schema.claims.c.what == what, schema.claims.c.holder == holder)
    until = server.now(connection) + LEASE_SECONDS
    return connection.execute(update(schema.claims).where(own).values(until=until)).rowcount > 0


def _bury_the_dead(connection: Connection, held: Sequence[Row[Any]], *, now: float) -> bool:
    """Whether there were any among the holders of these claims."""
    expired = [row.what for row in held if row.until < now]
    holders = {row.holder for row in held}
    dead = [holder for holder in holders if is_dead(holder)]
    _hurry_the_absent(connection, [holder for holder in holders if not _is_here(holder)], now=now)
    if expired or dead:
        claims = schema.claims.c
        # The time again: a holder elsewhere may have renewed its lease since we looked.
        over = and_(claims.what.in_(expired), claims.until < now)
        connection.execute(delete(schema.claims).where(or_(over, claims.holder.in_(dead))))
    return bool(expired or dead)


def _hurry_the_absent(connection: Connection, elsewhere: Sequence[str], *, now: float) -> None:
    """The leases of holders whose connection is gone end soon, unless they come back and renew them."""
    if gone := absent(connection, elsewhere):
        claims, soon = schema.claims.c, now + ABSENT_SECONDS
        later = and_(claims.holder.in_(gone), claims.until > soon)
        connection.execute(update(schema.claims).where(later).values(until=soon))


def is_gone(holder: str, until: float, now: float) -> bool:
    """Whether its process is gone, or its lease ran out by now."""
    return until < now or is_dead(holder)


def is_dead(holder: str) -> bool:
    """True only where this machine can see that the process is gone; a run elsewhere keeps its claim until it ends."""
    _, pid, started, _run = holder.rsplit("|", 3)
    return _is_here(holder) and _started(int(pid)) not in (started, _HIDDEN)


def was_here(holder: str) -> bool:
    """Whether it is of a machine of this name before that was started anew, or of a version that did not name the
    start: dead, unless another machine is called the same."""
    machine = holder.rsplit("|", 3)[0]
    return machine != _here() and f"{machine} ".startswith(f"{_container()} ")


def _is_here(holder: str) -> bool:
    return holder.rsplit("|", 3)[0] == _here()


def _here() -> str:
    """Where process numbers mean the same: this machine since it was started, and on Linux this container. Its name
    alone is not enough, as others may be called the same."""
    name = _container()
    with suppress(OSError):
        name += f" {_BOOT.read_text(encoding='ascii').strip()}"
    return name


def _container() -> str:
    name = socket.gethostname()
    with suppress(OSError):
        name += f" {os.readlink('/proc/self/ns/pid')}"  # of the first container it is the same on every machine
    return name


_HIDDEN = "hidden"
"""When a process started of which this user may not know: /proc is mounted with hidepid, and it is another user's."""


def _started(pid: int) -> str:
    """When the process started, so that a reused number is not taken for it; '' where no such process runs."""
    stat = Path(f"/proc/{pid}/stat")
    if Path("/proc/self/stat").exists():
        try:
            state, *rest = stat.read_text().rpartition(")")[2].split()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return _HIDDEN if _runs(pid) else ""
        return "" if state == "Z" else rest[18]
    return "alive" if _runs(pid) else ""


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return True
