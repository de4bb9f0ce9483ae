"""Claims about a ledger on PostgreSQL, on a server of its own: skipped, and said why, where there is none."""

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Generator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from importlib.util import find_spec
from pathlib import Path
from threading import Thread
from typing import NoReturn

import pytest
from sqlalchemy import Connection, select, text

from evenhand.ledger.read.board_versions import RELEASING, Batch, NewVersion, add_version, released_so_far
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep import chain
from evenhand.ledger.upkeep.check import check
from evenhand.site.accounts.store import Person
from evenhand.site.people.comparisons import remark, undo
from evenhand.site.people.export import study_table
from evenhand.site.people.forms import Conduct
from evenhand.site.people.quality import both_boards, decide, quality
from evenhand.site.people.studies import find_people_study, progress, take_place
from tests.ledger import scene
from tests.ledger.test_people_quality import (
    KNOWN,
    MODELS,
    answer_all,
    contrary,
    made,
    person,
    right,
    stock,
    taken,
    task,
)
from tests.ledger.test_writer import failing, kept, stored
from tests.site.house import form_token, served

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


KEPT_WAITING = text("SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'")


def begin_at_once(ledger: Ledger, server: str, study: str, came: Sequence[Person]) -> list[str]:
    """The places that people get who come to two servers while a third holds all of it."""
    with ledger.engine.connect() as holding, ThreadPoolExecutor(len(came)) as pool:
        holding.execute(select(schema.people_studies.c.id).with_for_update())
        holding.execute(select(schema.people_places.c.id).with_for_update())
        servers = [Ledger(server, create=False) for _ in came]
        try:
            taken = [pool.submit(take_place, own, study, who) for own, who in zip(servers, came, strict=True)]
            deadline = time.monotonic() + SECONDS
            with ledger.engine.connect() as looking:
                while looking.execute(KEPT_WAITING).scalar_one() < len(came):
                    assert time.monotonic() < deadline, "they do not wait for each other"
                    time.sleep(0.01)
            holding.rollback()
            return [one.result(SECONDS) for one in taken]
        finally:
            for own in servers:
                own.close()


def test_two_who_begin_at_two_servers_both_have_a_place_where_two_are_free(ledger: Ledger, server: str):
    stock(ledger)
    study = made(ledger, Conduct(), people=2)
    came = [person(ledger, name) for name in ("Ada", "Grace")]
    assert len(set(begin_at_once(ledger, server, study, came))) == 2


def test_one_who_begins_at_two_servers_has_one_place(ledger: Ledger, server: str):
    stock(ledger)
    study = made(ledger, Conduct(), people=2)
    assert len(set(begin_at_once(ledger, server, study, [person(ledger)] * 2))) == 1
    assert [one.person is None for one in progress(ledger, study)] == [False, True]


def test_a_study_with_gold_and_repeats_lives_here_too(ledger: Ledger):
    stock(ledger)
    study = made(ledger, Conduct(gold=KNOWN[:4], repeats=4), people=2)
    for name, way in (("careful", right), ("contrary", contrary)):
        who = person(ledger, name)
        place = taken(ledger, study, who)
        answer_all(ledger, place, way)
        remark(ledger, place, 1, showing=task(ledger, place, 1).showing, comment=f"\x00 \ud83d {name}", flag="")
    assert undo(ledger, place) == place.tasks
    assert [one.gold.value for one in quality(ledger, study)] == [1, 0]
    assert decide(ledger, study, who.id, left_out=True, rule="gold", by=None)
    boards = both_boards(ledger, study)
    assert boards is not None
    assert boards.without.keys() == set(MODELS)
    found = find_people_study(ledger, study)
    assert found is not None
    rows = study_table(ledger, found).rows
    assert [row["comment"] for row in rows if row["comment"]] == ["\x00 \ud83d careful", "\x00 \ud83d contrary"]
    assert sum(bool(row["counts"]) for row in rows if row["row"] == "task") == 20
    assert check(ledger) == []


def test_a_name_with_nul_is_not_there_and_no_fault_of_the_record(ledger: Ledger):
    with served(ledger) as house:
        ada = house.signed_in("annotator")
        token = {"X-CSRF-Token": form_token(ada.get("/account"))}
        asked = ada.post("/api/comparisons", json={"study": "\x00"}, headers=token)
        assert [asked.status_code, ada.get("/compare/%00/1").status_code] == [404, 404]
        assert house.visitor().get("/api/boards?benchmark=%00").status_code == 404
