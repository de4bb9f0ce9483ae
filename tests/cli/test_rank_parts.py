"""Claims about `evenhand rank` of a table in parts."""

import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from evenhand.exchange.battles.parts import open_parts
from evenhand.reports.board.in_parts import PartsAsked
from tests.cli.rank_shell import Shell
from tests.warm import LONG

_BY_SUMS = """
import sys
from pathlib import Path
from evenhand.exchange.battles.parts import open_parts
from evenhand.exchange.battles_file import BattleColumns
from evenhand.reports.board.in_parts import PartsAsked, board_in_parts
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.catalog import find_method

asked = PartsAsked(
    method=find_method("bradley-terry"), scoring=Scoring(), by_cluster=None, repeats="share", unit="rows", settings={},
    needs=None, whole=0,
)
board = board_in_parts(open_parts(Path(sys.argv[1])), BattleColumns(), asked)
board.as_json(), str(board)
print(sorted({"sqlalchemy", "aiohttp", "scipy", "altair", "numba", "PIL"} & set(sys.modules)))
"""


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def parts(folder: Path) -> Path:
    folder.mkdir()
    for number, winner in enumerate(("model_a", "model_b", "tie")):
        columns = {"model_a": ["X", "Y"], "model_b": ["Y", "X"], "winner": [winner, "tie"], "item": [number, number]}
        pl.DataFrame(columns).write_parquet(folder / f"{number}.parquet")
    return folder


def test_a_folder_and_a_pattern_are_one_table(shell: Shell) -> None:
    folder = parts(shell.folder / "battles")
    whole = shell.document(folder)
    assert (whole["source"], whole["votes"], whole["items"]) == ("battles", 6, 3)
    listed = shell.document(folder / "*.parquet")
    assert (listed["source"], listed["models"]) == ("*.parquet", whole["models"])
    pl.concat([pl.read_parquet(one) for one in sorted(folder.iterdir())]).write_parquet(shell.folder / "one.parquet")
    one = shell.document(shell.folder / "one.parquet")
    assert one.keys() == whole.keys()
    assert one["models"] == whole["models"]
    assert [note for note in whole["notes"] if note not in one["notes"]] == [
        "One table in 3 parts: 0.parquet to 2.parquet."
    ]


def test_a_dry_run_says_how_the_parts_are_understood(shell: Shell) -> None:
    folder = parts(shell.folder / "battles")
    for given in (folder, folder / "*.parquet"):
        (told,) = shell.document(given, "--dry-run")["files"]
        assert (told["file"], len(told["rows"])) == (given.name, 3)
        assert told["understood"].startswith("6 rows of 2 models on 3 items")
        assert told["notes"][0] == "One table in 3 parts: 0.parquet to 2.parquet."


def test_the_beginning_of_a_table_in_parts_ends_amid_a_part(tmp_path: Path) -> None:
    table = open_parts(parts(tmp_path / "battles"))
    assert table.beginning(6) is table
    first = table.beginning(3)
    assert (first.rows, [part.rows for part in first.each]) == (3, [2, 1])
    assert first.whole().take("item").to_list() == [0, 0, 1]


def test_a_board_of_sums_is_written_in_every_format(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(PartsAsked.__init__.__kwdefaults__ or {}, "whole", 0)
    folder = parts(shell.folder / "battles")
    for form in ("csv", "md", "latex"):
        assert "without order" not in shell.shortly(folder, "--format", form)


def test_ranking_by_sums_loads_neither_the_ledger_nor_scipy(tmp_path: Path) -> None:
    command = [sys.executable, "-c", _BY_SUMS, str(parts(tmp_path / "battles"))]
    done = subprocess.run(command, capture_output=True, text=True, timeout=LONG, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "[]\n"
