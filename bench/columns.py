"""What a large board costs: of a table of battles in Parquet parts, by sums; of a ledger, by the columns kept of it.

`python -m bench.columns --rows 1e8`: CPU seconds (all threads) and peak memory of `evenhand rank FOLDER --json` beside
those of a bare read of the same columns, each in a process of its own. The rows are made up here, with planted
strengths, and written to a folder that is removed at the end. An item's rows lie in one part, in random order;
`--scattered` lays them anywhere.

`python -m bench.columns --judgements 1e6`: CPU seconds and peak memory of `evenhand rank --json` on a ledger of so
many judgements (20 models, every pair in both orders), while the columns are made, with them at hand, and with a
thousand new judgements on top; beside a bare walk through the same rows by SQLite's driver. The ledger is written
first, which takes some minutes; with `--folder` it is kept there and used again, and what is changed is a copy of it.
`--models 200` has another board, of a thousand drawn pairs an item. `--postgresql` measures on a server of its own, to
which the ledger is copied (of more than a million a million is, and multiplied there), and adds the server's CPU.

`python -m bench.columns --judgements 1e6 --command score`, or align, report, page: the same of another command, on the
same ledger with verdicts of three people; `page` is the board as `evenhand serve` works it out.
`--before SRC` measures by turns what the code in the folder SRC of an older checkout takes, and tells how far the
numbers of both documents lie apart.
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Generator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench.figures import Figure, median_figure, print_table
from bench.judged_board import JUDGE, judge_as_people, judge_more, multiply, multiply_on_server, write_board
from bench.scale import cpu_of, database
from bench.web_board import bare_walk
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.copying import copy_ledger
from tests.database import PostgreSQL

_WORDS = pl.Series(["model_b", "tie", "model_a"])
_TIED = 0.2
_RANKED = 20
"""Models of a ledger's board."""
_BENCHMARK = "visit-bench"
"""As what its items are called, so that it has a table to score."""
_PEOPLE = (3, 3000)
"""People, and how many showings each of them judges."""
_OF_A_RUN = ("bytes", "out", "cpu_s", "list_s", "peak_mb")
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


@dataclass(frozen=True, slots=True, kw_only=True)
class Board:
    """A ledger's, of one judge."""

    judgements: int
    models: int

    @property
    def what(self) -> str:
        return f"{self.judgements:,} judgements, {self.models} models"

    @property
    def pairs(self) -> int:
        """Of models, on an item."""
        return min(self.models * (self.models - 1) // 2, 1000)

    def written(self, folder: Path) -> Path:
        path = folder / f"pairs-{self.models}-{self.judgements}.db"
        if path.exists():
            return path
        if self.judgements > _WRITTEN:
            shutil.copyfile(replace(self, judgements=_WRITTEN).written(folder), path)
            multiply(path, self.judgements // _WRITTEN)
            return path
        with closing(Ledger(f"sqlite:///{path}")) as ledger:
            write_board(ledger, self.judgements, models=self.models, battles_an_item=self.pairs, benchmark=_BENCHMARK)
        return path


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a ledger is for a while, with a folder for the columns."""

    url: str
    folder: Path
    server: PostgreSQL | None = None

    def measured(self, command: list[str], *, cache: str = "columns", before: Path | None = None) -> "Measured":
        """`before`: where older code lies."""
        more = {"EVENHAND_COLUMN_CACHE": str(self.folder / cache)}
        if before is not None:
            more["PYTHONPATH"] = str(before)
        served = self._served()
        spent, memory, printed = measured([sys.executable, "-m", *command], more)
        return Measured(cpu=spent + self._served() - served, memory=memory, printed=printed)

    def _served(self) -> float:
        """CPU seconds of the server so far."""
        return 0.0 if self.server is None else cpu_of(self.server)

    def as_of(self, code: Path) -> "Place":
        """A copy that the code there takes for its own: what tables got since is beside what it asks for."""
        if self.server is not None:
            return self
        asked = "from evenhand.ledger.store.tables import HEAD; print(HEAD)"
        head = measured([sys.executable, "-c", asked], {"PYTHONPATH": str(code)})[2].strip()
        path = self.folder / "before.db"
        shutil.copyfile(self.url.removeprefix("sqlite:///"), path)
        with closing(sqlite3.connect(path)) as connection, connection:
            connection.execute("UPDATE alembic_version SET version_num = ?", [head])
        return replace(self, url=f"sqlite:///{path}")

    @contextmanager
    def opened(self) -> Generator[Ledger]:
        with closing(Ledger(self.url, create=False)) as ledger:
            yield ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    cpu: float
    memory: float
    """MB."""
    printed: str


@contextmanager
def placed(board: Board, kept_in: Path, *, postgresql: bool) -> Generator[Place]:
    """A copy of its ledger. On a server what is more than was written is made there: to copy it takes half an hour."""
    times = max(board.judgements // _WRITTEN, 1) if postgresql else 1
    source = replace(board, judgements=board.judgements // times).written(kept_in)
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-", dir=source.parent) as folder:
        path = Path(folder) / "ledger.db"
        shutil.copyfile(source, path)
        url = f"sqlite:///{path}"
        if not postgresql:
            yield Place(url=url, folder=Path(folder))
            return
        with database() as server:
            other = server.empty()
            with closing(Ledger(url, create=False)) as ledger:
                copy_ledger(ledger, other)
            path.unlink()
            name = other.partition("@/")[2].partition("?")[0]
            if times > 1:
                with server.telling(name) as tell:
                    multiply_on_server(tell, times)
            server.tell("VACUUM ANALYZE", database=name)
            yield Place(url=other, folder=Path(folder), server=server)


def started(board: Board, folder: Path, *, postgresql: bool) -> float:
    """CPU seconds of `rank` on two items of the same models, columns at hand: the interpreter and what it loads."""
    few = replace(board, judgements=4 * board.pairs)
    with (
        tempfile.TemporaryDirectory(dir=folder) as made,
        placed(few, Path(made), postgresql=postgresql) as place,
    ):
        every = [place.measured(["evenhand", "rank", "--store", place.url, "--json"]).cpu for _ in range(_ROUNDS + 1)]
    return statistics.median(every[1:])


def kept(board: Board, place: Place, start: float) -> list[Figure]:
    """What is held to its goal is the board from the open ledger, as it is in bench.web_board: the command less its
    start."""
    rank = ["evenhand", "rank", "--store", place.url, "--json"]
    what = board.what
    bare = bare_walk(Path(place.url.removeprefix("sqlite:///"))) if place.server is None else None
    making, hand = place.measured(rank), [place.measured(rank) for _ in range(_ROUNDS)]
    if {one.printed for one in hand} != {making.printed}:
        raise SystemExit("The board with the columns at hand is another than the board while they are made.")
    on_top: list[float] = []
    for number in range(1, _ROUNDS + 1):
        with place.opened() as ledger:
            judge_more(ledger, _NEW, models=board.models, begin=number * _NEW)
        with_new = place.measured(rank)
        on_top.append(with_new.cpu - place.measured(rank).cpu)  # by turns: a noisy machine disturbs both alike
    most = {1_000_000: (8, 2, 0.3, None), 10_000_000: (None, 15, None, 2000)}
    making_most, hand_most, top_most, memory_most = most.get(board.judgements, (None, None, None, None))
    return [
        *([] if bare is None else [Figure(what=f"{what}: bare walk through the rows", value=bare, unit="s CPU")]),
        Figure(what=f"{what}: start of rank, in what is told of rank", value=start, unit="s CPU"),
        Figure(what=f"{what}: rank, columns made", value=making.cpu, unit="s CPU"),
        Figure(what=f"{what}: board, columns made", value=making.cpu - start, unit="s CPU", at_most=making_most),
        Figure(what=f"{what}: columns made, peak memory", value=making.memory, unit="MB", at_most=memory_most),
        median_figure(f"{what}: rank, columns at hand", [one.cpu for one in hand], unit="s CPU"),
        median_figure(
            f"{what}: board, columns at hand", [one.cpu - start for one in hand], unit="s CPU", at_most=hand_most
        ),
        Figure(
            what=f"{what}: columns at hand, peak memory",
            value=max(one.memory for one in hand),
            unit="MB",
            at_most=memory_most,
        ),
        median_figure(f"{what}: {_NEW:,} new ones, more than at hand", on_top, unit="s CPU", at_most=top_most),
    ]


def commanded(name: str, board: Board, place: Place, before: Path | None, rounds: int) -> list[Figure]:
    with place.opened() as ledger:
        judge_as_people(ledger, *_PEOPLE)
    of_judge = ["--judge", JUDGE, "--json", "--store"]
    command = {
        "score": ["evenhand", "score", _BENCHMARK, *of_judge],
        "align": ["evenhand", "align", *of_judge],
        "report": ["evenhand", "report", "--out", str(place.folder / "report.html"), "--force", *of_judge],
        "page": ["bench.web_board", "--cold"],
        "rank": ["evenhand", "rank", *of_judge],
    }[name]
    place.measured([*command, place.url])
    older = None if before is None else place.as_of(before)
    now: list[Measured] = []
    then: list[Measured] = []
    for _ in range(rounds):
        now.append(place.measured([*command, place.url]))
        if older is not None:
            then.append(older.measured([*command, older.url], cache="before", before=before))
    what = f"{board.what}: {name}"
    found = [
        median_figure(f"{what}, columns at hand", [one.cpu for one in now], unit="s CPU"),
        Figure(what=f"{what}, peak memory", value=max(one.memory for one in now), unit="MB"),
    ]
    if then:
        found += [
            median_figure(f"{what}, before", [one.cpu for one in then[1:] or then], unit="s CPU"),
            Figure(what=f"{what}, before, peak memory", value=max(one.memory for one in then), unit="MB"),
            differing(what, *(json.loads(some[-1].printed) for some in (now, then))),
        ]
    return found


def numbers(found: Any, at: str = "") -> dict[str, float | str]:
    """What a document holds, each with its place; what a run alone tells is left out."""
    if isinstance(found, dict):
        kept = {name: one for name, one in found.items() if name not in _OF_A_RUN}
        return {k: v for name, one in kept.items() for k, v in numbers(one, f"{at}.{name}").items()}
    if isinstance(found, list):
        return {k: v for n, one in enumerate(found) for k, v in numbers(one, f"{at}[{n}]").items()}
    return {at: found}


def differing(what: str, *documents: Any) -> Figure:
    """How far two documents lie apart in what both hold. An older one lacks what was added since."""
    one, other = map(numbers, documents)
    both = one.keys() & other.keys()
    apart, words = [0.0], list[str]()
    for name in both:
        value, second = one[name], other[name]
        if isinstance(value, float) and isinstance(second, float | int):
            apart.append(abs(value - second) / max(1, abs(value)))
        elif value != second:
            words.append(name)
    alone = sorted(one.keys() ^ other.keys())
    told = [f"{len(some):,} {how} ({min(some)})" for some, how in ((alone, "in one only"), (words, "other")) if some]
    note = ", ".join([f"of {len(both):,} values", *told])
    return Figure(what=f"{what}, largest relative difference", value=max(apart), at_most=1e-9, note=note)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=lambda text: int(float(text)), default=10_000_000)
    parser.add_argument("--parts", type=int, default=50)
    parser.add_argument("--models", type=int)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--scattered", action="store_true", help="An item's rows lie in any part.")
    parser.add_argument("--judgements", type=lambda text: int(float(text)), help="Of a ledger, and no table.")
    parser.add_argument("--folder", type=Path, help="Where that ledger is kept.")
    parser.add_argument("--command", choices=("rank", "score", "align", "report", "page"))
    parser.add_argument("--rounds", type=int, default=_ROUNDS, help="Of the command.")
    parser.add_argument("--before", type=Path, help="The folder src of an older checkout.")
    parser.add_argument("--postgresql", action="store_true")
    given = parser.parse_args()
    if given.judgements:
        board = Board(judgements=given.judgements, models=given.models or _RANKED)
        with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as made:
            folder = given.folder or Path(made)
            start = 0.0 if given.command else started(board, folder, postgresql=given.postgresql)
            with placed(board, folder, postgresql=given.postgresql) as place:
                if given.command:
                    print_table(commanded(given.command, board, place, given.before, given.rounds))
                else:
                    print_table(kept(board, place, start))
        return
    size: dict[str, Any] = {"parts": given.parts, "models": given.models or 100, "scattered": given.scattered}
    small = min(given.rows, 1_000_000)
    figures = compared(Table(rows=small, items=max(given.items * small // given.rows, given.parts), **size))
    print_table([*figures, *streamed(Table(rows=given.rows, items=given.items, **size))])


if __name__ == "__main__":
    main()
