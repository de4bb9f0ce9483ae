"""What a large board costs: of a table of battles in Parquet parts, by sums; of a ledger, by the columns kept of it.

`python -m bench.columns --rows 1e8`: CPU seconds (all threads) and peak memory of `evenhand rank FOLDER --json` beside
those of a bare read of the same columns, each in a process of its own. The rows are made up here, with planted
strengths, and written to a folder that is removed at the end. An item's rows lie in one part, in random order;
`--scattered` lays them anywhere.

`python -m bench.columns --judgements 1e6`: CPU seconds and peak memory of `evenhand rank --json` on a ledger of so
many judgements (20 models, every pair in both orders), while the columns are made, with them at hand, and with a
thousand new judgements on top; beside a bare walk through the same rows by SQLite's driver. The ledger is written
first, which takes some minutes; with `--folder` it is kept there and used again, and what is changed is a copy of it.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bench.figures import Figure, median_figure, print_table
from bench.judged_board import judge_again, multiply, write_board
from bench.web_board import bare_walk
from evenhand.ledger.store.record import Ledger

_WORDS = pl.Series(["model_b", "tie", "model_a"])
_TIED = 0.2
_RANKED, _PAIRS = 20, 190
"""Models of a ledger's board, and their pairs."""
_NEW, _ROUNDS = 1000, 3
_WRITTEN = 1_000_000
"""Judgements beyond which so many are written and then copied by SQL."""
_BARE = """
import sys
import polars as pl
for path in sys.argv[1:]:
    pl.read_parquet(path, columns=["model_a", "model_b", "winner", "item"])
"""
_SAME = """
import json, sys
from pathlib import Path
import evenhand as eh
from evenhand.exchange.battles.parts import open_parts
from evenhand.exchange.battles_file import BattleColumns
from evenhand.reports.board.in_parts import PartsAsked, board_in_parts
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.catalog import find_method
folder = Path(sys.argv[1])
asked = PartsAsked(
    method=find_method("bradley-terry"), scoring=Scoring(), by_cluster=None, repeats="share", unit="rows", settings={},
    needs=None, whole=0,
)
def numbers(found, at=""):
    if isinstance(found, dict):
        return {k: v for name, one in found.items() for k, v in numbers(one, f"{at}.{name}").items()}
    if isinstance(found, list):
        return {k: v for n, one in enumerate(found) for k, v in numbers(one, f"{at}[{n}]").items()}
    return {at: found} if isinstance(found, (int, float)) and not isinstance(found, bool) else {}
by_sums = numbers(board_in_parts(open_parts(folder), BattleColumns(), asked).as_json())
by_rows = numbers(eh.rank(folder).as_json())
both = {k for k in by_sums.keys() & by_rows.keys() if not k.startswith(".settings")}
print(json.dumps([len(both), max(abs(by_sums[k] - by_rows[k]) / max(1, abs(by_rows[k])) for k in both)]))
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    rows: int
    parts: int
    models: int
    items: int
    scattered: bool

    def write(self, folder: Path) -> int:
        """Bytes written."""
        rng = np.random.default_rng(0)
        strength = rng.normal(0, 0.8, self.models)
        models = pl.Series([f"provider/model-{code:04}" for code in range(self.models)])
        items = pl.Series([f"item-{code:08}" for code in range(self.items)])
        size, own = self.rows // self.parts, max(self.items // self.parts, 1)
        for part in range(self.parts):
            first = rng.integers(0, self.models, size, dtype=np.int32)
            second = (first + rng.integers(1, self.models, size, dtype=np.int32)) % self.models
            won = (rng.random(size) < 1 / (1 + np.exp(strength[second] - strength[first]))).astype(np.int32) * 2
            won[rng.random(size) < _TIED] = 1
            low, high = (0, self.items) if self.scattered else (part * own, (part + 1) * own)
            columns = {
                "model_a": models.gather(first),
                "model_b": models.gather(second),
                "winner": _WORDS.gather(won),
                "item": items.gather(rng.integers(low, high, size)),
            }
            pl.DataFrame(columns).write_parquet(folder / f"part-{part:04}.parquet")
        return sum(one.stat().st_size for one in folder.iterdir())


def measured(command: list[str], more: Mapping[str, str] | None = None) -> tuple[float, float, str]:
    """CPU seconds, peak memory in MB, and what was printed. `more`: of the environment."""
    with tempfile.TemporaryFile("w+") as out:
        child = subprocess.Popen(command, stdout=out, env={**os.environ, **(more or {})})
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        out.seek(0)
        printed = out.read()
    if child.returncode:
        sys.exit(child.returncode)
    in_bytes = used.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return used.ru_utime + used.ru_stime, in_bytes / 1e6, printed


def streamed(table: Table) -> list[Figure]:
    what = f"{table.rows:,} battles in {table.parts} parts, {table.models} models, {table.items:,} items"
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "battles"
        folder.mkdir()
        written = table.write(folder)
        paths = [str(one) for one in sorted(folder.iterdir())]
        read, read_memory, _ = measured([sys.executable, "-c", _BARE, *paths])
        spent, memory, printed = measured([sys.executable, "-m", "evenhand", "rank", str(folder), "--json"])
    board = json.loads(printed)
    found = f"{board['votes']:,} rows and {board['items']:,} items ranked; files of {written / 1e6:,.0f} MB"
    return [
        Figure(what=f"{what}: bare read of the columns", value=read, unit="s CPU"),
        Figure(what=f"{what}: bare read, peak memory", value=read_memory, unit="MB"),
        Figure(what=f"{what}: rank --json", value=spent, unit="s CPU", at_most=90 * table.rows / 1e8, note=found),
        Figure(what=f"{what}: rank --json, peak memory", value=memory, unit="MB", at_most=3000),
        Figure(what=f"{what}: rank / bare read", value=spent / read, unit="times the CPU"),
    ]


def compared(table: Table) -> list[Figure]:
    """By sums and by rows: how far the numbers of the two documents lie apart."""
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "battles"
        folder.mkdir()
        table.write(folder)
        numbers, apart = json.loads(measured([sys.executable, "-c", _SAME, str(folder)])[2])
    what = f"{table.rows:,} battles by sums and by rows: largest relative difference"
    return [Figure(what=what, value=apart, at_most=1e-9, note=f"of {numbers:,} numbers")]


def written(folder: Path, judgements: int) -> Path:
    path = folder / f"pairs-{judgements}.db"
    if path.exists():
        return path
    if judgements > _WRITTEN:
        shutil.copyfile(written(folder, _WRITTEN), path)
        multiply(path, judgements // _WRITTEN)
        return path
    with closing(Ledger(f"sqlite:///{path}")) as ledger:
        write_board(ledger, judgements, models=_RANKED, battles_an_item=_PAIRS)
    return path


def kept(source: Path, judgements: int) -> list[Figure]:
    what = f"{judgements:,} judgements, {_RANKED} models"
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as place:
        path, cache = Path(place) / "ledger.db", Path(place) / "cache"
        shutil.copyfile(source, path)
        command = [sys.executable, "-m", "evenhand", "rank", "--store", f"sqlite:///{path}", "--json"]
        bare = bare_walk(path)

        def ranked() -> tuple[float, float, str]:
            return measured(command, {"EVENHAND_COLUMN_CACHE": str(cache)})

        making, making_memory, first = ranked()
        hand = [ranked() for _ in range(_ROUNDS)]
        if {document for *_, document in hand} != {first}:
            raise SystemExit("The board with the columns at hand is another than the board while they are made.")
        on_top: list[float] = []
        for number in range(1, _ROUNDS + 1):
            with closing(Ledger(f"sqlite:///{path}", create=False)) as ledger:
                judge_again(ledger, _NEW, replicate=number)
            on_top.append(ranked()[0])
    at_hand = [spent for spent, *_ in hand]
    usual = statistics.median(at_hand)
    promised = judgements == 1_000_000
    return [
        Figure(what=f"{what}: bare walk through the rows", value=bare, unit="s CPU"),
        Figure(what=f"{what}: rank, columns made", value=making, unit="s CPU", at_most=8 if promised else None),
        Figure(what=f"{what}: columns made / bare walk", value=making / bare),
        Figure(what=f"{what}: columns made, peak memory", value=making_memory, unit="MB"),
        median_figure(f"{what}: rank, columns at hand", at_hand, unit="s CPU", at_most=2 if promised else None),
        Figure(what=f"{what}: columns at hand / bare walk", value=usual / bare),
        Figure(what=f"{what}: columns at hand, peak memory", value=max(memory for _, memory, _ in hand), unit="MB"),
        median_figure(
            f"{what}: {_NEW:,} new ones, more than at hand", [s - usual for s in on_top], unit="s CPU", at_most=0.3
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--parts", type=int, default=50)
    parser.add_argument("--models", type=int, default=100)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--scattered", action="store_true", help="An item's rows lie in any part.")
    parser.add_argument("--judgements", type=lambda text: int(float(text)), help="Of a ledger, and no table.")
    parser.add_argument("--folder", type=Path, help="Where that ledger is kept.")
    given = parser.parse_args()
    if given.judgements:
        with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as made:
            print_table(kept(written(given.folder or Path(made), given.judgements), given.judgements))
        return
    size = {"parts": given.parts, "models": given.models, "scattered": given.scattered}
    small = min(given.rows, 1_000_000)
    figures = compared(Table(rows=small, items=max(given.items * small // given.rows, given.parts), **size))
    print_table([*figures, *streamed(Table(rows=given.rows, items=given.items, **size))])


if __name__ == "__main__":
    main()
