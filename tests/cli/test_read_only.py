"""Every command that reads a ledger reads one on a disk that cannot be written."""

from contextlib import closing
from pathlib import Path

import pytest

from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from tests.cli.shell import Shell
from tests.read_only import mounted_read_only
from tests.scripted_server import server_process


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def test_what_reads_goes_on_and_what_writes_is_told_why_not(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    disk = shell.folder / "disk"
    disk.mkdir()
    store = "--store", f"sqlite:///{disk}/ledger.db"
    with server_process("--judge", "by-quality") as url:
        monkeypatch.setenv("EVENHAND_JUDGE_BASE_URL", url)
        judge = "judge", "visit-bench-sample", "--judge", "openai/m", "--limit", "2"
        run = shell.document(*judge, *store)["run"]
        board = shell.document("rank", *store)
        with mounted_read_only(disk):
            before = sorted(path.name for path in disk.rglob("*"))
            assert shell.document("rank", *store) == board
            assert shell.document("score", "visit-bench-sample", *store)["models"]
            checked = shell.document("ledger", "check", *store)
            assert (checked["sound"], checked["problems"], checked["chain"]["broken"]) == (True, [], [])
            assert checked["chain"]["links"] > 0
            assert shell.document("ledger", "info", *store)["counts"]["judgements"] > 0
            assert [one["run"] for one in shell.document("runs", *store)["runs"]] == [run]
            assert shell.document("show", run, *store)["run"] == run
            assert shell.document("show", "--benchmark", "visit-bench-sample", "--item", "s01", *store)
            shell.run("report", "--out", "report.html", *store)
            assert "<h1>" in (shell.folder / "report.html").read_text(encoding="utf-8")
            for what in ("--judgements", "--battles", "--responses"):
                shell.run("export", what, "--out", f"{what[2:]}.jsonl", *store)
                assert (shell.folder / f"{what[2:]}.jsonl").stat().st_size > 0
            shell.run("ledger", "backup", "safe", *store)
            assert "ok" in shell.run("doctor", *store)[0]
            _, said = shell.run(*judge, *store, expect=1)
            assert "cannot be opened for writing" in said
            assert sorted(path.name for path in disk.rglob("*")) == before
    with closing(Ledger(f"sqlite:///{shell.folder}/safe/ledger.db", create=False)) as copy:
        assert len(studies(copy)) == 1
