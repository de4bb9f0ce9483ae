"""Claims about a PostgreSQL server whose disk is full: a sentence, nothing lost, and nothing there twice."""

import os
import subprocess
import tempfile
from collections.abc import Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from sqlalchemy import func, select

from evenhand.ledger.store import schema
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.upkeep import chain
from tests.database import PostgreSQL, a_server, small_disk
from tests.e2e.workplace import Workplace, drawn, ended, judging, stats, told, until
from tests.ledger import scene
from tests.refusals import refused
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow
CALLS = select(func.count()).select_from(schema.calls)
MEGABYTE = b"x" * 1_000_000


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self._ballast = folder / "ballast"

    def fill(self) -> None:
        """To the last byte."""
        with self._ballast.open("ab", buffering=0) as file, suppress(OSError):
            while file.write(MEGABYTE):
                pass

    def fill_all_but(self, megabytes: int) -> None:
        self.fill()
        os.truncate(self._ballast, self._ballast.stat().st_size - megabytes * len(MEGABYTE))

    def free(self) -> None:
        self._ballast.unlink()


@contextmanager
def disk_of(server: PostgreSQL) -> Generator[tuple[str, SmallDisk]]:
    """The URL of a ledger whose tables lie on a disk of their own; the server's log of changes is on another."""
    with small_disk(server.folder / "disk", megabytes=64) as disk:
        tables = disk / "tables"
        tables.mkdir()
        for path in (disk, tables):
            os.chown(path, -1 if server.user is None else server.user, -1)
        server.tell(f"CREATE TABLESPACE small LOCATION '{tables}'")
        server.tell(f"CREATE DATABASE on_small TEMPLATE {server.new_ledger()} TABLESPACE small")
        try:
            yield server.url("on_small"), SmallDisk(disk)
        finally:
            server.stop()  # it has files open there


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[PostgreSQL]:
    monkeypatch.chdir(tmp_path)
    with a_server() as own:
        yield own


def call(number: int) -> Entries:
    entries = Entries()
    words = scene.asked(f"{number} {os.urandom(4000).hex()}")  # which no database makes smaller
    entries.add_call(words, scene.REPLY, run="run", at=0.0, cost_usd=None)
    return entries


def kept_until_refused(ledger: Ledger) -> int:
    """How many commits there were before the one that was refused."""
    done = 0
    with refused(LedgerError, ledger.where, "nothing that was committed is lost", code="EH-LEDGER-FULL"):
        while done < 2_000:
            ledger.commit(call(done))
            done += 1
    return done


def calls_in(ledger: Ledger) -> int:
    with ledger.reading() as connection:
        return connection.execute(CALLS).scalar_one()


def test_a_full_disk_is_a_sentence_and_what_was_committed_is_there(server: PostgreSQL):
    with disk_of(server) as (url, disk), closing(Ledger(url)) as ledger:
        scene.set_up(ledger)
        disk.fill()
        done = kept_until_refused(ledger)
        assert calls_in(ledger) == done
        disk.free()
        ledger.commit(call(done))
        assert calls_in(ledger) == done + 1
        assert not chain.check(ledger).problems


def test_a_run_that_meets_a_full_disk_says_so_and_the_same_command_does_the_rest(server: PostgreSQL, tmp_path: Path):
    battles = 150
    with disk_of(server) as (store, disk), server_process("--held-from", str(battles // 2)) as url:
        disk.fill_all_but(8)  # the rest is filled at once
        here = Workplace(tmp_path / "here", {"EVENHAND_STORE": store})
        process = here.start(*judging(url, *drawn(battles), "--max-connections", "4"))
        until(url, lambda seen: seen["requests"] >= battles // 2)
        disk.fill()
        told(url, "go")
        ran = ended(process)
        in_flight = stats(url)["requests"]
        assert ran.code == 1, ran.err
        assert "The disk of the ledger" in ran.err
        with closing(Ledger(store)) as ledger:
            lost = in_flight - calls_in(ledger)
        disk.free()
        again = here.run(*judging(url, *drawn(battles), "--max-connections", "4"))
        seen = stats(url)
        with closing(Ledger(store)) as ledger, ledger.reading() as connection:
            trials = connection.execute(select(schema.judgements.c.trial)).scalars().all()
            problems = chain.check(ledger).problems
    assert again.code == 0, again.err
    assert lost <= 4, "those that were in flight"
    assert seen["requests"] == 2 * battles + lost, "only what was in flight is asked again"
    assert (len(trials), len(set(trials))) == (2 * battles, 2 * battles)
    assert list(problems) == []


def test_a_server_that_a_full_disk_ends_is_a_sentence_and_what_was_committed_is_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    """Its log of changes cannot grow: PostgreSQL ends, and starts again when there is room."""
    monkeypatch.chdir(tmp_path)
    with tempfile.TemporaryDirectory(dir=os.environ.get("PYTEST_DEBUG_TEMPROOT")) as name:
        Path(name).chmod(0o711)  # the server is another user
        with small_disk(Path(name) / "disk", megabytes=48) as folder, a_server(folder) as own:
            ends_on(SmallDisk(folder), own)


def ends_on(disk: SmallDisk, server: PostgreSQL) -> None:
    with closing(Ledger(server.url(server.new_ledger()), wait_seconds=1)) as ledger:
        scene.set_up(ledger)
        disk.fill()
        done, last, failed = 0, call(0), None
        while done < 20_000 and failed is None:
            try:
                ledger.commit(last)
                done, last = done + 1, call(done + 1)
            except LedgerError as error:
                failed = error
        assert failed is not None
        assert failed.code == "EH-LEDGER-SERVER"
        disk.free()
        with suppress(subprocess.CalledProcessError):
            server.stop()
        server.start()
        assert calls_in(ledger) >= done
        ledger.commit(last)
        assert calls_in(ledger) == done + 1
        assert not chain.check(ledger).problems
