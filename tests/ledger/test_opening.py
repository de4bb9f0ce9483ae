"""Claims about opening a ledger: what is refused, with a sentence, and left as it was."""

import subprocess
import threading
import traceback
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import event, select, text
from sqlalchemy.engine.interfaces import CacheStats

from evenhand.ledger.store import schema
from evenhand.ledger.store.opening import BUSY_SECONDS, LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.tables import HEAD
from evenhand.ledger.upkeep.check import info
from tests.database import ON_POSTGRESQL, by_hand, nothing_in, stored_in, tables_of, url_in
from tests.ledger import scene
from tests.refusals import refused
from tests.warm import Code


def test_a_new_ledger_has_an_own_secret_that_stays(tmp_path: Path):
    secrets: list[bytes] = []
    for folder in ("one", "one", "two"):
        ledger = Ledger(url_in(tmp_path / folder / "deep"))
        secrets.append(ledger.fence_secret())
        ledger.close()
    assert secrets[0] == secrets[1] != secrets[2]
    assert len(secrets[0]) == 32


@pytest.mark.sqlite("of a file that is not there; a database that holds nothing is in test_server.py")
def test_nothing_is_made_where_a_ledger_is_only_to_be_read(tmp_path: Path):
    with refused(LedgerError, tmp_path / "none" / "ledger.db", "evenhand judge", code="EH-LEDGER-MISSING"):
        Ledger(url_in(tmp_path / "none"), create=False)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("url", ["sqlite://", "sqlite:///:memory:"])
def test_a_ledger_in_memory_is_refused(url: str):
    with refused(LedgerError, "sqlite:///PATH/ledger.db", code="EH-LEDGER-URL"):
        Ledger(url)


def test_what_is_no_url_is_refused_with_an_example():
    with refused(LedgerError, "sqlite:///PATH/ledger.db", code="EH-LEDGER-URL"):
        Ledger("ledger.db")


def test_an_unknown_database_is_refused_and_its_password_not_told():
    with pytest.raises(LedgerError, match="frogbase") as refused:
        Ledger("frogbase://ann:hunter2@host/name")
    assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        (
            "postgresql//bob:hunter2@db/x",
            "The store is not a database URL; write sqlite:///PATH/ledger.db or postgresql:",
        ),
        ("postgresql://bob:hunter2", "The port in the store's URL is not a number; write postgresql://USER:PASSWORD@"),
        ("postgresql://bob:hunter2@db:main/x", "The port in the store's URL is not a number"),
        ("sqlite://bob:hunter2@db/x", "A SQLite store is a file, not a host; write three slashes"),
        ("sqlite://ledger.db", "A SQLite store is a file, not a host; write three slashes"),
    ],
)
def test_a_store_that_cannot_be_taken_apart_is_a_sentence_that_does_not_repeat_it(url: str, sentence: str):
    with pytest.raises(LedgerError) as refused:
        Ledger(url)
    assert str(refused.value).startswith(sentence)
    assert "hunter2" not in "".join(traceback.format_exception(refused.value))


@pytest.mark.sqlite("a server grants so many connections and no more")
def test_a_connection_once_opened_is_used_again_however_many_threads_there_were(tmp_path: Path):
    threads, opened = 40, list[object]()
    together = threading.Barrier(threads)

    def look(_: int) -> None:
        with ledger.reading() as connection:
            connection.execute(text("SELECT 1"))
            together.wait(timeout=60)  # all of them hold one at the same time

    with closing(Ledger(url_in(tmp_path))) as ledger, ThreadPoolExecutor(threads) as pool:
        list(pool.map(look, range(threads)))
        event.listen(ledger.engine, "connect", lambda *_: opened.append(1))
        list(pool.map(look, range(threads)))
    assert opened == []


def test_a_ledger_of_a_newer_version_is_refused_and_unchanged(tmp_path: Path):
    Ledger(url_in(tmp_path)).close()
    with by_hand(tmp_path) as hand:
        hand.execute("UPDATE alembic_version SET version_num = '9999'")
        hand.execute("CREATE TABLE of_the_future (x TEXT)")
    before = stored_in(tmp_path)
    with refused(LedgerError, 9999, code="EH-LEDGER-NEWER"):
        Ledger(url_in(tmp_path))
    assert stored_in(tmp_path) == before
    assert [file.name for file in tmp_path.iterdir()] == ([] if ON_POSTGRESQL else ["ledger.db"])


@pytest.mark.sqlite("of a file")
def test_a_file_that_is_no_database_is_refused_and_unchanged(tmp_path: Path):
    path = tmp_path / "ledger.db"
    path.write_bytes(b"item,model\n1,amber\n" * 100)
    with refused(LedgerError, "--store", code="EH-LEDGER-UNUSABLE"):
        Ledger(url_in(tmp_path))
    assert path.read_bytes() == b"item,model\n1,amber\n" * 100


def test_the_database_of_another_program_is_refused_and_gets_no_tables(tmp_path: Path):
    nothing_in(tmp_path)
    with by_hand(tmp_path) as hand:
        hand.execute("CREATE TABLE bookmarks (url TEXT)")
    with refused(LedgerError, "'bookmarks'", code="EH-LEDGER-FOREIGN"):
        Ledger(url_in(tmp_path))
    with by_hand(tmp_path) as hand:
        assert tables_of(hand) == ["bookmarks"]


@pytest.mark.parametrize(
    "tables",
    [
        ["CREATE TABLE bookmarks (url TEXT)"],
        ["CREATE TABLE meta (key TEXT)"],
        ["CREATE TABLE meta (name TEXT, value TEXT)", "INSERT INTO meta VALUES ('version', '3')"],
    ],
    ids=["no meta", "another meta", "a meta that names no ledger"],
)
@pytest.mark.parametrize("version", [HEAD, "9999", "ae1027a6acf"])
def test_another_program_that_keeps_its_version_as_we_do_is_not_taken_for_a_ledger(
    tmp_path: Path, tables: list[str], version: str
):
    nothing_in(tmp_path)
    with by_hand(tmp_path) as hand:
        for statement in (*tables, "CREATE TABLE alembic_version (version_num TEXT)"):
            hand.execute(statement)
        hand.execute("INSERT INTO alembic_version VALUES (?)", (version,))
    with refused(LedgerError, "--store", code="EH-LEDGER-FOREIGN"):
        Ledger(url_in(tmp_path))


def test_an_empty_database_becomes_a_ledger(tmp_path: Path):
    nothing_in(tmp_path)
    if not ON_POSTGRESQL:
        (tmp_path / "ledger.db").touch()
    ledger = Ledger(url_in(tmp_path))
    assert info(ledger).counts["trials"] == 0
    ledger.close()


@pytest.mark.sqlite("of a file and its folder")
def test_a_folder_that_cannot_be_is_a_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("I am no folder")
    with refused(LedgerError, tmp_path / "file" / "sub" / "ledger.db"):
        Ledger(url_in(tmp_path / "file" / "sub"))


@pytest.mark.sqlite("of a file and its folder")
def test_a_folder_in_the_place_of_the_ledger_is_a_sentence(tmp_path: Path):
    (tmp_path / "ledger.db").mkdir()
    with refused(LedgerError, tmp_path, code="EH-LEDGER-READ-ONLY"):
        Ledger(url_in(tmp_path))


AS_NOBODY = """
import os, sys
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    Ledger(sys.argv[1])
except LedgerError as error:
    print(error)
"""


@pytest.mark.sqlite("of a file and its folder")
@pytest.mark.parametrize("rights", [0o555, 0o000], ids=["not writable", "not even readable"])
def test_a_folder_without_rights_is_a_sentence(rights: int):
    # Not tmp_path: pytest keeps that from everybody but its owner.
    made = subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True)
    folder = Path(made.stdout.strip())
    try:
        folder.chmod(rights)
        told, complained = Code(AS_NOBODY, url_in(folder)).communicate()
        assert complained == ""
        assert told.startswith(f"The ledger at {folder}/ledger.db cannot be ")
    finally:
        folder.chmod(0o700)
        for file in folder.iterdir():
            file.unlink()
        folder.rmdir()


HOLDS = """
import sys
from tests import database
with database.held(sys.argv[1]):
    print("held", flush=True)
    sys.stdin.readline()
print("let go", flush=True)
sys.stdin.readline()
"""


def holding(folder: Path) -> "subprocess.Popen[str]":
    """Another process that has begun to write."""
    return Code(HOLDS, url_in(folder))


def test_a_ledger_that_another_process_holds_too_long_is_a_sentence_and_reading_goes_on(tmp_path: Path):
    ledger = Ledger(url_in(tmp_path), wait_seconds=0.2)
    scene.set_up(ledger)
    with holding(tmp_path) as other:
        assert scene.heard(other) == "held"
        assert len(ledger.responses_to(item.digest for item in scene.ITEMS)) == 6
        with refused(LedgerError, ledger.where, "0.2 s", code="EH-LEDGER-BUSY"):
            ledger.commit(Entries(trials=scene.TRIALS))
        scene.told(other)
        assert scene.heard(other) == "let go"
        ledger.commit(Entries(trials=scene.TRIALS))
        assert info(ledger).counts["trials"] == len(scene.TRIALS)
        other.communicate("\n")
    ledger.close()


def test_a_writer_waits_for_another_that_lets_go_in_time(tmp_path: Path):
    ledger = Ledger(url_in(tmp_path))
    with holding(tmp_path) as other:
        assert scene.heard(other) == "held"
        scene.told(other)
        ledger.commit(Entries(trials=scene.TRIALS))
        other.communicate("\n")
    assert info(ledger).counts["trials"] == len(scene.TRIALS)
    ledger.close()


@pytest.mark.sqlite("of SQLite's own settings")
def test_the_wait_is_30_seconds_unless_another_is_asked_for(ledger: Ledger):
    assert BUSY_SECONDS == ledger.wait_seconds == 30
    with ledger.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA busy_timeout").scalar() == 30_000


@pytest.mark.sqlite("of SQLite's own settings")
def test_what_is_committed_survives_a_pulled_plug(ledger: Ledger):
    """2 is FULL: the log is flushed to disk at every commit."""
    with ledger.reading() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar() == 2


@pytest.mark.slow
def test_processes_that_make_one_ledger_at_once_all_get_it(tmp_path: Path):
    opens = (
        "import sys; from evenhand.ledger.store.record import Ledger\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "ledger = Ledger(sys.argv[1]); print(ledger.fence_secret().hex(), flush=True)"
    )
    processes = [Code(opens, url_in(tmp_path)) for _ in range(3)]
    assert {scene.heard(process) for process in processes} == {"ready"}
    for process in processes:
        scene.told(process)
    assert len({process.communicate()[0] for process in processes}) == 1
    assert [process.returncode for process in processes] == [0] * len(processes)


@pytest.mark.sqlite("the servers' dialect is SQLAlchemy's own")
def test_a_statement_that_one_ledger_compiled_serves_another_of_the_process(tmp_path: Path):
    asked = select(schema.meta.c.value.label("of_this_test_alone"))
    found: list[object] = []
    for name in ("one", "other"):
        with closing(Ledger(f"sqlite:///{tmp_path}/{name}.db")) as ledger, ledger.reading() as connection:
            found.append(connection.execute(asked).context.cache_hit)
    assert found == [CacheStats.CACHE_MISS, CacheStats.CACHE_HIT]
