"""Claims about the chain: what was changed, put in, taken out or exchanged is found; what may change is not told."""

import json
import random
import struct
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import Boolean, Float, delete, select, text

from evenhand.ledger.store import schema
from evenhand.ledger.store.claims import claim
from evenhand.ledger.store.columns import fetched
from evenhand.ledger.store.links import (
    ERASED,
    GENESIS,
    MAY_CHANGE,
    SHAPES,
    Batch,
    cover_what_is_there,
    text_digest,
    write_link,
)
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.upkeep import chain, signing
from evenhand.ledger.upkeep import check as upkeep
from evenhand.ledger.upkeep.published import published_head
from evenhand.site.accounts.store import erase_name
from evenhand.site.living.settings import find_growing
from evenhand.site.living.versions import publish
from evenhand.site.people.changes import give_back, set_people_study
from evenhand.site.people.quality import decide
from evenhand.site.people.studies import remove_people_study, take_place
from tests.database import ON_POSTGRESQL, Hand, Unfit, by_hand, copy_ledger, url_in
from tests.examples import examples
from tests.ledger import scene
from tests.ledger.scene import TRIALS, child, heard, killed, prefers
from tests.ledger.test_growing import accepted, begun
from tests.ledger.test_people_studies import BENCHMARK, ITEMS, MODELS, Response, made, person, say, taken, verdict
from tests.refusals import noted, refused, tells
from tests.reports.receipts.receipt_scene import House, another_joins, receipted

FLIPS = examples(200)
FREE = {
    "people_studies": {"title", "asked", "comparisons", "made_by", "at", "paused"},
    "people_places": {"number", "person", "replicate", "run", "at", "checks", "read"},
    "submissions": {"team"},
}
"""Columns that may change, and that no figure rests on."""


def fill(folder: Path) -> None:
    """Rows in every table that a figure rests on."""
    found = receipted(House(folder=folder))
    another_joins(found)
    ledger = found.house.ledger
    ledger.commit(Entries(charges={found.house.run: 0.5}))
    ledger.end_run(found.house.run, {"known": 0})
    with_people(ledger)
    growing = begun(ledger)
    accepted(ledger, growing)
    found_growing = find_growing(ledger, growing)
    assert found_growing
    publish(ledger, found_growing, by="owner")
    ledger.close()


def with_people(ledger: Ledger) -> str:
    """A study in which one person has judged twice, once anew, and has given the rest back."""
    ledger.register_benchmark(BENCHMARK)
    ledger.add_responses(
        [Response(item=item.digest, model=model, text=f"{model}: {item.label}") for item in ITEMS for model in MODELS]
    )
    study, ada = made(ledger), person(ledger)
    place = taken(ledger, study, ada)
    for number, code in ((1, "A"), (2, "B"), (2, "A")):
        say(ledger, place, number, verdict(place, code))
    give_back(ledger, place.id, ada)
    decide(ledger, study, ada.id, left_out=True, rule="gold", by="owner")
    decide(ledger, study, ada.id, left_out=False, rule="asked again", by="owner")
    return study


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("filled")
    fill(folder)
    return folder


@pytest.fixture
def copied(filled: Path, tmp_path: Path) -> Path:
    return copy_ledger(filled, tmp_path / "copy")


@contextmanager
def opened(folder: Path) -> Generator[Ledger]:
    with closing(Ledger(url_in(folder), create=False)) as ledger:
        yield ledger


def problems(ledger: Ledger) -> list[str]:
    """All that `ledger check` tells."""
    return [*upkeep.check(ledger), *chain.check(ledger).problems]


def columns() -> list[tuple[str, str]]:
    """Of the tables that a figure rests on, all but those that may change."""
    return [(t.name, c.name) for t in SHAPES for c in t.columns if c.name not in FREE.get(t.name, ())]


def flipped(lot: random.Random, value: object) -> object:
    """With one bit of one byte turned over, also where that is no text any more."""
    if value is None:
        return "x"
    if isinstance(value, bool):
        return not value
    if isinstance(value, int):
        return value ^ 1
    data = bytearray(struct.pack(">d", value) if isinstance(value, float) else bytes(value) or b" ")  # type: ignore[call-overload]
    data[lot.randrange(len(data))] ^= 1 << lot.randrange(7)
    return struct.unpack(">d", data)[0] if isinstance(value, float) else bytes(data)


def flip(hand: Hand, lot: random.Random, table: str, column: str) -> tuple[str, str, Any, Any] | None:
    """Turns over a bit in some row; returns what puts it right again, None where there is no row or it cannot be so."""
    rows = hand.execute(f'SELECT {hand.row}, "{column}" FROM {table}')
    if not rows:
        return None
    row, value = lot.choice(rows)
    written = flipped(lot, value)
    if written in (b"", b"x", b"y"):
        return None
    try:
        return table, column, value, hand.set(table, column, written, row)
    except Unfit:  # the key of another row, or a number that is none
        return None


@pytest.mark.slow
@pytest.mark.drawn
def test_one_bit_of_any_row_that_a_figure_rests_on_is_found_every_time(copied: Path):
    lot, every = random.Random(17), columns()
    done = dict.fromkeys((table for table, _ in every), 0)
    with opened(copied) as ledger, by_hand(copied) as database:
        assert problems(ledger) == []
        while sum(done.values()) < FLIPS or (sum(done.values()) < 200 and not all(done.values())):
            table, column = lot.choice(every)
            back = flip(database, lot, table, column)
            if back is None:
                continue
            found = problems(ledger)
            assert found, (table, column, back)
            database.set(*back)
            done[table] += 1
        assert problems(ledger) == []
    assert min(done.values()) > 0, done


def tables(database: Hand) -> Iterator[tuple[str, list[str], list[tuple[Any, ...]]]]:
    """Those with two rows or more: name, columns, rows."""
    for table in SHAPES:
        rows = database.execute(f"SELECT * FROM {table.name}")
        if len(rows) > 1:
            yield table.name, [column.name for column in table.columns], rows


def put(database: Hand, table: str, row: tuple[Any, ...]) -> None:
    """Unless it is there."""
    marks = ", ".join("CAST(? AS TEXT)" if isinstance(value, bytes) else "?" for value in row)
    database.execute(f"INSERT INTO {table} VALUES ({marks}) ON CONFLICT DO NOTHING", row)


def without(database: Hand, table: str, names: list[str], row: tuple[Any, ...]) -> None:
    """Of this key."""
    keys = [column.name for one in SHAPES if one.name == table for column in one.primary_key]
    where = " AND ".join(f'"{key}" = ' + ("?" if table_number(row, names, key) else "CAST(? AS TEXT)") for key in keys)
    database.execute(f"DELETE FROM {table} WHERE {where}", [row[names.index(key)] for key in keys])


def table_number(row: tuple[Any, ...], names: list[str], key: str) -> bool:
    return isinstance(row[names.index(key)], int)


@pytest.mark.slow
def test_a_row_taken_out_put_in_or_exchanged_is_found_in_every_table(copied: Path):
    lot, seen = random.Random(17), set[str]()
    with opened(copied) as ledger, by_hand(copied) as database:
        for table, names, rows in list(tables(database)):
            one, other = lot.sample(rows, 2)
            (key, *_) = [names.index(c.name) for t in SHAPES if t.name == table for c in t.primary_key]
            strange = tuple(
                (value + 1000 if isinstance(value, int) else value + b"0") if place == key else value
                for place, value in enumerate(one)
            )
            once = names.index("once") if "once" in names else None
            strange = tuple(None if place == once else value for place, value in enumerate(strange))
            without(database, table, names, one)
            assert noted(problems(ledger), f"{table}: 1 taken out"), table
            put(database, table, one)
            if table not in ("intakes", "growing", "people_places"):  # of which there may be but one of a name
                put(database, table, strange)
                assert noted(problems(ledger), f"{table}: 1 put in"), table
                without(database, table, names, strange)
            without(database, table, names, one)
            without(database, table, names, other)
            exchanged = [
                tuple(a if place == key else b for place, (a, b) in enumerate(zip(*pair, strict=True)))
                for pair in ((one, other), (other, one))
            ]
            for row in exchanged:
                put(database, table, row)
            held = [place for place, name in enumerate(names) if name not in FREE.get(table, ())]
            before, after = ({tuple(row[at] for at in held) for row in some} for some in ((one, other), exchanged))
            assert bool(problems(ledger)) == (before != after), table
            for row in exchanged:
                without(database, table, names, row)
            for row in (one, other):
                put(database, table, row)
            assert problems(ledger) == []
            seen.add(table)
    assert seen >= {
        "judgements",
        "calls",
        "trials",
        "study_trials",
        "responses",
        "response_choices",
        "submission_events",
    }


def test_rows_of_another_ledger_are_found_with_and_without_their_links(copied: Path, tmp_path: Path):
    other = tmp_path / "other"
    other.mkdir()
    house = House(folder=other, worth={"amber": 0, "reference": 2, "blue": 3})
    receipted(house)
    house.ledger.close()
    with by_hand(other) as there:
        rows = {
            name: there.execute(f"SELECT * FROM {name}")
            for name in ("trials", "study_trials", "calls", "studies", "judgements", "links", "tips")
        }
    with by_hand(copied) as database, opened(copied) as ledger:
        for table in ("trials", "study_trials", "calls", "studies"):
            for row in rows[table]:
                put(database, table, row)
        for seq, *judgement in rows["judgements"]:
            put(database, "judgements", (seq + 1000, *judgement))
        assert noted(problems(ledger), "judgements: 56 put in")
        for table in ("links", "tips"):
            for row in rows[table]:
                put(database, table, row)
        found = problems(ledger)
        assert noted(found, "Link 1 of writer")
        assert noted(found, "judgements: 56 put in")


def test_it_is_said_what_rests_on_a_row(copied: Path):
    with by_hand(copied) as database, opened(copied) as ledger:
        database.execute("UPDATE judgements SET verdict = replace(verdict, '1', '0') WHERE seq = 3")
        found = chain.check(ledger)
        (one,) = found.findings
        assert (one.table, one.changed, one.put_in, one.taken_out, one.rows) == ("judgements", 1, 0, 0, ("3",))
        assert "the board of visit-bench, judged by vllm/judge with visit_pairwise" in found.rests
        assert noted(found.rests, "submission", "(Ours)", "1 receipts")
        tells(found.problems[0], "judgements: 1 changed", 3)
        document: Any = found.as_json()
        assert document["findings"][0]["rows"] == ["3"]


def test_links_that_were_cut_off_or_made_anew_are_told_by_a_head_that_lies_elsewhere(copied: Path, tmp_path: Path):
    with opened(copied) as ledger:
        then = chain.head(ledger)
        kept = tmp_path / "head.json"
        kept.write_text(json.dumps({"chain": then.as_json()}), encoding="utf-8")
        assert chain.continues(ledger, published_head(kept)) == []
        scene.set_up(ledger)  # a writer of its own joins what was there
        assert chain.continues(ledger, then) == []
        assert len(chain.head(ledger).tips) == 1
        assert problems(ledger) == []
    with by_hand(copied) as database:
        database.execute("UPDATE judgements SET verdict = replace(verdict, '1', '0') WHERE seq = 3")
        database.execute("DELETE FROM links")
        database.execute("DELETE FROM tips")
    with opened(copied) as ledger:
        assert chain.check(ledger).problems
        with ledger.writing() as connection:
            cover_what_is_there(connection)
        assert problems(ledger) == []  # nothing inside a ledger can tell
        assert len(chain.continues(ledger, published_head(kept))) == len(then.tips)


def test_a_head_without_numbers_holds_the_ledger_as_one_with_them_does(copied: Path, tmp_path: Path):
    """It names neither writers nor how many links they wrote, and no hash over those by which they could be tried."""
    with opened(copied) as ledger:
        then = chain.head(ledger)
        kept = tmp_path / "head.json"
        kept.write_text(json.dumps({"chain": then.unnumbered.as_json()}), encoding="utf-8")
        found = published_head(kept)
        assert found == then.unnumbered
        assert [(one.writer, one.number) for one in found.tips] == [("", 0)] * len(then.tips)
        assert found.hash != then.hash
        assert chain.continues(ledger, found) == []
        scene.set_up(ledger)
        assert chain.continues(ledger, found) == []
        elsewhere = replace(found, tips=(replace(found.tips[0], hash="0" * 64),))
        assert len(chain.continues(ledger, elsewhere)) == 1
    kept.write_text(json.dumps({"chain": elsewhere.as_json() | {"head": found.hash}}), encoding="utf-8")
    with refused(chain.HeadError, kept, code="EH-LEDGER-HEAD-EDITED"):
        published_head(kept)


def test_a_link_that_says_that_rows_ended_is_believed_only_where_rows_may_change(copied: Path):
    """Whoever has the file can add a link that follows all others, so that every head that was published still fits."""
    lasting = [table for table in SHAPES if table not in MAY_CHANGE]
    with opened(copied) as ledger:
        then = chain.head(ledger)
        with ledger.engine.begin() as connection:
            for table in lasting:
                gone = select(*SHAPES[table].columns).order_by(*table.primary_key).limit(1)
                rows = [row for part in fetched(connection, gone) for row in part]
                connection.execute(delete(table).where(SHAPES[table].among(rows)))
                write_link(connection, None, Batch(gone={table.name: [SHAPES[table].token(row) for row in rows]}))
        assert chain.continues(ledger, then) == []
        found = chain.check(ledger)
        assert {(one.table, one.taken_out) for one in found.findings} == {(table.name, 1) for table in lasting}
        assert sum("which none ever do" in words for words in found.broken) == len(lasting)


def test_a_link_that_was_touched_is_found(copied: Path):
    with opened(copied) as ledger, by_hand(copied) as database:
        lot = random.Random(5)
        for column in ("writer", "number", "previous", "joined", "at", "rows", "hash") * 3:
            back = None
            while back is None:
                back = flip(database, lot, "links", column)
            assert chain.check(ledger).broken, column
            database.set(*back)
        for statement in ("DELETE FROM links WHERE hash = (SELECT min(hash) FROM tips)", "DELETE FROM tips"):
            database.execute(statement)
            assert chain.check(ledger).broken, statement


GARBAGE = ("[" * 100_000, "[1e999]", b"\xff\xfe", 2**62, float("inf"), "x")


def set_as_given(database: Hand, table: str, column: str, value: object, row: object) -> object:
    """On SQLite also bytes that are no text."""
    if ON_POSTGRESQL or not isinstance(value, bytes):
        return database.set(table, column, value, row)
    database.execute(f'UPDATE {table} SET "{column}" = ? WHERE rowid = ?', (value, row))
    return row


@pytest.mark.slow
@pytest.mark.parametrize("table", ["links", "tips", "judgements", "receipts"])
def test_whatever_stands_where_something_was_written_is_told_and_stops_nothing(copied: Path, table: str):
    with opened(copied) as ledger, by_hand(copied) as database:
        names = [column.name for column in schema.metadata.tables[table].columns]
        for name, value in product(names, GARBAGE):
            if name in ("seq", "event"):  # what SQLite numbers rows by holds nothing but numbers
                continue
            last = f'SELECT {database.row}, "{name}" FROM {table} ORDER BY {database.row} DESC LIMIT 1'
            ((row, whole),) = database.execute(last)
            try:
                moved = set_as_given(database, table, name, value, row)
            except Unfit:  # on PostgreSQL a column holds nothing but what is of its type
                continue
            found = chain.check(ledger)
            assert [*found.problems, *upkeep.check(ledger)], (name, value)
            assert json.dumps(found.as_json())
            database.set(table, name, whole, moved)
        assert problems(ledger) == []


def test_keys_that_were_damaged_are_a_sentence(ledger: Ledger):
    signing.rotate(ledger)
    for name, value in product(("signing_key", "retired_keys"), ("x", "[[1]]", "[" * 100_000, "5")):
        with ledger.writing() as connection:
            before = connection.execute(text("SELECT value FROM meta WHERE name = :n"), {"n": name}).scalar()
            set_value = text("UPDATE meta SET value = :v WHERE name = :n")
            connection.execute(set_value, {"n": name, "v": value})
        with refused(LedgerError, code="EH-LEDGER-KEYS"):
            signing.public_keys(ledger)
        with ledger.writing() as connection:
            connection.execute(set_value, {"n": name, "v": before})


def test_an_edited_head_is_refused(copied: Path, tmp_path: Path):
    with opened(copied) as ledger:
        document: Any = chain.head(ledger).as_json()
    document["tips"][0][1] += 1
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(document), encoding="utf-8")
    with refused(chain.HeadError, path, code="EH-LEDGER-HEAD-EDITED"):
        published_head(path)
    path.write_text("words", encoding="utf-8")
    with refused(chain.HeadError, path):
        published_head(path)
    with refused(chain.HeadError, tmp_path / "nowhere", code="EH-FILE-MISSING"):
        published_head(tmp_path / "nowhere")
    for words in ("[" * 100_000, '{"chain": {"tips": [["a", Infinity, "b"]], "ledger": "x", "head": "y"}}', "5"):
        path.write_text(words, encoding="utf-8")
        with refused(chain.HeadError, path):
            published_head(path)


@pytest.mark.sqlite("a backup is a copy of SQLite's file")
def test_a_backup_is_found_under_any_name_that_a_ledger_can_have(copied: Path, tmp_path: Path):
    with opened(copied) as ledger:
        upkeep.backup(ledger, tmp_path / "100% #1")
        assert published_head(tmp_path / "100% #1") == chain.head(ledger)
        with refused(LedgerError, tmp_path / "why?", code="EH-LEDGER-URL"):
            upkeep.backup(ledger, tmp_path / "why?")


def test_what_may_change_leaves_the_chain_whole(ledger: Ledger):
    study, other = with_people(ledger), made(ledger)
    for setting in ("closed", "shown", "aside"):
        for on in (True, False, True):
            set_people_study(ledger, study, setting, on=on)
            assert chain.check(ledger).problems == []
    assert remove_people_study(ledger, other)
    third = made(ledger)
    grace = person(ledger, "Grace")
    give_back(ledger, take_place(ledger, third, grace), grace)
    assert erase_name(ledger, grace.id)
    claim(ledger, [TRIALS[0].key], holder="me", reader="r1")
    assert problems(ledger) == []
    with ledger.writing() as connection:
        connection.execute(text("UPDATE people_studies SET aside = NULL WHERE aside IS NOT NULL"))
    assert [(one.table, one.changed) for one in chain.check(ledger).findings] == [("people_studies", 1)]


def test_an_erased_text_is_told_apart_from_a_changed_one(ledger: Ledger):
    scene.set_up(ledger)
    entries = Entries()
    entries.add_call(scene.asked(), scene.REPLY, run="run", at=0.0, cost_usd=None)
    ledger.commit(entries)
    with ledger.writing() as connection:
        connection.execute(text("UPDATE calls SET text = :gone"), {"gone": ERASED + text_digest(scene.REPLY.text)})
    assert problems(ledger) == []
    assert chain.check(ledger).erased == {"calls": 1}
    assert ledger.find_calls([scene.asked().key])[scene.asked().key].reply.text.startswith("erased, SHA-256 ")
    with ledger.writing() as connection:
        connection.execute(text("UPDATE calls SET text = :gone"), {"gone": ERASED + text_digest("something else")})
    assert chain.check(ledger).problems


NUMBERS = [(t.name, c.name) for t, s in SHAPES.items() for c in s.columns if isinstance(c.type, Float | Boolean)]


@pytest.mark.sqlite("a column of PostgreSQL's holds nothing but numbers")
@pytest.mark.parametrize(("table", "column"), NUMBERS)
def test_a_number_that_only_python_reads_as_the_one_written_is_found(copied: Path, table: str, column: str):
    with opened(copied) as ledger, by_hand(copied) as database:
        where = f'{table} WHERE "{column}" IS NOT NULL'
        rows = database.execute(f'SELECT rowid, "{column}" FROM {where} LIMIT 1')
        if not rows:
            pytest.skip("no row has it")
        (row,) = rows
        digits = repr(float(row[1]))
        for value in (f"0_{digits}", digits.encode(), row[1] + 0.5):
            database.execute(f'UPDATE {table} SET "{column}" = ? WHERE rowid = ?', (value, row[0]))
            assert chain.check(ledger).findings, value
        database.execute(f'UPDATE {table} SET "{column}" = ? WHERE rowid = ?', (row[1], row[0]))
        assert not chain.check(ledger).findings


@pytest.mark.sqlite("of what SQLite calls tables, triggers and views")
@pytest.mark.parametrize(
    ("statements", "told"),
    [
        (("CREATE TRIGGER odd BEFORE INSERT ON judgements BEGIN SELECT RAISE(IGNORE); END",), ["a trigger 'odd'"]),
        (
            ("ALTER TABLE judgements RENAME TO others", "CREATE VIEW judgements AS SELECT * FROM others"),
            ["view 'judgements'", "table 'others'", "table 'judgements'"],
        ),
        (("CREATE TABLE extra (x)", "CREATE INDEX mine ON extra (x)"), ["a table 'extra'", "an index 'mine'"]),
        (("DROP INDEX ix_judgements_trial_reader",), ["index 'ix_judgements_trial_reader'"]),
        (("ALTER TABLE runs ADD COLUMN more TEXT",), ["table 'runs' is not as Evenhand made it: added is more text"]),
        (
            (
                "PRAGMA writable_schema = ON",
                "UPDATE sqlite_master SET sql = replace(sql, 'PRIMARY KEY (\"key\")', "
                "'PRIMARY KEY (\"key\") ON CONFLICT IGNORE') WHERE name = 'calls'",
            ),
            ["added is conflict ignore on"],
        ),
    ],
)
def test_tables_that_are_not_as_they_were_made_are_found(copied: Path, statements: tuple[str, ...], told: list[str]):
    found = strangers(copied, *statements)
    assert [words for words in told if words not in found] == []


def strangers(copied: Path, *statements: str) -> str:
    """What is told after these were carried out by hand."""
    with by_hand(copied) as database:
        for statement in statements:
            database.execute(statement)
    with opened(copied) as ledger:
        return "\n".join(problems(ledger))


def test_what_the_database_makes_for_itself_is_no_stranger(copied: Path):
    with by_hand(copied) as database:
        database.execute("ANALYZE")
    with opened(copied) as ledger:
        assert problems(ledger) == []


def test_what_two_writers_put_down_twice_is_no_tampering(tmp_path: Path):
    with closing(Ledger(url_in(tmp_path))) as one, closing(Ledger(url_in(tmp_path))) as other:
        for ledger, cost in ((one, 0.25), (other, 0.5)):
            scene.set_up(ledger)
            entries = Entries(study=scene.STUDY.key, trials=TRIALS[:2], judgements=[prefers(TRIALS[0], 1)])
            for words in ("same", str(cost)):
                entries.add_call(scene.asked(words), scene.REPLY, run="run", at=cost, cost_usd=cost)
            ledger.commit(entries)
        assert problems(one) == []
        assert {tip.number for tip in chain.head(one).tips} == {1}


def test_many_writers_at_once_grow_one_chain_together(tmp_path: Path):
    with closing(Ledger(url_in(tmp_path))) as first:
        scene.set_up(first)
        some = [Ledger(url_in(tmp_path)) for _ in range(4)]

        def write(ledger: Ledger) -> None:
            for number in range(20):
                ledger.commit(
                    Entries(study=scene.STUDY.key, trials=[TRIALS[0]], judgements=[prefers(TRIALS[0], number % 2)])
                )

        threads = [Thread(target=write, args=(ledger,)) for ledger in some for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        found = chain.check(first)
        assert found.problems == []
        assert found.links >= 160
        for ledger in some:
            ledger.close()
    with closing(Ledger(url_in(tmp_path))) as last:
        last.commit(Entries(charges={"run": 1.0}))
        assert len(chain.head(last).tips) == 1
        assert chain.check(last).problems == []


@pytest.mark.slow
def test_a_kill_between_writes_leaves_a_whole_chain(tmp_path: Path):
    code = """
import itertools
scene.set_up(ledger)
for number in itertools.count():
    entries = Entries(study=scene.STUDY.key, trials=[scene.TRIALS[0]], judgements=[scene.prefers(scene.TRIALS[0], 1)])
    entries.add_call(scene.asked(f"{os.getpid()} {number}"), scene.REPLY, run="run", at=0.0, cost_usd=None)
    ledger.commit(entries)
    tell(number)
"""
    for kill in range(6):
        process = child(code, url_in(tmp_path))
        for _ in range(3 + kill):
            heard(process)
        killed(process)
        with closing(Ledger(url_in(tmp_path))) as ledger:
            found = chain.check(ledger)
            assert found.problems == []
            assert found.links >= 3 + kill


def test_a_ledger_from_before_is_covered_as_it_is_when_it_is_opened(copied: Path):
    with by_hand(copied) as database:
        for table in ("links", "tips", "budgets", "reservations"):
            database.execute(f"DROP TABLE {table}")
        database.execute("DELETE FROM meta WHERE name = 'signing_key'")
        database.execute("UPDATE alembic_version SET version_num = '0010'")
    with opened(copied) as ledger:
        found = chain.check(ledger)
        assert (found.problems, [tip.writer for tip in found.head.tips]) == ([], [GENESIS])
        assert found.genesis is not None
        assert str(found.as_json()["covered_since"]).startswith("20")
        assert len(signing.public_keys(ledger)) == 1
        with by_hand(copied) as database:
            database.execute("UPDATE judgements SET verdict = replace(verdict, '1', '0') WHERE seq = 3")
        assert any(words.startswith("judgements: 1 changed.") for words in problems(ledger))


def test_a_new_ledger_is_covered_from_its_first_row(ledger: Ledger):
    assert chain.check(ledger).problems == []
    scene.set_up(ledger)
    assert chain.check(ledger).genesis is None
