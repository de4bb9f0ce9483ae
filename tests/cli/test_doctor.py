"""`evenhand doctor` reads as a table, and asks the server that one variable names for every command."""

from pathlib import Path

import pytest

from tests.cli.shell import Shell
from tests.scripted_server import server_process


def test_every_finding_begins_in_the_same_column(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    for name in ("OPENAI_API_KEY", "EVENHAND_JUDGE_BASE_URL"):
        monkeypatch.delenv(name, raising=False)
    shell = Shell(tmp_path, monkeypatch, capsys)
    with server_process("--judge", "prefers-longer") as base_url:
        monkeypatch.setenv("EVENHAND_BASE_URL", base_url)
        out, _ = shell.run("doctor", "--model", "openai/own-judge")
        found = shell.document("doctor", "--model", "openai/own-judge")["findings"]
    names = [one["what"] for one in found]
    assert "log-probabilities" in names
    lines = out.splitlines()
    width = max(map(len, names))
    assert [line[6 : 6 + width].rstrip() for line in lines] == names
    assert {line[6 + width] for line in lines} == {" "}
    assert not any(line[7 + width].isspace() for line in lines)
