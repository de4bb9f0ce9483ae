"""Claims about a ledger on PostgreSQL, on a server of its own: skipped, and said why, where there is none."""

import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import closing
from dataclasses import replace
from functools import partial
from pathlib import Path
from threading import Thread
from typing import TypeVar

import pytest
from sqlalchemy import Connection, event, select, text

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import Response
from evenhand.ledger.read.board_versions import RELEASING, NewVersion, VerdictBatch, add_version, released_so_far
from evenhand.ledger.read.counting import links_by_study
from evenhand.ledger.read.newest import JudgedLast, committed, newest
from evenhand.ledger.read.people_boards import decisions
from evenhand.ledger.store import schema
from evenhand.ledger.store.kept import as_word, put_on_record, word_on_record
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.worker_notes import leave_note, worker_notes
from evenhand.ledger.upkeep import chain
from evenhand.ledger.upkeep.check import check
from evenhand.ledger.upkeep.check import info as upkeep_info
from evenhand.ledger.upkeep.copying import copy_ledger
from evenhand.ledger.upkeep.restoring import restore
from evenhand.site.accounts.store import Person
from evenhand.site.people import comparisons, saying
from evenhand.site.people.changes import give_back
from evenhand.site.people.comparisons import PersonShare
from evenhand.site.people.export import study_table
from evenhand.site.people.forms import Conduct
from evenhand.site.people.plan import PeopleStudyError
from evenhand.site.people.quality import both_boards, decide, quality
from evenhand.site.people.saying import remark, undo
from evenhand.site.people.studies import find_people_study, people_votes, progress, take_place
from tests import warm
from tests.database import the_server
from tests.images.pictures import encoded, photo
from tests.ledger import scene
from tests.ledger.test_people_quality import (
    BENCHMARK,
    KNOWN,
    MODELS,
    answer_all,
    contrary,
    made,
    person,
    right,
    say,
    stock,
    taken,
    task,
)
from tests.ledger.test_writer import failing, kept, stored
from tests.refusals import refused
from tests.site.house import form_token, served

BATCHES = [VerdictBatch(models=("amber", "reference"), judgements=(1, 2, 3, 4, 5))]
WAITING = text("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted")
HOLD, FREE = text("SELECT pg_advisory_lock(:ours)"), text("SELECT pg_advisory_unlock(:ours)")
SECONDS = 120
T = TypeVar("T")


@pytest.fixture
def server(tmp_path: Path) -> Generator[str]:
    """The URL of a database of its own with an empty ledger."""
    place = tmp_path / "of its own"
    yield the_server().ledger_of(place)
    the_server().forget(lambda one: one == place)


@pytest.fixture
def ledger(server: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Ledger]:
    """An empty one; its images would be in the folder where we are."""
    monkeypatch.chdir(tmp_path)
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


@pytest.mark.parametrize("isolation", ["read committed", "repeatable read"])
def test_of_two_servers_that_release_at_one_moment_one_does(ledger: Ledger, server: str, isolation: str):
    """However the database is set up: who saw it before they waited for the other would know of nothing that came."""
    with ledger.writing() as connection:
        name = connection.execute(text("SELECT current_database()")).scalar_one()
        connection.execute(text(f"ALTER DATABASE {name} SET default_transaction_isolation = '{isolation}'"))
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


def at_once(ledger: Ledger, server: str, works: Sequence[Callable[[Ledger], T]]) -> list[Future[T]]:
    """What comes of works at as many servers, begun one after the other while a further one holds all of it."""
    with ledger.engine.connect() as holding, ThreadPoolExecutor(len(works)) as pool:
        for table in (schema.people_studies, schema.people_places, schema.people_tasks, schema.worker_notes):
            holding.execute(select(table).with_for_update())
        servers = [Ledger(server, create=False) for _ in works]
        try:
            begun: list[Future[T]] = []
            deadline = time.monotonic() + SECONDS
            with ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as looking:
                for own, work in zip(servers, works, strict=True):
                    begun.append(pool.submit(work, own))
                    while looking.execute(KEPT_WAITING).scalar_one() < len(begun):
                        assert time.monotonic() < deadline, "they do not wait for each other"
                        time.sleep(0.01)
            holding.rollback()
            wait(begun, SECONDS)
            return begun
        finally:
            holding.rollback()
            for own in servers:
                own.close()


def test_two_workers_who_leave_a_note_at_one_moment_both_do(ledger: Ledger, server: str) -> None:
    leave_note(ledger, "worker")
    works = [partial(leave_note, work="worker", sentence=words) for words in ("one", "other")]
    assert [one.exception() for one in at_once(ledger, server, works)] == [None, None]
    assert worker_notes(ledger)["worker"].sentence in ("one", "other")


@pytest.mark.parametrize("same", [True, False])
def test_two_first_commands_that_name_a_place_for_images_at_one_moment_agree_on_it(
    ledger: Ledger, server: str, tmp_path: Path, same: bool
) -> None:
    """Who comes second goes by what the first has put on record, or is told that it is another place."""
    place = str(tmp_path / "mine")
    first = place if same else "database"

    def second() -> str | None:
        with closing(Ledger(f"{server}&images={place}")) as own:
            return own.places.word

    looking = ledger.engine.connect().execution_options(isolation_level="AUTOCOMMIT")
    with ThreadPoolExecutor(1) as pool, looking:
        with closing(Ledger(server)) as other, other.writing():
            put_on_record(other, as_word(first, beside=None))
            begun, deadline = pool.submit(second), time.monotonic() + SECONDS
            while looking.execute(KEPT_WAITING).scalar_one() < 1:
                assert time.monotonic() < deadline, "they do not wait for each other"
                time.sleep(0.01)
        if same:
            assert begun.result(SECONDS) == word_on_record(ledger) == as_word(place, beside=None)
        else:
            with refused(LedgerError, "database", place, code="EH-IMAGES-HELD"):
                begun.result(SECONDS)
            assert word_on_record(ledger) == "database"


def begin_at_once(ledger: Ledger, server: str, study: str, came: Sequence[Person]) -> list[str]:
    """The places that people get who come to several servers."""
    works = [partial(take_place, study=study, person=who) for who in came]
    return [one.result() for one in at_once(ledger, server, works)]


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


def halfway(ledger: Ledger, study: str, name: str = "Ada") -> tuple[Person, PersonShare]:
    """Somebody who has judged the first two of their share."""
    who = person(ledger, name)
    place = taken(ledger, study, who)
    for number in (1, 2):
        say(ledger, place, number, "A")
    return who, place


def asked_in(ledger: Ledger, study: str) -> Counter[tuple[str, frozenset[str]]]:
    """What all places of a study ask, taken or not."""
    places, tasks = schema.people_places, schema.people_tasks
    query = select(tasks).join(places, places.c.id == tasks.c.place).where(places.c.study == study)
    with ledger.reading() as connection:
        return Counter((one.item, frozenset((one.first, one.second))) for one in connection.execute(query))


def test_of_two_owners_who_free_a_place_at_one_moment_one_does(ledger: Ledger, server: str):
    stock(ledger)
    study = made(ledger, Conduct())
    who, place = halfway(ledger, study)
    before = asked_in(ledger, study)
    one, other = at_once(ledger, server, [partial(give_back, place=place.id, person=who)] * 2)
    assert {type(each.exception()) for each in (one, other)} == {type(None), PeopleStudyError}
    assert [(one.tasks, one.judged) for one in progress(ledger, study)] == [(2, 2), (18, 0)]
    assert asked_in(ledger, study) == before
    assert check(ledger) == []


def test_two_places_of_a_study_are_freed_at_one_moment(ledger: Ledger, server: str):
    stock(ledger)
    study = made(ledger, Conduct(), people=2)
    begun = [halfway(ledger, study, name) for name in ("Ada", "Grace")]
    works = [partial(give_back, place=place.id, person=who) for who, place in begun]
    assert [one.result() for one in at_once(ledger, server, works)] == [18, 18]
    assert [(one.tasks, one.judged) for one in progress(ledger, study)] == [(2, 2), (2, 2), (18, 0), (18, 0)]


def test_what_is_said_while_the_place_is_freed_is_kept_or_was_refused(ledger: Ledger, server: str):
    stock(ledger)
    study = made(ledger, Conduct())
    who, place = halfway(ledger, study)
    before, shown = asked_in(ledger, study), task(ledger, place, 3)
    verdict = place.form.preference("A")
    assert verdict is not None
    chosen = partial(saying.say, place=place, number=3, said=verdict, showing=shown.showing)
    said, freed = at_once(ledger, server, [chosen, partial(give_back, place=place.id, person=who)])
    kept = 2 if said.result() is None else 3
    assert (freed.result(), len(people_votes(ledger, study))) == (20 - kept, kept)
    assert asked_in(ledger, study) == before
    assert check(ledger) == []


def test_two_who_undo_at_one_moment_take_back_two_things(ledger: Ledger, server: str):
    stock(ledger)
    _, place = halfway(ledger, made(ledger, Conduct()))
    taken_back = [one.result() for one in at_once(ledger, server, [partial(undo, place=place)] * 2)]
    assert (sorted(map(str, taken_back)), undo(ledger, place)) == (["1", "2"], None)


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


NUL = "a\x00b"
KNOWN_LINE = f"i0 | amber | coral | {NUL}"


def test_nul_in_what_an_owner_fills_in_is_kept_or_refused_with_a_sentence(ledger: Ledger):
    stock(ledger)
    with served(ledger) as house:
        owner, ada = house.signed_in("owner"), house.signed_in("annotator")
        new = owner.get(f"/admin/studies/new?data={BENCHMARK.digest}")
        whole = {
            "csrf": form_token(new), "data": BENCHMARK.digest, "go": "make", "form": "forced", "pairs": "all",
            "models": list(MODELS), "people": "1", "each": "1", "overlap": "0", "seed": "0", "repeats": "0",
        }  # fmt: skip
        kept = {"title": NUL, "question": NUL, "guideline": NUL, "examples": KNOWN_LINE}
        made = owner.post("/admin/studies", data={**whole, **kept})
        assert made.status_code == 303, made.text
        page = made.headers["location"]
        study = page.removeprefix("/admin/studies/")
        told = owner.get(f"/api/studies/{study}").json()
        assert (told["title"], told["asked"]["question"], told["asked"]["guideline"]) == (NUL, NUL, NUL)
        assert told["asked"]["examples"][0]["why"] == NUL
        for name in (
            "data", "form", "category", "sample", "items", "pairs", "models", "against", "given", "comparisons",
            "people", "each", "overlap", "seed", "training", "gold", "repeats", "offers", "go",
        ):  # fmt: skip
            refused = owner.post("/admin/studies", data={**whole, "pairs": "given", name: f"amber | {NUL} | coral"})
            assert refused.status_code in (404, 422), (name, refused.status_code)
        for form, fields in (
            ("question", {"question": NUL}),
            ("places", {"person": NUL}),
            ("one", {"what": "leave out", "person": NUL, "why": NUL}),
            ("rule", {"rule": NUL, "limit": "1"}),
            ("rule", {"rule": "gold", "limit": NUL}),
            ("pause", {"what": NUL}),
            ("settings", {"what": NUL}),
            ("places/x/free", {"person": NUL}),
        ):
            sent = owner.post(f"{page}/{form}", data={"csrf": whole["csrf"], **fields})
            assert sent.status_code in (303, 404, 422), (form, fields, sent.status_code)
        ada.post(f"/compare/studies/{study}", data={"csrf": form_token(ada.get("/compare"))})
        (who,) = [one["person"] for one in owner.get(f"/api/studies/{study}").json()["people"]]
        left = owner.post(f"{page}/one", data={"csrf": whole["csrf"], "what": "leave out", "person": who, "why": NUL})
        assert left.status_code == 303
        assert [one.rule for one in decisions(ledger, study)] == [NUL]
        assert [one.status_code for one in (owner.get(page), owner.get(f"{page}/export.csv"))] == [200, 200]


def test_a_judgement_that_is_committed_after_one_with_a_larger_number_is_heard_of(ledger: Ledger, server: str) -> None:
    """As by two runs at once: who looked between the two would else keep a board without the first for good."""
    scene.set_up(ledger)
    mine = (scene.JUDGE.key, scene.CONDITION.key)
    judged, states = JudgedLast(ledger), list[tuple[int, object, int]]()

    def look() -> None:
        before, now = committed(ledger), newest(ledger)
        judged.up_to(now, before)
        states.append((now.judgement, before, judged.of([mine])))

    def judge(here: Ledger, place: int) -> None:
        trial = scene.TRIALS[place]
        here.commit(Entries(study=scene.STUDY.key, trials=[trial], judgements=[scene.prefers(trial, 1)]))

    judge(ledger, 0)
    look()
    with closing(Ledger(server)) as other:
        with other.writing():
            judge(other, 1)
            judge(ledger, 2)
            look()
        look()
    assert [judgement for judgement, _, _ in states] == [1, 3, 3]
    assert len({heard for _, _, heard in states}) == 3
    assert len({before for _, before, _ in states}) == 3
    look()
    assert states[-1] == states[-2]
    judge(ledger, 3)
    look()
    assert states[-1][2] != states[-2][2]
    assert judged.of([("another", scene.CONDITION.key)]) == 0


def test_a_backup_of_it_is_a_file_that_a_copy_makes_the_same_ledger_of(
    ledger: Ledger, server: str, tmp_path: Path
) -> None:
    scene.set_up(ledger)
    picture, gone = encoded(photo(), "PNG"), "0" * 64
    kept = ledger.images.put(picture).digest
    shown = Item(label="seen", instruction="What is it?", images=(kept, gone))
    ledger.register_benchmark(Benchmark(name="seen", items=(shown,), licence="CC0-1.0", citation="", protocols=()))
    trial = scene.TRIALS[0]
    ledger.commit(Entries(study=scene.STUDY.key, trials=[trial], judgements=[scene.prefers(trial, 1)]))

    done = warm.run("ledger", "backup", "safe", cwd=tmp_path, env={**os.environ, "EVENHAND_STORE": server})
    lacking = [line for line in done.stderr.splitlines() if line.startswith("Not in the backup")]
    assert (done.returncode, [kept in line for line in lacking], gone in lacking[0]) == (3, [False], True)
    assert sorted(one.name for one in (tmp_path / "safe").iterdir()) == ["images", "ledger.db"]

    target = the_server().empty()
    with closing(Ledger(f"sqlite:///{tmp_path}/safe/ledger.db", create=False)) as backup:
        copied = copy_ledger(backup, target)
        assert backup.images.get(kept) == picture
    with closing(Ledger(target, create=False)) as again:
        assert copied.head == chain.head(ledger) == chain.head(again)
        assert upkeep_info(again).counts == upkeep_info(ledger).counts
        assert again.images.get(kept) == picture
        assert again.fence_secret() == ledger.fence_secret()
        assert [gone in problem for problem in check(again)] == [True]
    with refused(LedgerError, "ledger copy", code="EH-LEDGER"):
        restore(tmp_path / "safe", server, force=True)


def test_an_answer_that_is_put_on_record_after_one_with_a_larger_number_is_heard_of(
    ledger: Ledger, server: str
) -> None:
    scene.set_up(ledger)
    states = [newest(ledger)]

    def answered(here: Ledger, model: str) -> None:
        here.add_responses([Response(item=scene.TRIALS[0].item, model=model, text="An egg.")])

    with closing(Ledger(server)) as other:
        with other.writing():
            answered(other, "late")
            answered(ledger, "early")
            states.append(newest(ledger))
        states.append(newest(ledger))
    assert [one.answer - states[0].answer for one in states] == [0, 2, 2]
    assert len(set(states)) == 3
    assert newest(ledger) == states[-1]


def test_a_persons_place_is_found_without_reading_every_judgement(ledger: Ledger):
    """Also while PostgreSQL knows nothing of tables that have just been filled."""
    stock(ledger)
    place = taken(ledger, made(ledger, Conduct()), person(ledger))
    others = (
        "INSERT INTO people_tasks (place, number, item, first, second, trial) "
        "SELECT 'p' || n / 13, n, repeat('i', 64), repeat('f', 64), repeat('s', 64), repeat('t', 60) || n "
        "FROM generate_series(1, 5000) AS n"
    )
    judged = (
        "INSERT INTO judgements (seq, trial, reader, verdict, detail, calls, notes, run, at) "
        "SELECT 1000 + n, repeat('t', 60) || n, 'form', '{}', '', '[]', repeat('n', 300), 'r', 0 "
        "FROM generate_series(1, 30000) AS n"
    )
    with ledger.reading() as connection:
        connection.execute(text(others))
        connection.execute(text(judged))
        asked: dict[str, str] = {}
        event.listen(connection, "before_cursor_execute", lambda *given: asked.update({given[2]: given[3]}))
        connection.execute(comparisons._TAKEN_PLACE, {"place_": place.id})
        ((statement, values),) = asked.items()
        explained = connection.exec_driver_sql(f"EXPLAIN {statement}", values).scalars().all()
    assert any("on judgements" in line for line in explained)
    assert not [line for line in explained if "Seq Scan on judgements" in line]


def test_links_are_counted_as_of_one_moment_whatever_others_link_meanwhile(server: str) -> None:
    small = replace(scene.STUDY, items=scene.STUDY.items[:1])
    with Ledger(server) as ledger:
        scene.set_up(ledger, scene.STUDY, small)
        ledger.link(scene.STUDY.key, [f"t{number}" for number in range(6)])
        more = itertools.count()
        with ledger.reading() as connection:
            event.listen(
                connection, "before_cursor_execute", lambda *_: ledger.link(small.key, [f"t{next(more)}", "t99"])
            )
            assert links_by_study(connection)[scene.STUDY.key] == 6
        with ledger.reading() as connection:
            assert links_by_study(connection) == {scene.STUDY.key: 6, small.key: next(more) + 1}
