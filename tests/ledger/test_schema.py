"""Claims about the tables: any version's become this one's, PostgreSQL would take them, and any text fits in."""

from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import ClauseElement, Table, event, inspect
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.schema import CreateIndex, CreateTable
from sqlalchemy.sql.elements import TextClause

from evenhand.domain.identity import canonical_json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.domain.study import Study
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import NoVerdict
from evenhand.ledger.read import projection
from evenhand.ledger.store import schema
from evenhand.ledger.store.budgets import BILLION, BudgetAccountOnDisk, cut_off, cut_off_by_run
from evenhand.ledger.store.claims import claim, release_all, renew
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.runs import charged_by_run, find_run, runs
from evenhand.ledger.store.strange_tables import strange_tables
from evenhand.ledger.store.tables import HEAD
from evenhand.ledger.upkeep import check as upkeep
from tests.database import by_hand, url_in
from tests.ledger import scene

POSTGRES = postgresql.dialect()

# Everything a text can hold in Python; lone surrogates too.
any_text = st.text(st.characters()) | st.text(st.sampled_from("\x00\x01\\u0ud83d\ud83d\ude00é\n"))


def test_a_new_ledger_has_exactly_the_tables_of_the_schema(ledger: Ledger):
    with ledger.reading() as connection:
        assert strange_tables(connection) == []
    assert made_in(ledger) == {*schema.metadata.tables, "alembic_version"}


def made_in(ledger: Ledger) -> set[str]:
    with ledger.reading() as connection:
        return set(inspect(connection).get_table_names())


def test_versions_of_the_tables_are_numbered_in_order():
    """Whether a ledger is newer is told by comparing the numbers as text."""
    assert {len(number) for number in scene.OLDER_TABLES} == {4}
    assert max(scene.OLDER_TABLES) == HEAD


def test_the_last_version_that_was_written_down_has_the_tables_of_the_schema(tmp_path: Path):
    """Who changes the schema raises HEAD and writes the new version's statements into older_tables.sql."""
    scene.make_older(tmp_path, HEAD)
    with closing(Ledger(url_in(tmp_path))) as ledger, ledger.reading() as connection:
        assert strange_tables(connection) == []


@pytest.mark.sqlite("the plan is SQLite's")
def test_trials_that_were_asked_again_are_found_without_looking_at_all(ledger: Ledger):
    with ledger.reading() as connection:
        plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {schema.ASKED_AGAIN}").all()
    assert ["USING COVERING INDEX ix_trials_again" in row.detail for row in plan] == [True]


@pytest.mark.parametrize("version", sorted(scene.OLDER_TABLES)[:-1])
def test_a_ledger_of_any_older_version_is_brought_up_to_date(tmp_path: Path, version: str):
    item = scene.ITEMS[0]
    scene.make_older(
        tmp_path,
        version,
        f"INSERT INTO items (digest, content) VALUES ('{item.digest}', '{canonical_json(item.content())}')",
    )
    with closing(Ledger(url_in(tmp_path))) as ledger:
        assert upkeep.check(ledger) == []
        assert upkeep.info(ledger).counts["items"] == 1
        assert made_in(ledger) == {*schema.metadata.tables, "alembic_version"}
        scene.set_up(ledger)
        ledger.commit(Entries(study=scene.STUDY.key, trials=scene.TRIALS))
        assert upkeep.check(ledger) == []
        assert upkeep.info(ledger).counts["trials"] == len(scene.TRIALS)
    with closing(Ledger(url_in(tmp_path), create=False)) as again:
        assert upkeep.info(again).counts["items"] == len(scene.ITEMS)


def test_a_growing_table_is_numbered_with_64_bits_on_postgresql():
    for table in (schema.judgements, schema.response_choices):
        assert "seq BIGSERIAL NOT NULL" in str(CreateTable(table).compile(dialect=POSTGRES))


def test_postgresql_would_take_every_table_and_index():
    for statement in postgres_ddl():
        assert statement.strip().startswith(("CREATE TABLE", "CREATE INDEX", "CREATE UNIQUE INDEX"))


def postgres_ddl() -> Iterator[str]:
    for table in schema.metadata.sorted_tables:
        yield str(CreateTable(table).compile(dialect=POSTGRES))
        for index in table.indexes:
            yield str(CreateIndex(index).compile(dialect=POSTGRES))


@contextmanager
def listening(ledger: Ledger) -> Generator[list[Any]]:
    """Every statement that SQLAlchemy is given."""
    statements: list[Any] = []

    def hear(_connection: Any, statement: Any, *_rest: Any) -> None:
        statements.append(statement)

    event.listen(ledger.engine, "before_execute", hear)
    yield statements
    event.remove(ledger.engine, "before_execute", hear)


@pytest.mark.sqlite("where they are run on PostgreSQL nobody need ask")
def test_postgresql_would_take_every_statement(ledger: Ledger):
    with listening(ledger) as statements:
        everything_once(ledger)
    assert len(statements) > 30
    for statement in statements:
        assert isinstance(statement, ClauseElement)
        if isinstance(statement, TextClause):
            asked_of_sqlite_only = ("PRAGMA integrity_check", "SELECT type, name, sql FROM sqlite_master")
            assert str(statement).startswith(asked_of_sqlite_only)
            continue
        if isinstance(statement, sqlite.Insert):
            continue  # written in PostgreSQL's own words there: the next test
        assert str(statement.compile(dialect=POSTGRES))


@pytest.mark.parametrize("table", schema.metadata.sorted_tables, ids=str)
def test_what_is_there_already_is_left_alone_in_both_databases(table: Table):
    for dialect in (postgresql, sqlite):
        statement = dialect.insert(table).on_conflict_do_nothing()
        assert "ON CONFLICT DO NOTHING" in str(statement.compile(dialect=dialect.dialect()))


def everything_once(ledger: Ledger) -> None:
    scene.set_up(ledger)
    run = ledger.begin_run("judge", {}, study=scene.STUDY.key, version="0")
    entries = Entries(
        study=scene.STUDY.key,
        trials=scene.TRIALS,
        judgements=[scene.prefers(trial, 1) for trial in scene.TRIALS],
        responses=[Response(item=scene.ITEMS[0].digest, model="coral", text="new")],
        release=["x"],
    )
    entries.add_call(scene.asked(), scene.REPLY, run=run, at=0.0, cost_usd=None)
    ledger.commit(entries)
    spend(ledger, run)
    ledger.add_responses([replace(scene.RESPONSES[0], text="other")], replace=True)
    keys = [trial.key for trial in scene.TRIALS]
    claim(ledger, [*keys, "open"], reader="r1", holder="host|1|1|run")
    renew(ledger, holder="host|1|1|run")
    release_all(ledger, holder="host|1|1|run")
    ledger.decided(keys, reader="r1")
    ledger.failed(keys)
    ledger.find_calls([scene.asked().key])
    ledger.responses_to(item.digest for item in scene.ITEMS)
    ledger.link(scene.STUDY.key, keys)
    ledger.fence_secret()
    ledger.end_run(run, {})
    runs(ledger, last=1)
    find_run(ledger, run)
    projection.judged(ledger, projection.studies(ledger, benchmark="numbers"))
    projection.items_of(ledger, scene.BENCHMARK.digest)
    upkeep.info(ledger)
    assert upkeep.check(ledger) == []


def spend(ledger: Ledger, run: str) -> None:
    """From a budget on disk; one reply costs more than was set aside."""
    for lasts in (True, False):
        purse = BudgetAccountOnDisk(ledger, "judge", most=1.0, lasts=lasts)
        assert purse.take(BILLION)
        assert purse.bind(BILLION)
        purse.unbind(BILLION, 2 * BILLION)
        ledger.commit(Entries(charges={run: 2.0}, purse=purse))
        purse.renew()
        purse.standing()
        purse.left()
        purse.give_back(keep=False)
        purse.leave(done=True)
        run = "another"
        with ledger.writing() as connection:
            connection.execute(schema.budgets.delete())
    cut_off(ledger, "judge")
    cut_off_by_run(ledger, ["judge"])
    charged_by_run(ledger, ["judge"])


@given(any_text)
def test_any_text_comes_back_as_it_was_and_no_nul_or_lone_surrogate_is_stored(value: str):
    kind = schema.FreeText()
    stored = kind.process_bind_param(value, POSTGRES)
    assert stored is not None
    assert "\x00" not in stored
    stored.encode()
    assert kind.process_result_value(stored, POSTGRES) == value


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00\x01")))
def test_ordinary_text_is_stored_as_it_is(value: str):
    assert schema.FreeText().process_bind_param(value, POSTGRES) == value


def test_nothing_is_stored_as_nothing():
    assert schema.FreeText().process_bind_param(None, POSTGRES) is None
    assert schema.FreeText().process_result_value(None, POSTGRES) is None


UGLY = ("nul \x00 in it", "lone \ud83d surrogate", "\x01marked", "\x01\x00\udfff", "'; DROP TABLE items; --")


@pytest.mark.parametrize("ugly", UGLY)
def test_no_word_of_a_user_or_a_model_can_bring_a_nul_into_any_column(ledger: Ledger, tmp_path: Path, ugly: str):
    item = Item(label=ugly, instruction=ugly, images=(ugly,), caption=ugly, criteria=((ugly, ugly),), category=ugly)
    benchmark = Benchmark(name=ugly, items=(item,), licence=ugly, citation=ugly, protocols=(ugly,))
    answers = [
        Response(item=item.digest, model=model, text=ugly, variant=ugly, flags=(ugly,)) for model in (ugly, "other")
    ]
    altered = Response(
        item=item.digest, model=ugly, text="t", variant="audit", made_from=answers[0].digest, alteration=ugly
    )
    judge = Rater(kind="human", name=ugly, endpoint=ugly, settings=Settings(stop=(ugly,), extra_body={ugly: ugly}))
    condition = Condition(protocol=ugly, prompt_hash="ab" * 32, image_detail=ugly)
    study = Study(
        benchmark=ugly,
        data=benchmark.digest,
        items=(item.digest,),
        models=(ugly, "other"),
        rater=judge.key,
        condition=condition.key,
        variant=ugly,
    )
    trial = scene.Trial(
        item=item.digest, responses=tuple(r.digest for r in answers), rater=judge.key, condition=condition.key
    )
    verdict = NoVerdict(reason="unreadable", detail=ugly)
    said = scene.judgement(trial, verdict, reader=ugly, notes={ugly: ugly}, calls=(scene.asked(ugly).key,))
    reply = replace(scene.REPLY, text=ugly, reasoning=ugly, model=ugly, fingerprint=ugly, adapted=(ugly,))

    ledger.register_benchmark(benchmark)
    ledger.add_responses([*answers, altered])
    ledger.register_study(study, rater=judge, condition=condition, wanted=1)
    run = ledger.begin_run(ugly, {ugly: ugly}, study=study.key, version="0")
    entries = Entries(study=study.key, trials=[trial], judgements=[said])
    entries.add_call(scene.asked(ugly), reply, run=run, at=0.0, cost_usd=0.0)
    ledger.commit(entries)
    ledger.end_run(run, {ugly: ugly})

    assert not any(b"\x00" in value for value in stored_texts(tmp_path))
    (found,) = projection.studies(ledger, benchmark=ugly)
    assert (found.benchmark, found.rater, found.condition, found.variant) == (ugly, judge, condition, ugly)
    (result,) = projection.judged(ledger, [found])
    assert (result.label, result.models, result.judgement) == (ugly, (ugly, "other"), said)
    assert sorted(r.digest for r in ledger.responses_to([item.digest], variant=ugly)) == sorted(
        r.digest for r in answers
    )
    assert ledger.decided([trial.key], reader=ugly) == {trial.key}
    assert ledger.find_calls([scene.asked(ugly).key])[scene.asked(ugly).key].reply == reply
    assert projection.items_of(ledger, benchmark.digest)[0].digest == item.digest
    assert (find_run(ledger, run).command, find_run(ledger, run).outcome) == (ugly, {ugly: ugly})
    assert upkeep.check(ledger) == []


def stored_texts(folder: Path) -> Iterator[bytes]:
    with by_hand(folder) as hand:
        for name in schema.metadata.tables:
            for row in hand.execute(f'SELECT * FROM "{name}"'):
                yield from (value for value in row if isinstance(value, bytes))
