"""Claims about claims: one trial is asked by one live run."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from sqlalchemy import func, select, text, update

from evenhand.domain.trial import Trial
from evenhand.ledger.store import schema
from evenhand.ledger.store.claims import (
    Claimed,
    claim,
    claim_calls,
    claim_one,
    held_now,
    holder_name,
    release_all,
    renew,
)
from evenhand.ledger.store.record import Entries, Ledger
from tests.database import AS_WRITTEN, url_in
from tests.ledger import scene
from tests.ledger.scene import TRIALS

KEYS = [trial.key for trial in TRIALS]
MINE = holder_name("mine")
THEIRS = holder_name("theirs")
ELSEWHERE = "another-host|1|1|run"

TAKES = """
import json
keys = json.loads(sys.argv[2])
taken = claim(ledger, keys, reader="r1", holder=holder_name("child"))
tell(sorted(taken.mine))
sys.stdin.readline()
"""


def taken(ledger: Ledger, holder: str, keys: list[str] = KEYS) -> Claimed:
    return claim(ledger, keys, reader="r1", holder=holder)


def held(ledger: Ledger) -> int:
    with ledger.reading() as connection:
        return connection.execute(select(func.count()).select_from(schema.claims)).scalar_one()


def expire(ledger: Ledger, holder: str) -> None:
    """As if the lease had run out long ago."""
    with ledger.writing() as connection:
        connection.execute(update(schema.claims).where(schema.claims.c.holder == holder).values(until=1.0))


def test_whoever_comes_first_gets_all_and_the_second_learns_that_others_ask(ledger: Ledger):
    assert taken(ledger, MINE) == Claimed(mine=set(KEYS), decided=set(), others=set())
    assert taken(ledger, THEIRS) == Claimed(mine=set(), decided=set(), others=set(KEYS))


def test_what_another_process_of_the_run_asks_is_told_apart_from_what_other_runs_ask(ledger: Ledger):
    taken(ledger, holder_name("other"), KEYS[:1])
    taken(ledger, "another-host|1|1|mine", KEYS[1:3])
    left = set(KEYS[3:])
    assert taken(ledger, MINE) == Claimed(mine=left, decided=set(), others=set(KEYS[:3]), crew=set(KEYS[1:3]))


def test_the_second_gets_what_is_left(ledger: Ledger):
    taken(ledger, MINE, KEYS[:4])
    assert taken(ledger, THEIRS) == Claimed(mine=set(KEYS[4:]), decided=set(), others=set(KEYS[:4]))


def test_claiming_again_keeps_what_one_has(ledger: Ledger):
    taken(ledger, MINE)
    assert taken(ledger, MINE).mine == set(KEYS)


def test_what_was_decided_since_the_plan_is_reported_and_not_claimed(ledger: Ledger):
    decided, undecided, failed, elsewhere = TRIALS[:4]
    scene.record(
        ledger,
        TRIALS,
        [
            scene.prefers(decided, 1),
            scene.without(undecided, "unreadable"),
            scene.without(failed, "timeout"),
            scene.prefers(elsewhere, 1, reader="r2"),
        ],
    )
    known = {decided.key, undecided.key}
    assert taken(ledger, MINE) == Claimed(mine=set(KEYS) - known, decided=known, others=set())


def test_a_trial_decided_while_it_was_claimed_is_decided_for_everybody(ledger: Ledger):
    taken(ledger, MINE)
    scene.record(ledger, TRIALS[:1], [scene.prefers(TRIALS[0], 1)])
    assert taken(ledger, THEIRS) == Claimed(mine=set(), decided={KEYS[0]}, others=set(KEYS[1:]))


def test_a_commit_ends_the_claims_it_names(ledger: Ledger):
    taken(ledger, MINE)
    ledger.commit(Entries(release=KEYS[:2]))
    assert taken(ledger, THEIRS).mine == set(KEYS[:2])


def test_a_commit_does_not_end_a_claim_that_another_run_has_taken_over(ledger: Ledger):
    taken(ledger, ELSEWHERE, KEYS[:2])
    expire(ledger, ELSEWHERE)
    taken(ledger, MINE, KEYS[:1])
    ledger.commit(Entries(release=KEYS[:2], holder=ELSEWHERE))
    assert taken(ledger, THEIRS, KEYS[:2]) == Claimed(mine={KEYS[1]}, decided=set(), others={KEYS[0]})


@pytest.mark.sqlite("the trigger is in SQLite's words")
def test_what_another_run_decides_while_we_claim_is_not_ours(ledger: Ledger):
    """PostgreSQL shows a transaction what others commit meanwhile; here it is done within ours, before we insert."""
    scene.record(ledger, TRIALS[:1], [scene.prefers(TRIALS[0], 1, reader="not yet")])

    with ledger.writing() as connection:
        decide = "BEGIN UPDATE judgements SET reader = 'r1'; END"
        connection.execute(text(f"CREATE TRIGGER meanwhile BEFORE INSERT ON claims {decide}"))
    assert taken(ledger, MINE) == Claimed(mine=set(KEYS[1:]), decided={KEYS[0]}, others=set())
    assert held(ledger) == len(KEYS) - 1


def test_claims_are_made_in_the_order_of_their_keys(ledger: Ledger):
    taken(ledger, MINE, sorted(KEYS, reverse=True))
    with ledger.reading() as connection:
        made = connection.exec_driver_sql(f"SELECT what FROM claims ORDER BY {AS_WRITTEN}").scalars().all()
    assert made == sorted(KEYS)


def test_releasing_gives_back_what_is_ones_own_and_no_more(ledger: Ledger):
    taken(ledger, MINE, KEYS[:3])
    taken(ledger, THEIRS, KEYS[3:])
    release_all(ledger, holder=MINE)
    assert held(ledger) == 3
    assert taken(ledger, MINE) == Claimed(mine=set(KEYS[:3]), decided=set(), others=set(KEYS[3:]))


def test_an_expired_lease_is_taken_over(ledger: Ledger):
    taken(ledger, ELSEWHERE, KEYS[:2])
    assert taken(ledger, MINE).others == set(KEYS[:2])
    expire(ledger, ELSEWHERE)
    assert taken(ledger, MINE).mine == set(KEYS)


def test_a_renewed_lease_is_not(ledger: Ledger):
    taken(ledger, ELSEWHERE, KEYS[:2])
    expire(ledger, ELSEWHERE)
    renew(ledger, holder=ELSEWHERE)
    assert taken(ledger, MINE).others == set(KEYS[:2])


def test_renewing_does_not_touch_the_leases_of_others(ledger: Ledger):
    taken(ledger, ELSEWHERE, KEYS[:2])
    expire(ledger, ELSEWHERE)
    renew(ledger, holder=MINE)
    assert taken(ledger, MINE).mine == set(KEYS)


def test_a_live_process_keeps_its_claims_and_a_dead_one_loses_them_at_once(ledger: Ledger, tmp_path: Path):
    # Of ours, so that it stays unburied.
    command = [sys.executable, "-c", scene.CHILD + TAKES, url_in(tmp_path), json.dumps(KEYS[:3])]
    process = subprocess.Popen(command, cwd=scene.ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert json.loads(scene.heard(process)) == sorted(KEYS[:3])
    assert taken(ledger, MINE).others == set(KEYS[:3])
    process.kill()
    # Dead and not buried: a zombie still has its number and asks no more.
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    assert taken(ledger, MINE) == Claimed(mine=set(KEYS), decided=set(), others=set())
    scene.killed(process)


def test_a_process_that_only_has_the_number_of_the_dead_one_is_not_taken_for_it(ledger: Ledger):
    host, number, _started, run = MINE.rsplit("|", 3)
    before_us = f"{host}|{number}|0|{run}"
    taken(ledger, before_us)
    assert taken(ledger, MINE).mine == set(KEYS)


def test_a_run_on_another_machine_keeps_its_claims(ledger: Ledger):
    taken(ledger, "another|host|999999999|1|run")
    assert taken(ledger, MINE).others == set(KEYS)


def test_two_processes_that_claim_at_once_share_the_trials_without_overlap(ledger: Ledger, tmp_path: Path):
    racing = """
tell("ready")
sys.stdin.readline()
keys = [f"trial-{number:03}" for number in range(200)]
if sys.argv[2] == "backwards":
    keys.reverse()
mine = []
for start in range(0, 200, 5):
    mine += claim(ledger, keys[start:start + 5], reader="r1", holder=holder_name("run")).mine
tell(mine)
sys.stdin.readline()
"""
    racers = [scene.child(racing, url_in(tmp_path), way) for way in ("forwards", "backwards")]
    assert {scene.heard(racer) for racer in racers} == {'"ready"'}
    for racer in racers:
        scene.told(racer)
    one, other = (json.loads(scene.heard(racer)) for racer in racers)
    for racer in racers:
        racer.communicate("\n")
    assert sorted(one + other) == [f"trial-{number:03}" for number in range(200)]


def test_a_call_is_claimed_unless_it_was_answered(ledger: Ledger):
    entries = Entries()
    entries.add_call(scene.asked(), scene.REPLY, run="run", at=0.0, cost_usd=None)
    ledger.commit(entries)
    answered, open_call = scene.asked().key, scene.asked("Another?").key
    first = claim_calls(ledger, [answered, open_call], holder=MINE)
    assert first == Claimed(mine={open_call}, decided={answered}, others=set())
    assert claim_calls(ledger, [open_call], holder=THEIRS).others == {open_call}


def test_one_thing_is_one_holders_until_it_lets_go_dies_or_does_not_renew(ledger: Ledger):
    assert claim_one(ledger, "thing", holder=MINE)
    assert claim_one(ledger, "thing", holder=MINE)
    assert not claim_one(ledger, "thing", holder=THEIRS)
    assert claim_one(ledger, "another thing", holder=THEIRS)
    release_all(ledger, holder=MINE)
    assert claim_one(ledger, "thing", holder=ELSEWHERE)
    assert not claim_one(ledger, "thing", holder=MINE)
    expire(ledger, ELSEWHERE)
    assert claim_one(ledger, "thing", holder=MINE)


def test_what_is_held_is_told_without_taking_it(ledger: Ledger):
    host, number, _started, run = MINE.rsplit("|", 3)
    dead = f"{host}|{number}|0|{run}"
    for what, holder in (("mine", MINE), ("dead", dead), ("far", ELSEWHERE), ("late", "third-host|1|1|run")):
        assert claim_one(ledger, what, holder=holder)
    expire(ledger, "third-host|1|1|run")
    before = held(ledger)
    assert held_now(ledger, ["mine", "dead", "far", "late", "free"]) == {"mine", "far"}
    assert held_now(ledger, ["far"]) == {"far"}
    assert held(ledger) == before


def test_renewing_tells_how_many_claims_are_left(ledger: Ledger):
    taken(ledger, ELSEWHERE, KEYS[:3])
    assert renew(ledger, holder=ELSEWHERE) == 3
    expire(ledger, ELSEWHERE)
    taken(ledger, MINE, KEYS[:2])
    assert renew(ledger, holder=ELSEWHERE) == 1
    assert renew(ledger, holder=MINE) == 2


def judged(ledger: Ledger, holder: str, *trials: Trial) -> None:
    judgements = [scene.prefers(trial, 0) for trial in trials]
    keys = [trial.key for trial in trials]
    ledger.commit(Entries(trials=[*trials], judgements=judgements, release=keys, holder=holder))


@pytest.mark.parametrize("decided", [True, False])
def test_a_trial_that_another_run_has_taken_over_is_judged_by_that_one_only(ledger: Ledger, decided: bool):
    scene.set_up(ledger, scene.STUDY)
    lost, kept = TRIALS[:2]
    taken(ledger, MINE, [lost.key])
    expire(ledger, MINE)
    taken(ledger, MINE, [kept.key])
    assert taken(ledger, THEIRS, [lost.key]).mine == {lost.key}
    if decided:
        judged(ledger, THEIRS, lost)
    judged(ledger, MINE, lost, kept)
    if not decided:
        judged(ledger, THEIRS, lost)
    with ledger.reading() as connection:
        assert sorted(connection.execute(select(schema.judgements.c.trial)).scalars()) == sorted([lost.key, kept.key])
    assert held(ledger) == 0


@pytest.mark.skipif(not Path("/proc/sys/kernel/random/boot_id").exists(), reason="Linux tells of each start")
def test_a_run_on_another_machine_of_the_same_name_is_not_taken_for_dead(ledger: Ledger):
    machine, *_ = holder_name("theirs").rsplit("|", 3)
    name, container, start = machine.rsplit(" ", 2)
    there = f"{name} {container} {start[::-1]}|1|1|theirs"
    taken(ledger, there)
    assert taken(ledger, MINE).others == set(KEYS)
    taken(ledger, f"{machine}|{os.getpid()}|1|another that had this number", ["dead"])
    assert taken(ledger, MINE, ["dead"]).mine == {"dead"}


LOOKS_AS_ANOTHER_USER = """
import ctypes, os, sys
from evenhand.ledger.store.claims import is_dead
libc = ctypes.CDLL(None, use_errno=True)
print([is_dead(holder) for holder in sys.argv[1:]], flush=True)  # all is loaded then that others may not read
for level in (b"hidepid=1", b"hidepid=2"):
    if libc.mount(b"proc", b"/proc", b"proc", 0, level):
        sys.exit("cannot mount")
    if not (child := os.fork()):
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
        print([is_dead(holder) for holder in sys.argv[1:]], flush=True)
        os._exit(0)
    os.waitpid(child, 0)
"""


@pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root mounts /proc anew and becomes others")
def test_a_run_of_a_user_whose_processes_are_hidden_is_not_taken_for_dead():
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        process.kill()
    dead = MINE.replace(f"|{os.getpid()}|", f"|{process.pid}|")
    looked = subprocess.run(
        ["unshare", "--mount", sys.executable, "-c", LOOKS_AS_ANOTHER_USER, MINE, dead],
        capture_output=True,
        text=True,
        check=False,
    )
    if "cannot mount" in looked.stderr or looked.stderr.startswith("unshare"):
        pytest.skip("this container lets nobody mount anything")
    assert looked.stdout.splitlines() == ["[False, True]"] * 3, looked.stderr
