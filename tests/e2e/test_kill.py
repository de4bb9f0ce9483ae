"""Killed with -9 at any moment: nothing that was answered is lost, and next to nothing is asked twice."""

import json
import random
from collections.abc import Sequence

import pytest

from tests.e2e.workplace import Workplace, drawn, judging, killed_once, stats
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow

IN_FLIGHT = 8
BATTLES = 50
TRIALS = 2 * BATTLES


def killed(here: Workplace, url: str, *, after: int, arguments: Sequence[str], answered_more: int = IN_FLIGHT) -> int:
    """Kills a run once the server has seen so many requests; returns how many answered calls were in flight then.

    A call is in flight until its judgement is committed. Before the kill at most so many more are answered.
    """
    kept = here.decided() if here.begun else {}
    answered = stats(url)["answered"]
    seen = killed_once(url, lambda: here.start(*arguments), requests=after, answered=after + answered_more)
    now_kept = here.decided()
    assert kept.items() <= now_kept.items()
    return (seen["answered"] - answered) - (len(now_kept) - len(kept))


def check_two_kills(here: Workplace, *, moments: Sequence[int], faults: Sequence[str] = (), seed: int = 0) -> None:
    given = [word for fault in faults for word in ("--fault", fault)]
    with server_process("--latency", "0.03", "--seed", str(seed), *given) as url:
        arguments = judging(url, *drawn(BATTLES), "--max-connections", str(IN_FLIGHT))
        in_flight = [killed(here, url, after=moment, arguments=arguments) for moment in moments]
        kept = here.decided()
        last = here.run(*arguments)
        assert last.document["known"] == len(kept)
        for _ in range(5):  # what still failed after all its tries is asked again, as the design says
            if last.code == 3:
                last = here.run(*arguments)
        seen = stats(url)

    assert all(0 <= calls <= IN_FLIGHT for calls in in_flight)
    assert last.code == 0, last.err
    assert kept.items() <= here.decided().items()
    assert len(here.decided()) == TRIALS
    assert seen["distinct"] == TRIALS
    assert seen["answered_again"] <= sum(in_flight)
    assert seen["peak"] <= IN_FLIGHT
    assert here.rows("SELECT * FROM claims") == []
    assert here.run("ledger", "check").code == 0


def test_killed_twice_and_run_again_no_judgement_is_lost_and_none_is_doubled(here: Workplace) -> None:
    check_two_kills(here, moments=(25, 60))


FAULTS = ("429=0.3", "500=0.1", "garbage=0.05", "empty=0.05")


def test_the_same_with_an_endpoint_that_fails_half_the_time(here: Workplace) -> None:
    check_two_kills(here, moments=(40, 110), faults=FAULTS)


@pytest.mark.soak
@pytest.mark.parametrize("round_", range(20))
def test_killed_at_any_two_moments_no_judgement_is_lost_and_none_is_doubled(here: Workplace, round_: int) -> None:
    lots = random.Random(round_)
    moments = sorted(lots.sample(range(1, TRIALS), 2))  # of about twice as many requests
    check_two_kills(here, moments=moments, faults=FAULTS, seed=round_)


def test_a_kill_before_the_first_reply_leaves_a_ledger_that_works(here: Workplace) -> None:
    with server_process() as url:
        arguments = judging(url, *drawn(3))
        assert killed(here, url, after=1, arguments=arguments, answered_more=-1) <= 6
        assert here.decided() == {}
        assert here.run(*arguments).code == 0
    assert len(here.decided()) == 6


def options(here: Workplace) -> None:
    here.folder.mkdir()
    rows = [
        {"item": f"row-{number}", "prompt": f"Name {number} rivers.", "outputs": [f"{number} {one}" for one in "abcd"]}
        for number in range(20)
    ]
    (here.folder / "rivers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def grading(url: str) -> tuple[str, ...]:
    judge = ("--judge", "openai/gpt-4o", "--judge-base-url", url, "--endpoint-name", "scripted")
    return ("grade", "rivers.jsonl", "--prompt", "4", *judge, "--max-connections", str(IN_FLIGHT), "--quiet", "--json")


def test_grading_that_was_killed_twice_ends_with_the_figures_of_one_that_was_not(
    here: Workplace, elsewhere: Workplace
) -> None:
    options(here)
    options(elsewhere)
    with server_process("--latency", "0.03", "--judge", "picks-graded") as url:
        in_flight = [killed(here, url, after=moment, arguments=grading(url)) for moment in (20, 55)]
        kept = here.decided()
        made = here.run(*grading(url))
        seen = stats(url)
        assert made.code == 0, made.err
        assert here.run(*grading(url)).code == 0
        assert stats(url)["requests"] == seen["requests"], "the same command again asks nothing"
    with server_process("--judge", "picks-graded") as url:
        whole = elsewhere.run(*grading(url))
    assert 0 < len(kept) < 80
    assert kept.items() <= here.decided().items()
    assert len(here.decided()) == seen["distinct"] == 80
    # Only what was in flight when it was killed is asked again.
    assert seen["answered_again"] <= sum(in_flight) <= 2 * IN_FLIGHT
    assert {**made.document, "runs": None} == {**whole.document, "runs": None}
    assert 0 < made.document["selection_is_highest_graded"] < 1
    assert here.run("ledger", "check").code == 0
