"""What the how-to pages tell a reader to type works, in the order in which it is told; and of the tutorial, what
tests/cli/test_demo.py does not run."""

import json
import os
import re
import subprocess
import sys
from http.server import ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
import yaml

from tests import warm
from tests.docs.pages import ROOT, commands_of, run, shell_lines_of, text_of, write_files_of
from tests.scripted_server import server_process

pytestmark = pytest.mark.slow

TUTORIAL = "docs/tutorial/first-report.md"


def test_make_demo_fetches_the_model_and_runs_the_demo() -> None:
    done = subprocess.run(["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    # Called from a make of its own it also says where it is.
    said = [line for line in done.stdout.splitlines() if not line.startswith("make[")]
    assert said[-2:] == [
        ".venv/bin/evenhand models fetch local/smollm2",
        ".venv/bin/evenhand demo",
    ]


@pytest.fixture(scope="module")
def met() -> set[str]:
    """Commands that were started from the beginning already: each is once."""
    return set()


@pytest.mark.parametrize(
    ("page", "made"),
    [
        ("docs/how-to/rank-my-models.md", "models.html"),
        ("docs/how-to/grade-by-criteria.md", ".evenhand/ledger.db"),
        ("docs/how-to/test-my-judge.md", "card.html"),
        ("docs/how-to/sentinel.md", "looks.svg"),
        ("docs/how-to/people-and-judge.md", "judge.csv"),
        ("docs/how-to/soft-verdicts-and-juries.md", "softly.csv"),
        ("docs/how-to/cost.md", ".evenhand/ledger.db"),
        ("docs/how-to/use-it-in-ci.md", "report.html"),
        ("docs/how-to/add-a-protocol.md", ".evenhand/ledger.db"),
        ("docs/how-to/add-a-provider.md", ".evenhand/ledger.db"),
        ("docs/how-to/keep-the-ledger.md", "again/ledger.db"),
        ("docs/how-to/postgresql-and-images.md", "copied/ledger.db"),
        ("docs/how-to/workers.md", ".evenhand/ledger.db"),
        ("docs/how-to/publish.md", "cases/index.html"),
    ],
)
def test_every_command_of_a_how_to_page_runs(tmp_path: Path, page: str, made: str, met: set[str]) -> None:
    write_files_of(text_of(page), tmp_path)
    run(commands_of(text_of(page)), tmp_path, started="once", met=met)
    assert (tmp_path / made).stat().st_size > 0


def test_the_page_on_placing_ends_with_a_repeated_interval(tmp_path: Path, met: set[str]) -> None:
    said = run(commands_of(text_of("docs/how-to/placing.md")), tmp_path, judge="by-quality", started="once", met=met)
    assert "--until rank=1 (as asked): about" in next(words for one, words in said.items() if one.endswith("--dry-run"))
    assert "The interval of sample-planted is the repeated one" in " ".join(said["evenhand rank"].split())


def test_the_script_that_stands_in_for_a_judge_is_read_on_items_of_ones_own(tmp_path: Path) -> None:
    write_files_of(text_of("docs/how-to/rank-my-models.md"), tmp_path)
    program = re.findall(r"```python stand_in.py\n(.*?)```", text_of("docs/how-to/add-a-provider.md"), flags=re.DOTALL)[
        0
    ]
    names: dict[str, Any] = {}
    exec(program.replace('ThreadingHTTPServer(("127.0.0.1", 8000), StandIn).serve_forever()', ""), names)
    with ThreadingHTTPServer(("127.0.0.1", 0), names["StandIn"]) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        judge = ("--judge", "scripted/longer", "--judge-base-url", f"http://127.0.0.1:{server.server_port}/v1")
        done = warm.run("judge", "items.jsonl", "--responses", "answers.jsonl", *judge, cwd=tmp_path, env=os.environ)
        server.shutdown()
    assert done.returncode == 0, done.stderr
    board = warm.run("rank", "--json", cwd=tmp_path, env=os.environ)
    assert json.loads(board.stdout)["votes"] == 6, board.stderr


def test_the_page_on_comparing_runs_tells_which_battle_changed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")  # as on a terminal, whose lines are folded
    monkeypatch.setenv("COLUMNS", "80")
    text = text_of("docs/how-to/compare-runs.md")
    write_files_of(text, tmp_path)
    commands = commands_of(text)
    judging = [one for one in commands if "compare" not in one]
    run(judging, tmp_path)
    listed = json.loads(warm.run("runs", "--json", cwd=tmp_path).stdout)["runs"]
    newer, older = (one["run"][:6] for one in listed)
    comparing = [one.replace("BEFORE", older).replace("AFTER", newer) for one in commands if "compare" in one]
    assert len(comparing) + len(judging) == len(commands)
    said = run(comparing, tmp_path)
    printed, document = said[comparing[0]], json.loads(said[comparing[2]])
    assert (document["agreement_n"], [one["item"] for one in document["changes"]]) == (3, ["kitchen-1"])
    plain = re.sub(r"\x1b\[[\d;]*m", "", printed)
    assert "Ratings" in plain
    assert [line for line in plain.splitlines() if len(line) > 80] == []
    assert "kitchen-1" in (tmp_path / "changes.html").read_text(encoding="utf-8")


def test_a_server_of_ones_own_needs_no_key_and_one_variable_for_every_command_of_the_tutorial(tmp_path: Path) -> None:
    text = text_of(TUTORIAL)
    (variable,) = re.findall(r"^export (\w+)=http://127.0.0.1:\d+/v1$", text, flags=re.MULTILINE)
    commands = [one for one in commands_of(text) if "openai/gpt-4o" in one]
    assert [one.split()[1] for one in commands] == ["doctor", "judge", "judge", "audit"]
    commands += [
        "evenhand grade --benchmark visit-bench-sample --judge openai/gpt-4o --limit 2 --quiet",
        "evenhand answer visit-bench-sample --model openai/gpt-4o --name own --limit 2 --quiet",
    ]
    kept = {name: value for name, value in os.environ.items() if not name.endswith(("_API_KEY", "_BASE_URL"))}
    with server_process("--judge", "prefers-longer") as base_url:
        for command in commands:
            words = command.replace("openai/gpt-4o", "openai/own-judge").split()[1:]
            done = warm.run(*words, cwd=tmp_path, env={**kept, variable: base_url})
            assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"


def workflow_steps() -> list[dict[str, Any]]:
    (printed,) = re.findall(r"```yaml\n(.*?)```", text_of("docs/how-to/use-it-in-ci.md"), flags=re.DOTALL)
    return yaml.safe_load(printed)["jobs"]["judge"]["steps"]


def test_the_commands_of_the_workflow_end_with_0_on_a_fair_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, met: set[str]
) -> None:
    write_files_of(text_of("docs/how-to/rank-my-models.md"), tmp_path)
    monkeypatch.setenv("EVENHAND_JUDGE", "openai/gpt-4o")
    # The scripted server is nobody whose price is known.
    monkeypatch.setenv("EVENHAND_PRICE", "input=2.5,output=10")
    commands = [step["run"] for step in workflow_steps() if step.get("run", "").startswith("evenhand ")]
    assert [command.split()[1] for command in commands] == ["audit", "judge", "report"]
    run(commands, tmp_path, judge="by-quality", started="once", met=met)
    assert (tmp_path / "report.html").stat().st_size > 0


def test_the_workflow_installs_evenhand_from_a_checkout_of_its_own() -> None:
    steps = workflow_steps()
    (place,) = [number for number, step in enumerate(steps) if step.get("run", "").startswith("pip ")]
    folders = [step["with"]["path"] for step in steps[:place] if "repository" in step.get("with", {})]
    assert [f"pip install './{folder}[report]'" for folder in folders] == [steps[place]["run"]]


@pytest.mark.parametrize("page", ["docs/how-to/use-it-in-ci.md", "docs/how-to/test-my-judge.md"])
def test_no_audit_is_shown_that_could_ask_any_number_of_trials(page: str) -> None:
    audits = re.findall(r"evenhand audit .*", text_of(page))
    assert audits
    assert [one for one in audits if not re.search("--budget|--max-cost|--dry-run", one)] == []


def test_the_package_of_the_page_on_benchmarks_is_installed_as_printed_found_and_judged(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = text_of("docs/how-to/add-a-benchmark.md")
    write_files_of(page, tmp_path)
    typed = [line for line in shell_lines_of(page) if not line.startswith("evenhand ")]
    assert typed == ["touch drawings_bench/__init__.py", "pip install ."]
    (tmp_path / "drawings_bench/__init__.py").touch()
    target = tmp_path_factory.mktemp("installed")
    offline = ["--no-deps", "--no-index", "--no-build-isolation", "--disable-pip-version-check", "--quiet"]
    pip = [sys.executable, "-m", "pip", "install", *offline, "--target", str(target), "."]
    subprocess.run(pip, cwd=tmp_path, check=True, timeout=warm.LONG)
    monkeypatch.setenv("PYTHONPATH", str(target))
    said = run(commands_of(page), tmp_path, started="always")  # a fork would not look where it is installed
    assert "What simple drawings show" in said["evenhand benchmarks"]
    assert "What simple drawings show" in said["evenhand benchmarks show drawings"]
    assert "heron" in said["evenhand rank --benchmark drawings"]
