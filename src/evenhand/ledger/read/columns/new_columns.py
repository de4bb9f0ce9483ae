"""Columns of what the record holds beyond those that are known."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Select, Table, func, select

from evenhand.ledger.read.answers import models_and_words
from evenhand.ledger.read.columns.record_columns import (
    LISTS,
    NONE,
    OF_LINKS,
    OF_TRIALS,
    Columns,
    Names,
    Unfit,
    gathered,
    no_rows,
)
from evenhand.ledger.read.columns.trial_keys import Keys, NoKey, keys_in, keys_of, no_keys, numbered, places_in
from evenhand.ledger.read.counting import links_by_study
from evenhand.ledger.read.lots import SEED, Lots, lots_of
from evenhand.ledger.read.scan import FIRST, REST, SECOND, TELLING, soft_in
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import fetched, taken
from evenhand.ledger.store.links import driver_of
from evenhand.ledger.store.record import chunks
from evenhand.stats.ratings.codes import Codes

_FEW = 20_000
"""Trials whose links are looked up one by one."""
_FEW_STUDIES = 50
"""In which each of them is looked for: a link is found by its study."""
_DIGEST, _A_PAIR = 64, 136
"""Letters of a digest, and of a stored list of two."""
Letters: TypeAlias = npt.NDArray[np.uint8]
"""Of texts of one width, row by row."""
_MIX = np.uint64(0x9E3779B97F4A7C15)
_OUT_OF_ORDER = 10_000
"""Numbers of judgements below the newest that may come later: writers of a server commit side by side."""


def since(connection: Connection, before: Columns) -> Columns | None:
    """What the record holds beyond it; None where that is nothing. Raises Unfit where the record holds less."""
    try:
        return _since(connection, before)
    except NoKey:
        raise Unfit("cannot hold trials without a key of their own") from None


def _since(connection: Connection, before: Columns) -> Columns | None:
    total, linked = (
        connection.execute(number_of(table)).scalar_one() for table in (schema.judgements, schema.study_trials)
    )
    known, names = before.numbers["seq"], Names(before)
    last = _last_of(connection, known)
    new, asked = _judged_after(connection, last, total - before.judgements, names)
    if not before.judgements:  # all are looked through
        asked = None
    if len(after := known[known > last]):
        fresh = ~np.isin(new["seq"], after)
        new = {name: taken(column, fresh) for name, column in new.items()}
        asked = None if asked is None else [*compress(asked, fresh.tolist())]
    if before.judgements + len(new["seq"]) != total:
        raise Unfit("do not hold the judgements that the record holds")
    if before.judgements and not len(new["seq"]) and links_by_study(connection) == before.links_by_study:
        return None
    keys = new.pop("on")
    new["trial"], first = numbered(before.keys, keys)
    own = keys if len(first) == len(keys) else keys[first]
    new |= _trials(connection, own, asked, names)
    new |= _answers(connection, new["item"], names)
    new["lot"] = _lots(new, np.concatenate([before.numbers["model"], new["model"]]), names)
    more = Columns(
        numbers=new | dict.fromkeys(("link_study", "link_trial"), NONE),
        names=dict.fromkeys(LISTS, ()),
        make_keys=lambda: own,
    )
    there = before.with_more(more, only=OF_LINKS)
    trial_of = None if asked is None else dict(zip(asked, new["trial"].tolist(), strict=True))
    study, trial, unjudged = _new_links(connection, there, linked, trial_of, names)
    return Columns(
        numbers=new | {"link_study": study, "link_trial": trial},
        names=names.fresh(),
        unjudged=unjudged,
        make_keys=lambda: own,
    )


def _last_of(connection: Connection, known: npt.NDArray[np.int64]) -> int:
    """The number of a judgement up to which all are known; on a server some may have come after the newest that is."""
    last = int(known.max(initial=0))
    if connection.dialect.name == "sqlite":
        return last
    begin = max(0, last - _OUT_OF_ORDER)
    seq = schema.judgements.c.seq
    there = connection.execute(number_of(schema.judgements).where(seq > begin, seq <= last)).scalar_one()
    return last if there == np.count_nonzero(known > begin) else begin


def number_of(table: Table) -> Select[int]:
    return select(func.count()).select_from(table)


_links = schema.study_trials.c
_JUDGED: Select[*tuple[Any, ...]] = select(
    schema.judgements.c.seq,
    schema.judgements.c.at,
    func.coalesce(schema.judgements.c.verdict, schema.judgements.c.reason),
    schema.judgements.c.notes,
    schema.judgements.c.trial,
)


@dataclass(frozen=True, kw_only=True)
class Speech:
    """How a database is asked for hundreds of a column's rows as one text: a million rows of texts take Python thrice
    as long."""

    ask: Callable[[str, Sequence[Any]], Any]
    """Its driver's cursor."""
    words: Mapping[str, str]
    """What it writes in the place of a word of the statements here."""
    at_once: int
    """Judgements of which it makes one text."""
    texts: int
    """Such texts that are told apart together."""
    trials_there: str
    """Before the first place of a trial, and the last."""
    place: Callable[[int], Any]
    trials_at_once: int
    """Places of which it makes one text."""
    in_turn: bool
    """Whether trials come in the order of their places, whatever is asked of them."""

    def rows(self, statement: str, *values: Any) -> list[tuple[Any, ...]]:
        return self.ask(statement.format_map(self.words), values).fetchall()

    def trials(self, statement: str, begin: int, end: int) -> list[tuple[Any, ...]]:
        return self.rows(statement, self.place(begin), self.place(end))


def speech_of(connection: Connection) -> Speech | None:
    """None where it knows no places of rows."""
    if (driver := driver_of(connection)) is not None:
        return Speech(
            ask=driver.execute,
            words={"mark": "?", "texts": "group_concat", "bytes": "", "place": "rowid", "judged": _ON_RECORD},
            at_once=500,  # a longer text takes several times as long, as it grows by being copied
            texts=20,
            trials_there="SELECT coalesce(min(rowid), 1) - 1, coalesce(max(rowid), 0) FROM trials",
            place=int,
            trials_at_once=500,
            in_turn=True,
        )
    version: Any = connection.dialect.server_version_info or (0,)
    if connection.dialect.name != "postgresql" or version[0] < _FINDS_PLACES:
        return None
    return Speech(
        # Not the driver itself, whose faults no ledger explains.
        ask=lambda statement, values: connection.exec_driver_sql(statement, tuple(values)).cursor,
        words={"mark": "%s", "texts": "string_agg", "bytes": ' COLLATE "C"', "place": "ctid", "judged": _IN_ORDER},
        at_once=10_000,
        texts=1,
        trials_there="SELECT 0, pg_relation_size('trials') / CAST(current_setting('block_size') AS integer)",
        place="({},0)".format,
        trials_at_once=500,  # pages, of some twenty rows each
        in_turn=False,
    )


_FINDS_PLACES = 14
"""The first version of PostgreSQL that reads the rows of some pages without looking through all."""
_ON_RECORD = "judgements WHERE seq > ? AND seq <= ?"
_IN_ORDER = "(SELECT * FROM judgements WHERE seq > %s AND seq <= %s ORDER BY seq) AS judged"
_BETWEEN = "FROM judgements WHERE seq > {mark} AND seq <= {mark} ORDER BY seq"
_THERE = "SELECT coalesce(min(seq), 1) - 1, coalesce(max(seq), 0) FROM judgements"
_TOLD_NOTHING = """
SELECT count(*), count(CASE WHEN notes = '{{}}' THEN 1 END), min(at), max(at), min(seq), max(seq),
{texts}(coalesce(verdict, reason), '\n'), {texts}(trial, ',') FROM {judged}
"""
_NUMBERS = f"SELECT seq {_BETWEEN}"
_WHEN = f"SELECT at {_BETWEEN}"
_EACH_JUDGED = f"SELECT seq, at, coalesce(verdict, reason), notes, trial {_BETWEEN}"


def _judged_after(
    connection: Connection, last: int, likely: int, names: Names
) -> tuple[dict[str, npt.NDArray[Any]], list[str] | None]:
    """Each judgement after this number, and the keys of their trials where they are few. `likely`: as of `gathered`."""
    none = no_rows("seq", "at", "ending", "note", "soft") | {"on": no_keys()}
    if not last and (speech := speech_of(connection)) is not None:
        return gathered(_judged_together(speech, names), likely, none), None
    asked: list[str] | None = []
    parts: list[dict[str, npt.NDArray[Any]]] = []
    for some in fetched(connection, _JUDGED.where(schema.judgements.c.seq > last)):
        parts.append(_judged_one_by_one(some, names))
        if asked is not None:
            asked = [*asked, *(key for *_, key in some)] if len(asked) < _FEW else None
    return gathered(parts, likely, none), asked


def _judged_one_by_one(rows: Sequence[tuple[Any, ...]], names: Names) -> dict[str, npt.NDArray[Any]]:
    seq, at, ending, notes, key = zip(*rows, strict=True)
    untold = notes.count("{}") == len(notes)  # the database would look through each for every word
    note, soft = ([""], [np.nan]) if untold else zip(*map(_told, notes), strict=True)
    return {
        "seq": np.array(seq, dtype=np.int64),
        "at": np.array(at, dtype=np.float64),
        "ending": names.codes("ending", ending),
        "note": np.broadcast_to(names.codes("note", note), len(seq)),
        "soft": np.broadcast_to(np.array(soft, dtype=np.float64), len(seq)),
        "on": keys_of(key),
    }


def _judged_together(speech: Speech, names: Names) -> Iterator[dict[str, npt.NDArray[Any]]]:
    """All judgements, as trials are read."""
    ((first, last),) = speech.rows(_THERE)
    for begin in range(first, last, speech.at_once * speech.texts):
        between = (begin, begin + speech.at_once * speech.texts)
        begins = range(begin, min(between[1], last), speech.at_once)
        some = [row for after in begins for row in speech.rows(_TOLD_NOTHING, after, after + speech.at_once)]
        numbers, untold, earliest, latest, lowest, highest, ending, key = zip(*some, strict=True)
        number = sum(numbers)
        if not number:
            continue
        keys = _even(key, number, _DIGEST)
        endings = "\n".join(filter(None, ending)).split("\n")
        if keys is None or len(endings) != number or sum(untold) != number:
            yield _judged_one_by_one(speech.rows(_EACH_JUDGED, *between), names)
            continue
        times = {*earliest, *latest} - {None}
        at = [(one,) for one in times] if len(times) == 1 else speech.rows(_WHEN, *between)
        ends: list[int] = [one for one in (*lowest, *highest) if one is not None]
        seq = np.arange(min(ends), max(ends) + 1, dtype=np.int64)
        if len(seq) != number:  # some numbers are nobody's
            seq = np.array(speech.rows(_NUMBERS, *between), dtype=np.int64).ravel()
        yield {
            "seq": seq,
            "at": np.broadcast_to(np.array(at, dtype=np.float64).ravel(), number),
            "ending": names.codes("ending", endings),
            "note": np.broadcast_to(names.codes("note", [""]), number),
            "soft": np.broadcast_to(np.nan, number),
            "on": keys_in(keys),
        }


def _told(notes: str) -> tuple[str, float]:
    """The notes if one of the telling words is in them, else nothing; and how likely the first shown was."""
    return notes if any(word in notes for word in TELLING) else "", soft_in(notes)


def _trials(
    connection: Connection, keys: Keys, asked: Sequence[str] | None, names: Names
) -> dict[str, npt.NDArray[Any]]:
    """Those of these keys, in their order. `asked`: the keys among which they are; None: all are looked through."""
    table = schema.trials
    if asked is not None:
        queries = [select(table).where(table.c.key.in_(some)) for some in chunks(sorted({*asked}))]
        parts = (_row_by_row(rows, names) for one in queries for rows in fetched(connection, one))
    elif (speech := speech_of(connection)) is not None:
        parts = _side_by_side(speech, names)
    else:
        parts = (_row_by_row(rows, names) for rows in fetched(connection, select(table)))
    found = gathered(parts, len(keys), {"key": no_keys(), **no_rows(*OF_TRIALS)})
    there = found.pop("key")
    if np.array_equal(there, keys):
        return found
    order = places_in(there, keys)
    if order is None:
        place = numbered(keys, there)[0]
        ours = place < len(keys)
        if int(ours.sum()) != len(keys):
            raise Unfit("cannot hold judgements on trials that are not on record")
        order = np.empty(len(keys), dtype=np.intp)
        order[place[ours]] = np.flatnonzero(ours)
    return {name: taken(column, order) for name, column in found.items()}


def _row_by_row(rows: Sequence[tuple[Any, ...]], names: Names) -> dict[str, npt.NDArray[Any]]:
    key, item, shown, rater, condition, replicate, attempt = zip(*rows, strict=True)
    return {
        "key": keys_of(key),
        "item": names.codes("item", item),
        "first": names.codes("first", [text[FIRST] for text in shown]),
        "second": names.codes("second", [text[SECOND] for text in shown]),
        "rest": names.codes("rest", [text[REST] for text in shown]),
        "rater": names.codes("rater", rater),
        "condition": names.codes("condition", condition),
        "replicate": np.array(replicate, dtype=np.int32),
        "attempt": np.array(attempt, dtype=np.int32),
    }


_AT = "FROM trials WHERE {place} > {mark} AND {place} <= {mark}"
_PAIRS = f"""
SELECT count(*), {{texts}}(key, ','), {{texts}}(item, ','), {{texts}}(responses, ','), min(rater{{bytes}}),
max(rater{{bytes}}), min(condition{{bytes}}), max(condition{{bytes}}), min(replicate), max(replicate), min(attempt),
max(attempt) {_AT}
"""
_OF_EACH = f"SELECT rater, condition, replicate, attempt {_AT} ORDER BY {{place}}"
_EACH = f"SELECT key, item, responses, rater, condition, replicate, attempt {_AT}"


def _side_by_side(speech: Speech, names: Names) -> Iterator[dict[str, npt.NDArray[Any]]]:
    """All trials. Where not all of them are pairs, row by row."""
    ((first, last),) = speech.rows(speech.trials_there)
    for begin in range(first, last, speech.trials_at_once * speech.texts):
        end = begin + speech.trials_at_once * speech.texts
        ends = range(begin, min(end, last), speech.trials_at_once)
        some = [row for after in ends for row in speech.trials(_PAIRS, after, after + speech.trials_at_once)]
        numbers, keys, items, shown, *of_each = zip(*some, strict=True)
        number = sum(numbers)
        if not number:
            continue
        key, item, pairs = _even(keys, number, _DIGEST), _even(items, number, _DIGEST), _even(shown, number, _A_PAIR)
        lowest, highest = ({*zip(*of_each[at::2], strict=True)} - {(None,) * 4} for at in (0, 1))
        alike = lowest == highest and len(lowest) == 1
        told_apart = alike or speech.in_turn
        if key is None or item is None or pairs is None or not told_apart or not _are_pairs(pairs):
            yield _row_by_row(speech.trials(_EACH, begin, end), names)
            continue
        each = [*lowest] if alike else speech.trials(_OF_EACH, begin, end)
        rater, condition, replicate, attempt = zip(*each, strict=True)
        yield {
            "key": keys_in(key),
            "item": _coded("item", item, names),
            "first": _coded("first", pairs[:, FIRST], names),
            "second": _coded("second", pairs[:, SECOND], names),
            "rest": np.broadcast_to(names.codes("rest", [_text_of(pairs[0, SECOND.stop :])]), number),
            "rater": np.broadcast_to(names.codes("rater", rater), number),
            "condition": np.broadcast_to(names.codes("condition", condition), number),
            "replicate": np.broadcast_to(np.array(replicate, dtype=np.int32), number),
            "attempt": np.broadcast_to(np.array(attempt, dtype=np.int32), number),
        }


def _even(texts: Iterable[str | None], number: int, width: int) -> Letters | None:
    """So many texts of such a width, of which some stand in each of these with commas between them, row by row. None:
    they are others."""
    stored = (",".join(filter(None, texts)) + ",").encode()
    if len(stored) != number * (width + 1):
        return None
    letters = np.frombuffer(stored, dtype=np.uint8).reshape(number, width + 1)
    return letters[:, :width] if (letters[:, width] == ord(",")).all() else None


def _are_pairs(shown: Letters) -> bool:
    """Whether they are stored lists of two responses."""
    frame = shown.copy()
    frame[:, FIRST] = frame[:, SECOND] = ord("-")
    plain = np.frombuffer(f'["{"-" * _DIGEST}", "{"-" * _DIGEST}"]'.encode(), dtype=np.uint8)
    return bool((frame == plain).all()) and np.count_nonzero(shown == ord('"')) == 4 * len(shown)


def _text_of(letters: Letters) -> str:
    return letters.tobytes().decode()


def _coded(column: str, texts: Letters, names: Names) -> Codes:
    """Of texts of 64 letters."""
    number = len(texts)
    if (texts == texts[0]).all():
        return np.broadcast_to(names.codes(column, [_text_of(texts[0])]), number)
    letters = np.ascontiguousarray(texts).view("<u8")
    _, first, code = np.unique(letters[:, 0] * _MIX + letters[:, 1], return_index=True, return_inverse=True)
    if (letters != letters[first[code]]).any():  # two texts that begin alike
        _, first, code = np.unique(letters, axis=0, return_index=True, return_inverse=True)
    in_turn = np.argsort(first)
    together = _text_of(texts[first[in_turn]])
    of = np.empty(len(first), dtype=np.int32)
    of[in_turn] = names.codes(column, [together[at : at + _DIGEST] for at in range(0, len(together), _DIGEST)])
    return of[code.ravel()]


def _answers(connection: Connection, item: Codes, names: Names) -> dict[str, npt.NDArray[Any]]:
    """Of the responses that are new. `item`: of the trials in which they were shown."""
    digests, items = names.fresh()["responses"], names.used("item", item)
    # By their items they are found at once where they are many; else more would be read than is wanted.
    found = models_and_words(connection, filter(None, digests), items=items if len(digests) > len(items) else ())
    found[""] = ("", -1)
    try:
        known = [found[digest] for digest in digests]
    except KeyError:
        raise Unfit("cannot hold answers that are not on record") from None
    return {
        "model": names.codes("model", [model for model, _ in known]),
        "words": np.array([words for _, words in known], dtype=np.int32),
    }


def _lots(new: Mapping[str, npt.NDArray[Any]], model_of: Codes, names: Names) -> Lots:
    """Of the trials that are new. `model_of`: of every response its model."""
    models = names.every("model")
    by_name = sorted(models)
    number = {name: code for code, name in enumerate(by_name)}
    place = np.array([number[name] for name in models], dtype=np.int32)
    one, other = (place[model_of[new[side]]] for side in ("first", "second"))
    sides = {"model_a": np.minimum(one, other), "model_b": np.maximum(one, other)}
    return lots_of(names.every("item"), by_name, item=new["item"], **sides, seed=SEED)


def _new_links(
    connection: Connection, columns: Columns, linked: int, asked: Mapping[str, int] | None, names: Names
) -> tuple[Codes, Codes, dict[str, int]]:
    """The study and the trial of each link that is not among them; and the links of each study to no judged trial.

    `linked`: how many links there are. `asked`: trials, each with its number, whose links are looked up first; where
    those are not all, links are counted by study, which takes PostgreSQL twice as long, and some studies' are read."""
    before = columns.links_by_study
    counted: dict[str, int] | None = None
    unjudged: dict[str, int] = {}
    study, trial = NONE, NONE
    if asked and before:
        among = connection.execute(select(schema.studies.c.key).limit(_FEW_STUDIES + 1)).scalars().all()
        if len(among) > _FEW_STUDIES:
            counted = links_by_study(connection)
            among = [one for one, number in counted.items() if before.get(one) != number]
        some = [
            row
            for keys in chunks(asked)
            for part in fetched(connection, _LINKS.where(_links.study.in_(among), _links.trial.in_(keys)))
            for row in part
        ]
        study, trial = columns.unknown_links(some, names, asked)
        if sum(before.values()) + len(study) == linked:
            return study, trial, unjudged
    came = dict(zip(*np.unique(study, return_counts=True), strict=True))
    counted = links_by_study(connection) if counted is None else counted
    changed = [
        one
        for one, code in zip(counted, names.codes("link_study", [*counted]).tolist(), strict=True)
        if before.get(one, 0) + came.get(code, 0) != counted[one]
    ]
    there = ~np.isin(study, names.codes("link_study", changed))
    study, trial = study[there], trial[there]
    trials = connection.execute(number_of(schema.trials)).scalar_one() if changed else 0
    for one in changed:
        if counted[one] == trials:  # of one study no trial has two links: it wants every trial on record
            of, on = columns.unlinked(one, names)
        else:
            rows = [row for part in fetched(connection, _LINKS.where(_links.study == one)) for row in part]
            of, on = columns.unknown_links(rows, names)
        judged = int((columns.numbers["link_study"] == names.codes("link_study", [one])[0]).sum()) + len(of)
        unjudged[one] = counted[one] - judged
        if unjudged[one] < 0:
            raise Unfit(f"hold links of a study that the record does not ({one[:12]})")
        study, trial = np.concatenate([study, of]), np.concatenate([trial, on])
    if gone := [one for one in before if one not in counted]:
        raise Unfit(f"hold studies that the record does not ({gone[0][:12]})")
    return study, trial, {one: number for one, number in unjudged.items() if number}


_LINKS: Select[*tuple[Any, ...]] = select(_links.study, _links.trial)
