"""Each command, as a person types it, against a real server on loopback."""

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import warm
from tests.refusals import Refused, says
from tests.scripted_server import server_process


class Desk:
    """A folder with a ledger, and the command line in it."""

    def __init__(self, folder: Path, base_url: str) -> None:
        self.folder = folder
        self.base_url = base_url

    def run(self, *arguments: str, expect: int = 0) -> warm.Done:
        environment = {name: value for name, value in os.environ.items() if not name.endswith("_API_KEY")}
        done = warm.run(*arguments, cwd=self.folder, env={**environment, "COLUMNS": "100"})
        assert done.returncode == expect, done.stderr
        assert "Traceback" not in done.stderr
        return done

    def refused(self, *arguments: str, expect: int = 2) -> Refused:
        return self.run(*arguments, expect=expect).refused

    def json(self, *arguments: str, expect: int = 0) -> dict[str, Any]:
        document = json.loads(self.run(*arguments, "--json", expect=expect).stdout)
        assert document["schema"] == 1
        return document

    def judge(self, *arguments: str) -> dict[str, Any]:
        return self.json(
            "judge", "visit-bench-sample", "--judge", "openai/gpt-4o", "--judge-base-url", self.base_url, *arguments
        )


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process("--judge", "prefers-longer") as base_url:
        yield base_url


@pytest.fixture(scope="module")
def desk(server: str, tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """Forty trials judged."""
    desk = Desk(tmp_path_factory.mktemp("desk"), server)
    summary = desk.judge("--pairs", "random", "--battles", "20")
    assert summary["called"] == summary["verdicts"] == 40
    return desk


def test_help_lists_every_command(desk: Desk) -> None:
    words = desk.run("--help").stdout
    for name in ("demo", "doctor", "judge", "answer", "rank", "runs", "show", "read", "import", "export", "ledger"):
        assert f"\n  {name} " in words


def test_version(desk: Desk) -> None:
    assert desk.run("--version").stdout == "evenhand 0.1.0\n"


def test_an_unknown_command_is_told_the_near_one(desk: Desk) -> None:
    says(desk.refused("jugde"), "EH-USAGE", "'jugde'", "mean 'judge'")


def test_a_board_says_who_won_and_how_far_the_judge_can_be_trusted(desk: Desk) -> None:
    board = desk.json("rank")
    first = board["models"][0]
    assert first["model"] == "sample-rambling"  # the scripted judge prefers the longer answer
    assert (first["rating"], first["rating_upper"], first["unbounded"]) == (None, None, "upper")
    assert f"won all of its {first['rating_n']} battles: its rating has no upper bound" in first["note"]
    assert first["win_rate_lower"] < first["win_rate"] <= first["win_rate_upper"]
    assert board["length_effect"]["words"] == 100
    assert board["coverage"] == {"wanted": 40, "with_verdict": 40, "reasons": {}}
    assert board["reliability"]["swap_consistency"] == 1.0
    counts = [board["models"][0][name] for name in ("wins", "losses", "ties", "rating_n")]
    assert [type(count) for count in counts] == [int] * 4
    words = desk.run("rank", "--explain").stdout
    assert "Can this judge be trusted?" in words
    assert "sample of Evenhand's own" in words


def test_elo_has_its_mean_at_1000(desk: Desk) -> None:
    models = desk.json("rank", "--method", "elo")["models"]
    assert sum(model["rating"] for model in models) / len(models) == pytest.approx(1000)


def test_a_ledger_with_two_judges_has_no_board_until_one_is_chosen(server: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, server)
    desk.judge("--pairs", "random", "--battles", "2")
    desk.json(
        "judge", "visit-bench-sample", "--judge", "openai/gpt-4o-mini", "--judge-base-url", server,
        "--pairs", "random", "--battles", "2",
    )  # fmt: skip
    done = desk.run("rank", expect=2)
    says(done.refused, "EH-CHOOSE-SEVERAL", "--judge: openai/gpt-4o, openai/gpt-4o-mini.")
    assert done.stdout == ""
    assert desk.json("rank", "--judge", "openai/gpt-4o-mini")["judge"] == "openai/gpt-4o-mini"


def test_runs_and_show_lead_from_a_run_to_the_words_of_a_reply(desk: Desk) -> None:
    run = desk.json("runs")["runs"][-1]
    assert run["outcome"]["verdicts"] == 40
    assert run["settings"]["judge"] == "openai/gpt-4o"
    shown = desk.json("show", run["run"][:8])
    assert len(shown["trials"]) == 40
    trial = desk.json("show", shown["trials"][0]["trial"][:16])
    (call,) = trial["calls"]
    assert "Overall, Response" in call["reply"]
    assert trial["shown"][0]["response"] in call["messages"][-1]["parts"][0]
    assert trial["judgements"][0]["verdict"]["levels"] == 2
    words = desk.run("show", trial["trial"]).stdout
    assert "Read as" in words
    assert "temperature 0.0, max tokens 1024" in words
    assert "price unknown" in words
    assert trial["shown"][1]["response"] in words
    assert shown["flips"] == []
    words = desk.run("show", run["run"]).stdout
    assert "as_json" not in words
    assert "judge-base-url " in words
    assert "0 pairs changed their verdict" in desk.run("show", run["run"], "--flips").stdout


def test_show_of_an_item_holds_every_answer(desk: Desk) -> None:
    item = desk.json("show", "--benchmark", "visit-bench-sample", "--item", "s01")
    assert len(item["answers"]) == 5
    assert "did you mean" in desk.run("show", "--item", "s1x", expect=2).stderr.lower()
    says(desk.refused("show"), "EH-USAGE", "--item")
    says(desk.refused("show", "zzz", expect=1), "EH-RUN-UNKNOWN", "zzz")


def test_benchmarks_and_protocols_and_models_are_listed_and_shown(desk: Desk) -> None:
    names = {one["benchmark"] for one in desk.json("benchmarks")["benchmarks"]}
    assert {"visit-bench", "visit-bench-sample"} <= names
    sample = desk.json("benchmarks", "show", "visit-bench-sample")
    assert sample["sample"] is True
    assert sample["items"] >= 16
    assert "item_list" not in sample
    listed = desk.json("benchmarks", "show", "visit-bench-sample", "--items")["item_list"]
    assert len(listed) == sample["items"]
    assert listed[0]["item"] == "s01"
    assert f"{listed[-1]['item']} " in desk.run("benchmarks", "show", "visit-bench-sample", "--items").stdout
    names = {one["protocol"] for one in desk.json("protocols")["protocols"]}
    assert {"visit_pairwise", *(f"option_selection_{prompt}" for prompt in range(1, 5))} <= names
    protocol = desk.json("protocols", "show", "visit_pairwise")
    assert "Fig. 16" in protocol["source"]
    assert "{{response_1}}" in protocol["turns"][-1]["text"]
    assert len(desk.json("models")["providers"]) == 13
    assert "CC0" in desk.run("benchmarks", "show", "visit-bench-sample").stdout
    assert protocol["reading"]["take"] == "last"
    assert protocol["reading"]["values"] == {"a": 1, "b": -1}
    assert "Overall" in protocol["reading"]["pattern"]
    assert protocol["constrained"] == {"begin": "Overall, Response", "answers": {" A": 1, " B": -1}}
    words = desk.run("protocols", "show", "visit-pairwise").stdout
    assert "ImageTaskEvaluationGPT" in words
    assert "last: the last decision in the reply counts" in words
    assert "openrouter" in desk.run("models").stdout


def test_replies_got_elsewhere_are_read_without_a_call(desk: Desk) -> None:
    file = desk.folder / "replies.jsonl"
    rows = [
        {"item": "7", "reply": "Step 1 ...\n\nOverall, Response A is better."},
        {"item": 8, "reply": "I cannot say."},
    ]
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    read = desk.json("read", "visit_pairwise", str(file))
    assert read["replies"] == [
        {"item": "7", "verdict": {"kind": "preference", "value": 1, "levels": 2}, "reason": None},
        {"item": "8", "verdict": None, "reason": "unreadable"},
    ]
    assert read["coverage"] == {"wanted": 2, "with_verdict": 1, "reasons": {"unreadable": 1}}
    words = desk.run("read", "visit_pairwise", str(file)).stdout
    assert "the first shown is better" in words
    assert "unreadable. No decision was found." in words
    file.write_text('{"reply": "Overall, Response B is better."}\n{"id": "x", "reply": ""}\n', encoding="utf-8")
    assert [one["item"] for one in desk.json("read", "visit_pairwise", str(file))["replies"]] == ["1", "x"]
    file.write_text('{"item": "7"}\n', encoding="utf-8")
    says(desk.refused("read", "visit_pairwise", str(file)), "EH-FILE", "row 1 (line 1): ", "item", "reply")
    for number in ("9" * 5000, "[" * 99_999):
        file.write_text(f'{{"item": {number}', encoding="utf-8")
        says(desk.refused("read", "visit_pairwise", str(file)), "EH-FILE", "row 1 (line 1): not JSON")


def test_the_ledger_is_counted_checked_and_copied(desk: Desk) -> None:
    assert desk.json("ledger", "info")["counts"]["judgements"] == 40
    assert desk.json("ledger", "check")["sound"] is True
    desk.run("ledger", "backup", "copy")
    copied = desk.json("rank", "--store", "sqlite:///copy/ledger.db")
    assert copied["models"] == desk.json("rank")["models"]
    assert "never overwrites" in desk.run("ledger", "backup", "copy", expect=1).stderr


def test_a_model_answers_and_its_answers_can_be_judged(server: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, server)
    asked = ("answer", "visit-bench-sample", "--model", "openai/gpt-4o", "--base-url", server, "--limit", "3")
    first = desk.json(*asked, "--name", "mine", "--out", "mine.jsonl")
    assert (first["called"], first["verdicts"]) == (3, 3)
    rows = [json.loads(line) for line in (tmp_path / "mine.jsonl").read_text().splitlines()]
    assert [row["item"] for row in rows] == ["s01", "s02", "s03"]
    assert {row["model"] for row in rows} == {"mine"}
    assert desk.json(*asked, "--name", "mine")["called"] == 0
    twin = desk.json(*asked, "--name", "twin")
    assert (twin["called"], twin["known"]) == (0, 3)  # the same request is answered from the record
    judged = desk.judge("--responses", "mine.jsonl", "--limit", "3", "--against", "reference")
    assert judged["called"] == 6
    # The answers are the scripted judge's own words: what stands in its own text is its decision all the same.
    assert (judged["verdicts"], judged["no_verdict"]) == (6, {})
    mine = next(one for one in desk.json("rank")["models"] if one["model"] == "mine")
    assert (mine["wins"], mine["losses"], mine["ties"]) == (6, 0, 0)  # the longer answers, in either order
    assert (mine["answers_shown"], mine["writes_verdicts"]) == (3, 3)


def test_doctor_tells_what_an_endpoint_can_do(desk: Desk) -> None:
    found = {
        one["what"]: one["state"]
        for one in desk.json("doctor", "--model", "m", "--base-url", desk.base_url)["findings"]
    }
    assert found["answers"] == "ok"
    assert found["sees images"] == "no"  # the scripted judge is blind
    assert found["ledger"] == "ok"
    broken = desk.json("doctor", "--model", "m", "--base-url", "http://127.0.0.1:9/v1", expect=1)
    assert [one["state"] for one in broken["findings"] if one["what"] == "answers"] == ["wrong"]


def test_reading_commands_make_no_ledger(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "")
    for command in (("rank",), ("runs",), ("ledger", "info")):
        says(desk.refused(*command, expect=1), "EH-LEDGER-MISSING")
    assert list(tmp_path.iterdir()) == []
