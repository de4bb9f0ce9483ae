"""The command under a board that has no audit makes one, as it stands there."""

import re
import shlex
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.evidence import EvidenceSource
from evenhand.reports.board.trust.audit_hint import audit_command
from tests.cli.shell import Shell
from tests.docs.pages import text_of, write_files_of
from tests.scripted_server import server_process

HINT = re.compile(r"No audit of this judge is on record; the command below makes one\.\n\n  (evenhand audit .*)\n")
"""On a line of its own, which is not folded."""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    for name in ("EVENHAND_BASE_URL", "EVENHAND_JUDGE_BASE_URL", "EVENHAND_STORE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("OPENAI_API_KEY", "a-key-for-the-test")
    return Shell(tmp_path, monkeypatch, capsys)


def hint(shell: Shell, *which: str) -> list[str]:
    (command,) = HINT.findall(shell.run("rank", *which)[0])
    return shlex.split(command)[1:]


def test_items_answers_server_and_ledger_of_ones_own_are_in_the_command(shell: Shell):
    write_files_of(text_of("docs/how-to/rank-my-models.md"), shell.folder)
    store = ("--store", "sqlite:///own.db")
    own = ("--responses", "answers.jsonl", "--protocol", "visit_pairwise")
    with server_process("--judge", "prefers-longer") as base_url:
        shell.run("judge", "items.jsonl", *own, "--judge", "openai/j", "--judge-base-url", base_url, *store)
        command = hint(shell, *store)
        assert command == [
            "audit", "--judge", "openai/j", "--benchmark", "items.jsonl", *own, "--judge-base-url", base_url,
            "--budget", "500", *store,
        ]  # fmt: skip
        shell.run("report", "--out", "report.html", *store)
        page = (shell.folder / "report.html").read_text(encoding="utf-8")
        told = shlex.join(["evenhand", *command[: -len(store)]])
        assert f"No audit of this judge is on record; <code>{told}</code> makes one." in page.replace("\u2060", "")
        shell.run(*command)
    assert "Latest audit of this judge" in shell.run("rank", *store)[0]


def test_after_a_run_from_python_the_command_names_the_file_and_the_server(shell: Shell):
    write_files_of(text_of("docs/how-to/rank-my-models.md"), shell.folder)
    with server_process("--judge", "prefers-longer") as base_url:
        bench = eh.load_benchmark("items.jsonl")
        answers = eh.read_responses("answers.jsonl", bench)
        eh.judge(bench, answers, judge="openai/j", base_url=f"{base_url}?key=secret", protocol="visit_pairwise")
        command = hint(shell)
        assert command == [
            "audit", "--judge", "openai/j", "--benchmark", "items.jsonl", "--protocol", "visit_pairwise",
            "--judge-base-url", base_url, "--budget", "500",
        ]  # fmt: skip
        shell.run(*command)
    assert "Latest audit of this judge" in shell.run("rank")[0]


def test_a_benchmark_made_in_python_is_audited_there(shell: Shell):
    write_files_of(text_of("docs/how-to/rank-my-models.md"), shell.folder)
    with server_process("--judge", "prefers-longer") as base_url:
        loaded = eh.load_benchmark("items.jsonl")
        benchmark = replace(loaded, name="mine", flags={})
        responses = eh.read_responses("answers.jsonl", benchmark)
        eh.judge(benchmark, responses, judge="openai/j", base_url=base_url, protocol="visit_pairwise")
        (call,) = re.findall(r"^  (eh\.audit\(.*\))$", shell.run("rank")[0], re.MULTILINE)
        eval(call, {"eh": eh, "benchmark": benchmark, "responses": responses})
    assert "Latest audit of this judge" in shell.run("rank")[0]


def test_a_command_that_is_handed_on_names_no_folder_of_ones_own(tmp_path: Path):
    with closing(Ledger(f"sqlite:///{tmp_path}/ledger.db")) as ledger:
        answers = {"judge": "openai/j", "benchmark": f"{tmp_path}/own.jsonl", "responses": [f"{tmp_path}/a.jsonl"]}
        ledger.begin_run("judge", answers, study=None, version="0.1.0")
        origin = EvidenceSource(judge="openai/j", benchmark="own")
        assert str(tmp_path) in audit_command(ledger, origin)
        told = audit_command(ledger, origin, handed_on=True)
    assert told == "evenhand audit --judge openai/j --benchmark own.jsonl --responses a.jsonl --budget 500"


def test_what_audit_takes_by_itself_is_not_in_the_command(shell: Shell):
    with server_process("--judge", "prefers-longer") as base_url:
        shell.run("judge", "visit-bench-sample", "--judge", "openai/j", "--base-url", base_url, "--limit", "2")
        assert hint(shell) == ["audit", "--judge", "openai/j", "--judge-base-url", base_url, "--budget", "500"]


def test_the_command_begins_with_the_program_as_it_was_run(tmp_path: Path):
    with closing(Ledger(f"sqlite:///{tmp_path}/ledger.db")) as ledger:
        command = audit_command(ledger, EvidenceSource(judge="openai/j"), program=".venv/bin/evenhand")
    assert command.startswith(".venv/bin/evenhand audit --judge openai/j ")


def test_the_command_is_of_the_very_answers_and_views_of_the_board(shell: Shell):
    """Each board of one judge on one benchmark is audited as it was judged, whichever was judged last."""
    write_files_of(text_of("docs/how-to/rank-my-models.md"), shell.folder)
    answers = (shell.folder / "answers.jsonl").read_text(encoding="utf-8")
    (shell.folder / "blind.jsonl").write_text(answers.replace('"response": "', '"response": "Unseen: '))
    blind = ("--responses", "blind.jsonl", "--variant", "text-only-generic")
    with server_process("--judge", "prefers-longer") as base_url:
        judge = ("judge", "items.jsonl", "--judge", "openai/j", "--judge-base-url", base_url)
        shell.run(*judge, "--responses", "answers.jsonl", "--see", "none")
        shell.run(*judge, "--responses", "answers.jsonl")
        shell.run(*judge, *blind)
        server = ("--judge-base-url", base_url, "--budget", "500")
        own = ["audit", "--judge", "openai/j", "--benchmark", "items.jsonl", "--responses", "answers.jsonl"]
        assert hint(shell, "--variant", "default", "--see", "caption") == [*own, *server]
        assert hint(shell, "--variant", "default", "--see", "none") == [*own, "--see", "none", *server]
        command = hint(shell, "--variant", "text-only-generic")
        assert command == [*own[:-2], *blind, *server]
        shell.run(*command)
        plain = ("rank", "--variant", "default", "--see", "caption", "--explain")
        out = " ".join(shell.run(*plain)[0].split())
        assert "other answers" in out, out[out.index("Latest audit") :][:400]
        assert "replaced" not in out
        shell.run("audit", *own[1:], *server)
        out = " ".join(shell.run(*plain)[0].split())
        assert "asked as on this board" in out, out[out.index("Latest audit") :][:400]
