"""A model placed over real HTTP by a judge of known strengths, killed twice on the way: all comes out as unkilled."""

import json
from typing import Any

import pytest

from tests.e2e.workplace import Ran, Workplace, killed_once, stats
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow

ITEMS = [f"i{number:02}" for number in range(30)]
STRENGTH = {"ada": -1.5, "bel": -0.9, "cal": -0.3, "dot": 0.3, "eve": 0.9, "fay": 1.5, "gus": 0.6}
IN_FLIGHT = 4
CALLS, LOOKS = 140, 7


def write(here: Workplace, name: str, rows: list[dict[str, str]]) -> None:
    here.folder.mkdir(exist_ok=True)
    (here.folder / name).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def answers(*models: str) -> list[dict[str, str]]:
    return [
        {"item": item, "model": model, "response": f"{model} on {item}: strength={STRENGTH[model]}"}
        for item in ITEMS
        for model in models
    ]


def judging(url: str, *more: str) -> tuple[str, ...]:
    judge = ("--judge", "openai/gpt-4o", "--judge-base-url", url, "--endpoint-name", "scripted")
    return ("judge", "visit-bench", "--data", "items.jsonl", *judge, "--json", "--quiet", *more)


def placing(url: str) -> tuple[str, ...]:
    return judging(
        url, "--responses", "gus.jsonl", "--new", "gus", "--pairs", "nearest", "--orders", "random", "--until",
        "rank=0", "--looks", str(LOOKS), "--max-calls", str(CALLS), "--max-connections", str(IN_FLIGHT),
    )  # fmt: skip


def founded(here: Workplace, url: str) -> None:
    write(here, "items.jsonl", [{"item": one, "instruction": f"Ask {one}.", "caption": "A square."} for one in ITEMS])
    write(here, "founders.jsonl", answers(*(model for model in STRENGTH if model != "gus")))
    write(here, "gus.jsonl", answers("gus"))
    done = here.run(*judging(url, "--responses", "founders.jsonl"))
    assert done.code == 0, done.err


def on_board(here: Workplace) -> dict[str, Any]:
    done = here.run("rank", "--json")
    assert done.code == 0, done.err
    return next(row for row in done.document["models"] if row["model"] == "gus")


def killed(here: Workplace, url: str, *, after: int) -> None:
    """Once the server has seen so many requests more."""
    reached = stats(url)["requests"] + after
    killed_once(url, lambda: here.start(*placing(url)), requests=reached, answered=reached + IN_FLIGHT)


def test_a_placing_that_was_killed_twice_ends_where_one_that_was_not_does(here: Workplace) -> None:
    with server_process("--judge", "by-strength", "--latency", "0.02") as url:
        founded(here, url)
        whole = here.copy("whole")
        straight: Ran = whole.run(*placing(url))
        assert straight.code == 0, straight.err
        asked = stats(url)["requests"]
        killed(here, url, after=33)
        kept = here.decided()
        between = on_board(here)
        killed(here, url, after=50)
        assert kept.items() <= here.decided().items()
        last = here.run(*placing(url))
        assert last.code == 0, last.err
        seen = stats(url)
        assert here.run(*placing(url)).document["requests"] == 0
    (one,), (other,) = straight.document["placings"], last.document["placings"]
    told = ("look", "calls_made", "rank_lower", "rank_upper", "half_width", "stopped", "calls_at_random")
    assert {name: one[name] for name in told} == {name: other[name] for name in told}
    assert straight.document["requests"] == one["calls_made"]
    assert one["calls_made"] <= seen["requests"] - asked <= one["calls_made"] + 2 * IN_FLIGHT, "paid twice"
    row, same = on_board(whole), on_board(here)
    for name in ("rating", "rating_lower", "rating_upper", "rank", "rank_lower", "rank_upper", "placed"):
        assert row[name] == same[name]
    assert between["placed"]["look"] in (0, 1), "only planned looks are taken, wherever it was killed"
    assert row["rank_lower"] <= 3 <= row["rank_upper"], "eve and fay are stronger than gus, and nobody else"
    assert here.run("ledger", "check").code == 0
