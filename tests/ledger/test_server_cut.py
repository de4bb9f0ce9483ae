"""Claims about a PostgreSQL server that goes away and comes back: nothing is lost, and nothing is there twice."""

import hashlib
import json
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, inspect, select, text

from evenhand.ledger.store import schema
from evenhand.ledger.store.budgets import BudgetAccountOnDisk
from evenhand.ledger.store.claims import claim
from evenhand.ledger.store.faults import until_made
from evenhand.ledger.store.kept import word_on_record
from evenhand.ledger.store.opening import LedgerError, unmoved
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.tables import HEAD
from evenhand.ledger.upkeep import chain
from evenhand.ledger.upkeep.check import check
from tests.database import PostgreSQL, a_server, the_server
from tests.e2e.workplace import Workplace, drawn, ended, judging, stats, until
from tests.ledger import scene
from tests.refusals import refused
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow
JUDGEMENTS = select(func.count()).select_from(schema.judgements)
ENDED_BY_SERVER = text(
    "SELECT count(*) FILTER (WHERE pg_terminate_backend(pid, 60000)) "
    "FROM pg_stat_activity WHERE pid <> pg_backend_pid() AND datname = :name"
)
"""How many connections ended, and not only how many were told to, which they do a moment later."""
UNHURRIED = "-c wal_writer_delay=10s -c bgwriter_lru_maxpages=0"
"""Of a server that has nothing on disk of a transaction before it is committed."""


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[PostgreSQL]:
    monkeypatch.chdir(tmp_path)
    yield the_server()
    the_server().forget(lambda place: place.is_relative_to(tmp_path))


class CutAtCommit:
    """Stands between a program and the server. Cuts the program off that next says COMMIT, when `armed`; the server is
    not told, as where a network fails."""

    def __init__(self, server: PostgreSQL) -> None:
        self._to = str(server.folder / ".s.PGSQL.5432")
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self.armed = ""
        """'before' the server gets it, or 'after' it was carried out and before anybody is told."""
        self.cuts = 0
        self.meanwhile: Callable[[], object] = lambda: None
        """Done at each cut before the program can know of it."""
        self._cut: list[socket.socket] = []
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with suppress(OSError):
            while True:
                client, _ = self._listening.accept()
                there = socket.socket(socket.AF_UNIX)
                there.connect(self._to)
                threading.Thread(target=self._forth, args=(client, there), daemon=True).start()
                threading.Thread(target=self._back, args=(there, client), daemon=True).start()

    def _forth(self, client: socket.socket, there: socket.socket) -> None:
        with client, suppress(OSError):
            while said := client.recv(65536):
                if self.armed and b"COMMIT\x00" in said:  # and not where it is READ COMMITTED
                    how, self.armed, self.cuts = self.armed, "", self.cuts + 1
                    self._cut.append(there)
                    self.meanwhile()
                    client.shutdown(socket.SHUT_RDWR)  # what comes back reaches nobody
                    if how == "after":
                        there.sendall(said)
                    return
                there.sendall(said)
            there.shutdown(socket.SHUT_RDWR)

    def _back(self, there: socket.socket, client: socket.socket) -> None:
        with suppress(OSError):
            while said := there.recv(65536):
                client.sendall(said)
            if there not in self._cut:
                client.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._listening.close()


@contextmanager
def through(server: PostgreSQL, place: Path) -> Generator[tuple[Ledger, CutAtCommit]]:
    """A ledger behind one who cuts."""
    server.ledger_of(place)
    with closing(CutAtCommit(server)) as between:
        where = f"127.0.0.1:{between.port}/{server.ledgers[place]}?sslmode=disable&gssencmode=disable"
        with closing(Ledger(f"postgresql://eh@{where}")) as ledger:
            yield ledger, between


@pytest.mark.parametrize("when", ["before", "after"])
def test_what_a_cut_connection_ends_at_the_commit_is_on_record_once(server: PostgreSQL, tmp_path: Path, when: str):
    with through(server, tmp_path / "own") as (ledger, between):
        scene.set_up(ledger)
        ledger.commit(Entries(study=scene.STUDY.key, trials=scene.TRIALS))
        for number, trial in enumerate(scene.TRIALS):
            between.armed = when
            ledger.commit(Entries(judgements=[scene.prefers(trial, 1)]))
            with ledger.reading() as connection:
                assert connection.execute(JUDGEMENTS).scalar_one() == number + 1
        assert between.cuts == len(scene.TRIALS)
        assert not chain.check(ledger).problems


@pytest.mark.parametrize("when", ["before", "after"])
def test_claims_that_a_cut_connection_ends_are_held_once(server: PostgreSQL, tmp_path: Path, when: str):
    with through(server, tmp_path / "own") as (ledger, between):
        between.armed = when
        keys = [trial.key for trial in scene.TRIALS]
        claimed = claim(ledger, keys, reader="r1", holder="elsewhere|1|x|run")
        assert (between.cuts, claimed.mine) == (1, set(keys))


@pytest.mark.parametrize("others", [0, 20])
def test_what_a_crash_ends_at_the_commit_is_on_record_once_though_another_gets_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, others: int
):
    """The number of a transaction that was not committed was never on disk: it is given out again."""
    monkeypatch.chdir(tmp_path)
    with a_server(more=UNHURRIED) as own, through(own, tmp_path / "own") as (ledger, between):
        scene.set_up(ledger)
        ledger.commit(Entries(study=scene.STUDY.key, trials=scene.TRIALS))

        def crash() -> None:
            own.stop()
            own.start()
            for _ in range(others):
                own.tell("SELECT pg_current_xact_id()")

        between.meanwhile, between.armed = crash, "before"
        ledger.commit(Entries(judgements=[scene.prefers(scene.TRIALS[0], 1)]))
        with ledger.reading() as connection:
            assert connection.execute(JUDGEMENTS).scalar_one() == 1
        assert between.cuts == 1
        assert not chain.check(ledger).problems


@pytest.mark.parametrize("what", ["claim", "budget", "image"])
def test_what_no_link_covers_is_made_again_after_a_crash_though_another_gets_its_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, what: str
):
    monkeypatch.chdir(tmp_path)
    with a_server(more=UNHURRIED) as own, through(own, tmp_path / "own") as (ledger, between):
        purse = BudgetAccountOnDisk(ledger, "ours", most=1.0, lasts=False)
        picture = ledger.places.images
        digest = hashlib.sha256(b"bytes").hexdigest()

        def crash() -> None:
            own.stop()
            own.start()
            for _ in range(20):
                own.tell("SELECT pg_current_xact_id()")

        between.meanwhile, between.armed = crash, "before"
        if what == "claim":
            assert claim(ledger, ["one"], reader="r1", holder="elsewhere|1|x|run").mine == {"one"}
        elif what == "budget":
            assert purse.take(7)
        else:
            picture.put(digest, b"bytes")
        assert between.cuts == 1
        with ledger.reading() as connection:
            taken = connection.execute(select(schema.budgets.c.taken)).scalar_one()
            held = connection.execute(select(schema.claims.c.what)).scalars().all()
        assert (taken, held) == (purse.held, ["one"] if what == "claim" else [])
        assert (purse.held > 0, picture.get(digest) is not None) == (what == "budget", what == "image")
        assert not chain.check(ledger).problems


def test_connections_that_the_server_ended_are_made_anew(server: PostgreSQL, tmp_path: Path):
    url = server.ledger_of(tmp_path / "own")
    name = server.ledgers[tmp_path / "own"]
    with closing(Ledger(url)) as ledger, closing(Ledger(url)) as other:
        scene.set_up(ledger)
        for trial in scene.TRIALS:
            with other.engine.connect() as connection:
                assert connection.execute(ENDED_BY_SERVER, {"name": name}).scalar_one() >= 1
            ledger.commit(Entries(trials=[trial], judgements=[scene.prefers(trial, 1)]))
        with ledger.reading() as connection:
            assert connection.execute(JUDGEMENTS).scalar_one() == len(scene.TRIALS)


def test_a_write_that_a_lost_connection_ends_at_a_reading_is_made_again(server: PostgreSQL, tmp_path: Path):
    url = server.ledger_of(tmp_path / "own")
    name = server.ledgers[tmp_path / "own"]
    tries: list[int] = []
    with closing(Ledger(url)) as ledger, closing(Ledger(url)) as other:
        scene.set_up(ledger)

        @until_made
        def write() -> None:
            with ledger.writing():
                ledger.commit(Entries(trials=scene.TRIALS[:1], judgements=[scene.prefers(scene.TRIALS[0], 1)]))
                tries.append(1)
                if len(tries) == 1:
                    with other.engine.connect() as connection:
                        assert connection.execute(ENDED_BY_SERVER, {"name": name}).scalar_one() >= 1
                assert word_on_record(ledger) is None  # which is asked again by itself, in vain

        write()
        with ledger.reading() as connection:
            assert connection.execute(JUDGEMENTS).scalar_one() == 1
        assert len(tries) == 2
        assert not chain.check(ledger).problems


def test_a_server_that_does_not_come_back_is_a_sentence(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    with a_server() as own, closing(Ledger(own.ledger_of(tmp_path), wait_seconds=0.5)) as ledger:
        scene.set_up(ledger)
        own.stop()
        with refused(LedgerError, own.folder.name, code="EH-LEDGER-SERVER"):
            ledger.commit(Entries(trials=scene.TRIALS))
        own.start()
        ledger.commit(Entries(trials=scene.TRIALS))
        assert not chain.check(ledger).problems


def test_a_server_that_was_waited_for_in_vain_is_not_waited_for_again_until_it_was_reached(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    patience, said = 3.0, list[str]()
    with a_server() as own, closing(Ledger(own.ledger_of(tmp_path), wait_seconds=patience)) as ledger:
        ledger.tell_of_waits(said.append)
        scene.set_up(ledger)
        for absence in (1, 2):
            own.stop()
            begun = time.monotonic()
            for _ in range(20):
                with refused(LedgerError, own.folder.name, code="EH-LEDGER-SERVER"):
                    ledger.commit(Entries(trials=scene.TRIALS))
            assert patience <= time.monotonic() - begun < 10 * patience
            assert len(said) == absence
            own.start()
            ledger.commit(Entries(trials=scene.TRIALS))


@pytest.mark.parametrize("how", ["left alone", "interrupted"])
def test_a_run_whose_server_is_gone_says_so_and_waits_once(tmp_path: Path, how: str):
    battles, most = 72, 25 if how == "interrupted" else 60
    more = ("--workers", "2", "--price", "input=1,output=1", "--max-cost", "9") if how == "left alone" else ()
    with a_server() as own, server_process("--latency", "0.2", "--bills") as url:
        store = own.ledger_of(tmp_path / "own")
        here = Workplace(tmp_path / "here", {"EVENHAND_STORE": store})
        asked = judging(url, *drawn(battles), "--max-connections", "4", *more)
        process = here.start(*asked)
        until(url, lambda seen: seen["requests"] >= 16)
        own.stop()
        begun, stream = time.monotonic(), process.stderr
        assert stream is not None
        while "it is waited for" not in (said := stream.readline()):
            assert said, "it ended and said nothing"
        if how == "interrupted":
            process.terminate()
        ran = ended(process)
        assert time.monotonic() - begun < most
        assert (ran.code, "it is waited for" in ran.err) == (1, False)
        assert json.loads(ran.out)["code"] == "EH-LEDGER-SERVER"
        own.start()
        again = here.run(*asked)
    assert again.code == 0, again.err
    assert again.document["known"] + again.document["called"] == 2 * battles


OPENS = (
    "import sys; from evenhand.ledger.store.record import Ledger\n"
    "print('ready', flush=True); sys.stdin.readline()\n"
    "ledger = Ledger(sys.argv[1]); print(ledger.fence_secret().hex(), flush=True); ledger.close()"
)


def opened_at_once(url: str, folder: Path) -> None:
    command = [sys.executable, "-c", OPENS, url]
    how: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True, "cwd": folder}
    processes = [subprocess.Popen(command, **how) for _ in range(3)]
    assert {scene.heard(process) for process in processes} == {"ready"}
    for process in processes:
        scene.told(process)
    assert len({process.communicate()[0] for process in processes}) == 1
    assert [process.returncode for process in processes] == [0] * len(processes)


def test_processes_that_make_or_migrate_one_ledger_at_once_all_get_it(server: PostgreSQL, tmp_path: Path):
    url = server.empty()
    opened_at_once(url, tmp_path)
    with closing(Ledger(url)) as ledger, ledger.engine.begin() as connection:
        connection.execute(text("DROP TABLE batch_entries"))
        connection.execute(text("DROP INDEX ix_judgements_trial_reader"))
        connection.execute(text("UPDATE alembic_version SET version_num = '0011'"))
    opened_at_once(url, tmp_path)
    with closing(Ledger(url)) as ledger:
        assert "batch_entries" in inspect(ledger.engine).get_table_names()
        assert not chain.check(ledger).problems


def test_a_long_reader_sees_one_moment_and_keeps_no_writer_waiting(server: PostgreSQL, tmp_path: Path):
    url = server.ledger_of(tmp_path / "own")
    with closing(Ledger(url)) as ledger, closing(Ledger(url)) as other:
        scene.set_up(ledger)
        ledger.commit(Entries(trials=scene.TRIALS))
        with other.reading() as reader, unmoved(reader):
            assert reader.execute(JUDGEMENTS).scalar_one() == 0
            for trial in scene.TRIALS:
                ledger.commit(Entries(judgements=[scene.prefers(trial, 1)]))
            assert reader.execute(JUDGEMENTS).scalar_one() == 0
        with other.reading() as reader:
            assert reader.execute(JUDGEMENTS).scalar_one() == len(scene.TRIALS)


def as_before(server: PostgreSQL, place: Path) -> str:
    """The URL of a ledger whose tables are of the version before this one, which lacked a column."""
    url = server.ledger_of(place)
    for statement in (
        "ALTER TABLE opened_benchmarks DROP COLUMN known",
        "UPDATE alembic_version SET version_num = '0015'",
    ):
        server.tell(statement, database=server.ledgers[place])
    return url


def version_at(server: PostgreSQL, place: Path) -> str:
    return server.tell("SELECT version_num FROM alembic_version", database=server.ledgers[place])[0][0]


@contextmanager
def long_reader(url: str) -> Generator[None]:
    """While somebody reads the table that a newer version adds to."""
    import psycopg

    with psycopg.connect(url) as reader:
        reader.execute("SELECT count(*) FROM opened_benchmarks")
        yield


def test_a_long_reader_keeps_a_migration_waiting_until_that_says_so_and_nothing_is_half_done(
    server: PostgreSQL, tmp_path: Path
):
    url = as_before(server, tmp_path / "own")
    with long_reader(url), refused(LedgerError, "0.3 s", code="EH-LEDGER-BUSY"):
        Ledger(url, wait_seconds=0.3)
    assert version_at(server, tmp_path / "own") == "0015"
    with closing(Ledger(url)) as ledger:
        assert check(ledger) == []
    assert version_at(server, tmp_path / "own") == HEAD


def test_a_process_killed_while_it_migrates_leaves_it_to_the_next(server: PostgreSQL, tmp_path: Path):
    url = as_before(server, tmp_path / "own")
    with long_reader(url):
        process = subprocess.Popen(
            [sys.executable, "-c", OPENS, url], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=tmp_path
        )
        assert scene.heard(process) == "ready"
        scene.told(process)
        waiting = "SELECT count(*) FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock'"
        while server.tell(waiting) == [(0,)]:
            assert process.poll() is None
            time.sleep(0.01)
        scene.killed(process)
    opened_at_once(url, tmp_path)
    with closing(Ledger(url)) as ledger:
        assert check(ledger) == []
    assert version_at(server, tmp_path / "own") == HEAD


def test_a_server_restarted_five_times_in_the_midst_of_a_run_loses_and_doubles_nothing(tmp_path: Path):
    """Twice by a crash."""
    battles = 150
    with a_server() as own, server_process("--latency", "0.05") as url:
        store = own.ledger_of(tmp_path / "own")
        here = Workplace(tmp_path / "here", {"EVENHAND_STORE": store})
        process = here.start(*judging(url, *drawn(battles), "--max-connections", "4"))
        for number, how in enumerate(("fast", "immediate", "fast", "immediate", "fast"), start=1):
            until(url, lambda seen, least=number * battles // 4: seen["requests"] >= least)
            own.stop(how)
            own.start()
        ran = ended(process)
        seen = stats(url)
        with closing(Ledger(store)) as ledger, ledger.reading() as connection:
            trials = connection.execute(select(schema.judgements.c.trial)).scalars().all()
            held = connection.execute(select(schema.claims)).all()
            problems = chain.check(ledger).problems
    assert ran.code == 0, ran.err
    assert seen["requests"] == seen["distinct"] == 2 * battles, "no call is asked twice"
    assert (len(trials), len(set(trials))) == (2 * battles, 2 * battles)
    assert (held, list(problems)) == ([], [])
