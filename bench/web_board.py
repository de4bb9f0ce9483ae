"""What a large board costs: worked out cold from the ledger, and its page once it is known.

    python -m bench.web_board [--judgements 100000] [--folder F]

200 models. The ledger is written first, which takes some minutes for a million; with `--folder` it is kept there and
used again. Cold: CPU seconds and peak memory of a process that opens the ledger and works the board out, beside a bare
walk through the same rows by SQLite's driver. Warm: the page as `evenhand serve` sends it, from request to last byte,
once the board and its paper's figures are worked out; and between the two, while it is sent without those figures.
"""

import argparse
import json
import os
import resource
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

from bench.figures import Figure, print_table, spread
from bench.judged_board import MODELS, write_board
from evenhand.ledger.store.record import Ledger
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.boards.standings import BoardView, standings

REQUESTS = 50
_PAUSE = 0.2
"""Seconds: whoever asks too often is refused."""
_NO_FIGURES = "are being worked out"
_BARE = (
    "SELECT study, trial FROM study_trials",
    "SELECT key, item, responses, rater, condition, replicate, attempt FROM trials",
    "SELECT seq, trial, verdict, reason FROM judgements ORDER BY seq",
)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--judgements", type=int, default=100_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--cold", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.cold:
        print(json.dumps(cold(given.cold)))
        return
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as made:
        path = written(given.folder or Path(made), given.judgements)
        print_table(figures(path, given.judgements))


def written(folder: Path, judgements: int) -> Path:
    path = folder / f"board-{judgements}.db"
    if not path.exists():
        with closing(Ledger(f"sqlite:///{path}")) as ledger:
            write_board(ledger, judgements)
    return path


def figures(path: Path, judgements: int) -> list[Figure]:
    command = [sys.executable, "-m", "bench.web_board", "--cold", f"sqlite:///{path}"]
    found: dict[str, Any] = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    bare = bare_walk(path)
    with served(path) as server:
        between, warm = known_page(server.port)
    what = f"{MODELS} models, {judgements:,} judgements"
    return [
        Figure(what=f"{what}: board from the ledger, cold", value=found["cpu_s"], unit="s CPU"),
        Figure(what=f"{what}: bare walk through the rows", value=bare, unit="s CPU"),
        Figure(what=f"{what}: cold / bare walk", value=found["cpu_s"] / bare),
        Figure(what=f"{what}: list of boards", value=found["list_s"], unit="s CPU"),
        Figure(what=f"{what}: peak memory", value=found["peak_mb"], unit="MB", at_most=1500),
        Figure(what=f"{what}: page, warm", value=statistics.median(warm), unit="ms", at_most=200, note=spread(warm)),
        Figure(
            what=f"{what}: page before its paper's figures, slowest of {len(between)}",
            value=max(between, default=0.0),
            unit="ms",
            at_most=1000,
        ),
    ]


def cold(url: str) -> dict[str, Any]:
    """For a process of its own, whose peak memory it tells. Of a ledger's boards that of a model."""
    with closing(Ledger(url, create=False)) as ledger:
        begun = time.process_time()
        (board,) = (one for one in boards_on_record(ledger) if not one.human)
        listed = time.process_time()
        made = standings(ledger, board, BoardView(board=board.id))
        done = time.process_time()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    peak_bytes = peak if sys.platform == "darwin" else peak * 1024
    return {
        "list_s": listed - begun,
        "cpu_s": done - listed,
        "peak_mb": peak_bytes / 1e6,
        "models": [one.as_json() for one in made.models],
        "notes": list(made.notes),
        "by_category": {
            model: [[one.category, one.rate.win_rate.value] for one in each] for model, each in made.by_category.items()
        },
    }


def bare_walk(path: Path) -> float:
    begun = time.process_time()
    with closing(sqlite3.connect(path)) as connection:
        for statement in _BARE:
            cursor = connection.execute(statement)
            while cursor.fetchmany(500):
                pass
    return time.process_time() - begun


@dataclass(frozen=True, slots=True, kw_only=True)
class Server:
    port: int
    process: int

    def cpu_seconds(self) -> float:
        """Its processes' so far, as Linux counts them, without those that work boards out."""
        begun = [self.process, *(one for one in _children(self.process) if "forkserver" in _command(one))]
        every = [*begun, *(one for begin in begun[1:] for one in _children(begin))]
        return sum(map(_cpu_seconds, every))


def _cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def _children(process: int) -> list[int]:
    return [int(one) for one in Path(f"/proc/{process}/task/{process}/children").read_text(encoding="ascii").split()]


def _command(process: int) -> str:
    return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")


@contextmanager
def served(store: Path | str, *flags: str) -> Generator[Server]:
    """By the command itself, in a process of its own; `store`: a file of SQLite, or a URL."""
    with closing(socket.create_server(("127.0.0.1", 0))) as free:
        port = int(free.getsockname()[1])
    script = str(Path(sys.executable).with_name("evenhand"))
    url = store if isinstance(store, str) else f"sqlite:///{store}"
    command = [script, "serve", "--no-worker", "--store", url, "--port", str(port), *flags]
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    assert server.stderr is not None
    try:
        server.stderr.readline()
        yield Server(port=port, process=server.pid)
    finally:
        server.terminate()
        server.communicate()


def known_page(port: int) -> tuple[list[float], list[float]]:
    """Milliseconds of each request once the board is worked out: before its paper's figures are, and then."""
    with closing(HTTPConnection("127.0.0.1", port, timeout=600)) as connection:
        board = _sent(connection, "/").split('href="/boards/', 1)[1].split('"', 1)[0].split("?", 1)[0].split("/", 1)[0]
        while "model-000" not in _sent(connection, f"/boards/{board}"):
            time.sleep(1)
        between: list[float] = []
        warm: list[float] = []
        while len(warm) < REQUESTS:
            time.sleep(_PAUSE)
            begun = time.perf_counter()
            page = _sent(connection, f"/boards/{board}")
            took = 1000 * (time.perf_counter() - begun)
            (between if _NO_FIGURES in page else warm).append(took)
            assert page.count("model-") >= MODELS
    return between, warm


def _sent(connection: HTTPConnection, page: str) -> str:
    connection.request("GET", page)
    return connection.getresponse().read().decode()


if __name__ == "__main__":
    main()
