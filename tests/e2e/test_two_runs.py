"""Two processes on one ledger share the work and never pay twice."""

import pytest

from tests.e2e.test_budget_kill import TASKS
from tests.e2e.workplace import Workplace, drawn, ended, judging, stats, told, until, waited_for
from tests.scripted_server import server_process


@pytest.mark.slow
def test_two_runs_at_once_ask_each_trial_once_and_leave_nothing_out(here: Workplace) -> None:
    with server_process("--latency", "0.05") as url:
        arguments = judging(url, *drawn(120), "--max-connections", "16")
        both = [ended(process) for process in [here.start(*arguments), here.start(*arguments)]]
        seen = stats(url)
        after = here.run(*arguments)
        assert stats(url)["requests"] == seen["requests"] + after.document["called"]

    assert {ran.code for ran in both} == {0}, [ran.err for ran in both]
    assert seen["requests"] == seen["distinct"]
    for ran in both:
        document = ran.document
        assert document["planned"] == document["known"] + document["called"] == 240
        assert document["not_reached"] == document["elsewhere"] == 0
        assert document["failed"] == {}
    assert sum(ran.document["called"] for ran in both) == seen["requests"] == 240
    assert (after.code, after.document["known"], after.document["called"]) == (0, 240, 0)
    assert len(here.decided()) == 240
    assert here.rows("SELECT count(*) FROM study_trials") == [(240,)]
    assert here.rows("SELECT * FROM claims") == []


@pytest.mark.slow
def test_what_another_run_is_asking_is_left_to_it_with_no_wait_and_else_waited_for(here: Workplace) -> None:
    with server_process("--held") as url:
        arguments = judging(url, *drawn(3))
        first = here.start(*arguments)
        until(url, lambda seen: seen["requests"] == 6)
        left = here.run(*arguments, "--no-wait")
        ((runs,),) = here.rows("SELECT count(*) FROM runs")
        waiting = here.start(*arguments)
        waited_for(lambda: here.rows("SELECT count(*) FROM runs") > [(runs,)] or waiting.poll() is not None)
        told(url, "go")
        waited = ended(waiting)
        assert ended(first).code == 0
        assert stats(url)["requests"] == 6

    assert (left.code, left.document["elsewhere"], left.document["not_reached"]) == (3, 6, 6)
    assert (waited.code, waited.document["known"], waited.document["called"]) == (0, 6, 0)


@pytest.mark.slow
@pytest.mark.parametrize("name", TASKS)
def test_every_command_waits_for_another_run_of_its_own_and_goes_on_where_that_was_killed(
    here: Workplace, name: str
) -> None:
    task = TASKS[name]
    here.folder.mkdir()
    with server_process("--judge", task.replies, "--latency", "1") as url:
        asked = (*task.words(here.folder, 200), task.address, url, "--endpoint-name", "scripted", "--json", "--quiet")
        told(url, "hold?after=60")  # else the one that is killed may have ended
        both = [here.start(*asked), here.start(*asked)]
        until(url, lambda seen: seen["requests"] >= 40)
        both[0].kill()
        told(url, "go")
        killed, other = (ended(process) for process in both)
        seen = stats(url)
        after = here.run(*asked)
        assert stats(url)["requests"] == seen["requests"], "nothing was left to ask"

    assert killed.code != 0
    assert (other.code, after.code) in ((0, 0), (4, 4)), other.err
    assert seen["repeats"] <= 64, "at most what was in flight is asked once more"
    assert here.rows("SELECT * FROM claims") == []
