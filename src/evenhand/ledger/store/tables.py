"""Makes the tables of a new ledger, and brings those of an older one up to date.

Every change so far has added tables, columns that may be empty, and indexes: what `schema` has and the ledger has not
is made. What has to be moved as well is a step of its own.
"""

import json
import secrets
from functools import cache
from typing import Any

from sqlalchemy import Connection, Dialect, and_, func, insert, inspect, select, text, update
from sqlalchemy.engine.mock import MockConnection
from sqlalchemy.schema import CreateColumn

from evenhand.domain.identity import content_hash
from evenhand.format.number_ranges import as_ranges, from_ranges
from evenhand.ledger.store import links, schema, submission_schema

HEAD = "0018"
"""The version of the tables that this Evenhand writes, compared as text. Raise it with every change of the schema."""

_FIRST_WITH_LINKS = "0012"
_MOST = 2**62


@cache
def _statements(kind: type[Dialect]) -> tuple[str, ...]:
    """That make every table and index of a new ledger: SQLAlchemy takes longer to write them than SQLite to obey."""
    dialect = kind()
    said: list[str] = []

    def note(statement: Any, *_: Any, **__: Any) -> None:
        said.append(str(statement.compile(dialect=dialect)))

    schema.metadata.create_all(MockConnection(dialect, note), checkfirst=False)
    return tuple(said)


def bring_to_head(connection: Connection, before: str | None) -> None:
    """`before`: the tables' version; None of a ledger that is made. In a transaction that writes."""
    schema.complete_for(connection.dialect)
    if before is None:
        # SQLAlchemy would take as long over them as SQLite.
        driver = links.driver_of(connection)
        for statement in _statements(type(connection.dialect)):
            if driver is None:
                connection.exec_driver_sql(statement)
            else:
                driver.execute(statement)
        # The name that older versions of Evenhand look for; they refuse what is newer than they are.
        connection.execute(text("CREATE TABLE alembic_version (version_num VARCHAR(32) NOT NULL PRIMARY KEY)"))
        connection.execute(text("INSERT INTO alembic_version VALUES (:head)"), {"head": HEAD})
    else:
        schema.metadata.create_all(connection)
        _add_columns(connection)
        _add_indexes(connection)
        for version, step in _STEPS:
            if before < version:
                step(connection)
        connection.execute(text("UPDATE alembic_version SET version_num = :head"), {"head": HEAD})
    _first_words(connection)
    if before is not None and before < _FIRST_WITH_LINKS:
        links.cover_what_is_there(connection)


def _add_columns(connection: Connection) -> None:
    there = inspect(connection)
    for table in schema.metadata.sorted_tables:
        known = {column["name"] for column in there.get_columns(table.name)}
        for column in table.columns:
            if column.name not in known:
                words = CreateColumn(column).compile(dialect=connection.dialect)
                connection.execute(text(f"ALTER TABLE {table.name} ADD COLUMN {words}"))


def _add_indexes(connection: Connection) -> None:
    for table in schema.metadata.sorted_tables:
        for index in table.indexes:
            index.create(connection, checkfirst=True)


def _first_words(connection: Connection) -> None:
    known = set(connection.execute(select(schema.meta.c.name)).scalars())
    fresh: dict[str, Any] = {
        "fence_secret": secrets.token_hex(32),
        "ledger_id": secrets.token_hex(8),
        "signing_key": secrets.token_hex(32),
    }
    rows = [{"name": name, "value": value} for name, value in fresh.items() if name not in known]
    if rows:
        connection.execute(insert(schema.meta), rows)


def _move_receipts(connection: Connection) -> None:
    """Out of the events, which pages read often, into a table of their own."""
    events, receipts = submission_schema.submission_events, submission_schema.receipts
    judged = select(events.c.seq, events.c.submission).where(events.c.kind == "judged")
    for event, submission in connection.execute(judged).all():
        said = json.loads(connection.execute(select(events.c.content).where(events.c.seq == event)).scalar_one())
        receipt = said["receipt"]
        row = {"event": event, "submission": submission, "content": _canonical(receipt)}
        connection.execute(insert(receipts), [row])
        said["receipt"] = {name: receipt[name] for name in ("row", "moved", "study") if name in receipt}
        connection.execute(update(events).where(events.c.seq == event).values(content=_canonical(said)))


def _canonical(content: object) -> str:
    return json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=True)


def _charge_runs(connection: Connection) -> None:
    connection.execute(
        text("INSERT INTO charges (run, usd) SELECT run, sum(cost_usd) FROM calls WHERE cost_usd > 0 GROUP BY run")
    )


def _number_replicates(connection: Connection) -> None:
    connection.execute(text("UPDATE people_places SET replicate = 0 WHERE person IS NOT NULL"))


def _share_releases(connection: Connection) -> None:
    """A judge has one name for all variants of the answers, so that what was released of one is known to all; the name
    that it had is kept. A verdict that was read again has the number of the first judgement that said so."""
    table = schema.board_versions
    stored = connection.execute(select(table.c.seq, table.c.judge, table.c.content)).all()
    if not stored:
        return
    of_all, first = _names_of_all(connection), _first_said(connection)
    for seq, judge, words in stored:
        found: Any = json.loads(words)
        content: dict[str, Any] = {"batches": found, "counted": ""} if isinstance(found, list) else found
        for batch in content["batches"]:
            numbers = from_ranges(batch[-1], most=_MOST)
            batch[-1] = as_ranges(sorted(first.get(number, number) for number in numbers))
        changed = {"judge": of_all.get(judge, judge), "content": json.dumps({**content, "named": judge})}
        connection.execute(update(table).where(table.c.seq == seq).values(changed))


def _names_of_all(connection: Connection) -> dict[str, str]:
    """By the name that a judge had on a variant."""
    studies, raters = schema.studies, schema.raters
    named: dict[str, str] = {}
    asked = select(studies.c.rater, studies.c.condition, studies.c.content, raters.c.kind)
    for rater, condition, asked_for, kind in connection.execute(asked.join(raters, raters.c.key == studies.c.rater)):
        variant = json.loads(asked_for).get("variant")
        judge = "people" if kind == "human" else rater
        if variant:
            of_variant, of_all = (content_hash("judged as", [judge, condition, one])[:16] for one in (variant, ""))
            named[of_variant] = of_all
    return named


def _first_said(connection: Connection) -> dict[int, int]:
    """By the number of a judgement, that of an earlier one which said the same of the trial, however often asked;
    without a verdict all say the same."""
    made, trials = schema.judgements, schema.trials
    place = (trials.c.item, trials.c.responses, trials.c.rater, trials.c.condition, trials.c.replicate)
    of_place = select(*place).join(made, made.c.trial == trials.c.key).group_by(*place)
    several = of_place.having(func.count() > 1).subquery()
    query = (
        select(made.c.seq, *place, made.c.verdict)
        .join(trials, made.c.trial == trials.c.key)
        .join(several, and_(*(one == several.c[one.name] for one in place)))
        .order_by(made.c.seq)
    )
    known: dict[tuple[Any, ...], int] = {}
    found: dict[int, int] = {}
    for seq, *said in connection.execute(query):
        first = known.setdefault(tuple(said), seq)
        if first != seq:
            found[seq] = first
    return found


def _keep_what_was_open(connection: Connection) -> None:
    """Of benchmarks that were closed again, as the log tells: everybody has seen what had been judged by then."""
    table, log, made = schema.opened_benchmarks, schema.audit_log, schema.judgements
    closed = select(log.c.detail, func.max(log.c.at)).where(log.c.what == "closed a benchmark").group_by(log.c.detail)
    for benchmark, at in connection.execute(closed).all():
        known = connection.execute(select(func.max(made.c.seq)).where(made.c.at <= at)).scalar()
        of_this = table.c.benchmark == benchmark
        if connection.execute(select(table.c.at).where(of_this)).first() is None:
            connection.execute(insert(table), [{"benchmark": benchmark, "at": at, "closed": at, "known": known}])
        else:
            connection.execute(update(table).where(of_this).values(known=known))


_STEPS = (
    ("0008", _move_receipts),
    ("0009", _charge_runs),
    ("0010", _number_replicates),
    ("0016", _share_releases),
    ("0016", _keep_what_was_open),
)
"""What is moved besides, in order, each with the version that it came with."""
