"""What honest visitors wait while others flood the door of `evenhand serve`.

    python -m bench.web_flood [--connections 2100] [--asks 200] [--addresses 34] [--judgements 20000] [--readers 10]

One visitor asks for the boards' page, again and again, on new connections, and so many readers, each at an address of
their own, for a board of so many judgements: alone; while so many idle connections are held from one other address;
while they are held from many addresses; while one address sends requests as fast as it can; and while somebody at each
of many addresses does. All of them are on this machine's loopback (127.0.0.0/8), in one process beside the server's,
and share its cores: the CPU that the flood itself takes is in the times.
"""

import argparse
import asyncio
import os
import re
import resource
import socket
import statistics
import tempfile
import time
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import TypeAlias

import numpy as np

from bench.figures import Figure, print_table
from bench.judged_board import write_board
from bench.web_board import served
from evenhand.ledger.store.record import Ledger

_MODELS = 40
_PAUSE = 0.06
"""Seconds between the visitor's requests: within the limit of one address."""


async def asked(port: int, source: str, path: str = "/") -> tuple[int, float]:
    """Status and milliseconds of one request on a connection of its own."""
    begun = time.perf_counter()
    try:
        async with asyncio.timeout(60):
            reader, writer = await asyncio.open_connection("127.0.0.1", port, local_addr=(source, 0))
            writer.write(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
            said = await reader.read(-1)
            writer.close()
    except (TimeoutError, OSError):
        return 0, (time.perf_counter() - begun) * 1_000
    return int(said[9:12] or b"0"), (time.perf_counter() - begun) * 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Who asks for what beside the flood."""

    port: int
    asks: int
    board: str
    """A path."""
    readers: int

    async def all(self) -> "tuple[Waited, Waited]":
        """The visitor's and the readers' waits."""
        each = max(1, self.asks // self.readers)
        visitor, *readers = await asyncio.gather(
            self._one("127.0.0.1", "/", self.asks, _PAUSE),
            *(
                self._one(f"127.0.2.{number}", self.board, each, _PAUSE * self.readers)
                for number in range(1, self.readers + 1)
            ),
        )
        return visitor, ([one for taken, _ in readers for one in taken], sum(refused for _, refused in readers))

    async def _one(self, source: str, path: str, asks: int, pause: float) -> "Waited":
        found: list[tuple[int, float]] = []
        for _ in range(asks):
            found.append(await asked(self.port, source, path))
            await asyncio.sleep(pause)
        return [taken for status, taken in found if status == 200], sum(status != 200 for status, _ in found)


Waited: TypeAlias = tuple[list[float], int]
"""Milliseconds of what was served, and how much was not."""


def ready_board(port: int) -> str:
    """The path of the one board there is, once it is worked out."""
    while True:
        _, words = _got(port, "/")
        found = re.search(r'href="(/boards/[0-9a-f]+)', words)
        if found and "model-000" in _got(port, found[1])[1]:
            return found[1]
        time.sleep(1)


def _got(port: int, path: str) -> tuple[int, str]:
    with closing(HTTPConnection("127.0.0.1", port, timeout=120)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        return answer.status, answer.read().decode()


def held(port: int, count: int, sources: Sequence[str]) -> list[socket.socket]:
    """Idle connections, which say nothing."""
    made: list[socket.socket] = []
    for number in range(count):
        one = socket.socket()
        one.bind((sources[number % len(sources)], 0))
        one.settimeout(5)
        one.connect(("127.0.0.1", port))
        made.append(one)
    return made


async def flooding(port: int, sources: Sequence[str], each: int, stop: asyncio.Event) -> int:
    """Requests as fast as they go, `each` at once of every address; how many were sent."""
    sent = 0

    async def one(source: str) -> None:
        nonlocal sent
        while not stop.is_set():
            await asked(port, source)
            sent += 1

    await asyncio.gather(*(one(source) for source in sources for _ in range(each)))
    return sent


async def beside(asking: Asking, sources: Sequence[str], each: int) -> tuple[Waited, Waited]:
    stop = asyncio.Event()
    flood = asyncio.create_task(flooding(asking.port, sources, each, stop))
    await asyncio.sleep(2)
    found = await asking.all()
    stop.set()
    await flood
    return found


def figures(what: str, found: tuple[Waited, Waited], alone: tuple[Waited, Waited]) -> list[Figure]:
    rows: list[Figure] = []
    for name, (taken, refused), (before, _) in zip(("list of boards", "board"), found, alone, strict=True):
        if taken:
            p95, ratio = float(np.percentile(taken, 95)), float(np.percentile(taken, 95) / np.percentile(before, 95))
            note = f"median {statistics.median(taken):.1f} ms; {ratio:.1f} times alone"
            rows.append(Figure(what=f"{what}: {name}, p95", value=p95, unit="ms", note=note))
        rows.append(Figure(what=f"{what}: {name}, not served", value=refused, unit="requests", at_most=0))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=int, default=2100)
    parser.add_argument("--asks", type=int, default=200)
    parser.add_argument("--addresses", type=int, default=34)
    parser.add_argument("--judgements", type=int, default=20_000)
    parser.add_argument("--readers", type=int, default=10)
    given = parser.parse_args()
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    many = [f"127.0.1.{number}" for number in range(1, given.addresses + 1)]
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        path = Path(folder) / "ledger.db"
        with closing(Ledger(f"sqlite:///{path}")) as ledger:
            write_board(ledger, given.judgements, models=_MODELS)
        with served(path) as server:
            board = ready_board(server.port)
            asking = Asking(port=server.port, asks=given.asks, board=board, readers=given.readers)
            alone = asyncio.run(asking.all())
            rows = figures("alone", alone, alone)
            for what, sources in (("one address", many[:1]), (f"{len(many)} addresses", many)):
                idle = held(server.port, given.connections, sources)
                rows += figures(f"{given.connections:,} idle connections of {what}", asyncio.run(asking.all()), alone)
                for one in idle:
                    one.close()
            rows += figures("one address asks without end", asyncio.run(beside(asking, many[:1], 20)), alone)
            rows += figures(f"{len(many)} addresses ask without end", asyncio.run(beside(asking, many, 1)), alone)
    print_table(rows)
    print(f"load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
