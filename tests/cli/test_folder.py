"""A folder with its ledger: where settings come from, and what is kept and shown of answers."""

import json
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import warm
from tests.scripted_server import server_process


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with server_process() as base_url:
        yield base_url


def run(folder: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("EVENHAND_", "OPENAI_"))}
    return warm.run(*arguments, cwd=folder, env=clean | variables)


def test_dotenv_sets_flags_below_the_environment_and_above_toml(tmp_path: Path) -> None:
    (tmp_path / "evenhand.toml").write_text('store = "sqlite:///from-toml.db"\n')
    assert "from-toml.db" in run(tmp_path, "ledger", "info").stderr
    assert "from-toml.db" in run(tmp_path, "runs").stderr
    (tmp_path / ".env").write_text("EVENHAND_STORE=sqlite:///from-dotenv.db\n")
    assert "from-dotenv.db" in run(tmp_path, "ledger", "info").stderr
    assert "from-environment.db" in run(tmp_path, "runs", EVENHAND_STORE="sqlite:///from-environment.db").stderr
    assert "from-flag.db" in run(tmp_path, "runs", "--store", "sqlite:///from-flag.db").stderr
    assert "demo/ledger.db" in run(tmp_path, "demo", "--help").stdout  # the demo's ledger is always its own


def test_an_error_about_a_value_that_a_file_gave_names_the_file(server: str, tmp_path: Path) -> None:
    (tmp_path / "evenhand.toml").write_text('seed = "abc"\nmax-cost = 100\n')
    assert "The value is from evenhand.toml in this folder." in run(tmp_path, "rank").stderr.replace("\n", " ")
    typed = run(tmp_path, "rank", "--seed", "abc").stderr
    assert "'abc' is not a valid integer" in typed
    assert "The value is from" not in typed
    judge = (
        "judge",
        "visit-bench-sample",
        "--judge",
        "no-such",
        "--judge-base-url",
        server,
        "--seed",
        "1",
        "--dry-run",
    )
    said = run(tmp_path, *judge, "--trust-folder").stderr.replace("\n", " ")
    assert "--max-cost needs a price" in said
    assert "The value is from evenhand.toml in this folder." in said
    (tmp_path / ".env").write_text("EVENHAND_SEED=xyz\n")
    assert "The value is from .env in this folder." in run(tmp_path, "rank").stderr.replace("\n", " ")


def test_verdicts_on_answers_that_were_replaced_are_left_out_of_the_board(server: str, tmp_path: Path) -> None:
    items = [{"item": n, "instruction": f"What is {n}?", "caption": f"the number {n}"} for n in range(3)]
    (tmp_path / "items.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))

    def answers(words: str) -> None:
        rows = [
            {"item": n, "model": model, "response": f"{model} says {n} {words if model == 'x' else ''}"}
            for n in range(3)
            for model in ("x", "y")
        ]
        (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))

    judge = (
        "judge", "items.jsonl", "--responses", "answers.jsonl", "--judge", "m", "--judge-base-url", server,
        "--protocol", "visit_pairwise", "--json",
    )  # fmt: skip
    answers("at first")
    assert json.loads(run(tmp_path, *judge).stdout)["verdicts"] == 6
    answers("on second thoughts")
    assert "--replace" in run(tmp_path, *judge).stderr
    assert json.loads(run(tmp_path, *judge, "--replace").stdout)["verdicts"] == 6
    board = json.loads(run(tmp_path, "rank", "--json").stdout)
    assert board["votes"] == 6
    assert board["coverage"] == {"wanted": 6, "with_verdict": 6, "reasons": {}}
    assert "Left out: 6 judgements of answers that were replaced since." in board["notes"]


def test_two_models_with_the_same_words_are_asked_about_once(server: str, tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"item": 1, "instruction": "How many?", "caption": "three apples"}\n')
    rows = [{"item": 1, "model": model, "response": words} for model, words in (("x", "3"), ("y", "3"), ("z", "4"))]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    summary = json.loads(
        run(
            tmp_path, "judge", "items.jsonl", "--responses", "answers.jsonl", "--judge", "twins",
            "--judge-base-url", server, "--protocol", "visit_pairwise", "--json",
        ).stdout
    )  # fmt: skip
    # x and y: both orders are one request; against z each of the two orders is one request for both.
    assert (summary["planned"], summary["requests"], summary["verdicts"]) == (6, 3, 6)
    assert (summary["called"], summary["known"]) == (3, 3)


def test_what_a_model_wrote_does_not_steer_the_terminal(server: str, tmp_path: Path) -> None:
    (tmp_path / "items.jsonl").write_text('{"item": 1, "instruction": "How many?", "caption": "three apples"}\n')
    rows = [{"item": 1, "model": model, "response": words} for model, words in (("x", "3\x1b[2J"), ("[red]y", "4"))]
    (tmp_path / "answers.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    run(
        tmp_path, "judge", "items.jsonl", "--responses", "answers.jsonl", "--judge", "m",
        "--judge-base-url", server, "--protocol", "visit_pairwise",
    )  # fmt: skip
    shown = run(tmp_path, "show", "--item", "1").stdout
    assert "\x1b[2J" not in shown
    assert "3\\x1b[2J" in shown
    assert "[red]y" in run(tmp_path, "rank").stdout


def test_an_explicit_setting_is_not_taken_as_honoured_by_replies_made_without_it(server: str, tmp_path: Path) -> None:
    """The scripted server refuses a temperature for reasoning models, as OpenAI's does."""
    judge = (
        "judge", "visit-bench-sample", "--judge", "openai/o3", "--judge-base-url", server, "--pairs", "random",
        "--battles", "1",
    )  # fmt: skip
    first = run(tmp_path, *judge)
    assert first.returncode == 0
    assert "temperature" in first.stderr  # the protocol's default was adapted, and that is said
    refused = run(tmp_path, *judge, "--temperature", "0")
    assert refused.returncode == 2
    assert "--temperature was given, but this judge's replies on record are without it" in refused.stderr
    board = json.loads(run(tmp_path, "rank", "--json").stdout)
    assert any("Differs from the published protocol in 2 judgements" in note for note in board["notes"])
