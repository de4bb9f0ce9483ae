"""Opening a ledger: its address, its engine, its version. The one place that knows SQLite's pragmas."""

import errno
import os
import re
import sqlite3
import time
from collections import Counter
from collections.abc import Generator
from contextlib import contextmanager, suppress
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, select, text
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError

from evenhand.domain.errors import EvenhandError
from evenhand.files.private_files import make_empty, make_folder, tighten
from evenhand.format.near_names import with_article
from evenhand.ledger.store import schema
from evenhand.ledger.store.read_only import Connect, reader_of
from evenhand.ledger.store.tables import HEAD, bring_to_head

BUSY_SECONDS = 30

_VERSION = text("SELECT version_num FROM alembic_version")
_MIGRATING = 0x6576656E68616E64
"""The number of a lock on PostgreSQL; any that no other program of the database takes."""

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_RIGHTS = (errno.EACCES, errno.EPERM, errno.EROFS)


_MAKING = Lock()
"""To close a file is to give up all locks that this process has on it: no thread opens one that another makes."""


class LedgerError(EvenhandError):
    """The ledger cannot be opened, read or written."""

    code = "EH-LEDGER"


class DamagedRow(LedgerError, ValueError):
    """A row of the ledger that does not hold what any version of Evenhand writes."""

    code = "EH-LEDGER-DAMAGED"


@contextmanager
def of_row(kind: str, name: object) -> Generator[None]:
    """Turns what reading a row raises into a sentence that names the row."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, OSError) as error:
        raise DamagedRow(
            f"The {kind} '{name}' on record cannot be read: it is not as it was written. `evenhand ledger check` tells "
            "what else was changed and what rests on it; `evenhand ledger restore` brings back a backup."
        ) from error


def sqlite_path(url: str) -> Path | None:
    """The file behind a sqlite URL, or None for another database."""
    parsed = _parsed(url)
    if parsed.get_backend_name() != "sqlite":
        return None
    if parsed.host or parsed.username:
        raise LedgerError(
            "A SQLite store is a file, not a host; write three slashes: sqlite:///PATH/ledger.db.", code="EH-LEDGER-URL"
        )
    if not parsed.database or parsed.database == ":memory:":
        raise LedgerError(
            "A ledger in memory would be lost at exit; give a file: sqlite:///PATH/ledger.db.", code="EH-LEDGER-URL"
        )
    return Path(parsed.database)


def refuse_way_out(folder: Path, *, within: Path) -> None:
    """Raises LedgerError where a folder beside the ledger is a link to somewhere else: neither read nor written."""
    really = Path(os.path.realpath(folder))
    if not really.is_relative_to(os.path.realpath(within)):
        raise LedgerError(
            f"{folder} is to lie in {within}, but a link leads to {really}, and no file is read or written through it. "
            f"Put the files themselves in the link's place; or, to have them on that disk, move the ledger there too, "
            "with the folders beside it, and name it with --store.",
            code="EH-LINK",
        )


def _parsed(url: str) -> URL:
    # Neither sentence repeats what was given: where a URL cannot be taken apart, a password in it cannot be hidden.
    try:
        return make_url(url)
    except ArgumentError:
        raise LedgerError(
            "The store is not a database URL; write sqlite:///PATH/ledger.db or postgresql://USER:PASSWORD@HOST/NAME.",
            code="EH-LEDGER-URL",
        ) from None
    except ValueError:
        raise LedgerError(
            "The port in the store's URL is not a number; write postgresql://USER:PASSWORD@HOST:5432/NAME.",
            code="EH-LEDGER-URL",
        ) from None


def engine_for(url: str, *, create: bool, read_only: bool = False, wait_seconds: float = BUSY_SECONDS) -> Engine:
    path = sqlite_path(url)
    if path is None:
        return _server_engine(url, read_only=read_only)
    with explained(path):
        if not path.exists() and not create:
            raise LedgerError(
                f"There is no ledger at {path}; `evenhand judge`, `evenhand import` or `evenhand demo` makes one.",
                code="EH-LEDGER-MISSING",
            )
        how: dict[str, Any] = {"connect_args": {"timeout": wait_seconds, "check_same_thread": False}}
        if read_only:
            how = {"creator": _reader(path, wait_seconds)}
        else:
            _make_own(path)
        # As many connections as threads ever used at once, all of them kept: opening one costs more than a query.
        # The last one used is the next, as its statements and pages are at hand.
        engine = create_engine(url, pool_size=0, pool_use_lifo=True, **how)
    event.listen(engine, "connect", _prepare_to_read if read_only else partial(_prepare_connection, wait_seconds))
    event.listen(engine, "begin", _begin)
    return engine


def _reader(path: Path, wait_seconds: float) -> Connect:
    try:
        return reader_of(path, wait_seconds=wait_seconds)
    except PermissionError as error:
        raise LedgerError(
            f"The ledger at {path} cannot be read ({error.strerror}); check the file's rights."
        ) from error


def _make_own(path: Path) -> None:
    """The file and its folder for nobody else; what SQLite makes beside it gets the file's rights."""
    make_folder(path.parent)
    with _MAKING:
        if not path.exists():
            with suppress(FileExistsError):  # by another process, or a link to nowhere, which SQLite follows
                make_empty(path)
    real = path.resolve()  # where SQLite puts the two beside it
    for name in (real.name, f"{real.name}-wal", f"{real.name}-shm"):
        tighten(real.with_name(name))


def _server_engine(url: str, *, read_only: bool) -> Engine:
    named = make_url(url)
    where = named.render_as_string(hide_password=True)
    if named.drivername == "postgresql":  # of which SQLAlchemy takes an older driver
        named = named.set(drivername="postgresql+psycopg")
    try:
        with explained(where):
            # A dialect takes of these options those that begin with its name.
            return create_engine(named, execution_options={"postgresql_readonly": True} if read_only else {})
    except ImportError as error:
        raise LedgerError(f"The store {where} needs a database driver that is not installed ({error.name}).") from error


def _prepare_connection(wait_seconds: float, connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None  # transactions are begun by _begin, as pysqlite would begin them too late
    _log_ahead(connection, wait_seconds)
    connection.execute("PRAGMA synchronous=FULL")  # a pulled plug loses nothing that was committed
    connection.execute("PRAGMA foreign_keys=ON")
    connection.execute(
        "PRAGMA secure_delete=ON"
    )  # a name that was erased is in no byte of the file; many builds do not


def _prepare_to_read(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None


def _log_ahead(connection: sqlite3.Connection, wait_seconds: float) -> None:
    # SQLite does not wait here by itself: of processes that make one ledger at once, all but the first are refused.
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            busy = error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_BUSY
            if not busy or time.monotonic() >= deadline:
                raise
            time.sleep(0.01)
        else:
            return


def _begin(connection: Connection) -> None:
    # A writer that begins as a reader cannot wait for another writer: SQLite refuses the upgrade at once.
    writes = connection.get_execution_options().get("writes", False)
    driver: Any = connection.connection.dbapi_connection  # by SQLAlchemy it would cost as much as a small query
    driver.execute("BEGIN IMMEDIATE" if writes else "BEGIN")


@contextmanager
def unmoved(connection: Connection) -> Generator[None]:
    """Before the first query: all that is read is of one moment, and bytes that are no text do not end the reading."""
    if connection.dialect.name != "sqlite":
        connection.execution_options(isolation_level="REPEATABLE READ")
        yield
        return
    driver: Any = connection.connection.dbapi_connection
    driver.text_factory = _readable
    try:
        yield
    finally:
        driver.text_factory = str


_readable = partial(str, encoding="utf-8", errors="surrogateescape")


@contextmanager
def explained(where: object, *, waited: float = BUSY_SECONDS) -> Generator[None]:
    """Turns a database's own error into a sentence that says what to do."""
    try:
        yield
    except DBAPIError as error:
        raise _error(str(error.orig), where, waited) from error
    except (SQLAlchemyError, sqlite3.Error) as error:
        raise _error(str(error), where, waited) from error
    except OSError as error:
        raise _file_error(error, where) from error


def _file_error(error: OSError, where: object) -> LedgerError:
    words = error.strerror or str(error)
    if error.errno in _NO_SPACE:
        return _no_space(words, where)
    if error.errno in _NO_RIGHTS:
        return _no_rights(words, where)
    return LedgerError(f"The ledger at {where} cannot be used: {words}.")


def _error(words: str, where: object, waited: float) -> LedgerError:
    if "locked" in words or "busy" in words:
        return LedgerError(
            f"Another process has held the ledger at {where} for more than {waited:g} s; "
            "wait until it ends, then run the same command again: nothing that was committed is lost.",
            code="EH-LEDGER-BUSY",
        )
    if "full" in words or "disk I/O error" in words:
        return _no_space(words, where)
    if "not a database" in words or "malformed" in words:
        return LedgerError(
            f"The file at {where} is not a usable ledger ({words}); restore a backup or choose another --store.",
            code="EH-LEDGER-UNUSABLE",
        )
    if "readonly" in words or "unable to open" in words:
        return _no_rights(words, where)
    return LedgerError(f"The ledger at {where} could not be used: {words}.")


def _no_space(words: str, where: object) -> LedgerError:
    return LedgerError(
        f"The disk of the ledger at {where} is full or cannot be written ({words}); "
        "free some space and run the same command again: nothing that was committed is lost.",
        code="EH-LEDGER-FULL",
    )


def _no_rights(words: str, where: object) -> LedgerError:
    return LedgerError(
        f"The ledger at {where} cannot be opened for writing ({words}); check the folder and its rights.",
        code="EH-LEDGER-READ-ONLY",
    )


def bring_up_to_date(
    engine: Engine, where: object, *, read_only: bool = False, wait_seconds: float = BUSY_SECONDS
) -> None:
    """Creates or migrates the tables; refuses a ledger that a newer Evenhand wrote, and another program's database."""
    with explained(where, waited=wait_seconds):
        with engine.connect() as connection:
            found = _revision(connection, where)
        if found == HEAD:
            return
        if found is not None and found > HEAD:
            raise LedgerError(
                f"The ledger at {where} was written by a newer Evenhand (its tables are at {found}, this version knows "
                f"{HEAD}); upgrade Evenhand, or choose another --store.",
                code="EH-LEDGER-NEWER",
            )
        if read_only:
            raise LedgerError(
                f"The ledger at {where} can only be read here, and its tables are those of an older Evenhand (at "
                f"{found}, this version reads {HEAD}); copy it with its folder to a place that can be written.",
                code="EH-LEDGER-OLDER",
            )
        with engine.connect().execution_options(writes=True) as connection, connection.begin():
            if connection.dialect.name == "postgresql":  # where two may begin to write at once
                connection.execute(text("SELECT pg_advisory_xact_lock(:ours)"), {"ours": _MIGRATING})
            # Another process may have done it while this one waited for its turn.
            found = _revision(connection, where)
            if found != HEAD:
                bring_to_head(connection, found)


def _revision(connection: Connection, where: object) -> str | None:
    tables = inspect(connection).get_table_names()
    if not tables:
        return None
    if not _is_ours(connection, tables):
        foreign = min(set(tables) - {"alembic_version"}, default="alembic_version")
        raise LedgerError(
            f"The database at {where} is another program's (it holds a table '{foreign}'); choose another --store.",
            code="EH-LEDGER-FOREIGN",
        )
    return connection.execute(_VERSION).scalar()


def _is_ours(connection: Connection, tables: list[str]) -> bool:
    """Programs that use Alembic have such a table too; only a ledger says in `meta` which ledger it is."""
    if not {"alembic_version", schema.meta.name} <= set(tables):
        return False
    columns = {column["name"] for column in inspect(connection).get_columns(schema.meta.name)}
    if not columns >= {column.name for column in schema.meta.columns}:
        return False
    query = select(schema.meta.c.value).where(schema.meta.c.name == "ledger_id")
    return connection.execute(query).scalar() is not None


def strange_tables(connection: Connection) -> list[str]:
    """Sentences about what is in a SQLite file beside or instead of the tables that Evenhand makes.

    A trigger can leave rows out as they are written, and a view in a table's place show others than were written.
    """
    if connection.dialect.name != "sqlite":
        return []
    made, found = _as_made(), _made_of(connection)
    beside = [
        f"The ledger's file holds {with_article(kind)} '{name}', which Evenhand did not make." for kind, name in found
    ]
    gone = [f"The {kind} '{name}' of the ledger is not in its file." for kind, name in made]
    return [
        *(words for words, what in zip(beside, found, strict=True) if what not in made),
        *(words for words, what in zip(gone, made, strict=True) if what not in found),
        *(
            f"The {kind} '{name}' is not as Evenhand made it: {_told(words, found[kind, name])}."
            for (kind, name), words in made.items()
            if found.get((kind, name), words) != words
        ),
    ]


def _told(made: Counter[str], found: Counter[str]) -> str:
    more, less = (" ".join(sorted(words))[:200] for words in (found - made, made - found))
    return "; ".join(f"{what} {words}" for what, words in (("added is", more), ("missing is", less)) if words)


@cache
def _as_made() -> dict[tuple[str, str], Counter[str]]:
    """As the schema says."""
    engine = create_engine("sqlite://")
    schema.metadata.create_all(engine)
    with engine.connect() as connection:
        found = _made_of(connection)
    engine.dispose()
    return found


def _made_of(connection: Connection) -> dict[tuple[str, str], Counter[str]]:
    """Tables, indexes and whatever else, each with the words that it was made with, in whatever order and quotes."""
    query = text("SELECT type, name, sql FROM sqlite_master ORDER BY type, name")
    own = (
        "sqlite_autoindex_",
        "sqlite_sequence",
        "sqlite_stat",
        "alembic_version",
    )  # of SQLite; our version
    return {
        (str(kind), str(name)): Counter(re.findall(r"[\w.]+", str(words).lower()))
        for kind, name, words in connection.execute(query)
        if kind not in ("table", "index") or not str(name).startswith(own)
    }
