"""Where the ledgers of tests lie: in SQLite files, or in databases of a real PostgreSQL server that is started here.

`EVENHAND_TEST_DATABASE=postgresql` chooses the server. It is Debian's package, or any whose `pg_ctl` is found.
"""

import atexit
import os
import pwd
import secrets
import shutil
import sqlite3
import subprocess
import tempfile
import time
from collections.abc import Callable, Generator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

from tests.warm import LONG

if TYPE_CHECKING:
    from evenhand.ledger.store.record import Ledger

ON_POSTGRESQL = os.environ.get("EVENHAND_TEST_DATABASE") == "postgresql"
AS_WRITTEN = "ctid" if ON_POSTGRESQL else "rowid"
"""What rows are ordered by that were put into an empty table."""
_USER = "eh"
_MODEL = "model"
"""The database that all others are copies of: making the tables takes longer than copying them."""
_QUICKLY = (
    "-c listen_addresses='' -c fsync=off -c synchronous_commit=off -c full_page_writes=off -c max_connections=200"
)
"""Commits that are not on disk, unless the ledger sees to it."""


def url_in(folder: Path, name: str = "ledger") -> str:
    """Of the ledger in a folder, the same each time. On PostgreSQL the folder is where we are from then on: the images
    lie there."""
    if not ON_POSTGRESQL:
        return f"sqlite:///{folder}/{name}.db"
    folder.mkdir(parents=True, exist_ok=True)
    os.chdir(folder)
    return the_server().ledger_of(folder / name)


def ledger_in(folder: Path, name: str = "ledger") -> "Ledger":
    """Opened; where there is none, on SQLite a copy of one that holds nothing: making the tables takes longer."""
    from evenhand.ledger.store.record import Ledger

    path = folder / f"{name}.db"
    if not ON_POSTGRESQL and not path.exists():
        empty = _empty_ledger()
        content = empty.content
        for secret in empty.secrets:
            content = content.replace(secret, secrets.token_hex(len(secret) // 2).encode())
        folder.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return Ledger(url_in(folder, name))


@dataclass(frozen=True, kw_only=True)
class _EmptyLedger:
    content: bytes
    secrets: tuple[bytes, ...]
    """What is drawn by lot for each ledger, as it stands in the file."""


@cache
def _empty_ledger() -> _EmptyLedger:
    from evenhand.ledger.store.record import Ledger

    with tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as made:
        Ledger(url_in(Path(made))).close()
        drawn = tuple(words.encode() for (words,) in rows_in(Path(made), "SELECT value FROM meta"))
        content = (Path(made) / "ledger.db").read_bytes()
    assert [content.count(one) for one in drawn] == [1, 1, 1]
    return _EmptyLedger(content=content, secrets=drawn)


def nothing_in(folder: Path, name: str = "ledger") -> None:
    """An empty database where `url_in` says that the ledger is."""
    if ON_POSTGRESQL:
        the_server().nothing_at(folder / name)


def copy_ledger(folder: Path, to: Path, name: str = "ledger") -> Path:
    """All that lies in a folder, with its ledger, which nobody has open."""
    shutil.copytree(folder, to)
    if ON_POSTGRESQL:
        the_server().copy(folder / name, to / name)
    return to


class Unfit(Exception):
    """What the database does not take: a key that is there already, or what a column cannot hold."""


class Hand:
    """Changes rows as somebody does who has the database, past the ledger. Texts are bytes, as they are stored."""

    row: str
    """What the database tells rows apart by, in the order they were written."""
    tables: str
    """The query for the names of all tables."""

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """With '?' for each value. Each is a transaction of its own."""
        raise NotImplementedError

    def set(self, table: str, column: str, value: Any, row: Any) -> Any:
        """Of one row; returns by what it is told apart from then on."""
        raise NotImplementedError


class _FileHand(Hand):
    row = "rowid"
    tables = "SELECT name FROM sqlite_master WHERE type = 'table'"

    def __init__(self, database: sqlite3.Connection) -> None:
        self._database = database
        database.text_factory = bytes

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        try:
            return self._database.execute(statement, values).fetchall()
        except sqlite3.IntegrityError as error:
            raise Unfit from error

    def set(self, table: str, column: str, value: Any, row: Any) -> Any:
        mark = "CAST(? AS TEXT)" if isinstance(value, bytes) else "?"
        self.execute(f'UPDATE {table} SET "{column}" = {mark} WHERE rowid = ?', (value, row))
        return value if column in ("seq", "event") else row  # what SQLite numbers rows by


class _ServerHand(Hand):
    row = "ctid"
    tables = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"

    def __init__(self, connection: Any) -> None:
        self._connection = connection

    def execute(self, statement: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        import psycopg

        try:
            given = [one.decode() if isinstance(one, bytes) else one for one in values]
            done = self._connection.execute(statement.replace("?", "%s") if given else statement, given or None)
        except UnicodeDecodeError as error:
            raise Unfit from error
        except psycopg.Error as error:
            if (error.sqlstate or "")[:2] in ("22", "23", "42", "54"):
                raise Unfit from error
            raise
        found = done.fetchall() if done.description else []
        return [tuple(one.encode() if isinstance(one, str) else one for one in row) for row in found]

    def set(self, table: str, column: str, value: Any, row: Any) -> Any:
        change = f'UPDATE {table} SET "{column}" = ? WHERE ctid = CAST(? AS tid) RETURNING ctid'
        ((moved,),) = self.execute(change, (value, row))
        return moved


@contextmanager
def by_hand(folder: Path, name: str = "ledger") -> Generator[Hand]:
    """As somebody does it who has the database of the ledger in a folder."""
    with _by_hand(url_in(folder, name)) as hand:
        yield hand


@contextmanager
def _by_hand(url: str) -> Generator[Hand]:
    if url.startswith("sqlite"):
        path = url.removeprefix("sqlite:///")
        with closing(sqlite3.connect(path, isolation_level=None, timeout=LONG)) as database:
            yield _FileHand(database)
    else:
        import psycopg

        with psycopg.connect(url, autocommit=True) as connection:
            yield _ServerHand(connection)


def tables_of(hand: Hand) -> list[str]:
    return [name.decode() for (name,) in hand.execute(hand.tables)]


@contextmanager
def held(url: str) -> Generator[None]:
    """While another writes to the ledger of this URL and does not come to an end; it can be read."""
    with _by_hand(url) as hand:
        hand.execute("BEGIN IMMEDIATE" if url.startswith("sqlite") else "BEGIN")
        if not url.startswith("sqlite"):
            hand.execute(f"LOCK TABLE {', '.join(tables_of(hand))} IN SHARE MODE")
        yield
        hand.execute("ROLLBACK")


def rows_in(folder: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query finds in the ledger in a folder, or a change to it tells; texts as texts."""
    with by_hand(folder) as hand:
        rows = hand.execute(query, values)
    return [tuple(one.decode() if isinstance(one, bytes) else one for one in row) for row in rows]


def stored_in(folder: Path, name: str = "ledger") -> bytes:
    """All that the database of the ledger in a folder holds, to look for what it must not hold."""
    if not ON_POSTGRESQL:
        return b"".join(path.read_bytes() for path in folder.glob(f"{name}.db*"))
    with by_hand(folder, name) as hand:
        rows = [row for one in tables_of(hand) for row in hand.execute(f"SELECT CAST(t AS text) FROM {one} AS t")]
    return b"\n".join(words for (words,) in rows)


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Generator[Path]:
    """A disk of its own, of memory; skipped where none can be mounted."""
    folder.mkdir()
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("Mounting a small disk needs root.")
    command = ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)]
    mounted = subprocess.run(command, capture_output=True, text=True)
    if mounted.returncode:
        pytest.skip(f"No small disk can be mounted here: {mounted.stderr.strip()}")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


def lacking(why: str) -> NoReturn:
    if os.environ.get("EVENHAND_REQUIRE_POSTGRESQL"):
        pytest.fail(why)
    pytest.skip(why)


@dataclass(kw_only=True)
class PostgreSQL:
    """A server of our own, reached by a socket in its folder."""

    folder: Path
    programs: Path
    user: int | None
    """Who runs it where we are root, as PostgreSQL will not."""
    ledgers: dict[Path, str] = field(default_factory=dict[Path, str])
    """Their databases, by the place that a SQLite ledger would have."""
    settings: str = _QUICKLY

    @classmethod
    def started(cls, log_in: Path | None = None, *, settings: str = _QUICKLY) -> "PostgreSQL":
        """`log_in`: where its log of changes is to lie, if not with the rest."""
        programs = _programs()
        if programs is None or not (programs / "initdb").exists():
            lacking("PostgreSQL's initdb is not on this machine")
        if find_spec("psycopg") is None:
            lacking("psycopg, by which PostgreSQL is asked, is not installed")
        room = os.environ.get("PYTEST_DEBUG_TEMPROOT")
        folder = Path(tempfile.mkdtemp(prefix="eh-pg-", dir=room))
        made = cls(folder=folder, programs=programs, user=_somebody(), settings=settings)
        for folder in (made.folder, log_in):
            if made.user is not None and folder is not None:
                os.chown(folder, made.user, -1)
        apart = () if log_in is None else ("-X", str(log_in / "log"))
        made.run("initdb", "-A", "trust", "-U", _USER, "-N", "--lc-messages=C", *apart)
        made.start()
        return made

    def run(self, program: str, *arguments: str) -> None:
        command = [self.programs / program, "-D", f"{self.folder}/data", *arguments]
        subprocess.run(command, user=self.user, check=True, capture_output=True, cwd=self.folder)

    def start(self) -> None:
        told = ("-l", f"{self.folder}/log", "-o", f"{self.settings} -k {self.folder}")
        self.run("pg_ctl", "-w", "-t", f"{LONG:.0f}", *told, "start")

    def stop(self, how: str = "immediate") -> None:
        self.run("pg_ctl", "-w", "-t", f"{LONG:.0f}", "-m", how, "stop")

    def remove(self) -> None:
        with suppress(subprocess.CalledProcessError):
            self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://{_USER}@/{database}?host={self.folder}"

    def ledger_of(self, place: Path) -> str:
        if place not in self.ledgers:
            self.ledgers[place] = self.new_ledger()
        return self.url(self.ledgers[place])

    def copy(self, place: Path, to: Path) -> None:
        self._wait_until_left(self.ledgers[place])
        self.ledgers[to] = self.new_ledger(like=self.ledgers[place])

    def _wait_until_left(self, name: str) -> None:
        """A database is copied while nobody uses it, and the server notices a little later that a connection is closed:
        it waits five seconds for that by itself."""
        deadline = time.monotonic() + LONG
        while self.tell(
            "SELECT 1 FROM pg_stat_activity WHERE datname = %s AND backend_type = 'client backend'", (name,)
        ):
            assert time.monotonic() < deadline, f"{name} is still being used"
            time.sleep(0.01)

    def new_ledger(self, *, like: str | None = None) -> str:
        """The name of a database with an empty ledger, or with a copy of the ledger in another."""
        name = f"l{secrets.token_hex(6)}"
        # To copy files takes half as long as to write all of it to the log; before version 15 there is no other way.
        how = " STRATEGY FILE_COPY" if self._version() >= 150_000 else ""
        self.tell(f"CREATE DATABASE {name} TEMPLATE {like or self._model()}{how}")
        if like is None:
            words = ", ".join(
                f"('{word}', '{secrets.token_hex(size)}')"
                for word, size in (("fence_secret", 32), ("ledger_id", 8), ("signing_key", 32))
            )
            fresh = f"UPDATE meta SET value = f.value FROM (VALUES {words}) AS f (name, value) WHERE meta.name = f.name"
            self.tell(fresh, database=name)
        return name

    def empty(self) -> str:
        """The URL of a database that holds nothing."""
        place = self.folder / secrets.token_hex(6)
        self.nothing_at(place)
        return self.ledger_of(place)

    def nothing_at(self, place: Path) -> None:
        self.ledgers[place] = name = f"l{secrets.token_hex(6)}"
        self.tell(f"CREATE DATABASE {name}")

    @cache  # noqa: B019  there is one
    def _version(self) -> int:
        return int(self.tell("SHOW server_version_num")[0][0])

    @cache  # noqa: B019  there is one
    def _model(self) -> str:
        from evenhand.ledger.store.record import Ledger

        self.tell(f"CREATE DATABASE {_MODEL}")
        Ledger(self.url(_MODEL)).close()
        self._wait_until_left(_MODEL)
        return _MODEL

    def forget(self, which: Callable[[Path], bool]) -> None:
        """Drops the databases of these places: each takes megabytes."""
        for place in [place for place in self.ledgers if which(place)]:
            self.tell(f"DROP DATABASE IF EXISTS {self.ledgers.pop(place)} WITH (FORCE)")

    def tell(self, statement: str, values: tuple[Any, ...] = (), *, database: str = "postgres") -> list[Any]:
        with self.telling(database) as tell:
            return tell(statement, values)

    @contextmanager
    def telling(self, database: str) -> Generator[Callable[..., list[Any]]]:
        """What carries out one statement after the other over one connection, and returns the rows of each."""
        import psycopg

        with psycopg.connect(self.url(database), autocommit=True) as connection:

            def tell(statement: str, values: tuple[Any, ...] = ()) -> list[Any]:
                done = connection.execute(statement.encode(), values or None)
                return done.fetchall() if done.description else []

            yield tell

    def __hash__(self) -> int:
        return id(self)


def _programs() -> Path | None:
    found = shutil.which("pg_ctl")
    if found is not None:
        return Path(found).parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def _somebody() -> int | None:
    if os.geteuid() != 0:
        return None
    return next((one.pw_uid for one in pwd.getpwall() if one.pw_name in ("postgres", "nobody")), None)


@cache
def the_server() -> PostgreSQL:
    """Of this process; it ends with it."""
    made, ours = PostgreSQL.started(), os.getpid()

    def end() -> None:
        if os.getpid() == ours:  # not a fork's
            made.remove()

    atexit.register(end)
    return made


@contextmanager
def a_server(log_in: Path | None = None, *, more: str = "") -> Generator[PostgreSQL]:
    """Another one, for tests that stop it. `more`: settings of it."""
    made = PostgreSQL.started(log_in, settings=f"{_QUICKLY} {more}")
    try:
        yield made
    finally:
        made.remove()
