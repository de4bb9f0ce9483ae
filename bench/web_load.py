"""People who compare, teams that look at boards, and a record that grows meanwhile: how long each of them waits.

    python -m bench.web_load [--people 200] [--teams 20] [--judgements 20000] [--seconds 60] [--pause 5]
                             [--processes 2] [--store postgresql://…]

Each is a closed loop with a session of their own. A person takes a place in a study, then compares: page, so many
seconds, form. A team looks at the list of boards, the judge's board with its paper's figures, the people's board, which
is shown while it runs, and its own page, with so many seconds between. Beside them somebody asks for a file that is
always the same, which is the bare limit of this server on this machine: every p95 is told as so many times that too.
The server is the command itself, on SQLite or in an empty database of PostgreSQL (`--store postgresql` starts a server
of PostgreSQL for it), and has worked the judge's board out before they come; server, figures, database and people share
the machine's cores. At the end every choice that was answered is looked for on record: lost are those that are not
there, doubled those that are there twice.
"""

import argparse
import asyncio
import os
import re
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Generator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import aiohttp
import numpy as np
from sqlalchemy import select

from bench.figures import Figure, print_table
from bench.judged_board import write_board
from bench.web import SEEN_BY
from bench.web_board import served
from bench.web_flood import ready_board
from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, invite, join
from evenhand.site.people.changes import set_people_study
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.studies import make_people_study
from tests.database import a_server

MODELS = 40
_BARE = "bare request"
_GOALS = {"board": 1000.0, "taking a place": 1000.0, "choice": 600.0}
"""Milliseconds."""
_TOKEN = re.compile(r'name="csrf" value="(\w+)"')
_HIDDEN = re.compile(r'name="(csrf|after|showing)" value="(\w+)"')
_BOARD = re.compile(r'href="(/boards/[0-9a-f]+)')


@dataclass(kw_only=True)
class World:
    study: str
    people: list[str] = field(default_factory=list[str])
    """Sessions."""
    teams: list[str] = field(default_factory=list[str])


@dataclass(kw_only=True)
class Visits:
    """What all of them met with, in milliseconds by what they asked for."""

    client: aiohttp.ClientSession
    ends: float
    pause: float
    taken: dict[str, list[float]] = field(default_factory=lambda: defaultdict[str, list[float]](list))
    troubles: Counter[str] = field(default_factory=Counter[str])
    chosen: int = 0
    """Choices that were answered as taken."""

    @property
    def over(self) -> bool:
        return time.monotonic() >= self.ends

    async def ask(
        self, what: str, path: str, session: str = "", *, fields: dict[str, str] | None = None, wanted: int = 200
    ) -> tuple[str, str] | None:
        """The words, and where they lead; None where the answer is another than wanted."""
        begun = time.perf_counter()
        how: Any = {"data": fields} if fields is not None else {}
        headers = {"Cookie": f"evenhand={session}"} if session else {}
        method = "GET" if fields is None else "POST"
        async with self.client.request(method, path, headers=headers, allow_redirects=False, **how) as answer:
            words = await answer.text()
        self.taken[what].append(1000 * (time.perf_counter() - begun))
        if answer.status != wanted:
            self.troubles[f"{what}: status {answer.status}"] += 1
            return None
        return words, answer.headers.get("Location", "")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--teams", type=int, default=20)
    parser.add_argument("--judgements", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=5.0)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--store", default="", help="The URL of an empty database, or `postgresql`.")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder, store_in(Path(folder), given.store) as store:
        world = furnished(store, people=given.people, teams=given.teams, judgements=given.judgements)
        with served(store, "--processes", str(given.processes)) as server:
            ready_board(server.port)
            load, cpu = os.getloadavg()[0], server.cpu_seconds()
            begun, own = time.monotonic(), time.process_time()
            visits = asyncio.run(everybody(f"http://127.0.0.1:{server.port}", world, given.seconds, given.pause))
            wall, own, cpu = time.monotonic() - begun, time.process_time() - own, server.cpu_seconds() - cpu
        lost, doubled = kept_choices(store, world, visits)
        several = given.processes > 1
        print_table([*figures(visits), *of_all(visits, lost=lost, doubled=doubled, at_most=300.0 if several else None)])
    requests = sum(map(len, visits.taken.values()))
    print(
        f"{requests:,} requests in {wall:.0f} s; server {cpu:.1f} s CPU without its figures' processes, visitors "
        f"{own:.1f} s CPU; load {load:.1f} before, {os.getloadavg()[0]:.1f} after"
    )


@contextmanager
def store_in(folder: Path, store: str) -> Generator[str]:
    if store == "postgresql":
        with a_server() as server:
            yield server.empty()
    else:
        yield store or f"sqlite:///{folder}/ledger.db"


def kept_choices(store: str, world: World, visits: Visits) -> tuple[int, int]:
    """How many of the choices that were answered are not on record, and how many are there more than once."""
    places, tasks, made = schema.people_places, schema.people_tasks, schema.judgements
    query = (
        select(made.c.trial)
        .join(tasks, tasks.c.trial == made.c.trial)
        .join(places, places.c.id == tasks.c.place)
        .where(places.c.study == world.study)
    )
    with closing(Ledger(store, create=False)) as ledger, ledger.reading() as connection:
        times = Counter(connection.execute(query).scalars())
    return visits.chosen - len(times), sum(number - 1 for number in times.values())


def of_all(visits: Visits, *, lost: int, doubled: int, at_most: float | None) -> list[Figure]:
    every = [one for what, taken in visits.taken.items() if what != _BARE for one in taken]
    p95 = float(np.percentile(every, 95))
    return [
        Figure(what="all requests, p95", value=p95, unit="ms", at_most=at_most, note=f"{len(every):,} times"),
        Figure(what="choices lost", value=lost, at_most=0, note=f"{visits.chosen:,} were answered"),
        Figure(what="choices doubled", value=doubled, at_most=0),
    ]


def furnished(store: str, *, people: int, teams: int, judgements: int) -> World:
    """A judged board of a paper, and a study with a place for each person that nobody has taken yet."""
    with closing(Ledger(store)) as ledger:
        write_board(ledger, judgements, models=MODELS)
        benchmark = load_benchmark("visit-bench-sample")
        ledger.register_benchmark(benchmark)
        for answers in bundled_answers(benchmark):
            ledger.add_responses(read_responses(answers, benchmark).responses)
        sharing = Sharing(people=people, each=min(SEEN_BY, people))
        asked = AskedStudy(data=benchmark.digest, form="forced", pairs=Pairs(), sharing=sharing)
        world = World(study=make_people_study(ledger, asked, made_by=None))
        set_people_study(ledger, world.study, "shown", on=True)
        by_role = {"annotator": (people, world.people), "team": (teams, world.teams)}
        for role, (number, sessions) in by_role.items():
            token = invite(ledger, Invite(role=role, uses=number)).token  # type: ignore[arg-type]
            sessions += [join(ledger, token, f"{role} {one}").key.token for one in range(number)]
    return world


async def everybody(url: str, world: World, seconds: float, pause: float) -> Visits:
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(url, connector=aiohttp.TCPConnector(limit=0), cookie_jar=jar) as client:
        visits = Visits(client=client, ends=time.monotonic() + seconds, pause=pause)

        async def late(number: int, of: int, coming: Any) -> None:
            await asyncio.sleep(pause * number / of)  # nobody's clock is another's
            await coming

        people = [
            late(number, len(world.people), comparing(visits, world.study, session))
            for number, session in enumerate(world.people)
        ]
        teams = [late(number, len(world.teams), looking(visits, session)) for number, session in enumerate(world.teams)]
        await asyncio.gather(*people, *teams, bare(visits))
    return visits


async def bare(visits: Visits) -> None:
    came = await visits.ask("list of boards", "/")
    found = re.search(r'href="(/static/[^"]+\.css[^"]*)"', came[0] if came else "")
    assert found
    while not visits.over:
        await visits.ask(_BARE, found[1])
        await asyncio.sleep(0.2)


async def comparing(visits: Visits, study: str, session: str) -> None:
    desk = await visits.ask("what waits for a person", "/compare", session)
    token = _TOKEN.search(desk[0]) if desk else None
    if token is None:
        return
    came = await visits.ask(
        "taking a place", f"/compare/studies/{study}", session, fields={"csrf": token[1]}, wanted=303
    )
    if came is None:
        return
    at, number = came[1], 1
    await visits.ask("overview", at, session)
    while not visits.over:
        page = await visits.ask("comparison", f"{at}/{number}", session)
        if page is None:
            return
        await asyncio.sleep(visits.pause)
        fields = {**dict(_HIDDEN.findall(page[0])), "choice": "AB"[number % 2], "go": "next"}
        led = await visits.ask("choice", f"{at}/{number}", session, fields=fields, wanted=303)
        visits.chosen += led is not None
        if led is None or led[1] == at:
            return
        number += 1


async def looking(visits: Visits, session: str) -> None:
    while not visits.over:
        came = await visits.ask("list of boards", "/", session)
        await asyncio.sleep(visits.pause)
        for board in dict.fromkeys(_BOARD.findall(came[0] if came else "")):
            await visits.ask("board", board, session)
            await asyncio.sleep(visits.pause)
        await visits.ask("a team's page", "/submissions", session)
        await asyncio.sleep(visits.pause)


def figures(visits: Visits) -> list[Figure]:
    limit = float(np.percentile(visits.taken[_BARE], 95))
    rows: list[Figure] = []
    for what, taken in visits.taken.items():
        p50, p95 = (float(np.percentile(taken, share)) for share in (50, 95))
        ratio = "" if what == _BARE else f"; {p95 / limit:.1f} times bare"
        note = f"p50 {p50:.0f}, slowest {max(taken):.0f} ms, {len(taken):,} times{ratio}"
        rows.append(Figure(what=f"{what}, p95", value=p95, unit="ms", at_most=_GOALS.get(what), note=note))
    troubles = ", ".join(f"{number} {what}" for what, number in visits.troubles.items())
    rows.append(Figure(what="answers other than wanted", value=visits.troubles.total(), at_most=0, note=troubles))
    return rows


if __name__ == "__main__":
    main()
