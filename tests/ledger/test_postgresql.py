"""Claims about a ledger on PostgreSQL, on a server of its own: skipped, and said why, where there is none."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import NoReturn

import pytest
from sqlalchemy import Connection, text

from evenhand.ledger.read.board_versions import RELEASING, Batch, NewVersion, add_version, released_so_far
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep import chain
from tests.ledger import scene
from tests.ledger.test_writer import failing, kept, stored

BATCHES = [Batch(models=("amber", "reference"), judgements=(1, 2, 3, 4, 5))]
WAITING = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
HOLD, FREE = text("SELECT pg_advisory_lock(:ours)"), text("SELECT pg_advisory_unlock(:ours)")
SECONDS = 30


def binaries() -> Path | None:
    found = shutil.which("pg_ctl")
    if found is not None:
        return Path(found).parent
    return max(Path("/usr/lib/postgresql").glob("*/bin"), default=None)


def somebody() -> int | None:
    """Who runs it where we are root, as PostgreSQL will not."""
    if os.geteuid() != 0:
        return None
    return next((one.pw_uid for one in pwd.getpwall() if one.pw_name in ("postgres", "nobody")), None)


def _absent(why: str) -> NoReturn:
    if os.environ.get("EVENHAND_REQUIRE_POSTGRESQL"):
        pytest.fail(why)
    pytest.skip(why)


@pytest.fixture(scope="module")
def server() -> Generator[str]:
    """Its URL."""
    programs = binaries()
    if programs is None or not (programs / "initdb").exists():
        _absent("PostgreSQL's initdb is not on this machine")
    if find_spec("psycopg") is None:
        _absent("psycopg, by which PostgreSQL is asked, is not installed")
    user = somebody()
    with tempfile.TemporaryDirectory(prefix="eh-pg-") as folder:
        if user is not None:
            os.chown(folder, user, -1)
        data = f"{folder}/data"

        def run(program: str, *arguments: str) -> None:
            command = [programs / program, "-D", data, *arguments]
            subprocess.run(command, user=user, check=True, capture_output=True, cwd=folder)

        run("initdb", "-A", "trust", "-U", "eh")
        run("pg_ctl", "-w", "-l", f"{folder}/log", "-o", f"-c listen_addresses='' -k {folder} -c fsync=off", "start")
        try:
            yield f"postgresql://eh@/postgres?host={folder}"
        finally:
            run("pg_ctl", "-m", "immediate", "stop")


@pytest.fixture
def ledger(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Ledger]:
    """An empty one; its images would be in the folder where we are."""
    monkeypatch.chdir(tmp_path)
    with closing(Ledger(server)) as before, before.engine.begin() as connection:
        connection.execute(text("DROP SCHEMA public CASCADE"))
        connection.execute(text("CREATE SCHEMA public"))
    with closing(Ledger(server)) as made:
        yield made


def until_waiting(connection: Connection, number: int) -> None:
    deadline = time.monotonic() + SECONDS
    while connection.execute(WAITING).scalar_one() < number:
        assert time.monotonic() < deadline, "nobody waits for the lock"
        time.sleep(0.01)


def release(url: str, board: str, *, seen: int = 0) -> None:
    """As a server does that has seen what was released up to there."""
    with closing(Ledger(url, create=False)) as own:
        new = NewVersion(board=board, judge="judge", batches=BATCHES, judgement=5, counted="digest")
        add_version(own, new, seen=seen)


def test_of_two_servers_that_release_at_one_moment_one_does(ledger: Ledger, server: str):
    servers = [Thread(target=release, args=(server, board)) for board in ("first", "second")]
    with ledger.engine.connect() as connection:
        connection.execute(HOLD, {"ours": RELEASING})
        for one in servers:
            one.start()
        until_waiting(connection, len(servers))
        connection.execute(FREE, {"ours": RELEASING})
    for one in servers:
        one.join(SECONDS)
    numbers = [released_so_far(ledger, board, "judge").version.number for board in ("first", "second")]
    assert sorted(numbers) == [0, 1]
    assert len(released_so_far(ledger, "first", "judge").batches) == 1, "no verdict is released twice"


def test_a_server_that_is_killed_while_it_releases_leaves_nothing_and_keeps_nobody_waiting(ledger: Ledger, server: str):
    with ledger.engine.connect() as killed:
        number = killed.execute(text("SELECT pg_backend_pid()")).scalar_one()
        killed.execute(text("SELECT pg_advisory_xact_lock(:ours)"), {"ours": RELEASING})
        killed.execute(
            text(
                "INSERT INTO board_versions (board, judge, judgement, content, at) "
                "VALUES ('first', 'judge', 5, '[]', 0)"
            )
        )
        other = Thread(target=release, args=(server, "second"))
        other.start()
        with ledger.engine.connect() as connection:
            until_waiting(connection, 1)
            connection.execute(text("SELECT pg_terminate_backend(:number)"), {"number": number})
        other.join(SECONDS)
        killed.invalidate()
    assert released_so_far(ledger, "first", "judge").version.number == 0
    assert released_so_far(ledger, "second", "judge").version.number == 1


def test_people_who_share_a_commit_do_so_here_too(ledger: Ledger):
    scene.set_up(ledger)
    before, failed = stored(ledger), ValueError("no")
    made = ledger.writing_together([kept(ledger, 11), failing(ledger, 12, failed), kept(ledger, 13)])
    assert made == [11, failed, 13]
    assert stored(ledger) == before + 2
    assert not chain.check(ledger).problems
