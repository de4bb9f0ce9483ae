"""A ledger on a database server, which is PostgreSQL: its address, its connections, and what it says where it fails."""

import os
import re
import time
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from threading import Lock
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, text
from sqlalchemy.exc import DBAPIError, OperationalError, SQLAlchemyError

from evenhand.ledger.store.faults import LedgerError, Unmade, busy

_DRIVER = "postgresql+psycopg"
_SECRETS = ("password", "sslpassword", "scram_client_key", "scram_server_key", "oauth_client_secret")
"""Settings of libpq in the query of an address that nobody is shown."""
_CONNECTIONS, _AND_MORE = 10, 30
"""That a process keeps, and opens besides while its threads need them; a server grants 100 to all processes."""
_OLDEST, _MAJOR = 13, 10_000
"""The first version with `pg_current_xact_id`, and what a server multiplies the number of a version by."""
_CONNECT_SECONDS = "10"
_AGAIN_SECONDS = 0.1
_TOLD_SECONDS = 1.0
"""A server that is back sooner is not told of."""
_HURRIED_SECONDS = 5.0
"""So long a server may be away where the process was asked to end."""
_ROLLED_BACK = ("40001", "40P01")
"""SQLSTATE: others were in the way, and the transaction was taken back."""
_FULL, _READ_ONLY, _WAITED, _NO_SUCH = "53100", "25006", "55P03", "22023"

_REFUSALS = (
    (
        r"invalid .*(option|value|port)",
        "correct the settings after the question mark of the store's URL: they are those of libpq",
    ),
    (
        r"pg_hba\.conf|permission denied|not permitted to log in",
        "have the server's administrator let this user into this database from here",
    ),
    (
        r"no password supplied|authentication failed|role .* does not exist",
        "give a user that the server knows, with the right password: in the store's URL, where it is written "
        "USER:PASSWORD@HOST, in PGPASSWORD or in a password file",
    ),
    (
        r"database .* does not exist",
        "make an empty database of this name (`createdb NAME`), or give another --store",
    ),
    (
        r"SSL was required|certificate",
        "set up TLS on the server and the certificates here, or choose another sslmode in the store's URL",
    ),
)
"""What to do, by what libpq says of a connection that was refused, for which it has no SQLSTATE. A server that speaks
another language is told of as one that cannot be reached."""

_PAGES = 0x65_70_61_67_65_73
"""The number of the lock of those who write in turn; any that no other program of the database takes."""
_TURN = text("SELECT pg_advisory_xact_lock(:pages)")
_MINE = text("SELECT CAST(pg_current_xact_id() AS text)")
_BECAME = text("SELECT pg_xact_status(CAST(:number AS xid8))")

_NOW = text("SELECT CAST(extract(epoch FROM clock_timestamp()) AS double precision)")
_END = text(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE backend_xid = CAST(CAST(:number AS xid8) AS xid)"
)

_PREPARED = (
    "SELECT set_config('lock_timeout', %(wait)s, false), "
    "set_config('synchronous_commit', coalesce(nullif(current_setting('synchronous_commit'), 'off'), 'on'), false), "
    "set_config('tcp_keepalives_idle', '30', false), set_config('tcp_keepalives_interval', '10', false), "
    "set_config('tcp_keepalives_count', '3', false)"
)


def shown(url: URL) -> str:
    """The address without any password."""
    return url.difference_update_query(_SECRETS).render_as_string(hide_password=True)


def holds_password(url: URL) -> bool:
    return url.password is not None or not set(_SECRETS).isdisjoint(url.query)


def engine_of(url: URL, *, read_only: bool, wait_seconds: float, reach_seconds: float | None = None) -> Engine:
    """Whatever else stands in the address (sslmode, service, passfile, ...) is libpq's. Raises LedgerError."""
    where = shown(url)
    if url.get_backend_name() not in ("postgresql", "postgres"):
        raise LedgerError(
            f"The store {where} is neither SQLite nor PostgreSQL; write sqlite:///PATH/ledger.db or "
            "postgresql://USER:PASSWORD@HOST/NAME.",
            code="EH-LEDGER-URL",
        )
    if "+" not in url.drivername:  # of which SQLAlchemy takes an older driver
        url = url.set(drivername=_DRIVER)
    try:
        # A dialect takes of these options those that begin with its name.
        engine = create_engine(
            url.difference_update_query(_SECRETS),
            pool_size=_CONNECTIONS,
            max_overflow=_AND_MORE,
            pool_use_lifo=True,
            pool_pre_ping=True,  # a server that was restarted has ended all of them
            connect_args=_settings(url, reach_seconds),
            isolation_level="READ COMMITTED",  # who waited for a lock sees what its holder wrote, whatever the default
            execution_options={"postgresql_readonly": True} if read_only else {},
        )
    except ImportError as error:
        raise LedgerError(
            f"The store {where} needs the extra `postgres` ({error.name} is missing); from the clone: "
            "pip install '.[postgres]'.",
            code="EH-EXTRA-MISSING",
        ) from None  # whose own words hold the address
    except (SQLAlchemyError, TypeError, ValueError) as error:
        raise LedgerError(f"The store {where} cannot be used: {type(error).__name__}.", code="EH-LEDGER-URL") from None

    event.listen(engine, "connect", partial(_prepare, where, wait_seconds))
    return engine


def _prepare(where: str, wait_seconds: float, connection: Any, _record: object) -> None:
    """What is committed is on disk, however the server is set up. Whom another keeps waiting is told so: a connection
    that was lost may hold what it had until the server knows, which looks after a minute, not after two hours. Raises
    LedgerError of a server that is too old."""
    if (version := connection.info.server_version) < _OLDEST * _MAJOR:
        connection.close()
        raise LedgerError(
            f"The database server of the ledger at {where} is PostgreSQL {version // _MAJOR}, and {_OLDEST} or newer "
            "is needed: an older one cannot tell what became of a transaction whose connection was lost. Upgrade the "
            "server, or choose another --store.",
            code="EH-LEDGER-SERVER-OLD",
        )
    connection.execute(_PREPARED, {"wait": f"{int(wait_seconds * 1000)}"})
    connection.commit()


def _settings(url: URL, reach_seconds: float | None) -> dict[str, Any]:
    """Passwords, and what the user has not set: libpq itself would wait for an answer for ever."""
    own: dict[str, Any] = {"fallback_application_name": "evenhand"}
    if not {"connect_timeout", "service"} & set(url.query) and "PGCONNECT_TIMEOUT" not in os.environ:
        own["connect_timeout"] = _CONNECT_SECONDS if reach_seconds is None else f"{max(2.0, reach_seconds):.0f}"
    given = {name: value for name, value in url.query.items() if name in _SECRETS}
    return given | {name: value for name, value in own.items() if name not in url.query}


def closed_with(owner: object, engine: Engine) -> None:
    """Ends the connections when their owner goes, where nobody closed it: a server keeps each until it is told."""
    weakref.finalize(owner, _end, engine, os.getpid())


def _end(engine: Engine, opened_by: int) -> None:
    if os.getpid() == opened_by:  # a fork's are its parent's
        engine.dispose()


class Reaching:
    """Connections to a server that was there before: it is waited for while it starts again or has no connection free.

    All threads wait as one, from when the first of them did not reach it. Once that was in vain each who comes tries
    once, until one of them reaches it: else many would queue up, and a run would wait anew at each step of its end.
    """

    def __init__(self, engine: Engine, seconds: float) -> None:
        self._engine, self._seconds = engine, seconds
        self._away: _Away | None = None
        self._looking = Lock()
        self.tell: Callable[[float], object] = lambda _: None
        """Hears once, each time that the server is away, for how many seconds it is waited for."""

    def hurry(self) -> None:
        """The process was asked to end: from here on a server is waited for a moment only."""
        self._seconds = min(self._seconds, _HURRIED_SECONDS)

    def connected(self) -> Connection:
        begun = time.monotonic()
        if (away := self._away) is not None and away.fault is not None and begun < away.not_before:
            raise away.fault
        while True:
            tried = time.monotonic()
            try:
                connection = self._engine.connect()
            except OperationalError as fault:
                if not self._waits_on(fault, begun=begun, tried=tried):
                    raise
                time.sleep(_AGAIN_SECONDS)
            else:
                self._away = None
                return connection

    def _waits_on(self, fault: OperationalError, *, begun: float, tried: float) -> bool:
        now = time.monotonic()
        with self._looking:
            away = self._away = self._away or _Away(since=begun)
            tells = not away.told and now - away.since >= _TOLD_SECONDS
            away.told = away.told or tells
        if now - min(begun, away.since) >= self._seconds:
            away.not_before, away.fault = now + (now - tried), fault
            return False
        if tells:
            self.tell(self._seconds)
        return True


@dataclass(slots=True)
class _Away:
    """A server that is not reached."""

    since: float
    told: bool = False
    fault: OperationalError | None = None
    """Of the last who has waited in vain."""
    not_before: float = 0.0
    """It is tried again: where nobody answers, a try takes long, and is not made again for as long."""


def wait_for_turn(connection: Connection) -> None:
    """Until the transaction ends nobody else who waits here writes. What such a writer looks up before it writes is so
    still when it does, as it is for threads of one process. SQLite lets one write at a time by itself."""
    if connection.dialect.name != "sqlite":
        connection.execute(_TURN, {"pages": _PAGES})


def now(connection: Connection) -> float:
    """Seconds since 1970 by the clock that all who use the ledger share: that of the server, or of the one machine."""
    return time.time() if connection.dialect.name == "sqlite" else connection.execute(_NOW).scalar_one()


def transaction_of(connection: Connection) -> str | None:
    """Its number, by which the server tells later what became of it; None on SQLite, which is no server."""
    return None if connection.dialect.name == "sqlite" else connection.execute(_MINE).scalar_one()


def was_made(connection: Connection, number: str) -> bool:
    """Whether a transaction of this number was committed. One that is open still is ended.

    Where the server crashed, another's may have the number: that of a transaction is on disk only when it is committed.
    """
    while (became := _became(connection, number)) == "in progress":
        # The server may not know yet that nobody is there any more, and would keep the transaction for hours.
        connection.execute(_END, {"number": number})
        time.sleep(_AGAIN_SECONDS)
    return became == "committed"


def _became(connection: Connection, number: str) -> str | None:
    """None where no transaction has had the number yet, as the server knows after a crash."""
    try:
        return connection.execute(_BECAME, {"number": number}).scalar()
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) != _NO_SUCH:
            raise
        return None


def ended(where: object, words: str = "the connection was lost") -> Unmade:
    return Unmade(
        f"The database server of the ledger at {where} ended what was under way ({words}); run the same command "
        "again: nothing that was committed is lost.",
    )


def fault_in(error: DBAPIError, where: object, waited: float) -> LedgerError | None:
    """A sentence about what a server says; None of SQLite's errors, and of what has no sentence of its own."""
    if not hasattr(error.orig, "sqlstate"):
        return None
    state = getattr(error.orig, "sqlstate", None)
    # Not its detail, which holds the row that was refused.
    said = getattr(getattr(error.orig, "diag", None), "message_primary", None) or str(error.orig)
    words = " ".join(said.split()).rstrip(".")
    if error.connection_invalidated or state in _ROLLED_BACK:
        return ended(where, words)
    if error.statement is None and state is None:
        return _unconnected(where, words)
    if state == _WAITED:
        return busy(where, waited)
    kinds = {
        _FULL: ("The disk of the ledger at {} is full ({}); free some space and run the same command again: nothing "
                "that was committed is lost.", "EH-LEDGER-FULL"),
        _READ_ONLY: ("The ledger at {} cannot be written ({}); check the rights of the database's user, and that the "
                     "server is no read-only copy.", "EH-LEDGER-READ-ONLY"),
    }  # fmt: skip
    if state in kinds:
        sentence, code = kinds[state]
        return LedgerError(sentence.format(where, words), code=code)
    return LedgerError(f"The ledger at {where} could not be used: {words}.")


def _unconnected(where: object, words: str) -> LedgerError:
    to_do = next((to_do for pattern, to_do in _REFUSALS if re.search(pattern, words)), None)
    if to_do is not None:
        return LedgerError(
            f"The ledger at {where} cannot be opened ({words}); {to_do}. Then run the same command again: nothing that "
            "was committed is lost.",
            code="EH-LEDGER-SERVER",
        )
    return LedgerError(
        f"The database server of the ledger at {where} cannot be reached ({words}); see that it runs and takes "
        "connections from here, then run the same command again: nothing that was committed is lost.",
        code="EH-LEDGER-SERVER",
    )
