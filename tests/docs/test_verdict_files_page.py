"""From three raw files to boards, alignment and a report, as the page tells it."""

import shutil
from pathlib import Path

import pytest

from tests.beside import LLMFAO, LLMFAO_GPT3, LLMFAO_GPT4, needs
from tests.cli.shell import Shell
from tests.docs.pages import commands_of, text_of

PAGE = "docs/how-to/read-verdict-files.md"


def test_four_commands_are_enough():
    commands = commands_of(text_of(PAGE))
    assert len(commands) <= 4
    assert [command.split()[1] for command in commands] == ["rank", "rank", "align", "report"]


@pytest.mark.slow
@needs(LLMFAO, LLMFAO_GPT4, LLMFAO_GPT3)
def test_the_raw_files_lead_to_boards_alignment_and_a_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    shell = Shell(tmp_path, monkeypatch, capsys)
    for path in (LLMFAO, LLMFAO_GPT4, LLMFAO_GPT3):
        shutil.copyfile(path, tmp_path / path.name)
    people, judge, aligned, report = (shell.document(*line.split()[1:]) for line in commands_of(text_of(PAGE)))
    assert people["models"][0]["model"] == "GPT 4"
    assert judge["models"][0]["model"] == "GPT 3.5 Turbo"
    assert [one["rater"] for one in aligned["raters"]] == ["gpt-4", "gpt-3.5"]
    assert len(aligned["humans"]["raters"]) == 124
    assert report["board"]["models"] == people["models"]
    assert (tmp_path / "report.html").stat().st_size > 100_000
    assert not (tmp_path / ".evenhand").exists()
