"""A server that fails half of the time: every trial is accounted for, and no failure becomes a score."""

import json
from collections import Counter
from typing import Any

import pytest

from tests.e2e.workplace import CALL_FAILED, Workplace, drawn, stats
from tests.scripted_server import server_process

FAULTS = ("--fault", "429=0.3", "--fault", "500=0.1", "--fault", "garbage=0.05", "--fault", "empty=0.05")
UNDECIDED = ("--fault", "refusal=0.04", "--fault", "length=0.04")
BATTLES = 40


def wins_and_losses(here: Workplace, *, of: set[str]) -> dict[str, tuple[int, int]]:
    """Each model's, counted from the verdicts on these trials alone."""
    model_of = dict(here.rows("SELECT digest, model FROM responses"))
    decided = here.decided()
    wins, losses = Counter[str](), Counter[str]()
    for trial, shown in here.rows("SELECT key, responses FROM trials"):
        if trial not in of:
            continue
        first, second = (model_of[digest] for digest in json.loads(shown))
        verdict = json.loads(decided[trial])
        won, lost = (first, second) if verdict["value"] > 0 else (second, first)
        wins[won] += 1
        losses[lost] += 1
    return {model: (wins[model], losses[model]) for model in wins | losses}


@pytest.mark.slow
def test_no_score_is_moved_by_calls_that_fail_and_a_rerun_heals_them(here: Workplace, elsewhere: Workplace) -> None:
    with server_process("--seed", "3") as url:
        assert elsewhere.judge(url, *drawn(BATTLES)).code == 0
    truth = elsewhere.decided()

    with server_process("--seed", "3", *FAULTS, *UNDECIDED) as url:
        ran = here.judge(url, *drawn(BATTLES), "--max-retries", "2")
        seen = stats(url)
        check_accounts(here, ran.document, seen)
        check_board(here, truth)
        assert ran.code == 3, ran.err
        assert "Run the same command again" in ran.err

        for _ in range(6):
            failed = sum(ran.document["failed"].values())
            if not failed:
                break
            ran = here.judge(url, *drawn(BATTLES), "--max-retries", "3")
            assert ran.document["called"] == failed
        assert ran.code == 0
    assert here.decided().keys() == truth.keys()
    check_board(here, truth)


def check_accounts(here: Workplace, document: dict[str, Any], seen: dict[str, Any]) -> None:
    assert document["planned"] == document["called"] == 2 * BATTLES
    assert document["known"] == document["not_reached"] == 0
    outcomes = document["verdicts"], sum(document["no_verdict"].values()), sum(document["failed"].values())
    assert sum(outcomes) == document["called"]
    assert all(count > 0 for count in outcomes), "the faults are to show each kind of outcome"
    assert document["no_verdict"].keys() == {"refused", "truncated"}
    assert document["failed"].keys() <= set(CALL_FAILED)
    assert document["requests"] == seen["requests"]
    recorded = Counter(reason for (reason,) in here.rows("SELECT reason FROM judgements WHERE reason IS NOT NULL"))
    assert recorded == {**document["no_verdict"], **document["failed"]}
    assert here.rows("SELECT count(*) FROM judgements WHERE (verdict IS NULL) = (reason IS NULL)") == [(0,)]
    answered = document["verdicts"] + sum(document["no_verdict"].values())
    assert here.rows("SELECT count(*) FROM calls") == [(answered,)], "a failed call is never kept as a reply"


def check_board(here: Workplace, truth: dict[str, str]) -> None:
    """The verdicts are those of a run without faults, and the board counts them and nothing else."""
    read = {trial: verdict for trial, verdict in here.decided().items() if verdict.startswith("{")}
    assert read.items() <= truth.items()
    board = here.run("rank", "--json").document
    counted = {row["model"]: (row["wins"], row["losses"]) for row in board["models"]}
    assert counted == wins_and_losses(here, of=set(read))
    assert all(row["ties"] == 0 for row in board["models"])
    assert board["coverage"]["wanted"] == 2 * BATTLES
    assert board["coverage"]["with_verdict"] == len(read)
    assert sum(board["coverage"]["reasons"].values()) == 2 * BATTLES - len(read)
