"""What runs asked of models and what it cost; where judgements come from; a benchmark's licence."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import orjson
from sqlalchemy import BindParameter, Row, bindparam, func, select

from evenhand.domain.call import Usage
from evenhand.domain.identity import canonical_json
from evenhand.domain.trial import Condition
from evenhand.ledger.store import schema
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.record import Ledger, chunks


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """Of the replies that came in one run; what was read from replies of other runs cost nothing here."""

    replies: int
    requests: int
    """Retries included."""
    input_tokens: int
    output_tokens: int
    uncounted: int
    """Replies whose endpoint did not count tokens."""
    cost_usd: float
    unpriced: int
    """Replies whose price is unknown; they are not in `cost_usd`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DataTerms:
    """Under which a benchmark's data may be used."""

    licence: str
    citation: str


_calls, _said, _trials, _conditions = schema.calls.c, schema.judgements.c, schema.trials.c, schema.conditions.c
_KEYS: BindParameter[Any] = bindparam("keys", expanding=True)
_SPENDING = (
    select(
        _calls.run,
        func.count().label("replies"),
        func.sum(_calls.requests).label("requests"),
        func.coalesce(func.sum(_calls.input_tokens), 0).label("tokens_in"),
        func.coalesce(func.sum(_calls.output_tokens), 0).label("tokens_out"),
        func.count(_calls.output_tokens).label("counted"),
        func.coalesce(func.sum(_calls.cost_usd), 0.0).label("cost_usd"),
        func.count(_calls.cost_usd).label("priced"),
    )
    .where(_calls.run.in_(_KEYS))
    .group_by(_calls.run)
)
_COUNTS = (_calls.input_tokens, _calls.output_tokens, _calls.cached_tokens)
_RECORDED = select(_calls.key, _calls.request, *_COUNTS, _calls.requests, _calls.run)
_RECORDED_BY_KEY = _RECORDED.where(_calls.key.in_(_KEYS))
_LATEST = (
    select(_said.calls)
    .join(schema.trials, _trials.key == _said.trial)
    .join(schema.conditions, _conditions.key == _trials.condition)
    .where(_said.calls != "[]")
    .order_by(_said.seq.desc())
)


def spending(ledger: Ledger, runs: Iterable[str]) -> dict[str, Spent]:
    """By run; a run without a reply is not there."""
    with ledger.reading() as connection:
        found = [row for some in chunks(runs) for row in connection.execute(_SPENDING, {"keys": some})]
    return {
        row.run: Spent(
            replies=row.replies,
            requests=row.requests,
            input_tokens=row.tokens_in,
            output_tokens=row.tokens_out,
            uncounted=row.replies - row.counted,
            cost_usd=row.cost_usd,
            unpriced=row.replies - row.priced,
        )
        for row in found
    }


def endpoints_said(ledger: Ledger, runs: Iterable[str]) -> tuple[str, ...]:
    """What the endpoints said they ran, with the fingerprint where they gave one."""
    calls = schema.calls
    query = select(calls.c.model, calls.c.fingerprint).distinct()
    with ledger.reading() as connection:
        found = {
            f"{model} ({fingerprint})" if fingerprint else model
            for some in chunks(runs)
            for model, fingerprint in connection.execute(query.where(calls.c.run.in_(some)))
        }
    return tuple(sorted(found - {""}))


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementSources:
    """What judgements of some studies were read from, and by what."""

    readers: tuple[str, ...]
    """Versions of the reading rule."""
    known: Mapping[str, int]
    """Replies that came in other runs, by the command of those."""


def sources_of(ledger: Ledger, studies: Sequence[str], runs: Iterable[str]) -> JudgementSources:
    """Of the judgements of these studies; `runs` are the studies' own."""
    calls, wanted, table = schema.calls, schema.study_trials, schema.judgements
    of_study = wanted.c.study.in_(studies)
    with ledger.reading() as connection:
        every = connection.execute(select(calls.c.run, func.count()).group_by(calls.c.run)).all()
        own = {*runs}
        others = {run: number for run, number in every if run not in own}
        readers = set(connection.execute(select(table.c.reader).distinct()).scalars())
        if len(readers) > 1:
            some_of = select(table.c.reader).join(wanted, wanted.c.trial == table.c.trial).where(of_study)
            readers = set(connection.execute(some_of.distinct()).scalars())
        if not others:
            return JudgementSources(readers=tuple(sorted(readers)), known={})
        keys = set[str]()
        query = select(table.c.calls).join(wanted, wanted.c.trial == table.c.trial).where(of_study)
        for some in fetched(connection, query):
            # Lists side by side are read many times faster than one by one.
            keys.update(chain.from_iterable(orjson.loads(f"[{','.join(calls for (calls,) in some)}]")))
        fewer = len(keys) < sum(others.values())
        column, sought = (calls.c.key, keys) if fewer else (calls.c.run, {*others})
        by_run = Counter(
            run
            for some in chunks(sought)
            for key, run in connection.execute(select(calls.c.key, calls.c.run).where(column.in_(some)))
            if key in keys and run in others
        )
        commands = dict(connection.execute(select(schema.runs.c.id, schema.runs.c.command)).all())
    known = Counter[str]()
    for run, number in by_run.items():
        if run in commands:
            known[commands[run]] += number
    return JudgementSources(readers=tuple(sorted(readers)), known=known)


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedCall:
    request: str
    """Its content as canonical JSON."""
    usage: Usage
    """Tokens as the endpoint counted them."""
    requests: int
    """HTTP requests that it took."""
    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedCalls:
    """The calls that one judgement was read from, in their order."""

    calls: tuple[RecordedCall, ...]


def judged_calls(ledger: Ledger, *, rater: str, condition: Condition, most: int = 400) -> list[JudgedCalls]:
    """Of the last judgements of this rater under this protocol, read in this way, whatever else was shown."""
    latest = _LATEST.where(
        _trials.rater == rater,
        _conditions.protocol == condition.protocol,
        _conditions.readout == condition.readout,
        _conditions.extractor == condition.extractor,
    ).limit(most)
    with ledger.reading() as connection:
        judged: list[list[str]] = [json.loads(row.calls) for row in connection.execute(latest)]
        found = {
            row.key: _recorded(row)
            for some in chunks({key for keys in judged for key in keys})
            for row in connection.execute(_RECORDED_BY_KEY, {"keys": some})
        }
    each = (tuple(found[key] for key in keys if key in found) for keys in judged)
    return [JudgedCalls(calls=some) for some in each if some]


def answered_calls(ledger: Ledger, *, command: str, endpoint: str, model: str, most: int = 400) -> list[JudgedCalls]:
    """Of the last calls of a command's runs, those to this model, each alone."""
    calls, runs = schema.calls, schema.runs
    query = (
        _RECORDED.join(runs, runs.c.id == calls.c.run)
        .where(runs.c.command == command, calls.c.request.contains(_named(model), autoescape=True))
        .order_by(calls.c.at.desc())
        .limit(most)
    )
    with ledger.reading() as connection:
        found = [_recorded(row) for row in connection.execute(query)]
    asked = ((one, json.loads(one.request)) for one in found)
    return [JudgedCalls(calls=(one,)) for one, to in asked if (to["endpoint"], to["model"]) == (endpoint, model)]


def _named(model: str) -> str:
    """As a request's content names it; its words may say the same."""
    return canonical_json({"model": model})[1:-1]


def _recorded(row: Row[Any, Any, Any, Any, Any, Any, Any]) -> RecordedCall:
    return RecordedCall(
        request=row.request,
        usage=Usage(input=row.input_tokens, output=row.output_tokens, cached=row.cached_tokens),
        requests=row.requests,
        run=row.run,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgementCost:
    """Of one judgement: its calls together, of which one that several judgements were read from is paid in parts."""

    item: str
    cost_usd: float | None
    tokens: float | None
    """Both ways; None where an endpoint did not count."""
    seconds: float | None
    """Of its first call; None where it came in a batch, or nobody counted."""


def judgement_costs(ledger: Ledger, studies: Sequence[str]) -> list[JudgementCost]:
    """Of the judgements of these studies that were read from calls, each trial's latest."""
    said, trials, wanted, calls = schema.judgements, schema.trials, schema.study_trials, schema.calls
    query = (
        select(said.c.trial, said.c.calls, trials.c.item)
        .join(trials, trials.c.key == said.c.trial)
        .join(wanted, wanted.c.trial == said.c.trial)
        .where(wanted.c.study.in_(studies), said.c.calls != "[]")
        .order_by(said.c.seq)
    )
    columns = select(calls.c.key, calls.c.cost_usd, calls.c.input_tokens, calls.c.output_tokens, calls.c.seconds)
    with ledger.reading() as connection:
        judged = {row.trial: (row.item, json.loads(row.calls)) for row in connection.execute(query)}
        sharing = Counter(key for _, keys in judged.values() for key in keys)
        found = {
            row.key: row for some in chunks(sharing) for row in connection.execute(columns.where(calls.c.key.in_(some)))
        }

    def cost(item: str, keys: list[str]) -> JudgementCost:
        rows = [(found[key], sharing[key]) for key in keys if key in found]
        costs = [None if row.cost_usd is None else row.cost_usd / times for row, times in rows]
        tokens = [
            None if row.input_tokens is None or row.output_tokens is None
            else (row.input_tokens + row.output_tokens) / times
            for row, times in rows
        ]  # fmt: skip
        return JudgementCost(
            item=item, cost_usd=_total(costs), tokens=_total(tokens), seconds=rows[0][0].seconds or None
        )

    return [cost(item, keys) for item, keys in judged.values() if any(key in found for key in keys)]


def _total(parts: Sequence[float | None]) -> float | None:
    known = [part for part in parts if part is not None]
    return sum(known) if len(known) == len(parts) else None


def terms_of(ledger: Ledger, data: str) -> DataTerms:
    """Of a benchmark's data, by its digest; empty where the ledger does not hold it."""
    table = schema.benchmarks
    with ledger.reading() as connection:
        row = connection.execute(select(table.c.licence, table.c.citation).where(table.c.digest == data)).first()
    return DataTerms(licence="", citation="") if row is None else DataTerms(licence=row.licence, citation=row.citation)
