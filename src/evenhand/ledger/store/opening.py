"""Opening a ledger: its address, its engine, its version. The one place that knows SQLite's pragmas."""

import errno
import os
import sqlite3
import time
from collections.abc import Generator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any

from sqlalchemy import URL, Connection, Engine, create_engine, event, inspect, make_url, text
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.exc import ArgumentError, DBAPIError, PendingRollbackError, SQLAlchemyError
from sqlalchemy.util import LRUCache

from evenhand.files.private_files import make_empty, make_folder, tighten
from evenhand.ledger.store import links, schema, server
from evenhand.ledger.store.faults import LedgerError, busy
from evenhand.ledger.store.read_only import Connect, reader_of
from evenhand.ledger.store.tables import HEAD, bring_to_head

BUSY_SECONDS = 30

_SQLITE_TABLES = "SELECT name FROM sqlite_master WHERE type = 'table' AND substr(name, 1, 7) <> 'sqlite_'"
_MIGRATING = 0x6576656E68616E64
"""The number of a lock on PostgreSQL; any that no other program of the database takes."""

_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_NO_RIGHTS = (errno.EACCES, errno.EPERM, errno.EROFS)


_MAKING = Lock()
"""To close a file is to give up all locks that this process has on it: no thread opens one that another makes."""


class SharedStatements(SQLiteDialect_pysqlite):
    """SQLite's dialect, of which any two are equal, so that all ledgers of a process share compiled statements.

    To compile one takes longer than to run it on a small ledger, and each call in a notebook opens the ledger anew.
    """

    supports_statement_cache = True

    def __eq__(self, other: object) -> bool:
        return type(other) is SharedStatements

    def __hash__(self) -> int:
        return hash(SharedStatements)


registry.register("sqlite.sharedstatements", __name__, SharedStatements.__name__)
_COMPILED: LRUCache[Any, Any] = LRUCache(1000)


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


def url_and_images(given: str) -> tuple[str, str | None]:
    """A store's URL, and where it says that images lie: `?images=` is no setting of any database."""
    if "images=" not in given:
        return given, None
    parsed = _parsed(given)
    images = parsed.query.get("images")
    bare = parsed.difference_update_query(["images"]).render_as_string(hide_password=False)
    return bare, images if isinstance(images, str) and images else None


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
    # No sentence repeats what was given: where a URL cannot be taken apart, a password in it cannot be hidden.
    try:
        parsed = make_url(url)
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
    if parsed.password is not None and url.count("@") > 1:  # a part of it would be taken for the host, and shown
        raise LedgerError(
            "The store's URL has more than one @; write one that belongs to a password or a name as %40.",
            code="EH-LEDGER-URL",
        )
    return parsed


def engine_for(
    url: str,
    *,
    create: bool,
    read_only: bool = False,
    wait_seconds: float = BUSY_SECONDS,
    reach_seconds: float | None = None,
) -> Engine:
    path = sqlite_path(url)
    if path is None:
        return server.engine_of(
            _parsed(url), read_only=read_only, wait_seconds=wait_seconds, reach_seconds=reach_seconds
        )
    with explained(path):
        if not path.exists() and not create:
            raise _missing(path)
        how: dict[str, Any] = {"connect_args": {"timeout": wait_seconds, "check_same_thread": False}}
        if read_only:
            how = {"creator": _reader(path, wait_seconds)}
        else:
            _make_own(path)
        # As many connections as threads ever used at once, all of them kept: opening one costs more than a query.
        # The last one used is the next, as its statements and pages are at hand.
        engine = create_engine(
            make_url(url).set(drivername="sqlite+sharedstatements"),
            pool_size=0, pool_use_lifo=True, execution_options={"compiled_cache": _COMPILED}, **how,
        )  # fmt: skip
    event.listen(engine, "connect", _prepare_to_read if read_only else partial(_prepare_connection, wait_seconds))
    event.listen(engine, "begin", _begin)
    return engine


def engine_to_fill(path: Path) -> Engine:
    """Of a file that is thrown away where filling it fails: so nothing is logged ahead, and nothing waits for the
    disk."""
    engine = create_engine(f"sqlite:///{path}")
    event.listen(engine, "connect", _prepare_to_fill)
    event.listen(engine, "begin", _begin)
    return engine


def _prepare_to_fill(connection: sqlite3.Connection, _record: object) -> None:
    connection.isolation_level = None
    connection.execute("PRAGMA journal_mode=OFF")
    connection.execute("PRAGMA synchronous=OFF")


def server_engine(url: str) -> Engine:
    return server.engine_of(_parsed(url), read_only=False, wait_seconds=BUSY_SECONDS)


def shown(url: str) -> str:
    """A store's URL without any password; of SQLite the path."""
    return str(sqlite_path(url) or server.shown(_parsed(url)))


def holds_password(url: str) -> bool:
    """Whether a store's URL is not to be repeated; one that cannot be taken apart might hold a password too."""
    try:
        return server.holds_password(_parsed(url))
    except LedgerError:
        return True


NOT_REPEATED = "Set EVENHAND_STORE to the ledger's address before: it is not repeated here, for it holds a password."
"""After a command that is to be typed and lacks the address for that."""


def _missing(where: object) -> LedgerError:
    return LedgerError(
        f"There is no ledger at {where}; `evenhand judge`, `evenhand import` or `evenhand demo` makes one.",
        code="EH-LEDGER-MISSING",
    )


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


def of_one_moment(connection: Connection) -> None:
    """Before the first query: all that is read is as it stood then."""
    if connection.dialect.name != "sqlite":  # which reads so by itself
        connection.execution_options(isolation_level="REPEATABLE READ")


@contextmanager
def unmoved(connection: Connection) -> Generator[None]:
    """Before the first query: all that is read is of one moment, and bytes that are no text do not end the reading."""
    of_one_moment(connection)
    if connection.dialect.name != "sqlite":
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
        raise server.fault_in(error, where, waited) or _error(str(error.orig), where, waited) from error
    except PendingRollbackError as error:  # of what asks on after the connection was lost
        raise server.ended(where) from error
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
        return busy(where, waited)
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
    engine: Engine,
    where: object,
    *,
    create: bool = True,
    read_only: bool = False,
    wait_seconds: float = BUSY_SECONDS,
) -> None:
    """Creates or migrates the tables; refuses a ledger that a newer Evenhand wrote, and another program's database."""
    with explained(where, waited=wait_seconds):
        with engine.connect() as connection:
            found = _revision(connection, where)
        if found == HEAD:
            return
        if found is None and not create and engine.dialect.name != "sqlite":
            raise _missing(where)
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
            hold_to_make(connection)
            # Another process may have done it while this one waited for its turn.
            found = _revision(connection, where)
            if found != HEAD:
                bring_to_head(connection, found)


def hold_to_make(connection: Connection) -> None:
    """Until the transaction ends nobody else makes tables there, where two may begin to write at once."""
    if connection.dialect.name == "postgresql":
        connection.execute(text("SELECT pg_advisory_xact_lock(:ours)"), {"ours": _MIGRATING})


def tables_in(connection: Connection) -> list[str]:
    if connection.dialect.name != "sqlite":
        return inspect(connection).get_table_names()
    return [name for (name,) in _asked(connection, _SQLITE_TABLES)]


def _meta_columns(connection: Connection) -> set[str]:
    if connection.dialect.name != "sqlite":
        return {column["name"] for column in inspect(connection).get_columns(schema.meta.name)}
    return {name for (name,) in _asked(connection, "SELECT name FROM pragma_table_info('meta')")}


def _asked(connection: Connection, statement: str) -> Sequence[Any]:
    """The rows; on SQLite not by SQLAlchemy, which would take a third of the time that it takes to open a ledger."""
    driver = links.driver_of(connection)
    asked = connection.exec_driver_sql(statement) if driver is None else driver.execute(statement)
    return asked.fetchall()


def _revision(connection: Connection, where: object) -> str | None:
    tables = tables_in(connection)
    if not tables:
        return None
    if not _is_ours(connection, tables):
        foreign = min(set(tables) - {"alembic_version"}, default="alembic_version")
        raise LedgerError(
            f"The database at {where} is another program's (it holds a table '{foreign}'); choose another --store.",
            code="EH-LEDGER-FOREIGN",
        )
    found = _asked(connection, "SELECT version_num FROM alembic_version")
    return found[0][0] if found else None


def _is_ours(connection: Connection, tables: list[str]) -> bool:
    """Programs that use Alembic have such a table too; only a ledger says in `meta` which ledger it is."""
    if not {"alembic_version", schema.meta.name} <= set(tables):
        return False
    if not _meta_columns(connection) >= {column.name for column in schema.meta.columns}:
        return False
    return bool(_asked(connection, "SELECT 1 FROM meta WHERE name = 'ledger_id' AND value IS NOT NULL"))
