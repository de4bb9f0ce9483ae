"""What boards need of the record, kept as columns in the user's cache and brought up to date at each reading.

Never the truth: where a file is damaged, of another ledger or of another version, all of it is made anew. What was read
must be a beginning of the ledger's chain, and how many judgements and links there are is counted at each reading.
"""

import hashlib
import logging
import os
import secrets
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson
from sqlalchemy import Connection, Integer, bindparam, func, select

from evenhand.files.private_files import write_whole
from evenhand.files.whole import sweep
from evenhand.ledger.read.answers import choices_made, chosen_after, ever_chosen, standing_in
from evenhand.ledger.read.columns.column_files import opened, packed, refuse_others
from evenhand.ledger.read.columns.new_columns import number_of, since
from evenhand.ledger.read.columns.record_columns import Columns, Unfit, names_there, there_in
from evenhand.ledger.store import links as chain
from evenhand.ledger.store import schema
from evenhand.ledger.store.opening import of_one_moment
from evenhand.ledger.store.record import Ledger

_log = logging.getLogger(__name__)

FEWEST = 20_000
"""Trials of some studies below which they are read from the record."""
_VERSION = 4
_LIST = "columns.json"
_MANY = 8
"""Files from which on they are written as one."""
_WORTH = 1000
"""Rows that are worth a file; fewer are read again by the next."""
_LEFT_BEHIND_SECONDS = 3600.0
_UNUSED_SECONDS = 60 * 86400.0
_links = schema.study_trials.c
_SOME = select(func.count()).select_from(
    select(_links.trial)
    .where(_links.study.in_(bindparam("studies", expanding=True)))
    .limit(bindparam("fewest", type_=Integer))
    .subquery()
)


def columns_of(ledger: Ledger, studies: Sequence[str], *, fewest: int = FEWEST) -> Columns | None:
    """Up to date; None where these studies hold fewer trials, which are read as fast from the record, or where the
    record holds what no column can."""
    with ledger.reading(apart=True) as connection:
        of_one_moment(connection)
        if connection.execute(_SOME, {"studies": studies, "fewest": fewest}).scalar_one() < fewest:
            return None
        root = chain.root(connection)
        kept = _Kept(_folder(ledger, root), root)
        try:
            before = kept.read(connection)
            more = None if kept.is_newest(connection, before) else since(connection, before)
        except Unfit as unfit:
            if unfit.args:
                _log.warning("The columns kept in %s %s; they are made anew from the record.", kept.folder, unfit)
            kept.forget()
            before = Columns.empty()
            try:
                more = since(connection, before)
            except Unfit:
                return None
        if more is None:
            return kept.with_standing(connection, before)
        found = kept.with_standing(connection, before.with_more(more))
        with suppress(OSError):  # a full disk is no reason not to show a board
            kept.keep(found, more, chain.tips(connection))
        return found


def _folder(ledger: Ledger, root: str) -> Path:
    """In what EVENHAND_COLUMN_CACHE names, else in the user's cache. Not beside the ledger: whoever is given a ledger's
    folder is not given figures with it that its record does not hold."""
    from platformdirs import user_cache_path

    given = os.environ.get("EVENHAND_COLUMN_CACHE")
    name = hashlib.sha256(f"{root}\n{ledger.where}".encode()).hexdigest()[:32]
    return (Path(given) if given else user_cache_path("evenhand") / "columns") / name


class _Kept:
    """The files, and the list of those that count: it is written last, and replaces the one before at once."""

    def __init__(self, folder: Path, root: str) -> None:
        self.folder = folder
        self._root = root
        self._parts: list[dict[str, Any]] = []
        self._tips: list[Any] = []
        self._choices: list[int] = []
        self._fallen: list[int] = []
        self._trials = 0
        """Of which it is known whether the answers that are shown in them have fallen."""

    def read(self, connection: Connection) -> Columns:
        """Raises Unfit, without a word where nothing is kept."""
        try:
            with (self.folder / _LIST).open("rb") as file:
                refuse_others(file)
                stored = file.read()
        except FileNotFoundError:
            raise Unfit from None
        except OSError as error:
            raise Unfit(f"cannot be read ({error.strerror})") from None
        try:
            digest, body = stored.split(b"\n", 1)
            if hashlib.sha256(body).hexdigest().encode() != digest:
                raise Unfit("are damaged")
            said = orjson.loads(body)
        except ValueError:
            raise Unfit("are damaged") from None
        try:
            return self._read_listed(said, connection)
        except (KeyError, IndexError, TypeError, ValueError):
            raise Unfit("are damaged") from None

    def _read_listed(self, said: Any, connection: Connection) -> Columns:
        if said["version"] != _VERSION:
            raise Unfit(f"are of another version ({said['version']})")
        if said["root"] != self._root:
            raise Unfit("are of another ledger")
        for writer, number, name in said["tips"]:
            table = schema.links
            query = select(table.c.hash).where(table.c.writer == writer, table.c.number == number)
            if connection.execute(query).scalar() != name:
                raise Unfit("tell of what this ledger does not hold")
        found, *more = (opened(self.folder / part["file"], part["sha256"], part["front"]) for part in said["parts"])
        if more:
            found = found.with_more(*more)
        self._parts, self._tips = said["parts"], said["tips"]
        self._choices, self._fallen, self._trials = said["choices"], said["fallen"], len(found.numbers["item"])
        with suppress(OSError):
            os.utime(self.folder / _LIST)  # as long as it is used it stays
        return replace(found, unjudged=said["unjudged"])

    def is_newest(self, connection: Connection, found: Columns) -> bool:
        """Whether nothing was committed since they were written: any commit moves an end of the chain. What is put in
        or taken away by hand does not, and is counted."""
        if [tip.as_json() for tip in chain.tips(connection)] != self._tips:
            return False
        judged, linked = (
            connection.execute(number_of(table)).scalar_one() for table in (schema.judgements, schema.study_trials)
        )
        return judged == found.judgements and linked == sum(found.links_by_study.values())

    def with_standing(self, connection: Connection, found: Columns) -> Columns:
        """With which of the responses that are shown stand for their models; asked of the record only of items on which
        a choice was made since, or that are judged since."""
        choices, trials = choices_made(connection), len(found.numbers["item"])
        if choices != self._choices or trials != self._trials:
            self._fallen = self._fallen_in(connection, found, choices)
            self._choices, self._trials = choices, trials
        stands = np.ones(len(found.names["responses"]), dtype=np.bool_)
        stands[self._fallen] = False
        return replace(found, stands=stands)

    def _fallen_in(self, connection: Connection, found: Columns, choices: Sequence[int]) -> list[int]:
        responses, items = found.names["responses"], {*found.names["items"]}
        made, last = self._choices or (0, 0)
        came = chosen_after(connection, last) if self._choices else []
        if not self._choices or choices[0] - made != len(came):  # some were taken away by hand, or came late
            standing = standing_in(connection, items)
            return [code for code, digest in enumerate(responses) if digest and digest not in standing]
        # Not the responses that are new: of a trial that nobody has judged they may have been known before.
        items_of_new, *shown = (found.numbers[name][self._trials :] for name in ("item", "first", "second"))
        asked = {*names_there(found.names["items"], there_in(found.names["items"], items_of_new))}
        asked |= items.intersection(came)
        standing = standing_in(connection, asked)
        fallen = {*filter(None, names_there(responses, there_in(responses, *shown)))}
        fallen = (ever_chosen(connection, asked) | fallen) - standing
        fallen |= {responses[code] for code in self._fallen} - standing
        return [code for code, digest in enumerate(responses) if digest in fallen] if fallen else []

    def forget(self) -> None:
        self._parts, self._choices, self._fallen, self._trials = [], [], [], 0

    def keep(self, found: Columns, more: Columns, tips: Sequence[chain.Tip]) -> None:
        """Raises OSError."""
        fresh = len(more.numbers["seq"]) + len(more.numbers["link_study"])
        if self._parts and fresh < _WORTH:
            return
        whole = len(self._parts) + 1 >= _MANY
        written = packed(found if whole else more)
        name = f"{secrets.token_hex(8)}.columns"
        write_whole(self.folder / name, *written.whole, within=self.folder.parent)
        part: dict[str, Any] = {"file": name, "sha256": written.digest, "front": written.length}
        body = orjson.dumps(
            {
                "version": _VERSION,
                "root": self._root,
                "tips": [tip.as_json() for tip in tips],
                "unjudged": found.unjudged,
                "choices": self._choices,
                "fallen": self._fallen,
                "parts": [part] if whole else [*self._parts, part],
            }
        )
        digest = hashlib.sha256(body).hexdigest().encode()
        write_whole(self.folder / _LIST, digest + b"\n" + body, within=self.folder.parent)
        for old in self._parts if whole else ():
            with suppress(OSError):  # whoever read the list a moment ago still reads them
                os.utime(self.folder / old["file"])
        self._sweep({part["file"] for part in ([part] if whole else [*self._parts, part])})

    def _sweep(self, named: set[str]) -> None:
        """Files that no list names, once whoever may still read or name them is done, and what a writer left who was
        killed; and of ledgers that nobody has looked at for long all."""
        now = time.time()
        sweep(self.folder)
        with suppress(OSError):
            for path in self.folder.glob("*.columns"):
                if path.name not in named and path.stat().st_mtime < now - _LEFT_BEHIND_SECONDS:
                    path.unlink()
        for path in self.folder.parent.glob("[0-9a-f]" * len(self.folder.name) + f"/{_LIST}"):
            with suppress(OSError):  # whatever else lies there is somebody's, and stays
                if path.stat().st_mtime < now - _UNUSED_SECONDS:
                    sweep(path.parent)
                    for ours in (*path.parent.glob("*.columns"), path):
                        ours.unlink()
                    path.parent.rmdir()
