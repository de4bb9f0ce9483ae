"""Columns of what the record holds beyond those that are known."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import Connection, Select, Table, func, select, text

from evenhand.ledger.read.answers import models_and_words
from evenhand.ledger.read.columns.record_columns import (
    LISTS,
    NONE,
    OF_LINKS,
    OF_TRIALS,
    Columns,
    Names,
    Unfit,
    joined,
    no_rows,
)
from evenhand.ledger.read.columns.trial_keys import Keys, NoKey, keys_in, keys_of, no_keys, numbered
from evenhand.ledger.read.counting import links_by_study
from evenhand.ledger.read.lots import SEED, Lots, lots_of
from evenhand.ledger.read.scan import FIRST, REST, SECOND, TELLING, soft_in
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.record import chunks
from evenhand.stats.ratings.codes import Codes

_FEW = 20_000
"""Trials whose links are looked up one by one."""
_AT_ONCE = 10_000
"""Trials of which SQLite makes one text."""
_DIGEST, _A_PAIR = 64, 136
"""Letters of a digest, and of a stored list of two."""
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
    total = connection.execute(number_of(schema.judgements)).scalar_one()
    links = links_by_study(connection)
    known = before.numbers["seq"]
    last = int(known.max(initial=0))
    if connection.dialect.name != "sqlite":
        last = max(0, last - _OUT_OF_ORDER)
    names = Names(before)
    new, asked = _judged_after(connection, last, names)
    if not before.judgements:  # all are looked through
        asked = None
    fresh = ~np.isin(new["seq"], known[known > last])
    new = {name: column[fresh] for name, column in new.items()}
    if before.judgements + len(new["seq"]) != total:
        raise Unfit("do not hold the judgements that the record holds")
    if before.judgements and not len(new["seq"]) and links == before.links_by_study:
        return None
    keys = new.pop("on")
    new["trial"], first = numbered(before.keys, keys)
    own = keys[first]
    new |= _trials(connection, own, asked, names)
    new |= _answers(connection, new["item"], names)
    new["lot"] = _lots(new, np.concatenate([before.numbers["model"], new["model"]]), names)
    more = Columns(
        numbers=new | dict.fromkeys(("link_study", "link_trial"), NONE),
        names=dict.fromkeys(LISTS, ()),
        make_keys=lambda: own,
    )
    there = before.with_more(more, only=OF_LINKS)
    study, trial, unjudged = _new_links(connection, there, links, asked, names)
    return Columns(
        numbers=new | {"link_study": study, "link_trial": trial},
        names=names.fresh(),
        unjudged=unjudged,
        make_keys=lambda: own,
    )


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


def _judged_after(
    connection: Connection, last: int, names: Names
) -> tuple[dict[str, npt.NDArray[Any]], list[str] | None]:
    """Each judgement after this number, and the keys of their trials where they are few."""
    parts = [no_rows("seq", "at", "ending", "note", "soft") | {"on": no_keys()}]
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
                "on": keys_of(key),
            }
        )
        if asked is not None:
            asked = [*asked, *key] if len(asked) < _FEW else None
    return joined(parts), asked


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
        parts = [_row_by_row(rows, names) for one in queries for rows in fetched(connection, one)]
    elif connection.dialect.name == "sqlite":
        parts = list(_side_by_side(connection, names))
    else:
        parts = [_row_by_row(rows, names) for rows in fetched(connection, select(table))]
    found = joined([{"key": no_keys(), **no_rows(*OF_TRIALS)}, *parts])
    if np.array_equal(found["key"], keys):
        return {name: found[name] for name in OF_TRIALS}
    place = numbered(keys, found.pop("key"))[0]
    ours = place < len(keys)
    if int(ours.sum()) != len(keys):
        raise Unfit("cannot hold judgements on trials that are not on record")
    order = np.empty(len(keys), dtype=np.intp)
    order[place[ours]] = np.flatnonzero(ours)
    return {name: column[order] for name, column in found.items()}


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


_TOGETHER = text(
    "SELECT count(*), sum(length(key) = 64 AND length(item) = 64 AND length(responses) = 136 AND length(rater) = 64 "
    "AND length(condition) = 64), group_concat(key, ''), group_concat(item, ''), group_concat(responses, ''), "
    "group_concat(rater, ''), group_concat(condition, ''), group_concat(replicate), group_concat(attempt) "
    "FROM trials WHERE rowid > :after AND rowid <= :last"
)
_THERE = text("SELECT coalesce(min(rowid), 1), coalesce(max(rowid), 0) FROM trials")


def _side_by_side(connection: Connection, names: Names) -> Iterator[dict[str, npt.NDArray[Any]]]:
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
            "key": keys_in(key),
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


def _coded(column: str, texts: str, names: Names) -> Codes:
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
    connection: Connection,
    columns: Columns,
    counted: Mapping[str, int],
    asked: Sequence[str] | None,
    names: Names,
) -> tuple[Codes, Codes, dict[str, int]]:
    """The study and the trial of each link that is not among them; and the links of each study to no judged trial.

    `asked`: trials whose links are looked up first; where those are not all, every link of the study is read."""
    before = columns.links_by_study
    changed = [study for study, number in counted.items() if before.get(study) != number]
    unjudged: dict[str, int] = {}
    study, trial = NONE, NONE
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
    trials = connection.execute(number_of(schema.trials)).scalar_one() if changed else 0
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
        raise Unfit(f"hold studies that the record does not ({gone[0][:12]})")
    return study, trial, {one: number for one, number in unjudged.items() if number}


_LINKS: Select[*tuple[Any, ...]] = select(_links.study, _links.trial)
