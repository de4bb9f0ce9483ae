"""What somebody new gets wrong, and what is said then."""

import re
import signal
import subprocess
import textwrap
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from evenhand.cli.ask.outcome import Outcome
from evenhand.engine.run.tally import Tally
from evenhand.engine.session import Ended
from tests.cli.test_commands import Desk
from tests.e2e.workplace import until
from tests.refusals import says
from tests.scripted_server import server_process
from tests.warm import EVENHAND, LONG

CONTRIBUTING = Path(__file__).parents[2] / "CONTRIBUTING.md"
DRAWN = ("--pairs", "random", "--battles", "2", "--quiet")
JUDGE = ("judge", "visit-bench-sample", "--judge", "openai/m", *DRAWN)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process("--judge", "prefers-longer") as base_url:
        yield base_url


@pytest.mark.slow
def test_an_attempt_at_a_wrong_address_costs_nothing_and_stands_in_nobodys_way(server: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, server)
    wrong = desk.run(*JUDGE, "--judge-base-url", "http://127.0.0.1:9/v1", "--max-retries", "0", expect=3).stderr
    assert "price unknown" in wrong
    assert "$0.0000" not in wrong
    assert "No reply has come: check the address" in wrong
    assert "Run the same command again" not in wrong
    assert desk.refused("rank").code == "EH-CHOOSE-NOTHING"
    desk.run(*JUDGE, "--judge-base-url", server)
    assert desk.json("rank")["votes"] == 4
    assert f"openai/m at {server}" in desk.run("runs").stdout
    assert {run["endpoint"] for run in desk.json("runs")["runs"]} == {"http://127.0.0.1:9/v1", server}
    lines = desk.run("show", "--item", "s01").stdout
    assert "(openai/m, http://127.0.0.1:9/v1)" in lines


def test_a_budget_is_said_to_be_this_runs_own(server: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, server)
    asked = (*JUDGE, "--judge-base-url", server, "--price", "input=2.5,output=10", "--max-cost", "0.018")
    assert "the run would stop at that budget" in desk.run(*asked, "--dry-run").stdout
    said = desk.run(*asked, expect=3).stderr
    assert re.search(r"This run's budget of \$0\.018 \(\$0\.\d+ spent; .*\) is reached; ", said)
    assert "Run the same command again to spend as much again on the rest." in said


@pytest.mark.parametrize("given", [("--judge", "foo/m"), ("--judge", "m", "--judge-base-url", "nowhere")])
def test_the_judges_address_is_called_by_its_own_flag(tmp_path: Path, given: tuple[str, ...]) -> None:
    said = Desk(tmp_path, "").run("judge", "visit-bench-sample", *given, expect=2).stderr
    assert " --judge-base-url" in said


def test_a_file_of_items_alone_is_told_what_it_needs(tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"item": 1, "instruction": "How many?"}\n')
    said = Desk(tmp_path, "").refused("judge", "items.jsonl", "--judge", "openai/m")
    says(said, "EH-CHOOSE-NOTHING", "items", "--responses FILE")


def test_evenhand_toml_takes_one_value_for_a_repeatable_flag_and_no_table(tmp_path: Path) -> None:
    desk = Desk(tmp_path, "")
    (tmp_path / "evenhand.toml").write_text('items = "s01"\nmodels = ["reference", "sample-brief"]\n')
    assert desk.json(*JUDGE[:4], "--dry-run")["trials"] == 2
    (tmp_path / "evenhand.toml").write_text("[judge]\nseed = 1\n")
    says(desk.refused("runs"), "EH-SETTINGS", "evenhand.toml", "[judge]")
    (tmp_path / "evenhand.toml").write_text("seed = [1, 2]\n")
    says(desk.refused("runs"), "EH-SETTINGS", "evenhand.toml", "'seed'", "a list")


def test_the_protocol_of_the_guide_works_and_a_changed_reading_rule_makes_no_call(server: str, tmp_path: Path) -> None:
    desk = Desk(tmp_path, server)
    text = CONTRIBUTING.read_text(encoding="utf-8")
    folder = tmp_path / "mine"
    folder.mkdir()
    for file, language in (("protocol.toml", "toml"), ("ask.md", "text")):
        (block,) = re.findall(rf"```{language}\n(.*?)```", text, flags=re.DOTALL)
        (folder / file).write_text(textwrap.dedent(block), encoding="utf-8")
    rule = (folder / "protocol.toml").read_text(encoding="utf-8")
    judge = (*JUDGE, "--judge-base-url", server, "--protocol", "mine")

    (folder / "protocol.toml").write_text(rule.replace("Overall, Response", "I choose"), encoding="utf-8")
    trial = ""
    for _ in range(2):  # and so it is where all replies are known
        said = desk.run(*judge, expect=3).stderr
        (trial,) = re.findall(r"No reply was read as a verdict; `evenhand show (\w{12})` shows one whole", said)
        assert "As no reply at all could be read, the run counts as incomplete (exit code 3)" in said
        assert "Run the same command again" not in said
    assert "no verdict: unreadable" in desk.run("show", trial).stdout

    (folder / "protocol.toml").write_text(rule, encoding="utf-8")
    said = desk.run(*judge).stderr
    assert "4 trials: 0 known before, 4 read from replies on record without a call, 0 asked." in said
    assert desk.json("rank")["votes"] == 4


@pytest.mark.slow
def test_ctrl_c_says_at_once_what_it_waits_for(tmp_path: Path) -> None:
    with server_process("--fault", "hang=1") as url:
        process = subprocess.Popen(
            [EVENHAND, *JUDGE, "--judge-base-url", url], cwd=tmp_path, stderr=subprocess.PIPE, text=True
        )
        with process:
            until(url, lambda seen: seen["in_flight"] == 4)
            process.send_signal(signal.SIGINT)
            assert process.stderr is not None
            line = process.stderr.readline()
            assert line == "Waiting for 4 calls in flight; press Ctrl-C again to give them up.\n"
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=LONG)
        assert process.returncode == 130


def test_the_program_alone_prints_its_help_once_and_no_error(server: str, tmp_path: Path) -> None:
    said = Desk(tmp_path, server).run(expect=2).stderr
    assert said.startswith("Usage: evenhand")
    assert said.count("Usage: evenhand") == 1
    assert "Error" not in said


def test_truncated_replies_are_told_with_the_flag_that_lets_them_end() -> None:
    tally = Tally()
    ended = Ended(run="r", tally=tally, interrupted=False, over_budget=False, error=None)
    tally.no_verdict["refused"] = 1
    assert "--max-tokens" not in " ".join(Outcome(ended=ended, known_price=True).sentences())
    tally.no_verdict["truncated"] = 2
    assert "--max-tokens" in " ".join(Outcome(ended=ended, known_price=True).sentences())


def test_with_a_price_replies_without_usage_have_no_unknown_price() -> None:
    tally = Tally()
    tally.called = tally.cost_unknown = 2
    ended = Ended(run="r", tally=tally, interrupted=False, over_budget=False, error=None)
    said = " ".join(Outcome(ended=ended, known_price=True).sentences())
    assert "cost unknown: 2 replies do not tell how many tokens were used" in said
    assert "price unknown" in " ".join(Outcome(ended=ended, known_price=False).sentences())


def test_what_other_runs_asked_meanwhile_is_not_told_as_known_before() -> None:
    tally = Tally(planned=9, known=7, meanwhile=4, called=2, known_no_verdict=Counter(unreadable=3))
    ended = Ended(run="r", tally=tally, interrupted=False, over_budget=False, error=None)
    said = " ".join(Outcome(ended=ended, known_price=True).sentences())
    assert "9 trials: 3 known before, 4 asked by other runs meanwhile, 2 asked" in said
    assert "Of those known before or asked by other runs, without a decision: 3 unreadable." in said


def test_what_was_paid_for_trials_that_another_run_took_over_is_told() -> None:
    tally = Tally(planned=2, known=2, requests=2, cost_usd=0.25)
    ended = Ended(run="r", tally=tally, interrupted=False, over_budget=False, error=None)
    assert "$0.2500" in " ".join(Outcome(ended=ended, known_price=True).sentences())
    tally.requests = 0
    assert "$" not in " ".join(Outcome(ended=ended, known_price=True).sentences())
