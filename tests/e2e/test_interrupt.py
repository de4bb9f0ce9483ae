"""Ctrl-C in a process of its own."""

import signal

import pytest

from tests.e2e.workplace import Workplace, drawn, ended, interrupted, judging, stats, told, until
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow


def test_ctrl_c_lets_calls_end_says_how_to_go_on_and_loses_nothing(here: Workplace) -> None:
    with server_process() as url:
        arguments = judging(url, *drawn(20), "--max-connections", "8")
        told(url, "hold?after=10")
        process = here.start(*arguments)
        until(url, lambda seen: seen["in_flight"] == 8)
        ran = interrupted(url, process)
        seen = stats(url)
        assert ran.code == 130
        assert "Interrupted; " in ran.err
        assert "Run the same command again" in ran.err
        assert ran.document["called"] == ran.document["verdicts"] == len(here.decided()) == seen["requests"]
        assert ran.document["not_reached"] == 40 - ran.document["called"] > 0

        again = here.run(*arguments)
        assert again.code == 0
        assert again.document["known"] == ran.document["called"]
        assert stats(url)["repeats"] == 0
    assert len(here.decided()) == 40


def test_a_second_ctrl_c_gives_up_what_is_in_flight_and_it_is_asked_again(here: Workplace) -> None:
    with server_process("--fault", "hang=1") as url:
        process = here.start(*judging(url, *drawn(5)))
        until(url, lambda seen: seen["in_flight"] == 10)
        process.send_signal(signal.SIGINT)
        process.send_signal(signal.SIGTERM)
        ran = ended(process)
    assert ran.code == 130
    assert ran.document["failed"] == {"interrupted": 10}
    assert here.decided() == {}
    assert here.run("runs").out.count("interrupted") == 1
    with server_process() as url:
        again = here.judge(url, *drawn(5))
    assert (again.code, again.document["called"], len(here.decided())) == (0, 10, 10)
