"""What boards need of the record, kept as columns in the user's cache and brought up to date at each reading.

Never the truth: where a file is damaged, of another ledger or of another version, all of it is made anew. What was read
must be a beginning of the ledger's chain, and how many judgements and links there are is counted at each reading.
"""

import hashlib
import itertools
import logging
import os
import secrets
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import orjson
from sqlalchemy import Connection, Select, Table, func, select, text

from evenhand.files.private_files import write_whole
from evenhand.ledger.read.answers import models_and_words
from evenhand.ledger.read.lots import SEED, Lots, lots_of
from evenhand.ledger.read.scan import FIRST, REST, SECOND, TELLING, Answers, Judgements, Scan, Trials, soft_in
from evenhand.ledger.store import links as chain
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import Coded, Interning, fetched
from evenhand.ledger.store.opening import of_one_moment
from evenhand.ledger.store.record import Ledger, chunks
from evenhand.stats.ratings.codes import Codes

Keys: TypeAlias = npt.NDArray[np.uint64]
"""The first 16 bytes of each trial's key, as two numbers."""

_log = logging.getLogger(__name__)

FEWEST = 20_000
"""Trials of some studies below which they are read from the record."""
_VERSION = 2
_LIST = "columns.json"
_MANY = 8
"""Files from which on they are written as one."""
_WORTH = 1000
"""Rows that are worth a file; fewer are read again by the next."""
_FEW = 20_000
"""Trials whose links are looked up one by one."""
_AT_ONCE = 10_000
"""Trials of which SQLite makes one text."""
_DIGEST, _A_PAIR = 64, 136
"""Letters of a digest, and of a stored list of two."""
_NO_KEY = "cannot hold trials without a key of their own"
_MIX = np.uint64(0x9E3779B97F4A7C15)
_OUT_OF_ORDER = 10_000
"""Numbers of judgements below the newest that may come later: writers of a server commit side by side."""
_LEFT_BEHIND_SECONDS = 3600.0
_UNUSED_SECONDS = 60 * 86400.0

_NUMBERS = {
    "key": "<u8", "item": "<i4", "first": "<i4", "second": "<i4", "rest": "<i4", "rater": "<i4", "condition": "<i4",
    "replicate": "<i4", "attempt": "<i4", "lot": "<u8", "seq": "<i8", "at": "<f8", "trial": "<i4", "ending": "<i4",
    "note": "<i4", "soft": "<f8", "link_study": "<i4", "link_trial": "<i4", "model": "<i4", "words": "<i4",
}  # fmt: skip
_OF_JUDGEMENTS = ("seq", "at", "trial", "ending", "note", "soft")
_OF_TRIALS = ("item", "first", "second", "rest", "rater", "condition", "replicate", "attempt")
_NAMES = {
    "item": "items", "first": "responses", "second": "responses", "rest": "rests", "rater": "raters",
    "condition": "conditions", "ending": "endings", "note": "notes", "link_study": "studies", "model": "models",
}  # fmt: skip
_LISTS = tuple(dict.fromkeys(_NAMES.values()))


class _Unfit(Exception):
    """What is kept cannot be used; says why."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Columns:
    """Each trial that was judged, each judgement, which study wants which of the trials, and of each of the responses
    that were shown whose it is and how long."""

    numbers: Mapping[str, npt.NDArray[Any]]
    names: Mapping[str, tuple[str, ...]]
    unjudged: Mapping[str, int] = field(default_factory=dict[str, int])
    """Of each study, how many of its links lead to trials that nobody has judged."""

    @classmethod
    def empty(cls) -> "Columns":
        return cls(numbers=_rows_of(*_NUMBERS), names=dict.fromkeys(_LISTS, ()))

    def with_more(self, *more: "Columns") -> "Columns":
        """Each of `more` has the names that are new, and numbers that count on from those before it."""
        every = (self, *more)
        return Columns(
            numbers={name: np.concatenate([one.numbers[name] for one in every]) for name in _NUMBERS},
            names={name: tuple(itertools.chain.from_iterable(one.names[name] for one in every)) for name in _LISTS},
            unjudged=every[-1].unjudged,
        )

    @property
    def judgements(self) -> int:
        return len(self.numbers["seq"])

    @cached_property
    def links_by_study(self) -> dict[str, int]:
        """Those to trials that nobody has judged too."""
        counts: list[int] = np.bincount(self.numbers["link_study"], minlength=len(self.names["studies"])).tolist()
        found = Counter(dict(zip(self.names["studies"], counts, strict=True)))
        found.update(self.unjudged)
        return {study: number for study, number in found.items() if number}

    def unknown_links(self, rows: Sequence[tuple[str, str]], names: "_Names") -> tuple[Codes, Codes]:
        """Of these links to judged trials those that are not here: study and trial."""
        if not rows:
            return _NONE, _NONE
        studies, keys = zip(*rows, strict=True)
        study, trial = names.codes("link_study", studies), _numbered(self.numbers["key"], _keys(keys))[0]
        number = len(self.numbers["key"])
        link, known = study.astype(np.int64) * number + trial, self.numbers["link_study"].astype(np.int64) * number
        new = (trial < number) & ~np.isin(link, known + self.numbers["link_trial"])
        return study[new], trial[new]

    def unlinked(self, study: str, names: "_Names") -> tuple[Codes, Codes]:
        """The study, as often as there are judged trials to which no link of it is here; and those trials."""
        (code,) = names.codes("link_study", [study])
        linked = np.zeros(len(self.numbers["key"]), dtype=np.bool_)
        linked[self.numbers["link_trial"][self.numbers["link_study"] == code]] = True
        trial = np.flatnonzero(~linked).astype(np.int32)
        return np.full(len(trial), code, dtype=np.int32), trial

    def of_studies(self, studies: Iterable[str]) -> Scan:
        """As if it were read from the record."""
        numbers, wanted = self.numbers, set(studies)
        ours = np.array([name in wanted for name in self.names["studies"]], dtype=np.bool_)
        linked = np.zeros(len(numbers["key"]), dtype=np.bool_)
        linked[numbers["link_trial"][ours[numbers["link_study"]]]] = True
        whole = bool(linked.all())
        kept = {name: numbers[name] if whole else numbers[name][linked] for name in (*_OF_TRIALS, "lot")}
        used = _there(self.names["responses"], kept["first"], kept["second"])
        responses = _names_there(self.names["responses"], used)
        trials = Trials(
            item=_used(self.names["items"], kept["item"]),
            first=Coded(names=responses, code=_renumbered(kept["first"], used)),
            second=Coded(names=responses, code=_renumbered(kept["second"], used)),
            rest=_used(self.names["rests"], kept["rest"]),
            rater=_used(self.names["raters"], kept["rater"]),
            condition=_used(self.names["conditions"], kept["condition"]),
            replicate=kept["replicate"],
            attempt=kept["attempt"],
            lot=kept["lot"],
        )
        judged = {name: numbers[name] for name in _OF_JUDGEMENTS}
        if not whole:
            rows = linked[numbers["trial"]]
            judged = {name: column[rows] for name, column in judged.items()}
            judged["trial"] = _renumbered(judged["trial"], linked)
        if bool((judged["seq"][1:] < judged["seq"][:-1]).any()):
            order = np.argsort(judged["seq"], kind="stable")
            judged = {name: column[order] for name, column in judged.items()}
        judgements = Judgements(
            seq=judged["seq"],
            at=judged["at"],
            trial=judged["trial"],
            ending=_used(self.names["endings"], judged["ending"]),
            note=_used(self.names["notes"], judged["note"]),
            soft=judged["soft"],
        )
        words = numbers["words"][used]
        answers = Answers(
            models=tuple(map(self.names["models"].__getitem__, numbers["model"][used].tolist())),
            words=np.where(words < 0, np.nan, words),
        )
        return Scan(trials=trials, judgements=judgements, answers=answers, whole=whole)


def _there(names: Sequence[str], *codes: Codes) -> npt.NDArray[np.bool_]:
    """Of each name whether a row has it."""
    there = np.zeros(len(names), dtype=np.bool_)
    for code in codes:
        there[code] = True
    return there


def _names_there(names: Sequence[str], there: npt.NDArray[np.bool_]) -> tuple[str, ...]:
    return tuple(names) if there.all() else tuple(itertools.compress(names, there.tolist()))


def _renumbered(code: Codes, there: npt.NDArray[np.bool_]) -> Codes:
    return code if there.all() else (np.cumsum(there, dtype=np.int32) - 1)[code]


def _used(names: Sequence[str], code: Codes) -> Coded:
    """Without the names that stand in no row."""
    there = _there(names, code)
    return Coded(names=_names_there(names, there), code=_renumbered(code, there))


def columns_of(ledger: Ledger, studies: Sequence[str], *, fewest: int = FEWEST) -> Columns | None:
    """Up to date; None where these studies hold fewer trials, which are read as fast from the record, or where the
    record holds what no column can."""
    with ledger.reading(apart=True) as connection:
        of_one_moment(connection)
        some = select(_links.trial).where(_links.study.in_(studies)).limit(fewest).subquery()
        if connection.execute(select(func.count()).select_from(some)).scalar_one() < fewest:
            return None
        root = chain.root(connection)
        kept = _Kept(_folder(ledger, root), root)
        try:
            before = kept.read(connection)
            more = None if kept.is_newest(connection, before) else _since(connection, before)
        except _Unfit as unfit:
            if unfit.args:
                _log.warning("The columns kept in %s %s; they are made anew from the record.", kept.folder, unfit)
            kept.forget()
            before = Columns.empty()
            try:
                more = _since(connection, before)
            except _Unfit:
                return None
        if more is None:
            return before
        found = before.with_more(more)
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

    def read(self, connection: Connection) -> Columns:
        """Raises _Unfit, without a word where nothing is kept."""
        try:
            stored = (self.folder / _LIST).read_bytes()
        except FileNotFoundError:
            raise _Unfit from None
        except OSError as error:
            raise _Unfit(f"cannot be read ({error.strerror})") from None
        try:
            digest, body = stored.split(b"\n", 1)
            if hashlib.sha256(body).hexdigest().encode() != digest:
                raise _Unfit("are damaged")
            said = orjson.loads(body)
        except ValueError:
            raise _Unfit("are damaged") from None
        if said["version"] != _VERSION:
            raise _Unfit(f"are of another version ({said['version']})")
        if said["root"] != self._root:
            raise _Unfit("are of another ledger")
        for writer, number, name in said["tips"]:
            table = schema.links
            query = select(table.c.hash).where(table.c.writer == writer, table.c.number == number)
            if connection.execute(query).scalar() != name:
                raise _Unfit("tell of what this ledger does not hold")
        found, *more = (_opened(self.folder / part["file"], part["sha256"]) for part in said["parts"])
        if more:
            found = found.with_more(*more)
        self._parts, self._tips = said["parts"], said["tips"]
        with suppress(OSError):
            os.utime(self.folder / _LIST)  # as long as it is used it stays
        return replace(found, unjudged=said["unjudged"])

    def is_newest(self, connection: Connection, found: Columns) -> bool:
        """Whether nothing was committed since they were written: any commit moves an end of the chain. What is put in
        or taken away by hand does not, and is counted."""
        if [tip.as_json() for tip in chain.tips(connection)] != self._tips:
            return False
        judged, linked = (
            connection.execute(_number_of(table)).scalar_one() for table in (schema.judgements, schema.study_trials)
        )
        return judged == found.judgements and linked == sum(found.links_by_study.values())

    def forget(self) -> None:
        self._parts = []

    def keep(self, found: Columns, more: Columns, tips: Sequence[chain.Tip]) -> None:
        """Raises OSError."""
        fresh = len(more.numbers["seq"]) + len(more.numbers["link_study"])
        if self._parts and fresh < _WORTH:
            return
        whole = len(self._parts) + 1 >= _MANY
        written = _packed(found if whole else more)
        name = f"{secrets.token_hex(8)}.columns"
        write_whole(self.folder / name, written, within=self.folder.parent)
        part = {"file": name, "sha256": hashlib.sha256(written).hexdigest()}
        body = orjson.dumps(
            {
                "version": _VERSION,
                "root": self._root,
                "tips": [tip.as_json() for tip in tips],
                "unjudged": found.unjudged,
                "parts": [part] if whole else [*self._parts, part],
            }
        )
        digest = hashlib.sha256(body).hexdigest().encode()
        write_whole(self.folder / _LIST, digest + b"\n" + body, within=self.folder.parent)
        self._sweep({part["file"] for part in ([part] if whole else [*self._parts, part])})

    def _sweep(self, named: set[str]) -> None:
        """Files that no list names, once whoever may still read or name them is done; and of ledgers that nobody has
        looked at for long all."""
        now = time.time()
        with suppress(OSError):
            for path in self.folder.glob("*.columns"):
                if path.name not in named and path.stat().st_mtime < now - _LEFT_BEHIND_SECONDS:
                    path.unlink()
        for path in self.folder.parent.glob("[0-9a-f]" * len(self.folder.name) + f"/{_LIST}"):
            with suppress(OSError):  # whatever else lies there is somebody's, and stays
                if path.stat().st_mtime < now - _UNUSED_SECONDS:
                    for ours in (*path.parent.glob("*.columns"), path):
                        ours.unlink()
                    path.parent.rmdir()


def _packed(columns: Columns) -> bytes:
    """In one line the names, and of each column how many numbers it has, how many of them follow and of which type;
    then the numbers."""
    arrays = {name: _smallest(columns.numbers[name].ravel()) for name in _NUMBERS}
    rows = {name: (columns.numbers[name].size, len(array), array.dtype.str) for name, array in arrays.items()}
    head = {"rows": rows, "names": columns.names}
    return b"".join([orjson.dumps(head), b"\n", *(array.tobytes() for array in arrays.values())])


def _smallest(numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """In as few bytes as they take; where all are the same, one of them."""
    bits = numbers.view(np.int64) if numbers.dtype.kind == "f" else numbers  # NaN is not equal to itself
    if len(bits) and bool((bits == bits[0]).all()):
        return numbers[:1]
    if numbers.dtype.kind == "f" or int(numbers.min(initial=0)) < 0:
        return numbers
    return numbers.astype(np.min_scalar_type(int(numbers.max(initial=0))))


def _opened(path: Path, digest: str) -> Columns:
    try:
        data = path.read_bytes()
    except OSError as error:
        raise _Unfit(f"lack a file ({error.strerror})") from None
    if hashlib.sha256(data).hexdigest() != digest:
        raise _Unfit("are damaged")
    at = data.index(b"\n") + 1
    head = orjson.loads(data[:at])
    numbers: dict[str, npt.NDArray[Any]] = {}
    for name, kind in _NUMBERS.items():
        size, written, stored = head["rows"][name]
        found = np.frombuffer(data, dtype=stored, count=written, offset=at)
        at += found.nbytes
        numbers[name] = found.astype(kind) if written == size else np.full(size, found[0], dtype=kind)
    numbers["key"] = numbers["key"].reshape(-1, 2)
    return Columns(numbers=numbers, names={name: tuple(head["names"][name]) for name in _LISTS})


def _since(connection: Connection, before: Columns) -> Columns | None:
    """What the record holds beyond it; None where that is nothing. Raises _Unfit where the record holds less."""
    total = connection.execute(_number_of(schema.judgements)).scalar_one()
    links = dict(connection.execute(_LINKS_BY_STUDY).all())
    known = before.numbers["seq"]
    last = int(known.max(initial=0))
    if connection.dialect.name != "sqlite":
        last = max(0, last - _OUT_OF_ORDER)
    names = _Names(before)
    new, asked = _judged_after(connection, last, names)
    if not before.judgements:  # all are looked through
        asked = None
    fresh = ~np.isin(new["seq"], known[known > last])
    new = {name: column[fresh] for name, column in new.items()}
    if before.judgements + len(new["seq"]) != total:
        raise _Unfit("do not hold the judgements that the record holds")
    if before.judgements and not len(new["seq"]) and links == before.links_by_study:
        return None
    keys = new.pop("on")
    new["trial"], first = _numbered(before.numbers["key"], keys)
    new["key"] = keys[first]
    new |= _trials(connection, new["key"], asked, names)
    new |= _answers(connection, new["item"], names)
    new["lot"] = _lots(new, np.concatenate([before.numbers["model"], new["model"]]), names)
    more = Columns(numbers=new | dict.fromkeys(("link_study", "link_trial"), _NONE), names=dict.fromkeys(_LISTS, ()))
    study, trial, unjudged = _new_links(connection, before.with_more(more), links, asked, names)
    return Columns(numbers=new | {"link_study": study, "link_trial": trial}, names=names.fresh(), unjudged=unjudged)


def _number_of(table: Table) -> Select[int]:
    return select(func.count()).select_from(table)


_NONE = np.zeros(0, dtype=np.int32)
_links = schema.study_trials.c
_LINKS_BY_STUDY = select(_links.study, func.count()).group_by(_links.study)
_JUDGED: Select[*tuple[Any, ...]] = select(
    schema.judgements.c.seq,
    schema.judgements.c.at,
    func.coalesce(schema.judgements.c.verdict, schema.judgements.c.reason),
    schema.judgements.c.notes,
    schema.judgements.c.trial,
)


class _Names:
    """Those known before and those that come."""

    def __init__(self, before: Columns) -> None:
        self._known = {name: len(values) for name, values in before.names.items()}
        self._lists = {name: Interning() for name in _LISTS}
        for name, values in before.names.items():
            self._lists[name].codes(values)

    def codes(self, column: str, values: Sequence[str]) -> Codes:
        return self._lists[_NAMES[column]].codes(values)

    def every(self, column: str) -> tuple[str, ...]:
        return self._lists[_NAMES[column]].values

    def used(self, column: str, code: Codes) -> tuple[str, ...]:
        values = self.every(column)
        return _names_there(values, _there(values, code))

    def fresh(self) -> dict[str, tuple[str, ...]]:
        return {name: self._lists[name].values[known:] for name, known in self._known.items()}


def _judged_after(
    connection: Connection, last: int, names: _Names
) -> tuple[dict[str, npt.NDArray[Any]], list[str] | None]:
    """Each judgement after this number, and the keys of their trials where they are few."""
    parts = [_rows_of("seq", "at", "ending", "note", "soft") | {"on": _rows_of("key")["key"]}]
    asked: list[str] | None = []
    for some in fetched(connection, _JUDGED.where(schema.judgements.c.seq > last)):
        seq, at, ending, notes, key = zip(*some, strict=True)
        untold = notes.count("{}") == len(notes)  # the database would look through each for every word
        note, soft = ([""], [np.nan]) if untold else zip(*map(_told, notes), strict=True)
        parts.append(
            {
                "seq": np.array(seq, dtype=np.int64),
                "at": np.array(at, dtype=np.float64),
                "ending": names.codes("ending", ending),
                "note": np.broadcast_to(names.codes("note", note), len(seq)),
                "soft": np.broadcast_to(np.array(soft, dtype=np.float64), len(seq)),
                "on": _keys(key),
            }
        )
        if asked is not None:
            asked = [*asked, *key] if len(asked) < _FEW else None
    return _joined(parts), asked


def _told(notes: str) -> tuple[str, float]:
    """The notes if one of the telling words is in them, else nothing; and how likely the first shown was."""
    return notes if any(word in notes for word in TELLING) else "", soft_in(notes)


def _trials(
    connection: Connection, keys: Keys, asked: Sequence[str] | None, names: _Names
) -> dict[str, npt.NDArray[Any]]:
    """Those of these keys, in their order. `asked`: the keys among which they are; None: all are looked through."""
    table = schema.trials
    if asked is not None:
        queries = [select(table).where(table.c.key.in_(some)) for some in chunks(sorted({*asked}))]
        parts = [_row_by_row(rows, names) for one in queries for rows in fetched(connection, one)]
    elif connection.dialect.name == "sqlite":
        parts = list(_side_by_side(connection, names))
    else:
        parts = [_row_by_row(rows, names) for rows in fetched(connection, select(table))]
    found = _joined([_rows_of("key", *_OF_TRIALS), *parts])
    if np.array_equal(found["key"], keys):
        return {name: found[name] for name in _OF_TRIALS}
    place = _numbered(keys, found.pop("key"))[0]
    ours = place < len(keys)
    if int(ours.sum()) != len(keys):
        raise _Unfit("cannot hold judgements on trials that are not on record")
    order = np.empty(len(keys), dtype=np.intp)
    order[place[ours]] = np.flatnonzero(ours)
    return {name: column[order] for name, column in found.items()}


def _row_by_row(rows: Sequence[tuple[Any, ...]], names: _Names) -> dict[str, npt.NDArray[Any]]:
    key, item, shown, rater, condition, replicate, attempt = zip(*rows, strict=True)
    return {
        "key": _keys(key),
        "item": names.codes("item", item),
        "first": names.codes("first", [text[FIRST] for text in shown]),
        "second": names.codes("second", [text[SECOND] for text in shown]),
        "rest": names.codes("rest", [text[REST] for text in shown]),
        "rater": names.codes("rater", rater),
        "condition": names.codes("condition", condition),
        "replicate": np.array(replicate, dtype=np.int32),
        "attempt": np.array(attempt, dtype=np.int32),
    }


_TOGETHER = text(
    "SELECT count(*), sum(length(key) = 64 AND length(item) = 64 AND length(responses) = 136 AND length(rater) = 64 "
    "AND length(condition) = 64), group_concat(key, ''), group_concat(item, ''), group_concat(responses, ''), "
    "group_concat(rater, ''), group_concat(condition, ''), group_concat(replicate), group_concat(attempt) "
    "FROM trials WHERE rowid > :after AND rowid <= :last"
)
_THERE = text("SELECT coalesce(min(rowid), 1), coalesce(max(rowid), 0) FROM trials")


def _side_by_side(connection: Connection, names: _Names) -> Iterator[dict[str, npt.NDArray[Any]]]:
    """All trials, by SQLite: thousands of a column as one text, as a million rows of texts take Python thrice as long.
    Where not all of them are pairs, row by row."""
    first, last = connection.execute(_THERE).one()
    for after in range(first - 1, last, _AT_ONCE):
        between = {"after": after, "last": after + _AT_ONCE}
        number, alike, key, item, shown, *rest = connection.execute(_TOGETHER, between).one()
        if not number:
            continue
        pairs = _sides(shown) if alike == number else None
        if pairs is None:
            rows = select(schema.trials).where(text("rowid > :after AND rowid <= :last")).params(between)
            yield _row_by_row([tuple(row) for row in connection.execute(rows)], names)
            continue
        rater, condition, replicate, attempt = rest
        yield {
            "key": _keys_in(key),
            "item": _coded("item", item, names),
            "first": _coded("first", pairs[0], names),
            "second": _coded("second", pairs[1], names),
            "rest": np.full(number, names.codes("rest", [shown[SECOND.stop : _A_PAIR]])[0], dtype=np.int32),
            "rater": _coded("rater", rater, names),
            "condition": _coded("condition", condition, names),
            "replicate": np.fromstring(replicate, dtype=np.int32, sep=","),
            "attempt": np.fromstring(attempt, dtype=np.int32, sep=","),
        }


def _sides(shown: str) -> tuple[str, str] | None:
    """Of the stored lists of two responses, side by side, the first of each and the second. None: they are others."""
    letters = np.frombuffer(shown.encode(), dtype="S1")
    if len(letters) % _A_PAIR:
        return None
    rows = letters.reshape(-1, _A_PAIR)
    for at, word in ((0, b'["'), (FIRST.stop, b'", "'), (SECOND.stop, b'"]')):
        if not (rows[:, at : at + len(word)] == np.frombuffer(word, dtype="S1")).all():
            return None
    first, second = (rows[:, side].tobytes().decode() for side in (FIRST, SECOND))
    return (first, second) if '"' not in first + second else None


def _coded(column: str, texts: str, names: _Names) -> Codes:
    """Of texts of 64 letters side by side."""
    number = len(texts) // _DIGEST
    if texts == texts[:_DIGEST] * number:
        return np.full(number, names.codes(column, [texts[:_DIGEST]])[0], dtype=np.int32)
    letters = np.frombuffer(texts.encode(), dtype="<u8").reshape(number, -1)
    _, first, code = np.unique(letters[:, 0] * _MIX + letters[:, 1], return_index=True, return_inverse=True)
    if (letters != letters[first[code]]).any():  # two texts that begin alike
        _, first, code = np.unique(letters, axis=0, return_index=True, return_inverse=True)
    in_turn = np.argsort(first)
    of = np.empty(len(first), dtype=np.int32)
    of[in_turn] = names.codes(column, [texts[at * _DIGEST : (at + 1) * _DIGEST] for at in first[in_turn].tolist()])
    return of[code.ravel()]


def _answers(connection: Connection, item: Codes, names: _Names) -> dict[str, npt.NDArray[Any]]:
    """Of the responses that are new. `item`: of the trials in which they were shown."""
    digests, items = names.fresh()["responses"], names.used("item", item)
    # By their items they are found at once where they are many; else more would be read than is wanted.
    found = models_and_words(connection, filter(None, digests), items=items if len(digests) > len(items) else ())
    found[""] = ("", -1)
    try:
        known = [found[digest] for digest in digests]
    except KeyError:
        raise _Unfit("cannot hold answers that are not on record") from None
    return {
        "model": names.codes("model", [model for model, _ in known]),
        "words": np.array([words for _, words in known], dtype=np.int32),
    }


def _lots(new: Mapping[str, npt.NDArray[Any]], model_of: Codes, names: _Names) -> Lots:
    """Of the trials that are new. `model_of`: of every response its model."""
    models = names.every("model")
    by_name = sorted(models)
    number = {name: code for code, name in enumerate(by_name)}
    place = np.array([number[name] for name in models], dtype=np.int32)
    one, other = (place[model_of[new[side]]] for side in ("first", "second"))
    sides = {"model_a": np.minimum(one, other), "model_b": np.maximum(one, other)}
    return lots_of(names.every("item"), by_name, item=new["item"], **sides, seed=SEED)


def _rows_of(*names: str) -> dict[str, npt.NDArray[Any]]:
    """None."""
    return {name: np.zeros((0, 2) if name == "key" else 0, dtype=_NUMBERS[name]) for name in names}


def _joined(parts: Sequence[Mapping[str, npt.NDArray[Any]]]) -> dict[str, npt.NDArray[Any]]:
    return {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}


def _keys(keys: Sequence[str]) -> Keys:
    """Raises _Unfit for what is no trial's key."""
    found = _keys_in("".join(keys))
    if len(found) != len(keys):
        raise _Unfit(_NO_KEY)
    return found


def _keys_in(together: str) -> Keys:
    try:
        digests = np.frombuffer(bytes.fromhex(together), dtype=">u8").reshape(-1, 4)
    except ValueError:
        raise _Unfit(_NO_KEY) from None
    return digests[:, :2].astype(np.uint64)


def _numbered(known: Keys, new: Keys) -> tuple[Codes, npt.NDArray[np.intp]]:
    """Of each of the new ones its place among the known ones and those that come after them, each once; and which of
    the new come so."""
    near = np.arange(len(known))
    if len(new) < len(known) / 8:  # else it costs more to look for them than to sort all
        wanted = np.sort(new[:, 0])
        at = np.searchsorted(wanted, known[:, 0]) if len(wanted) else near
        near = np.flatnonzero(wanted[np.minimum(at, len(wanted) - 1)] == known[:, 0]) if len(wanted) else near[:0]
    every = np.concatenate([known[near], new])
    order = np.argsort(every[:, 0], kind="stable")  # of equal ones the first stays first
    same, begins = _as_before(every[order])
    if (same & begins[1:]).any():
        order = np.lexsort((every[:, 1], every[:, 0]))
        _, begins = _as_before(every[order])
    first = order[begins]
    fresh = np.sort(first[first >= len(near)])
    place = np.zeros(len(every), dtype=np.intp)
    place[fresh] = np.arange(len(fresh)) + len(known)
    number = place[first]
    old = first < len(near)
    number[old] = near[first[old]]
    code = np.empty(len(every), dtype=np.int32)
    code[order] = number[np.cumsum(begins) - 1]
    return code[len(near) :], fresh - len(near)


def _as_before(keys: Keys) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
    """Of each but the first whether its first half is that of the one before it; and of each whether it is another."""
    same = keys[1:, 0] == keys[:-1, 0]
    other = np.ones(len(keys), dtype=np.bool_)
    other[1:] = ~(same & (keys[1:, 1] == keys[:-1, 1]))
    return same, other


def _new_links(
    connection: Connection,
    columns: Columns,
    counted: Mapping[str, int],
    asked: Sequence[str] | None,
    names: _Names,
) -> tuple[Codes, Codes, dict[str, int]]:
    """The study and the trial of each link that is not among them; and the links of each study to no judged trial.

    `asked`: trials whose links are looked up first; where those are not all, every link of the study is read."""
    before = columns.links_by_study
    changed = [study for study, number in counted.items() if before.get(study) != number]
    unjudged: dict[str, int] = {}
    study, trial = _NONE, _NONE
    if asked is not None and before:
        some = [
            row
            for keys in chunks(asked)
            for part in fetched(connection, _LINKS.where(_links.study.in_(changed), _links.trial.in_(keys)))
            for row in part
        ]
        study, trial = columns.unknown_links(some, names)
        came = dict(zip(*np.unique(study, return_counts=True), strict=True))
        codes = names.codes("link_study", changed).tolist()
        changed = [
            one
            for one, code in zip(changed, codes, strict=True)
            if before.get(one, 0) + came.get(code, 0) != counted[one]
        ]
        there = ~np.isin(study, names.codes("link_study", changed))
        study, trial = study[there], trial[there]
    trials = connection.execute(_number_of(schema.trials)).scalar_one() if changed else 0
    for one in changed:
        if counted[one] == trials:  # of one study no trial has two links: it wants every trial on record
            of, on = columns.unlinked(one, names)
        else:
            rows = [row for part in fetched(connection, _LINKS.where(_links.study == one)) for row in part]
            of, on = columns.unknown_links(rows, names)
        judged = int((columns.numbers["link_study"] == names.codes("link_study", [one])[0]).sum()) + len(of)
        unjudged[one] = counted[one] - judged
        study, trial = np.concatenate([study, of]), np.concatenate([trial, on])
    if gone := [one for one in before if one not in counted]:
        raise _Unfit(f"hold studies that the record does not ({gone[0][:12]})")
    return study, trial, {one: number for one, number in unjudged.items() if number}


_LINKS: Select[*tuple[Any, ...]] = select(_links.study, _links.trial)
