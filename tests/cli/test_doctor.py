"""`evenhand doctor` reads as a table, and asks the server that one variable names for every command."""

import sqlite3
from pathlib import Path

import pytest

from evenhand.cli.start.checkup import sqlite_here
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


@pytest.mark.parametrize(
    ("version", "state"), [((3, 40, 1), "no"), ((3, 51, 2), "no"), ((3, 51, 3), "ok"), ((3, 53, 0), "ok")]
)
def test_a_sqlite_with_the_wal_reset_bug_is_told(version: tuple[int, ...], state: str):
    found = sqlite_here(version)
    assert (found.what, found.state) == ("sqlite", state)
    assert ("older than 3.51.3" in found.words) == (state == "no")


def test_doctor_tells_the_sqlite_that_is_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    found = Shell(tmp_path, monkeypatch, capsys).document("doctor")["findings"]
    (told,) = [one["words"] for one in found if one["what"] == "sqlite"]
    assert told.startswith(sqlite3.sqlite_version)
