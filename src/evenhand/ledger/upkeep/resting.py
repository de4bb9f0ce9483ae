"""What rests on rows of the record: boards, audits, submissions and their receipts, by name."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from sqlalchemy import Column, Connection, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.submission_schema import receipts, submissions

_CHUNK = 500
_DAMAGED = (TypeError, ValueError, KeyError, AttributeError, RecursionError)


class LazyRow:
    """Columns by name, put together only when they are asked for: nearly all rows are as they were written."""

    __slots__ = ("_names", "_values")

    def __init__(self, names: Sequence[str], values: Sequence[Any]) -> None:
        self._names, self._values = names, values

    def __getitem__(self, name: str) -> Any:
        return self._values[self._names.index(name)]


_studies, _trials, _links = schema.studies.c, schema.trials.c, schema.study_trials.c

_BY_TRIAL = {"judgements": "trial", "trials": "key"}
_BY_ITEM = {"items": "digest", "responses": "item", "response_choices": "item"}
_BY_RUN = {"run_ends": "run", "charges": "run", "calls": "run"}
_BY_STUDY = {
    "study_trials": "study",
    "studies": "key",
    "given_back": "study",
    "people_places": "record",
    "runs": "study",
}
_BY_DATA = {
    "benchmarks": "digest",
    "benchmark_items": "benchmark",
    "growing_versions": "data",
    "people_studies": "data",
    "intakes": "data",
}
_BY_SUBMISSION = {"submissions": "id", "submission_events": "submission", "receipts": "submission"}
_BY_GROWING = {
    "growing": "id",
    "growing_settings": "growing",
    "proposal_events": "growing",
    "growing_versions": "growing",
}


def resting(connection: Connection, suspects: Iterable[Mapping[str, Sequence[LazyRow]]]) -> list[str]:
    """Of rows by table."""
    every: dict[str, list[LazyRow]] = {}
    for some in suspects:
        for table, rows in some.items():
            every.setdefault(table, []).extend(rows)
    studies = _studies_on(connection, every)
    return [
        *_boards(connection, studies),
        *_submissions(connection, studies, _named(every, _BY_SUBMISSION)),
        *(f"the growing benchmark {name}" for name in sorted(_named(every, _BY_GROWING))),
    ]


def _named(rows: Mapping[str, Sequence[LazyRow]], column: Mapping[str, str]) -> set[str]:
    """What the rows of these tables name in these columns."""
    found = {row[name] for table, name in column.items() for row in rows.get(table, ())}
    return {one for one in found if isinstance(one, str)}


def _studies_on(connection: Connection, rows: Mapping[str, Sequence[LazyRow]]) -> set[str]:
    trials = _named(rows, _BY_TRIAL)
    trials |= _having(connection, _trials.key, _trials.item, _named(rows, _BY_ITEM))
    trials |= _read_from(connection, _named(rows, {"calls": "key"}))
    found = _named(rows, _BY_STUDY)
    found |= _having(connection, schema.runs.c.study, schema.runs.c.id, _named(rows, _BY_RUN))
    found |= _having(connection, _links.study, _links.trial, trials)
    places = schema.people_places.c
    found |= _having(connection, places.record, places.study, _named(rows, {"people_decisions": "study"}))
    for column, names in (
        (_studies.data, _named(rows, _BY_DATA)),
        (_studies.rater, _named(rows, {"raters": "key"})),
        (_studies.condition, _named(rows, {"conditions": "key"})),
    ):
        found |= _having(connection, _studies.key, column, names)
    return found


def _having(connection: Connection, wanted: Column[Any], column: Column[Any], names: set[str]) -> set[str]:
    ordered = sorted(names)
    parts = (ordered[start : start + _CHUNK] for start in range(0, len(ordered), _CHUNK))
    found = {one for part in parts for one in connection.execute(select(wanted).where(column.in_(part))).scalars()}
    return {one for one in found if isinstance(one, str)}


def _read_from(connection: Connection, calls: set[str]) -> set[str]:
    """The trials whose judgements were read from these calls."""
    if not calls:
        return set()
    query = select(schema.judgements.c.trial, schema.judgements.c.calls)
    return {trial for part in fetched(connection, query) for trial, keys in part if not calls.isdisjoint(_listed(keys))}


def _listed(stored: str) -> list[str]:
    try:
        return [str(one) for one in json.loads(stored)]
    except _DAMAGED:
        return []


def _boards(connection: Connection, studies: set[str]) -> list[str]:
    raters, conditions = schema.raters.c, schema.conditions.c
    names = {key: name for key, name in connection.execute(select(raters.key, raters.name))}
    protocols = {key: name for key, name in connection.execute(select(conditions.key, conditions.protocol))}
    query = select(_studies.key, _studies.purpose, _studies.benchmark, _studies.rater, _studies.condition)
    known = {row.key: row for row in connection.execute(query)}
    words = {
        f"the {row.purpose} of {row.benchmark}, judged by {names.get(row.rater, row.rater)} with "
        f"{protocols.get(row.condition, row.condition)}"
        for key in studies
        if (row := known.get(key)) is not None
    }
    return [*sorted(words), *(f"the study {key[:12]}, which is gone" for key in sorted(studies - known.keys()))]


def _submissions(connection: Connection, studies: set[str], named: set[str]) -> list[str]:
    given: dict[str, int] = {}
    for submission, content in connection.execute(select(receipts.c.submission, receipts.c.content)):
        try:
            behind = json.loads(content)["board_studies"]
        except _DAMAGED:
            behind = [*studies]
        if submission in named or not studies.isdisjoint(behind):
            given[submission] = given.get(submission, 0) + 1
    models = {one: model for one, model in connection.execute(select(submissions.c.id, submissions.c.model))}
    return [
        f"submission {one} ({models.get(one, 'gone')})" + (f" and its {given[one]} receipts" if one in given else "")
        for one in sorted(named | given.keys())
    ]
