"""What a judgement costs on PostgreSQL beside SQLite, how far worker processes carry, and what both databases store.

    python -m bench.scale [--rounds 5] [--items 150] [--only cpu,workers,bytes,images,boards] [--latency 0.5]

Every run is the command line itself, `evenhand judge`, in a process of its own, against a scripted server in another
and a PostgreSQL server of its own with its settings as they come, all on the cores of this machine. Answers have some
1,000 characters, replies 250 words; items differ in length and in how many models answered them. Both databases are
measured by turns in one run, so that a noisy machine disturbs them alike: ratios count. CPU is that of the command's
processes, and of PostgreSQL's, told apart and added up; the scripted server's is the model's and not counted. A
judgement is what more of them cost: the difference of a long run and a short one, so that the start is not in it.
Workers take seconds to come: their runs have four times the items, at most two rounds, and the rate is that of the
second half of each, by the times on record.

Boards are of `bench.judged_board`: 10,000 judgements of 50 models on 50 items are written by the ledger, and more are
made of those by SQL, as replicates of the same trials. Linux only: CPU is read from /proc.
"""

import argparse
import asyncio
import json
import os
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from sqlalchemy import select

from bench.figures import Figure, median_figure, print_table
from bench.generated import Words, picture
from bench.judged_board import write_board
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.copying import copy_ledger
from tests import warm
from tests.database import PostgreSQL
from tests.scripted_server import Body, Script, ScriptedServer

PARTS = ("cpu", "workers", "images", "bytes", "boards")
MODELS = 5
IN_FLIGHT = 64
BOARD, BOARD_MODELS, BATTLES_AN_ITEM = 10_000, 50, 100
CHAIN = ("links", "tips")
_AS_IT_COMES = "-c listen_addresses='' -c max_connections=100"
_REPLY_WORDS = 250
_LONGER, _WORKER_ROUNDS = 4, 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Cost:
    """Of one command."""

    judgements: int
    client: float
    """Seconds of CPU, all its processes."""
    server: float
    """Seconds of CPU of PostgreSQL."""
    wall: float

    @property
    def cpu(self) -> float:
        return self.client + self.server

    def beyond(self, short: "Cost") -> "Cost":
        """Of what it did more than a shorter one."""
        return Cost(
            judgements=self.judgements - short.judgements,
            client=self.client - short.client,
            server=self.server - short.server,
            wall=self.wall - short.wall,
        )


def write_study(folder: Path, *, items: int, pictures: bool) -> None:
    """Items of 10 to 150 words, some with a caption of 200; two to five models' answers of 300 to 3,000 characters."""
    words = Words(1)
    asked: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for number in range(items):
        row: dict[str, Any] = {"item": str(number), "instruction": words.text(words.draw.choice((10, 20, 40, 150)))}
        if pictures:
            name = f"{number}.{'jpg' if number % 2 else 'png'}"
            (folder / name).write_bytes(picture(words.draw, as_jpeg=bool(number % 2)))
            row["images"] = [name]
        else:
            row["caption"] = words.text(words.draw.choice((20, 60, 200)))
        asked.append(row)
        # Every tenth item has been answered by two models alone, as where some came late.
        for model in range(2 if number % 10 == 0 else MODELS):
            length = int(words.draw.lognormvariate(6.8, 0.5))
            answers.append(
                {"item": str(number), "model": f"m{model}", "response": words.up_to(min(3000, max(300, length)))}
            )
    for name, rows in (("items", asked), ("answers", answers)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def serve() -> None:
    """The judge: 250 words about each case, other ones each time, and a decision."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--latency", type=float, default=0.0)
    latency: float = parser.parse_args().latency
    words = Words(2)

    def reply(_: Body) -> str:
        return f"{words.text(_REPLY_WORDS)}\n\nOverall, Response {words.draw.choice('AB')} is better."

    async def served() -> None:
        async with ScriptedServer(Script(judge=reply, latency=latency, keep=False)) as server:
            print(server.base_url, flush=True)
            await asyncio.to_thread(sys.stdin.read)

    asyncio.run(served())


@contextmanager
def database() -> Generator[PostgreSQL]:
    made = PostgreSQL.started(settings=_AS_IT_COMES)
    try:
        yield made
    finally:
        made.remove()


def cpu_of(server: PostgreSQL) -> float:
    """Seconds so far, of its processes that live and of those that have ended."""
    first = int((server.folder / "data" / "postmaster.pid").read_text(encoding="ascii").split()[0])
    total = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
        except OSError:
            continue  # it has just ended
        if int(stat.parent.name) == first:
            total += sum(map(int, fields[11:15]))
        elif int(fields[1]) == first:
            total += int(fields[11]) + int(fields[12])
    return total / os.sysconf("SC_CLK_TCK")


def ran(server: PostgreSQL, folder: Path, *words: str) -> tuple[Cost, dict[str, Any]]:
    """A command of the program, and the document it printed."""
    before, begun = cpu_of(server), time.perf_counter()
    command = [sys.executable, "-m", "evenhand", *words, "--json"]
    environment = {**os.environ, "EVENHAND_IMAGE_CACHE": str(folder / "cache"), "OPENAI_API_KEY": "none"}
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    wall, after = time.perf_counter() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
    client = after.ru_utime + after.ru_stime - used.ru_utime - used.ru_stime
    document = json.loads(done.stdout)
    cost = Cost(judgements=document.get("called", 0), client=client, server=cpu_of(server) - before, wall=wall)
    return cost, document


@dataclass(frozen=True, slots=True, kw_only=True)
class Bench:
    server: PostgreSQL
    room: Path
    """With the study's files."""
    items: int

    def store(self, kind: str) -> str:
        """Of a new ledger."""
        if kind == "sqlite":
            return f"sqlite:///{tempfile.mkdtemp(prefix='ledger-', dir=self.room)}/ledger.db"
        return self.server.url(self.server.new_ledger())

    def judged(self, url: str, store: str, *more: str, limit: int | None = None) -> Cost:
        some = () if limit is None else ("--limit", str(limit))
        judge = ("--judge", "openai/scripted", "--judge-base-url", url, "--endpoint-name", "bench", "--quiet")
        money = ("--price", "input=2.5,output=10", "--max-cost", "100000")
        files = ("judge", "items.jsonl", "--responses", "answers.jsonl", "--protocol", "visit_pairwise")
        pace = ("--max-connections", str(IN_FLIGHT))
        cost, document = ran(self.server, self.room, *files, *judge, *money, *pace, "--store", store, *some, *more)
        if document["verdicts"] != document["planned"]:
            raise SystemExit(f"The run did not do what is measured: {document}")
        return cost

    def more(self, url: str, kind: str, *words: str) -> Cost:
        """A long run beyond a short one, which has one in so many of the items, each into a new ledger."""
        short = self.judged(url, self.store(kind), *words, limit=max(1, self.items // 10))
        found = self.judged(url, self.store(kind), *words).beyond(short)
        if min(found.client, found.wall, found.server if kind == "postgresql" else 1) <= 0:
            raise SystemExit(f"The longer run took no longer than the shorter ({found}): give more --items.")
        return found


def cpu_figures(
    bench: Bench, url: str, *, rounds: int, what: str, words: Mapping[str, tuple[str, ...]]
) -> list[Figure]:
    """`words`: what the command gets on each database."""
    found: list[dict[str, Cost]] = []
    for number in range(rounds):
        order = sorted(words, reverse=bool(number % 2))
        found.append({name: bench.more(url, name.partition(",")[0], *words[name]) for name in order})
    base, *others = words

    def ms(name: str, part: str) -> list[float]:
        return [1e3 * getattr(one[name], part) / one[name].judgements for one in found]

    figures = [median_figure(f"{what}: {base}: CPU of a judgement", ms(base, "cpu"), unit="ms")]
    for name in others:
        ratios = [one[name].cpu * one[base].judgements / (one[base].cpu * one[name].judgements) for one in found]
        figures += [
            median_figure(f"{what}: {name}: CPU of a judgement, the command", ms(name, "client"), unit="ms"),
            median_figure(f"{what}: {name}: CPU of a judgement, the server", ms(name, "server"), unit="ms"),
            median_figure(f"{what}: {name} over {base}, both counted", ratios, at_most=2),
        ]
    return figures


def worker_figures(bench: Bench, url: str, *, rounds: int) -> list[Figure]:
    """The rate of the second half of a run: workers take seconds to start, and have all come by then."""
    figures: list[Figure] = []
    kinds: dict[str, tuple[str, ...]] = {f"{n} worker(s)": ("--workers", str(n)) for n in (1, 2, 4)}
    if find_spec("ray") is not None:
        kinds["4 workers of Ray"] = ("--workers", "4", "--runner", "ray")
    for kind in ("sqlite", "postgresql"):
        found: dict[str, list[tuple[Cost, float]]] = {name: [] for name in kinds}
        for _ in range(rounds):
            for name, each in found.items():
                store = bench.store(kind)
                each.append((bench.judged(url, store, *kinds[name]), late_rate(store)))
        for name, each in found.items():
            figures.append(median_figure(f"{kind}, {name}: judgements a second", [rate for _, rate in each]))
            if "Ray" not in name:  # whose processes are not all the command's
                cpu = [1e3 * one.cpu / one.judgements for one, _ in each]
                figures.append(median_figure(f"{kind}, {name}: CPU of a judgement, starts included", cpu, unit="ms"))
    return figures


def late_rate(store: str) -> float:
    """Judgements a second, as the record has them, from the one in the middle to the last."""
    with closing(Ledger(store, create=False)) as ledger, ledger.reading() as connection:
        at = sorted(connection.execute(select(schema.judgements.c.at)).scalars())
    late = at[len(at) // 2 :]
    return (len(late) - 1) / (late[-1] - late[0])


def sqlite_bytes(store: str) -> dict[str, int]:
    """Of each table with its indexes."""
    with closing(sqlite3.connect(store.removeprefix("sqlite:///"))) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        rows = connection.execute(
            "SELECT m.tbl_name, sum(s.pgsize) FROM dbstat AS s JOIN sqlite_master AS m ON m.name = s.name GROUP BY 1"
        )
        return {str(name): int(size) for name, size in rows}


def server_bytes(server: PostgreSQL, store: str) -> dict[str, int]:
    name = store.partition("@/")[2].partition("?")[0]
    server.tell("VACUUM (ANALYZE)", database=name)
    tables = "SELECT tablename::text, pg_total_relation_size(tablename::regclass) FROM pg_tables"
    return dict(server.tell(f"{tables} WHERE schemaname = 'public'", database=name))


def bytes_figures(bench: Bench, url: str) -> list[Figure]:
    figures: list[Figure] = []
    for kind in ("sqlite", "postgresql"):
        sizes: list[dict[str, int]] = []
        counts: list[int] = []
        for limit in (max(1, bench.items // 10), None):
            store = bench.store(kind)
            counts.append(bench.judged(url, store, limit=limit).judgements)
            sizes.append(sqlite_bytes(store) if kind == "sqlite" else server_bytes(bench.server, store))
        judged = counts[1] - counts[0]
        each = {name: (size - sizes[0].get(name, 0)) / judged for name, size in sizes[1].items()}
        chain = sum(each.get(name, 0.0) for name in CHAIN)
        total = sum(each.values())
        figures += [
            Figure(what=f"{kind}: bytes a judgement, answers and items included", value=total),
            Figure(what=f"{kind}: bytes a judgement without the chain", value=total - chain),
            *(
                Figure(what=f"{kind}: of it {name}", value=size)
                for name, size in sorted(each.items(), key=lambda one: -one[1])
                if size >= 1
            ),
        ]
    return figures


_REPLICATED = (
    "INSERT INTO trials (key, item, responses, rater, condition, replicate, attempt) "
    "SELECT substr(key, 1, 60) || '{mark}', item, responses, rater, condition, {number}, attempt "
    "FROM trials WHERE replicate = 0",
    "INSERT INTO study_trials (study, trial) SELECT study, substr(trial, 1, 60) || '{mark}' FROM study_trials "
    "WHERE trial IN (SELECT key FROM trials WHERE replicate = 0)",
    "INSERT INTO judgements (seq, trial, reader, verdict, reason, detail, calls, notes, cost_usd, run, at) "
    "SELECT seq + {number} * {rows}, substr(trial, 1, 60) || '{mark}', reader, verdict, reason, detail, calls, notes, "
    "cost_usd, run, at FROM judgements WHERE seq <= {rows}",
)


def replicated(times: int, rows: int) -> list[str]:
    """The statements that make so many of each trial of a ledger, with its judgement; no chain covers them. No hash
    ends as their keys do."""
    made = [
        statement.format(mark=f"x{number:03x}", number=number, rows=rows)
        for number in range(1, times)
        for statement in _REPLICATED
    ]
    return [*made, "ANALYZE"]


def board_figures(bench: Bench, sizes: Sequence[int]) -> list[Figure]:
    figures: list[Figure] = []
    for rows in sizes:
        file = bench.store("sqlite")
        with closing(Ledger(file)) as ledger:
            write_board(ledger, BOARD, models=BOARD_MODELS, battles_an_item=BATTLES_AN_ITEM)
            there = bench.server.empty()
            copy_ledger(ledger, there)
        statements = replicated(rows // BOARD, BOARD)
        with closing(sqlite3.connect(file.removeprefix("sqlite:///"))) as connection:
            for statement in statements:
                connection.execute(statement)
            connection.commit()
        database = there.partition("@/")[2].partition("?")[0]
        for statement in statements:
            bench.server.tell(statement, database=database)
        for kind, store in (("sqlite", file), ("postgresql", there)):
            cost, board = ran(bench.server, bench.room, "rank", "--benchmark", "generated", "--store", store)
            what = f"board of {rows:,} judgements, {kind}"
            figures += [
                Figure(what=f"{what}: time", value=cost.wall, unit="s", note=f"{len(board['models'])} models"),
                Figure(what=f"{what}: CPU of the command", value=cost.client, unit="s"),
                *([Figure(what=f"{what}: CPU of the server", value=cost.server, unit="s")] if kind != "sqlite" else []),
            ]
    return figures


def figures(parts: Sequence[str], *, rounds: int, items: int, latency: float, boards: Sequence[int]) -> list[Figure]:
    found: list[Figure] = []
    with (
        database() as server,
        tempfile.TemporaryDirectory(prefix="evenhand-bench-") as made,
        warm.heard("bench.scale:serve") as url,
        warm.heard("bench.scale:serve", "--latency", str(latency)) as slow,
    ):
        room = Path(made)
        write_study(room, items=items, pictures=False)
        bench = Bench(server=server, room=room, items=items)
        plain: dict[str, tuple[str, ...]] = {"sqlite": (), "postgresql": ()}
        if "cpu" in parts:
            bench.more(url, "sqlite")
            found += cpu_figures(bench, url, rounds=rounds, what="text, answered at once", words=plain)
            what = f"text, answered in {latency:g} s"
            found += cpu_figures(bench, slow, rounds=rounds, what=what, words=plain)
        if "workers" in parts:
            long = room / "long"
            long.mkdir()
            write_study(long, items=_LONGER * items, pictures=False)
            longer = Bench(server=server, room=long, items=_LONGER * items)
            found += worker_figures(longer, url, rounds=min(rounds, _WORKER_ROUNDS))
        if "bytes" in parts:
            found += bytes_figures(bench, url)
        if "boards" in parts:
            found += board_figures(bench, boards)
        if "images" in parts:
            seen = room / "seen"
            seen.mkdir()
            write_study(seen, items=items // 3, pictures=True)
            with_images = Bench(server=server, room=seen, items=items // 3)
            see = ("--see", "images")
            words = {"sqlite": see, "postgresql": see, "postgresql, images in a folder": (*see, "--images", str(seen))}
            found += cpu_figures(with_images, url, rounds=rounds, what="one 100 KB image", words=words)
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items", type=int, default=150, help="some eighteen judgements each")
    parser.add_argument("--latency", type=float, default=0.5, help="seconds that a slow endpoint takes")
    parser.add_argument("--boards", default="10000,100000,1000000", help="judgements of each board")
    parser.add_argument("--only", default=",".join(PARTS), help=f"some of {', '.join(PARTS)}")
    given = parser.parse_args()
    parts = given.only.split(",")
    if unknown := set(parts) - set(PARTS):
        raise SystemExit(f"--only has {', '.join(sorted(unknown))}; there are {', '.join(PARTS)}.")
    print_table(
        figures(
            parts,
            rounds=given.rounds,
            items=given.items,
            latency=given.latency,
            boards=[int(one) for one in given.boards.split(",")],
        )
    )


if __name__ == "__main__":
    main()
