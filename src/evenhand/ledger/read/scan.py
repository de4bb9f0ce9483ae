"""The trials of some studies and all judgements on them, read from the record into columns."""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any

import numpy as np
import numpy.typing as npt
from sqlalchemy import ColumnElement, Connection, Select, and_, bindparam, case, func, literal, or_, select, true

from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.lots import Lots
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import Coded, Interning, fetched
from evenhand.ledger.store.record import Ledger, chunks
from evenhand.stats.ratings.codes import Codes

FIRST = slice(2, 66)
SECOND = slice(70, 134)
REST = slice(134, None)
"""Where the digests stand in a trial's JSON list of responses."""

SOFT = '"soft"'
TELLING = ('"forced":true', '"adapted"', '"candidates_wrote"', '"grades"')
"""Of notes that are read: they tell of settings, of a forced answer, of what the answers say to the judge, or of grades
that stand next to a choice."""

_WALKED = 3
"""Up to how many judgements in the ledger for each trial of the studies all of them are walked through."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Trials:
    item: Coded
    first: Coded
    second: Coded
    """Digests; the names of `first` and `second` are the same list. Empty where one response was shown."""
    rest: Coded
    """What follows in the stored list: the same for all showings of two."""
    rater: Coded
    condition: Coded
    replicate: Codes
    attempt: Codes
    lot: Lots | None = None
    """Of the item and the models of the two responses; of no use where one was shown. None: nobody has drawn it."""

    def __len__(self) -> int:
        return len(self.attempt)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judgements:
    """In the order of the record."""

    seq: npt.NDArray[np.int64]
    at: npt.NDArray[np.float64]
    """When each was made, in seconds since the epoch."""
    trial: Codes
    """Index of the trial, in the order in which trials were read."""
    ending: Coded
    """The verdict as stored, or the reason why there is none."""
    note: Coded
    """The notes as stored where they hold one of the telling words, else empty."""
    soft: npt.NDArray[np.float64] | None = None
    """How likely the first shown was to be preferred, and half as likely as a tie; NaN where it is not known. None:
    nobody asked."""

    def rows(self, kept: npt.NDArray[Any]) -> "Judgements":
        return Judgements(
            seq=self.seq[kept],
            at=self.at[kept],
            trial=self.trial[kept],
            ending=self.ending.rows(kept),
            note=self.note.rows(kept),
            soft=None if self.soft is None else self.soft[kept],
        )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ShownAnswers:
    """Of each response that the trials name."""

    models: tuple[str, ...]
    """Whose it is; empty where none was shown."""
    words: npt.NDArray[np.float64]
    """NaN where none was shown."""
    stands: npt.NDArray[np.bool_] | None = None
    """Whether it stands for its model. None: nobody has looked."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scan:
    trials: Trials
    judgements: Judgements
    answers: ShownAnswers | None = None
    """None: nobody has looked."""
    whole: bool = False
    """Whether it is known that the record holds no judgement of these raters besides these."""


def scan(
    ledger: Ledger,
    studies: Sequence[str],
    *,
    items: Collection[str] | None = None,
    as_of: AsOf | None = None,
    soft: bool = False,
) -> Scan:
    """`items`: only what was judged on these. `soft`: with how likely each side was."""
    with ledger.reading() as connection:
        scope = scope_of(connection, studies, items)
        if as_of is not None:
            scope = scope.until(as_of)
        rows: dict[str, int] = {}
        trials = _trials(connection, scope, rows)
        return Scan(trials=trials, judgements=judgements_in(connection, scope, rows, soft=soft))


@dataclass(frozen=True, slots=True, kw_only=True)
class Scope:
    """Which rows are read, by a statement for each condition."""

    trials: Sequence[ColumnElement[bool]]
    judgements: Sequence[ColumnElement[bool]]
    links: Select[str] | None = None
    """The trials that are meant, where all are read."""
    every: int | None = None
    """How many trials there are if all are meant."""

    def until(self, as_of: AsOf) -> "Scope":
        """Without the judgements after that; trials without any judgement have no result."""
        before = schema.judgements.c.seq <= as_of.judgement
        return replace(self, judgements=[before & one for one in self.judgements])


_LAST = select(func.max(schema.judgements.c.seq))
_NUMBER = select(func.count()).where(schema.study_trials.c.study.in_(bindparam("studies", expanding=True)))


def scope_of(connection: Connection, studies: Sequence[str], items: Collection[str] | None = None) -> Scope:
    links, trials, judgements = schema.study_trials, schema.trials, schema.judgements
    ours = links.c.study.in_(studies)
    if items is not None:
        # From the items' trials to the links: a study may have a million of those.
        linked = select(links.c.trial).where(ours, links.c.trial == trials.c.key).correlate(trials).exists()
        on_items = [trials.c.item.in_(some) & linked for some in chunks(sorted(items))]
        keys = [select(trials.c.key).where(some) for some in on_items]
        return Scope(trials=on_items, judgements=[judgements.c.trial.in_(some) for some in keys])
    here = select(links.c.trial).where(ours)
    last = connection.execute(_LAST).scalar() or 0
    number = connection.execute(_NUMBER, {"studies": studies}).scalar_one()
    # To walk through everything costs a fraction of looking up each, unless the studies are a small part of it.
    if last > _WALKED * number:
        return Scope(trials=[trials.c.key.in_(here)], judgements=[judgements.c.trial.in_(here)])
    # Of one study no trial has two links.
    every = number if len(studies) == 1 else None
    # Not by the links' index: in the order of the record they find the trials, just read, close together in memory.
    return Scope(
        trials=[true()],
        judgements=[true()],
        links=select(links.c.trial).where((links.c.study + "").in_(studies)),
        every=every,
    )


def _trials(connection: Connection, scope: Scope, rows: dict[str, int]) -> Trials:
    """Notes in `rows` where each trial stands."""
    table = schema.trials
    columns = (table.c.item, table.c.responses, table.c.rater, table.c.condition, table.c.replicate, table.c.attempt)
    items, responses, rests, raters, given = (Interning() for _ in range(5))
    parts: list[tuple[Codes, ...]] = []
    number = count()
    for some in rows_where(connection, select(table.c.key, *columns), scope.trials):
        keys, item, shown, rater, condition, replicate, attempt = zip(*some, strict=True)
        rows.update(zip(keys, number, strict=False))
        parts.append(
            (
                items.codes(item),
                responses.codes([text[FIRST] for text in shown]),
                responses.codes([text[SECOND] for text in shown]),
                rests.codes([text[REST] for text in shown]),
                raters.codes(rater),
                given.codes(condition),
                np.array(replicate, dtype=np.int32),
                np.array(attempt, dtype=np.int32),
            )
        )
    item, first, second, rest, rater, condition, replicate, attempt = in_columns(parts, 8)
    return Trials(
        item=Coded(names=items.values, code=item),
        first=Coded(names=responses.values, code=first),
        second=Coded(names=responses.values, code=second),
        rest=Coded(names=rests.values, code=rest),
        rater=Coded(names=raters.values, code=rater),
        condition=Coded(names=given.values, code=condition),
        replicate=replicate,
        attempt=attempt,
    )


@cache
def _judgements(*, noted: bool, soft: bool) -> Select[*tuple[Any, ...]]:
    table = schema.judgements
    telling = or_(*(table.c.notes.contains(word, autoescape=True) for word in TELLING))
    notes = case((and_(table.c.notes != "{}", telling), table.c.notes), else_="") if noted else literal("")
    ending = func.coalesce(table.c.verdict, table.c.reason)
    return select(table.c.seq, table.c.at, table.c.trial, ending, notes, table.c.notes if soft else literal(""))


def judgements_in(
    connection: Connection, scope: Scope, rows: Mapping[str, int], *, noted: bool = True, soft: bool = False
) -> Judgements:
    """`rows`: where each trial stands, by key. Without `noted` every note is empty."""
    endings, told = Interning(), Interning()
    numbers: list[npt.NDArray[np.int64]] = []
    times: list[npt.NDArray[np.float64]] = []
    parts: list[tuple[Codes, ...]] = []
    likely: list[npt.NDArray[np.float64]] = []
    for some in rows_where(connection, _judgements(noted=noted, soft=soft), scope.judgements):
        seq, at, trial, ending, note, whole = zip(*some, strict=True)
        if soft:
            likely.append(np.array([soft_in(text) for text in whole], dtype=np.float64))
        numbers.append(np.array(seq, dtype=np.int64))
        times.append(np.array(at, dtype=np.float64))
        parts.append((_at(rows, trial), endings.codes(ending), told.codes(note)))
    trial, ending, note = in_columns(parts, 3)
    found = Judgements(
        seq=np.concatenate([np.zeros(0, dtype=np.int64), *numbers]),
        at=np.concatenate([np.zeros(0, dtype=np.float64), *times]),
        trial=trial,
        ending=Coded(names=endings.values, code=ending),
        note=Coded(names=told.values, code=note),
        soft=np.concatenate([np.zeros(0, dtype=np.float64), *likely]) if soft else None,
    )
    found = found.rows(np.argsort(found.seq, kind="stable"))
    if scope.links is None or scope.every == len(rows):
        return found
    linked = np.zeros(len(rows), dtype=np.bool_)
    for some in fetched(connection, scope.links):
        (keys,) = zip(*some, strict=True)
        linked[_at(rows, keys)] = True
    return found.rows(linked[found.trial])


def soft_in(notes: str) -> float:
    """NaN where they have none: a protocol or a reply of a verdict from a file may be that very word."""
    soft = json.loads(notes).get("soft") if SOFT in notes else None
    return float("nan") if soft is None else float(soft)


def _at(rows: Mapping[str, int], keys: Collection[str]) -> Codes:
    """Raises KeyError for a trial that is not on record, which the ledger never links nor judges."""
    return np.fromiter(map(rows.__getitem__, keys), np.int32, len(keys))


def rows_where(
    connection: Connection, query: Select[*tuple[Any, ...]], conditions: Iterable[ColumnElement[bool]]
) -> Iterator[list[Any]]:
    for condition in conditions:
        yield from fetched(connection, query.where(condition))


def in_columns(parts: Sequence[tuple[Codes, ...]], number: int) -> list[Codes]:
    if not parts:
        return [np.zeros(0, dtype=np.int32)] * number
    return [np.concatenate(column) for column in zip(*parts, strict=True)]
