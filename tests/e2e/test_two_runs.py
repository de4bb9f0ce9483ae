"""Two processes on one ledger share the work and never pay twice."""

import pytest

from tests.e2e.workplace import Workplace, drawn, ended, judging, stats
from tests.scripted_server import server_process


@pytest.mark.slow
def test_two_runs_at_once_ask_each_trial_once_and_leave_nothing_out(here: Workplace) -> None:
    with server_process("--latency", "0.05") as url:
        arguments = judging(url, *drawn(120), "--max-connections", "16")
        both = [ended(process) for process in [here.start(*arguments), here.start(*arguments)]]
        seen = stats(url)
        after = here.run(*arguments)
        assert stats(url)["requests"] == seen["requests"] + after.document["called"]

    assert {ran.code for ran in both} <= {0, 3}, [ran.err for ran in both]
    assert seen["requests"] == seen["distinct"]
    for ran in both:
        document = ran.document
        assert document["planned"] == document["known"] + document["called"] + document["not_reached"] == 240
        assert document["not_reached"] == document["elsewhere"]
        assert document["failed"] == {}
    assert sum(ran.document["called"] for ran in both) == seen["requests"] == 240
    assert (after.code, after.document["known"], after.document["called"]) == (0, 240, 0)
    assert len(here.decided()) == 240
    assert here.rows("SELECT count(*) FROM study_trials") == [(240,)]
    assert here.rows("SELECT * FROM claims") == []
