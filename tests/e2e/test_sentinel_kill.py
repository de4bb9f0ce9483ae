"""A look at a judge that is killed goes on where it was: no row is asked twice, and none is drawn anew."""

import pytest

from tests.e2e.test_kill import killed
from tests.e2e.workplace import Workplace, drawn, judging, stats
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow

ROWS = 60


def test_a_look_killed_twice_asks_its_rows_once(here: Workplace) -> None:
    with server_process("--latency", "0.03") as url:
        assert here.run(*judging(url, *drawn(40))).code == 0
        board = stats(url)["requests"]
        server = ("--judge", "openai/gpt-4o", "--judge-base-url", url, "--endpoint-name", "scripted")
        look = ("sentinel", *server, "--rows", str(ROWS), "--look", "one", "--max-connections", "8", "--json")
        in_flight = [killed(here, url, after=board + moment, arguments=look) for moment in (15, 40)]
        told = here.run(*look)
        assert told.code == 0, told.err
        assert (told.document["rows"], told.document["rows_left"]) == (ROWS, 80 - ROWS)
        assert stats(url)["answered"] <= board + ROWS + sum(in_flight)
        assert here.run(*look).document["asking"]["called"] == 0
    assert here.run("ledger", "check").code == 0
