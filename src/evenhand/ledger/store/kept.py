"""Where a ledger's images and submitted files lie: beside it, in the database itself, or elsewhere as a URL says."""

import time
from collections.abc import Collection, Hashable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol
from urllib.parse import quote, unquote, urlsplit

from sqlalchemy import (
    Column,
    ColumnElement,
    Connection,
    Float,
    Integer,
    LargeBinary,
    Table,
    Text,
    and_,
    delete,
    func,
    insert,
    select,
)

from evenhand.images.cache import Cached, CacheFolder, usual_folder
from evenhand.images.places import ADDRESSES, ORIGINALS, Folder, Notes, NotesFile, Place, StoreProblem, altered_in
from evenhand.images.s3 import S3Place
from evenhand.ledger.store import schema, statements
from evenhand.ledger.store.faults import LedgerError, until_made
from evenhand.ledger.store.links import mark

DATABASE = "database"
"""What names the database itself."""
IMAGES, SUBMITTED = "images", "submitted"
WORD = "images"
"""In `meta`: where they lie, if not where they usually do."""
_LOOKED_UP = 500

# Files by the SHA-256 of their bytes, which their names are checked by: no chain covers them.
files = Table(
    "kept_files",
    schema.metadata,
    Column("kind", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    Column("size", Integer, nullable=False),
    Column("data", LargeBinary, nullable=False),
    Column("at", Float, nullable=False),
)

# What is noted beside images: where they came from, of which file they were made. Only ever added to.
notes = Table(
    "kept_notes",
    schema.metadata,
    Column("seq", schema.Sequence, primary_key=True),
    Column("name", Text, nullable=False, index=True),
    Column("line", Text, nullable=False),
)


class Database(Protocol):
    """What is asked of a ledger here."""

    where: str

    def reading(self) -> AbstractContextManager[Connection]: ...

    def writing(self) -> AbstractContextManager[Connection]: ...


class DatabasePlace:
    """Files of one kind as rows."""

    def __init__(self, database: Database, kind: str) -> None:
        self._database = database
        self._kind = kind
        self.where = f"the database {database.where}"

    @until_made
    def get(self, digest: str) -> bytes | None:
        with self._database.reading() as connection:
            return connection.execute(select(files.c.data).where(self._named(digest))).scalar()

    @until_made
    def put(self, digest: str, data: bytes) -> None:
        row = {"kind": self._kind, "digest": digest, "size": len(data), "data": data, "at": time.time()}
        with self._database.writing() as connection:
            held = connection.execute(select(files.c.data).where(self._named(digest))).scalar()
            if held is not None and bytes(held) != data:
                connection.execute(delete(files).where(self._named(digest)))
            if statements.insert_new(connection, files, [row]):
                mark(connection)

    @until_made
    def remove(self, digest: str) -> None:
        with self._database.writing() as connection:
            connection.execute(delete(files).where(self._named(digest)))

    def sizes(self) -> Iterator[tuple[str, int]]:
        after = ""
        while some := self._sizes_after(after):
            yield from some
            after = some[-1][0]

    @until_made
    def _sizes_after(self, digest: str) -> list[tuple[str, int]]:
        of_kind = (files.c.kind == self._kind, files.c.digest > digest)
        query = select(files.c.digest, files.c.size).where(*of_kind).order_by(files.c.digest).limit(_LOOKED_UP)
        with self._database.reading() as connection:
            return [(name, size) for name, size in connection.execute(query)]

    def lacking(self, digests: Collection[str]) -> set[str]:
        wanted = sorted(set(digests))
        some = (wanted[start : start + _LOOKED_UP] for start in range(0, len(wanted), _LOOKED_UP))
        return set(wanted).difference(*(self._held(part) for part in some))

    @until_made
    def _held(self, digests: Sequence[str]) -> set[str]:
        query = select(files.c.digest).where(files.c.kind == self._kind, files.c.digest.in_(digests))
        with self._database.reading() as connection:
            return set(connection.execute(query).scalars())

    def wrong_files(self) -> Iterator[StoreProblem]:
        return altered_in(self)

    def _named(self, digest: str) -> ColumnElement[bool]:
        return and_(files.c.kind == self._kind, files.c.digest == digest)


class DatabaseNotes:
    """Lines as rows."""

    def __init__(self, database: Database, name: str) -> None:
        self._database = database
        self._name = name

    @until_made
    def read(self, known: Hashable) -> tuple[Hashable, list[bytes]] | None:
        mine = notes.c.name == self._name
        with self._database.reading() as connection:
            # Of two that write at once the higher number may be there first: so the count too.
            mark = tuple(connection.execute(select(func.count(), func.max(notes.c.seq)).where(mine)).one())
            if mark == known:
                return None
            lines = connection.execute(select(notes.c.line).where(mine).order_by(notes.c.seq)).scalars()
            return mark, [line.encode() for line in lines]

    @until_made
    def add(self, lines: Sequence[bytes]) -> None:
        with self._database.writing() as connection:
            connection.execute(insert(notes), [{"name": self._name, "line": line.decode()} for line in lines])


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """Where the files are, and the notes beside images."""

    word: str | None
    """Its URL; None of the folder beside a SQLite ledger."""
    images: Place
    submitted: Place
    notes: Mapping[str, Notes]

    def is_empty(self) -> bool:
        """Whether nothing was ever put there."""
        held = any(next(place.sizes(), None) is not None for place in (self.images, self.submitted))
        return not held and not any(noted(one) for one in self.notes.values())

    def cached_images(self) -> Place:
        """With a cache on this machine, where they lie on none."""
        return self.images if isinstance(self.images, Folder) else Cached(self.images, CacheFolder(usual_folder()))


def noted(one: Notes) -> list[bytes]:
    """The lines that are not empty."""
    _, lines = one.read(None) or (None, [])
    return [line for line in lines if line]


def opened(word: str | None, database: Database, beside: Path) -> Kept:
    """`word` as `as_word` gives it; `beside`: the ledger's own folder. Raises PlaceError."""
    if word is None or word.startswith("file:"):
        base = beside if word is None else Path(unquote(urlsplit(word).path))
        return Kept(
            word=word,
            images=Folder(base / IMAGES, nested=True),
            submitted=Folder(base / SUBMITTED, nested=False),
            notes={name: NotesFile(base / IMAGES / name) for name in (ADDRESSES, ORIGINALS)},
        )
    within = {name: DatabaseNotes(database, name) for name in (ADDRESSES, ORIGINALS)}
    if word == DATABASE:
        images, submitted = DatabasePlace(database, IMAGES), DatabasePlace(database, SUBMITTED)
        return Kept(word=word, images=images, submitted=submitted, notes=within)
    images, submitted = S3Place(word, IMAGES, nested=True), S3Place(word, SUBMITTED, nested=False)
    return Kept(word=word, images=images, submitted=submitted, notes=within)


def as_word(url: str, *, beside: Path | None) -> str | None:
    """How a place is named on record; None where it is the folder beside a SQLite ledger. Raises LedgerError."""
    scheme, separator, _ = url.partition("://")
    if url == DATABASE:
        return url
    if scheme == "s3" and separator:
        parts = urlsplit(url)
        if parts.netloc and not {"@", ":"} & set(parts.netloc) and not parts.query and not parts.fragment:
            return f"s3://{parts.netloc}/{'/'.join(part for part in parts.path.split('/') if part)}".rstrip("/")
    elif not separator or scheme == "file":
        folder = Path(unquote(urlsplit(url).path) if separator else url).expanduser().absolute()
        if url and (not separator or not urlsplit(url).netloc):
            return None if beside is not None and folder == beside.absolute() else f"file://{quote(str(folder))}"
    # Nothing of what was given is repeated: a secret may stand in it.
    raise LedgerError(
        "--images names where images lie: a folder, `database`, or s3://BUCKET/PREFIX without keys, port or query; the "
        "server and the keys come from AWS_ENDPOINT_URL, AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY.",
        code="EH-IMAGES-URL",
    )


_ON_RECORD = select(schema.meta.c.value).where(schema.meta.c.name == WORD)


@until_made
def word_on_record(database: Database) -> str | None:
    with database.reading() as connection:
        return connection.execute(_ON_RECORD).scalar()


@until_made
def put_on_record(database: Database, word: str | None) -> None:
    with database.writing() as connection:
        connection.execute(delete(schema.meta).where(schema.meta.c.name == WORD))
        if word is not None:
            connection.execute(insert(schema.meta), [{"name": WORD, "value": word}])


@until_made
def chosen_on_record(database: Database, word: str | None, *, before: str | None) -> str | None:
    """Puts a place on record where `before` still is; returns which is there then: another may have come first."""
    with database.writing() as connection:
        connection.execute(delete(schema.meta).where(schema.meta.c.name == WORD, schema.meta.c.value == before))
        if word is not None:
            statements.insert_new(connection, schema.meta, [{"name": WORD, "value": word}])
        return connection.execute(_ON_RECORD).scalar()


def in_words(word: str | None, beside: Path) -> str:
    return str(beside) if word is None else word
