"""`evenhand rank` on what other programs hand to it."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.shell import Shell

BATTLES = "model_a,model_b,winner\nX,Y,model_a\nX,Y,model_b\n"


@pytest.mark.parametrize("name", ["-", "/dev/stdin"])
def test_battles_may_come_from_standard_input(tmp_path: Path, name: str):
    program = [sys.executable, "-m", "evenhand", "rank", name]
    done = subprocess.run(program, input=BATTLES, capture_output=True, text=True, cwd=tmp_path, check=True)
    assert "Bradley-Terry from 2 rows, 2 models" in done.stdout
    assert done.stderr == ""


def test_columns_may_be_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    shell = Shell(tmp_path, monkeypatch, capsys)
    file = shell.file("own.csv", "one,two,won", "X,Y,X", "X,Y,tie")
    named = ("--model-a-column", "one", "--model-b-column", "two", "--winner-column", "won")
    assert shell.document("rank", file, *named)["models"][0]["model"] == "X"
    shell.refuses("EH-USAGE", "--winner-column", of=("rank", "--winner-column", "won"))
