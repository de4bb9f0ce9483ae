"""The commands that move files of other tools here run as the page shows them."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.errors import EvenhandError
from tests import warm
from tests.docs.test_docs import ROOT, commands_of
from tests.refusals import refused
from tests.scripted_server import server_process


def write_files_of(text: str, folder: Path) -> None:
    """The files that a page shows under their names, whatever their format."""
    for name, content in re.findall(r"```\w+ (\S+)\n(.*?)```", text, flags=re.DOTALL):
        (folder / name).write_text(content, encoding="utf-8")


def ran(commands: list[str], folder: Path) -> dict[str, str]:
    """What each command printed."""
    said: dict[str, str] = {}
    with server_process("--judge", "prefers-longer") as base_url:
        environment = {
            **os.environ,
            "EVENHAND_JUDGE_BASE_URL": base_url,
            "EVENHAND_BASE_URL": base_url,
            "OPENAI_API_KEY": "a-key-for-the-test",
        }
        for command in commands:
            words = command.split()[1:]
            # What the page says of a board may stand among all its sentences.
            words += ["--explain"] if words[0] == "rank" else []
            done = warm.run(*words, cwd=folder, env=environment)
            assert done.returncode == 0, f"{command}: {done.stderr}"
            said[command] = done.stdout + done.stderr
    return said


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    text = (ROOT / "docs/how-to/move-from-others.md").read_text(encoding="utf-8")
    folder = tmp_path_factory.mktemp("moving")
    write_files_of(text, folder)
    return ran(commands_of(text), folder)


@pytest.mark.slow
def test_every_command_of_the_page_runs(said: dict[str, str]) -> None:
    assert len(said) >= 15


@pytest.mark.slow  # which runs all commands of the page anyway
@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("evenhand rank clean_battle_20240102.json", "1 row with anony false"),
        (
            "evenhand rank clean_battle_20240102.json --anchor otter-13b=1000 --bootstrap 100",
            "82 of 100 resamples have no finite fit",
        ),
        ("evenhand rank gpt-4_pair.jsonl", "5 of 6 trials have a verdict (1 api-error)."),
        (
            "evenhand rank annotations.json --method win-rate",
            "Without a verdict, and so without a row: 1 showing (1 unreadable)",
        ),
        ("evenhand rank annotations.json --length", "100 words more are worth"),
        ("evenhand rank heron-7b.jsonl", "3 of 4 trials have a verdict (1 unreadable)."),
    ],
)
def test_what_the_page_says_of_a_board_stands_on_it(said: dict[str, str], command: str, words: str) -> None:
    assert words in " ".join(said[command].split())


@pytest.mark.slow
def test_every_command_and_example_of_the_reference_of_formats_runs(tmp_path: Path) -> None:
    text = (ROOT / "docs/reference/formats.md").read_text(encoding="utf-8")
    write_files_of(text, tmp_path)
    assert len(ran(commands_of(text), tmp_path)) >= 12


def test_a_samples_file_of_lmms_eval_is_refused_and_the_page_converts_it(tmp_path: Path) -> None:
    text = (ROOT / "docs/how-to/move-from-others.md").read_text(encoding="utf-8")
    write_files_of(text, tmp_path)
    samples = tmp_path / "20260101_samples_mine.jsonl"
    (program,) = re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, check=True)
    benchmark = load_benchmark(tmp_path / "items.jsonl")
    assert [item.instruction for item in benchmark.items] == ["Which harbour is this?", "How many boats are there?"]
    answers = read_responses(tmp_path / "heron.jsonl", benchmark)
    assert [one.text for one in answers.responses] == ["Lerwick, by the look of the fort.", "Three."]
    for reading in (lambda: load_benchmark(samples), lambda: read_responses(samples, benchmark)):
        with refused(EvenhandError, "lmms-eval", "move-from-others.md", code="EH-DATA-COLUMN"):
            reading()
