"""The chain over the record: what a transaction adds is hashed into a link of its writer, in the same transaction.

A link holds a token for each row, never a word of it. Writers have a chain each, as two of them may commit at one
moment. A writer's first link joins the chains that end where it begins; the ends that nobody has joined are the head.
"""

import hashlib
import os
import secrets
import time
from base64 import b64decode, b64encode
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from typing import Any

import orjson
from sqlalchemy import Boolean, Column, ColumnElement, Connection, Float, Table, delete, select, text, tuple_

from evenhand.domain.identity import Json
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.submission_schema import intake_terms, intakes, receipts, submission_events, submissions

TOKEN = 16
"""Bytes of a row's token."""
GENESIS = "genesis"
"""The writer of the links over what was there before there were links."""
_LOOKED_UP = 500
"""Rows looked up in one statement."""
_TOGETHER = 5000
"""Rows in one link of those."""
ERASED = "\x01erased, SHA-256 "
"""How the database holds a text that was taken away, with its digest after it; no text is escaped to this."""

_ALL = ("*",)
_COVERED: dict[Table, tuple[str, ...]] = {
    schema.benchmarks: _ALL,
    schema.items: _ALL,
    schema.benchmark_items: _ALL,
    schema.responses: _ALL,
    schema.response_choices: _ALL,
    schema.raters: _ALL,
    schema.conditions: _ALL,
    schema.studies: _ALL,
    schema.trials: ("key",),  # the hash of the rest
    schema.study_trials: _ALL,
    schema.runs: _ALL,
    schema.run_ends: _ALL,
    schema.charges: _ALL,
    schema.calls: tuple(column.name for column in schema.calls.columns if column.name != "request"),
    schema.judgements: _ALL,
    schema.growing: _ALL,
    schema.growing_settings: _ALL,
    schema.proposal_events: _ALL,
    schema.growing_versions: _ALL,
    schema.given_back: _ALL,
    schema.people_decisions: _ALL,
    # These two change: pausing a study and taking a place is nobody's figure, what counts on a board is.
    schema.people_studies: ("id", "benchmark", "data", "form", "closed", "shown", "aside"),
    schema.people_places: ("id", "study", "record"),
    intakes: _ALL,
    intake_terms: _ALL,
    # A team that is forgotten before it is judged takes its name with it.
    submissions: ("id", "intake", "person", "model", "version", "link", "policy_hash", "at"),
    submission_events: _ALL,
    receipts: _ALL,
}
"""What of each table a token covers. Of a trial and a call's request the key is the hash: they are not hashed again."""
MAY_CHANGE = {schema.people_studies, schema.people_places}
"""Of these alone a link may tell that a row ended. A link takes no secret: whoever has the ledger can add one, and by
what it says of any other row would change a figure and keep every head that was published."""
_TEXTS = {schema.items.c.content, schema.responses.c.text, schema.calls.c.text, schema.calls.c.reasoning}
"""Columns that a token covers by their digest, so that a text can be erased and the row still be told."""


def text_digest(stored: str) -> str:
    """SHA-256 of a text, also of one that was erased; of none, none."""
    if stored == "":
        return ""
    if stored.startswith(ERASED):
        return stored[len(ERASED) :]
    return hashlib.sha256(stored.encode()).hexdigest()


def _number(value: Any) -> str | None:
    """Exact, and the same from whatever database: 0 and 0.0 are one number. Text is none, though Python reads one in
    `1_0.5`: a database adds it up as another."""
    if value is None:
        return None
    if not isinstance(value, int | float):
        raise TypeError(value)
    return float(value).hex()


def _truth(value: Any) -> int:
    if value not in (0, 1):
        raise ValueError(value)
    return int(value)


def _way(column: Column[Any]) -> Callable[[Any], Any] | None:
    if column in _TEXTS:
        return text_digest
    return _truth if isinstance(column.type, Boolean) else None


class RowShape:
    """How rows of a table become tokens."""

    def __init__(self, table: Table, columns: Sequence[str]) -> None:
        self.columns = [column for column in table.columns if columns == _ALL or column.name in columns]
        self._key = [(place, column) for place, column in enumerate(self.columns) if column.primary_key]
        self._name = f"{table.name}\n".encode()
        self._floats = [place for place, column in enumerate(self.columns) if isinstance(column.type, Float)]
        self._ways = [(place, way) for place, column in enumerate(self.columns) if (way := _way(column))]
        self._as_stored = not self._floats and not self._ways

    def token(self, stored: tuple[Any, ...]) -> bytes:
        """Of the covered columns as the database holds them; raises TypeError or ValueError where none has such."""
        if self._as_stored:
            return hashlib.sha256(self._name + orjson.dumps(stored)).digest()[:TOKEN]
        values = list(stored)
        for place in self._floats:
            value = values[place]
            values[place] = value.hex() if value.__class__ is float else _number(value)
        for place, way in self._ways:
            values[place] = way(values[place])
        return hashlib.sha256(self._name + orjson.dumps(values)).digest()[:TOKEN]

    def erased(self, stored: tuple[Any, ...]) -> int:
        """How many texts of a row that has a token were taken away."""
        return sum(way is text_digest and stored[place].startswith(ERASED) for place, way in self._ways)

    def among(self, rows: Iterable[Sequence[Any]]) -> ColumnElement[bool]:
        """The rows of these keys."""
        keys = [tuple(row[place] for place, _ in self._key) for row in rows]
        columns = [column for _, column in self._key]
        return columns[0].in_([key for (key,) in keys]) if len(columns) == 1 else tuple_(*columns).in_(keys)


SHAPES = {table: RowShape(table, columns) for table, columns in _COVERED.items()}


@dataclass(slots=True)
class Batch:
    """Tokens of one transaction, by table."""

    added: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])
    gone: dict[str, list[bytes]] = field(default_factory=dict[str, list[bytes]])
    """Of rows that were changed or removed, as they were."""
    marked: bool = False
    """A link is written though it holds nothing."""

    def __bool__(self) -> bool:
        return bool(self.added or self.gone or self.marked)

    def rows(self) -> str:
        written = {str(name): _packed(tokens) for name, tokens in self.added.items()}
        written |= {f"-{name}": _packed(tokens) for name, tokens in self.gone.items()}
        return orjson.dumps(written, option=orjson.OPT_SORT_KEYS).decode()


def _packed(tokens: Iterable[bytes]) -> str:
    return b64encode(b"".join(tokens)).decode("ascii")


def unpacked(rows: str) -> dict[str, bytes]:
    """Of a link's rows the tokens side by side, by table; a name with '-' before it has those of rows that ended."""
    return {name: b64decode(tokens, validate=True) for name, tokens in orjson.loads(rows).items()}


def batch_of(connection: Connection) -> Batch | None:
    """None in a transaction that no link is made of: one that makes the tables."""
    return connection.get_execution_options().get("covering")


def cover(connection: Connection, table: Table, stored: Iterable[tuple[Any, ...]], *, new: int) -> None:
    """Rows of which so many were put in, with their covered columns as the database holds them.

    Where some were there before, only those that are there as they were given: another writer's are in its own link.
    """
    batch, shape = batch_of(connection), SHAPES.get(table)
    if batch is None or shape is None or not new:
        return
    rows = list(stored)
    tokens = list(map(shape.token, rows))
    if new != len(rows):
        some = (rows[start : start + _LOOKED_UP] for start in range(0, len(rows), _LOOKED_UP))
        there = set[bytes]().union(*(_tokens(connection, table, shape.among(part)) for part in some))
        tokens = [token for token in tokens if token in there]
    if tokens:
        batch.added.setdefault(table.name, []).extend(tokens)


def mark(connection: Connection) -> None:
    """Has a link written of a transaction that changes no covered row. A server that crashed may have given the
    transaction's number to another since, and tells by the link alone whether it was made. SQLite is no server."""
    if connection.dialect.name != "sqlite" and (batch := batch_of(connection)) is not None:
        batch.marked = True


@contextmanager
def part_of(connection: Connection) -> Generator[None]:
    """A part of a transaction: where it fails, what it wrote is taken back, of the database and of the link."""
    batch = batch_of(connection)
    before = None if batch is None else deepcopy(batch)
    try:
        with connection.begin_nested():
            yield
    except BaseException:
        if batch is not None and before is not None:
            batch.added, batch.gone = before.added, before.gone
        raise


@contextmanager
def changing(connection: Connection, table: Table, where: Any) -> Generator[None]:
    """Around a change to rows of a table that may change: a link tells what they were and what they are."""
    assert table in MAY_CHANGE
    batch, before = batch_of(connection), _tokens(connection, table, where)
    yield
    after = _tokens(connection, table, where)
    if batch is not None and before != after:
        batch.gone.setdefault(table.name, []).extend(sorted(before - after))
        batch.added.setdefault(table.name, []).extend(sorted(after - before))


def _tokens(connection: Connection, table: Table, where: Any) -> set[bytes]:
    shape = SHAPES[table]
    query = select(*shape.columns).where(where)
    return {shape.token(row) for part in fetched(connection, query) for row in part}


@dataclass(frozen=True, slots=True, order=True)
class Tip:
    """The last link of a writer."""

    writer: str
    number: int
    hash: str

    def as_json(self) -> list[Json]:
        return [self.writer, self.number, self.hash]


def link_hash(row: Mapping[str, Any]) -> str:
    content = [row["writer"], row["number"], row["previous"], row["joined"], _number(row["at"]), row["rows"]]
    return hashlib.sha256(b"link\n" + orjson.dumps(content)).hexdigest()


def root(connection: Connection) -> str:
    """What every writer's first link follows: another ledger's links do not fit here."""
    query = select(schema.meta.c.name, schema.meta.c.value)
    named = {name: value for name, value in connection.execute(query)}
    secret = hashlib.sha256(named.get("fence_secret", "").encode()).hexdigest()
    return hashlib.sha256(f"ledger\n{named.get('ledger_id')}\n{secret}".encode()).hexdigest()


class Writers:
    """The chains that this process writes: as many as it ever wrote at one moment, nearly always one."""

    def __init__(self) -> None:
        self._free: list[Tip] = []
        self._process = os.getpid()

    @contextmanager
    def turn(self) -> Generator["WriterTurn"]:
        """Around a transaction: its link is counted only when it is committed."""
        if self._process != os.getpid():  # a fork: the chains are its parent's
            self._free, self._process = [], os.getpid()
        try:
            before = self._free.pop()
        except IndexError:
            before = None
        mine = WriterTurn(before)
        try:
            yield mine
        except BaseException:
            # Where a commit fails nobody knows whether it was made; another writer begins then.
            if mine.after is before and before is not None:
                self._free.append(before)
            raise
        if mine.after is not None:
            self._free.append(mine.after)


class WriterTurn:
    def __init__(self, before: Tip | None) -> None:
        self.after = before

    def link(self, connection: Connection, batch: Batch) -> None:
        if batch:
            self.after = write_link(connection, self.after, batch)


def write_link(connection: Connection, before: Tip | None, batch: Batch, *, writer: str | None = None) -> Tip:
    """After `before`, or the first of a writer, which joins the chains that nobody has joined."""
    joined: list[Tip] = []
    if before is None:
        joined = tips(connection)
        before = Tip(writer or secrets.token_hex(6), 0, root(connection))
    row: dict[str, Any] = {
        "writer": before.writer,
        "number": before.number + 1,
        "previous": before.hash,
        "joined": orjson.dumps([one.as_json() for one in joined]).decode(),
        "at": time.time(),
        "rows": batch.rows(),
    }
    after = Tip(before.writer, before.number + 1, link_hash(row))
    run(connection, _ADD, {**row, "hash": after.hash})
    for one in joined:
        # Not one that its writer has moved on meanwhile.
        ends = (schema.tips.c.writer == one.writer, schema.tips.c.hash == one.hash)
        connection.execute(delete(schema.tips).where(*ends))
    run(connection, _MOVE, {"writer": after.writer, "number": after.number, "hash": after.hash})
    return after


_ADD = (
    "INSERT INTO links (writer, number, previous, joined, at, rows, hash) "
    "VALUES (:writer, :number, :previous, :joined, :at, :rows, :hash)"
)
_MOVE = (
    "INSERT INTO tips (writer, number, hash) VALUES (:writer, :number, :hash) "
    "ON CONFLICT (writer) DO UPDATE SET number = excluded.number, hash = excluded.hash"
)


def run(connection: Connection, statement: str, values: Mapping[str, Any]) -> int:
    """A change in words that both databases take; how many rows it changed."""
    if (driver := driver_of(connection)) is not None:
        return driver.execute(statement, values).rowcount
    return connection.execute(text(statement), values).rowcount


def driver_of(connection: Connection) -> Any | None:
    """SQLite's own connection, for what is done at every commit: SQLAlchemy takes longer to pass a statement on than
    SQLite to run it. None on another database. What it raises is sqlite3's."""
    return connection.connection.dbapi_connection if connection.dialect.name == "sqlite" else None


def is_linked(connection: Connection, tip: Tip) -> bool:
    """Whether this link is on record."""
    table = schema.links
    query = select(table.c.hash).where(table.c.writer == tip.writer, table.c.number == tip.number)
    return connection.execute(query).scalar() == tip.hash


def tips(connection: Connection) -> list[Tip]:
    """The ends of chains that nobody has joined."""
    table = schema.tips
    query = select(table.c.writer, table.c.number, table.c.hash).order_by(table.c.writer)
    return [Tip(writer, number, name) for writer, number, name in connection.execute(query)]


def cover_what_is_there(connection: Connection) -> None:
    """Of a ledger that was begun without links: its rows as they are, taken at their word."""
    tip: Tip | None = None
    for table, shape in SHAPES.items():
        query = select(*shape.columns).order_by(*table.primary_key)
        tokens: list[bytes] = []
        for part in fetched(connection, query):
            tokens += [shape.token(row) for row in part]
            if len(tokens) >= _TOGETHER:
                tip = write_link(connection, tip, Batch(added={table.name: tokens}), writer=GENESIS)
                tokens = []
        if tokens:
            tip = write_link(connection, tip, Batch(added={table.name: tokens}), writer=GENESIS)
