"""Looking after a ledger: how large it is, a copy that is whole, and whether what it names is there and unchanged.

Whether a verdict is what its reply says is not asked here: that takes the protocol, which a ledger does not know.
"""

import json
import os
import secrets
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import orjson
from sqlalchemy import Column, ColumnElement, Connection, Row, func, select, text

from evenhand.domain.identity import Json, canonical_hash, content_hash
from evenhand.files.private_files import copy, make_durable, make_empty, make_folder, name_new
from evenhand.files.whole import UNFINISHED
from evenhand.images.places import Folder
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.kept import DATABASE, IMAGES, SUBMITTED
from evenhand.ledger.store.opening import LedgerError, explained, sqlite_path, unmoved
from evenhand.ledger.store.record import Ledger, chunks
from evenhand.ledger.store.strange_tables import strange_tables
from evenhand.ledger.store.submission_schema import receipts
from evenhand.ledger.store.tables import HEAD
from evenhand.ledger.submissions.store import files_kept, submissions_on_record
from evenhand.ledger.upkeep.copying import copy_ledger
from evenhand.ledger.upkeep.signing import public_keys

_OF_A_SERVER = "ledger.db"
"""What the backup of a ledger is called that is no file itself."""
_MAGIC = b"SQLite format 3\0"
_DATABASE_SIZE = text("SELECT pg_database_size(current_database())")
_STREAMED = {"yield_per": 1000}
"""A large table is read row by row."""

_UNREADABLE = (ValueError, TypeError, KeyError, AttributeError, RecursionError)
"""What reading raises of something that is not even of the form it was written in."""
_COUNTED = ("benchmarks", "items", "responses", "raters", "studies", "trials", "runs", "calls", "judgements", "claims")


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerInfo:
    where: str
    version: str
    size_bytes: int
    images: int
    image_bytes: int
    counts: dict[str, int]
    cost_usd: float
    cost_unknown: int
    """Calls whose price is unknown."""

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "where": self.where,
            "version": self.version,
            "size_bytes": self.size_bytes,
            "images": self.images,
            "image_bytes": self.image_bytes,
            "counts": dict(self.counts),
            "cost_usd": self.cost_usd,
            "cost_unknown": self.cost_unknown,
        }


def info(ledger: Ledger) -> LedgerInfo:
    path = sqlite_path(ledger.url)
    with explained(ledger.images.where):
        sizes = [size for _, size in ledger.places.images.sizes()]
    calls = schema.calls
    with ledger.reading() as connection:
        size = path.stat().st_size if path else connection.execute(_DATABASE_SIZE).scalar_one()
        counts = {
            name: connection.execute(select(func.count()).select_from(schema.metadata.tables[name])).scalar_one()
            for name in _COUNTED
        }
        cost = connection.execute(select(func.sum(calls.c.cost_usd))).scalar()
        unknown = connection.execute(select(func.count()).where(calls.c.cost_usd.is_(None))).scalar_one()
    return LedgerInfo(
        where=ledger.where,
        version=HEAD,
        size_bytes=size,
        images=len(sizes),
        image_bytes=sum(sizes),
        counts=counts,
        cost_usd=float(cost or 0.0),
        cost_unknown=unknown,
    )


def backup(ledger: Ledger, folder: Path) -> Path:
    """A consistent copy of ledger and images while others go on writing; returns the copied ledger's path.

    Of a ledger on a server it is a SQLite ledger, which `copying.copy_ledger` makes a ledger on a server of again.
    """
    source = sqlite_path(ledger.url)
    target = folder / (_OF_A_SERVER if source is None else source.name)
    if "?" in str(target):  # in the URL of a ledger it ends the path
        raise LedgerError(
            f"A ledger in {folder} could not be opened again, for the question mark; name another folder.",
            code="EH-LEDGER-URL",
        )
    if os.path.lexists(target):
        raise LedgerError(
            f"{target} exists already; choose another folder: a backup never overwrites one.", code="EH-LEDGER-EXISTS"
        )
    with explained(folder):
        make_folder(folder)
        _refuse_what_is_not_ours(folder, (IMAGES, SUBMITTED))
    if source is None:
        copy_ledger(ledger, f"sqlite:///{target}")
        return target
    with explained(folder):
        unfinished = folder / f".{source.name}.{secrets.token_hex(8)}{UNFINISHED}"
        make_empty(unfinished)
        try:
            with ledger.engine.connect() as here, closing(sqlite3.connect(unfinished)) as there:
                driver: Any = here.connection.dbapi_connection
                driver.backup(there)
            for beside in (IMAGES, SUBMITTED):
                copy_files(ledger.beside / beside, folder / beside)
            name_new(unfinished, target)  # which refuses what came there meanwhile
        finally:
            unfinished.unlink(missing_ok=True)
        make_durable(folder)
    return target


def _refuse_what_is_not_ours(folder: Path, beside: tuple[str, ...]) -> None:
    """A folder takes a backup that is empty, or holds backups of ledgers under other names and what was cut short."""
    for path in sorted(folder.iterdir()):
        ours = path.is_dir() if path.name in beside else path.name.endswith(UNFINISHED) or is_sqlite(path)
        if path.is_symlink() or not ours:
            raise LedgerError(
                f"{folder} holds '{path.name}', which is no backup's; choose a new or an empty folder.",
                code="EH-FOLDER-TAKEN",
            )


def is_sqlite(path: Path) -> bool:
    """Whether the file begins as a SQLite database does."""
    if not path.is_file():
        return False
    with path.open("rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def copy_files(source: Path, target: Path) -> None:
    """Of a folder beside a ledger, if it is there."""
    for path in sorted(source.rglob("*")):
        # A file that is being written has no name in the ledger yet, and may be gone at any moment.
        if path.is_file() and not path.is_symlink() and not path.name.endswith(UNFINISHED):
            copy(path, target / path.relative_to(source), within=target.parent)


def left_out(ledger: Ledger, copied: Ledger) -> list[str]:
    """Sentences about the files that a backup lacks: those that the record names and that are not there, and links."""
    on_server = sqlite_path(ledger.url) is None
    if not on_server and ledger.places.word not in (None, DATABASE):
        return [f"Not in the backup: images and submitted files, which lie in {ledger.places.word}; copy them too."]
    with copied.reading(apart=True) as connection, unmoved(connection):
        pictures = _pictures(connection)
    if on_server:
        missing = copied.images.missing(pictures)
        told = [f"the image {digest}, which is not in {ledger.images.where}; import it again." for digest in missing]
        return [f"Not in the backup: {words}" for words in (*told, *_submitted(copied))]
    with explained(ledger.images.where):
        folder = Folder(ledger.beside / IMAGES, nested=True)
        lacking = [folder.path(digest) for digest in copied.images.missing(pictures)]
        beside = [path for name in (IMAGES, SUBMITTED) for path in (ledger.beside / name).rglob("*")]
        links = sorted(path for path in beside if path.is_symlink() and path not in lacking)
        told = [f"Not in the backup: {path}, which is {_why_left_out(path)}." for path in (*lacking, *links)]
    return [*told, *(f"Not in the backup: {words}" for words in _submitted(copied))]


def _why_left_out(path: Path) -> str:
    if path.is_symlink():
        return "a link; put what it leads to in the link's place"
    if path.parent.is_symlink():
        return f"behind the link '{path.parent.name}'; put what it leads to in the link's place"
    return "not there; import the file it came with again"


def check(ledger: Ledger) -> list[str]:
    """Sentences about whatever is missing, or is not what its name says; an empty list is a sound ledger.

    Verdicts, costs and times have no name to be held against: `chain.check` holds them against what was written.
    """
    with ledger.reading(apart=True) as connection, unmoved(connection):
        problems = [*_damage(connection), *strange_tables(connection)]
        problems += _altered(connection)
        problems += _orphans(connection)
        problems += _nameless(connection, "trials", schema.trials.c.responses, schema.responses.c.digest, "responses")
        problems += _nameless(connection, "judgements", schema.judgements.c.calls, schema.calls.c.key, "calls")
        pictures = _pictures(connection)
    with explained(ledger.images.where):
        if missing := ledger.images.missing(pictures):
            problems.append(
                f"{len(missing)} images that items name are not in {ledger.images.where} (the first is {missing[0]}); "
                "import the files they came with again."
            )
        problems += [f"The image file {problem.path}: {problem.reason}" for problem in ledger.images.check()]
    with explained(ledger.submitted.where):
        problems += _submitted(ledger)
    return [*problems, *_unknown_keys(ledger)]


def _unknown_keys(ledger: Ledger) -> list[str]:
    """The keys are in no link, but what they signed is."""
    try:
        known = {one.key for one in public_keys(ledger)}
    except LedgerError as error:
        return [str(error)]
    with ledger.reading(apart=True) as connection, unmoved(connection):
        found = [(row.submission, _signer(row.content)) for row in connection.execute(select(receipts))]
    return [
        f"The receipt of submission {submission} was signed with the key {key}, which is none of this ledger's: its "
        "keys were exchanged. Restore a backup from before."
        for submission, key in found
        if key is not None and key not in known
    ]


def _signer(receipt: Any) -> str | None:
    """None of what is no receipt, and of one from before receipts were signed."""
    try:
        return str(json.loads(receipt)["signature"]["public_key"])
    except _UNREADABLE:
        return None


def _submitted(ledger: Ledger) -> list[str]:
    try:
        named = {(file, one.id) for one in submissions_on_record(ledger) for file in files_kept([one])}
    except _UNREADABLE as error:
        return [f"What was said about a submission cannot be read ({error}), nor which files it names."]
    return [
        f"The file {file} of submission {submission} is not in {ledger.submitted.where}, or was altered; "
        "copy it from a backup, or ask the team for it."
        for file, submission in sorted(named)
        if not ledger.submitted.holds(file)
    ]


def _damage(connection: Connection) -> list[str]:
    if connection.dialect.name != "sqlite":
        return []
    found = connection.execute(text("PRAGMA integrity_check")).scalar()
    return [] if found == "ok" else [f"SQLite finds the file damaged: {found}."]


def _study_key(row: Row[Any]) -> str:
    """Of the content; the columns only repeat some of it, for queries, and must say the same."""
    study = rows.study_from(row.content)
    repeated = {"purpose", "benchmark", "data", "rater", "condition"}
    return study.key if all(getattr(row, name) == getattr(study, name) for name in repeated) else ""


_CONTENTS: tuple[tuple[str, Column[str], Callable[[Row[Any]], str]], ...] = (
    ("item", schema.items.c.digest, lambda row: content_hash("item", json.loads(row.content))),
    ("call", schema.calls.c.key, lambda row: content_hash("call", json.loads(row.request))),
    ("response", schema.responses.c.digest, lambda row: rows.response_from(row).digest),
    ("rater", schema.raters.c.key, lambda row: rows.rater_from(row).key),
    ("condition", schema.conditions.c.key, lambda row: rows.condition_from(row).key),
    ("study", schema.studies.c.key, _study_key),
    ("trial", schema.trials.c.key, lambda row: rows.trial_from(row).key),
)
"""Each kind of thing, its name, and the name that its content gives it."""


def _quick_trial(item: Any, responses: Any, rater: Any, condition: Any, replicate: Any, attempt: Any) -> str:
    content = [item, orjson.loads(responses), rater, condition, replicate, attempt]
    return canonical_hash("trial", orjson.dumps(content).decode())


_trials = schema.trials.c
_QUICK: dict[str, tuple[tuple[Column[Any], ...], Callable[..., str]]] = {
    "item": ((schema.items.c.content,), partial(canonical_hash, "item")),
    "call": ((schema.calls.c.request,), partial(canonical_hash, "call")),
    "trial": (
        (_trials.item, _trials.responses, _trials.rater, _trials.condition, _trials.replicate, _trials.attempt),
        _quick_trial,
    ),
}
"""Of the kinds that a ledger has most of: the columns of the content as they are stored, and the name it has where the
text is just as it was hashed. That it is another proves nothing, that it is the same everything."""


def misnamed(ledger: Ledger, kind: str, names: Iterable[str]) -> list[str]:
    """Of the things of this kind (`item`, `call`, `response`, …) with these names, those that are not there or do not
    hold the content that their name says."""
    (column, named) = next((column, named) for one, column, named in _CONTENTS if one == kind)
    wrong: list[str] = []
    with ledger.reading() as connection:
        for some in chunks(names):
            where = column.in_(some)
            there = set(connection.execute(select(column).where(where)).scalars())
            altered = set(_misnamed(connection, column, named, where))
            wrong += [name for name in some if name not in there or name in altered]
    return wrong


def _altered(connection: Connection) -> list[str]:
    return [
        f"The {kind} {name[:12]} does not hold the content its name says."
        for kind, column, named in _CONTENTS
        if not _all_named(connection, kind, column)
        for name in _misnamed(connection, column, named)
    ]


def _all_named(connection: Connection, kind: str, column: Column[str]) -> bool:
    """Whether a quick look shows that all have the name of their content."""
    if kind not in _QUICK:
        return False
    columns, named = _QUICK[kind]
    try:
        for part in fetched(connection, select(column, *columns)):
            if any(row[0] != named(*row[1:]) for row in part):
                return False
    except _UNREADABLE:
        return False
    return True


def _misnamed(
    connection: Connection,
    column: Column[str],
    named: Callable[[Row[Any]], str],
    where: ColumnElement[bool] | None = None,
) -> Iterator[str]:
    rows_read = select(column.table) if where is None else select(column.table).where(where)
    for row in connection.execute(rows_read, execution_options=_STREAMED):
        try:
            name = named(row)
        except _UNREADABLE:
            name = None
        held = getattr(row, column.name)
        if name != held:
            yield held


_NAMES = (
    (schema.benchmark_items.c.item, schema.items.c.digest, "places in benchmarks name no item"),
    (schema.response_choices.c.response, schema.responses.c.digest, "choices of the answer that stands name none"),
    (schema.studies.c.rater, schema.raters.c.key, "studies name no rater"),
    (schema.studies.c.condition, schema.conditions.c.key, "studies name no condition"),
    (schema.study_trials.c.study, schema.studies.c.key, "links from a study to a trial name no study"),
    (schema.study_trials.c.trial, schema.trials.c.key, "links from a study to a trial name no trial"),
    (schema.trials.c.rater, schema.raters.c.key, "trials name no rater"),
    (schema.trials.c.condition, schema.conditions.c.key, "trials name no condition"),
    (schema.trials.c.item, schema.items.c.digest, "trials name no item"),
    (schema.judgements.c.trial, schema.trials.c.key, "judgements name no trial"),
)


def _orphans(connection: Connection) -> list[str]:
    problems: list[str] = []
    for child, parent, words in _NAMES:
        query = select(func.count()).select_from(child.table).where(child.not_in(select(parent)))
        if count := connection.execute(query).scalar_one():
            problems.append(f"{count} {words} on record.")
    return problems


def _nameless(connection: Connection, whose: str, lists: Column[str], parent: Column[str], what: str) -> list[str]:
    """Of a column that holds lists of names: how many rows name something that is not there."""
    there = {name for part in fetched(connection, select(parent)) for (name,) in part}
    parts = fetched(connection, select(lists))
    count = sum(not there.issuperset(_listed(words)) for part in parts for (words,) in part)
    return [f"{count} {whose} name {what} that are not on record."] if count else []


def _pictures(connection: Connection) -> set[str]:
    contents = connection.execute(select(schema.items.c.content), execution_options=_STREAMED).scalars()
    return {name for content in contents for name in _listed(content, "images")}


def _listed(words: str, key: str | None = None) -> list[str]:
    """The names in a JSON list, or in the list under a key. What is no such list names nothing that is there."""
    try:
        found = _parsed(words)
        listed: list[Any] = found if key is None else found[key]
        return [str(name) for name in listed]
    except _UNREADABLE:
        return [words]


def _parsed(words: str) -> Any:
    try:
        return orjson.loads(words)
    except ValueError:
        return json.loads(words)  # which also takes half a character, as a stranger's text may hold
