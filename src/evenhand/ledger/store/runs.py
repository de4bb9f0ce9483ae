"""Runs on record: when, what, under which settings, and how each ended."""

import json
from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import BindParameter, ColumnElement, Row, Select, bindparam, exists, func, select

from evenhand.domain.verdict import CALL_FAILED
from evenhand.ledger.store import schema, statements
from evenhand.ledger.store.faults import LedgerError, of_row, until_made
from evenhand.ledger.store.record import Ledger, chunks

CHARGED = "charged_usd"
"""In a run's outcome: what its calls took off the budget."""
_AT_ONCE = 5_000
"""Judgements whose calls are held in memory."""


_ends, _charges = schema.run_ends.c, schema.charges.c
_KEYS: BindParameter[Any] = bindparam("keys", expanding=True)
_RUNS: Select[Any] = select(schema.runs, _ends.outcome, _ends.at.label("ended_at")).outerjoin(
    schema.run_ends, _ends.run == schema.runs.c.id
)
_RUNS_BY_ID = _RUNS.where(schema.runs.c.id.in_(_KEYS))
_CHARGED = select(_charges.run, func.sum(_charges.usd)).where(_charges.run.in_(_KEYS)).group_by(_charges.run)


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOnRecord:
    id: str
    command: str
    study: str | None
    settings: Mapping[str, Any]
    version: str
    at: float
    outcome: Mapping[str, Any] | None
    """None where the run has not ended, or was killed."""
    ended_at: float | None


def runs(ledger: Ledger, *, last: int | None = None, command: str | None = None) -> list[RunOnRecord]:
    """Newest first; all commands', or one's."""
    query = _RUNS.order_by(schema.runs.c.at.desc())
    if command is not None:
        query = query.where(schema.runs.c.command == command)
    if last is not None:
        query = query.limit(last)
    with ledger.reading() as connection:
        return [_run(row) for row in connection.execute(query)]


def find_run(ledger: Ledger, start: str) -> RunOnRecord:
    """The run whose id begins so; raises LedgerError where none or several do."""
    with ledger.reading() as connection:
        rows = connection.execute(_RUNS.where(schema.runs.c.id.startswith(start, autoescape=True))).all()
    if len(rows) != 1:
        many = f"{len(rows)} runs begin with" if rows else "There is no run"
        raise LedgerError(f"{many} '{start}'; `evenhand runs` lists them.", code="EH-RUN-UNKNOWN")
    return _run(rows[0])


def tokens_of_runs(ledger: Ledger, runs: Iterable[str]) -> Counter[str]:
    """All that the runs counted, by kind; of a run that was killed nothing is known."""
    total: Counter[str] = Counter()
    with ledger.reading() as connection:
        for some in chunks(runs):
            for row in connection.execute(_RUNS_BY_ID, {"keys": some}):
                total.update((_run(row).outcome or {}).get("tokens", {}))
    return total


def charged(ledger: Ledger, run: str) -> float:
    """Dollars that the run's calls took off the budget so far, replies of no use included.

    A call whose price is unknown counts, where there is a limit, as the most it can have cost.
    """
    return _charged(ledger, schema.charges.c.run == run)


def charged_by_run(ledger: Ledger, runs: Iterable[str]) -> dict[str, float]:
    """The same of several runs; one to which nothing was charged is not there."""
    with ledger.reading() as connection:
        return {run: usd for some in chunks(runs) for run, usd in connection.execute(_CHARGED, {"keys": some})}


def charged_to(ledger: Ledger, command: str) -> float:
    """The same of all runs of a command, those that were killed too."""
    begun = select(schema.runs.c.id).where(schema.runs.c.command == command)
    return _charged(ledger, schema.charges.c.run.in_(begun))


def results_in(ledger: Ledger, run: str) -> Counter[str]:
    """How many the run has put on record, by why they hold no decision, "" where they do; failed calls are none."""
    made = schema.judgements.c
    why = func.coalesce(made.reason, "")
    query = select(why, func.count()).where(made.run == run, why.not_in(CALL_FAILED)).group_by(why)
    with ledger.reading() as connection:
        return Counter({reason: number for reason, number in connection.execute(query)})


def without_a_call(ledger: Ledger, run: str) -> int:
    """Of the results of `results_in`, how many were read from calls that earlier runs made."""
    made = schema.judgements.c
    why = func.coalesce(made.reason, "")
    results = select(made.seq, made.calls).where(made.run == run, why.not_in(CALL_FAILED)).order_by(made.seq)
    own = select(schema.calls.c.key).where(schema.calls.c.run == run)
    found = last = 0
    with ledger.reading() as connection:
        while some := connection.execute(results.where(made.seq > last).limit(_AT_ONCE)).all():
            last = some[-1].seq
            rest = [set[str](json.loads(row.calls)) for row in some]
            asked = {
                key
                for part in chunks(sorted(set[str]().union(*rest)))
                for key in connection.execute(own.where(schema.calls.c.key.in_(part))).scalars()
            }
            found += sum(asked.isdisjoint(calls) for calls in rest)
    return found


@until_made
def last_result(ledger: Ledger) -> int:
    """The number of the newest judgement on record; 0 where there is none."""
    with ledger.reading() as connection:
        return connection.execute(_LAST).scalar() or 0


_LAST = select(func.max(schema.judgements.c.seq))


@until_made
def results_since(ledger: Ledger, since: int, trials: Collection[str]) -> dict[str, tuple[str, str]]:
    """Of the trials with a result after that number: its run, and why it holds no decision, "" where it does."""
    with ledger.reading() as connection:
        if (connection.execute(_LAST).scalar() or 0) <= since:  # as in most runs, whose every trial is looked up here
            return {}
        return {
            row.trial: (row.run, row.reason or "")
            for some in chunks(trials)
            for row in connection.execute(statements.RESULTS_SINCE, {"keys": some, "since": since})
        }


@until_made
def results_by_others(ledger: Ledger, study: str, run: str, *, after: int, until: int) -> Counter[str]:
    """How many results of the study's trials other runs have put on record between two numbers, by run."""
    made, linked = schema.judgements.c, schema.study_trials.c
    # Not a join: SQLite would begin it with all links of the study.
    wanted = exists().where(linked.study == study, linked.trial == made.trial)
    query = (
        select(made.run, func.count())
        .where(wanted, made.seq > after, made.seq <= until, made.run != run)
        .where(func.coalesce(made.reason, "").not_in(CALL_FAILED))
        .group_by(made.run)
    )
    with ledger.reading() as connection:
        return Counter({other: number for other, number in connection.execute(query)})


def _charged(ledger: Ledger, where: ColumnElement[bool]) -> float:
    query = select(func.sum(schema.charges.c.usd)).where(where)
    with ledger.reading() as connection:
        return connection.execute(query).scalar() or 0.0


def _run(row: Row[Any]) -> RunOnRecord:
    with of_row("run", row.id):
        return RunOnRecord(
            id=row.id,
            command=row.command,
            study=row.study,
            settings=dict(json.loads(row.settings)),
            version=row.version,
            at=float(row.at),
            outcome=None if row.outcome is None else dict(json.loads(row.outcome)),
            ended_at=None if row.ended_at is None else float(row.ended_at),
        )
