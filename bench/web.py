"""Many people comparing at once: what `evenhand serve` keeps of it, and how long they wait.

    python -m bench.web [--people 200] [--seconds 60] [--pause 5]

Each person is a closed loop with a session of their own: the page of a comparison, so many seconds, the form with its
token, and the page it leads to. The server is the command itself on SQLite, in a process of its own; the people are in
this one, whose CPU time is told apart. At the end the ledger is read: what was acknowledged must be there, once.
"""

import argparse
import asyncio
import os
import re
import tempfile
import time
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

import aiohttp
import numpy as np

from bench.figures import Figure, print_table
from bench.web_board import served
from evenhand.benchmarks.answers.responses_file import read_responses
from evenhand.benchmarks.catalog import bundled_answers, load_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, invite, join
from evenhand.site.people.comparisons import choices, find_place
from evenhand.site.people.forms import AskedStudy, Pairs, Sharing
from evenhand.site.people.studies import make_people_study, take_place

SEEN_BY = 20
"""People who see each comparison."""
_TOKEN = re.compile(r'name="csrf" value="(\w+)"')
_AFTER = re.compile(r'name="after" value="(\d+)"')
_SHOWING = re.compile(r'name="showing" value="(\w+)"')


@dataclass(kw_only=True)
class Person:
    session: str
    place: str
    tasks: int
    acknowledged: dict[int, str] = field(default_factory=dict[int, str])
    """By the comparison's number, what was said."""


@dataclass(kw_only=True)
class Seen:
    """What the people met with."""

    pages: list[float] = field(default_factory=list[float])
    """Milliseconds."""
    forms: list[float] = field(default_factory=list[float])
    sent: int = 0
    troubles: Counter[str] = field(default_factory=Counter[str])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=5.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        path = Path(folder) / "ledger.db"
        people = furnished(path, given.people)
        with served(path) as server:
            load, cpu = os.getloadavg()[0], server.cpu_seconds()
            begun, own = time.monotonic(), time.process_time()
            seen = asyncio.run(everybody(f"http://127.0.0.1:{server.port}", people, given.seconds, given.pause))
            wall, own, cpu = time.monotonic() - begun, time.process_time() - own, server.cpu_seconds() - cpu
        found = kept(path, people)
        print(f"{seen.sent:,} judgements sent by {given.people} people, {found.recorded:,} recorded")
        print_table(figures(seen, found))
    after = os.getloadavg()[0]
    print(f"{wall:.0f} s; server {cpu:.1f} s CPU, generator {own:.1f} s CPU; load {load:.1f} before, {after:.1f} after")


def furnished(path: Path, number: int) -> list[Person]:
    """A study on the bundled sample with a place for each."""
    with closing(Ledger(f"sqlite:///{path}")) as ledger:
        benchmark = load_benchmark("visit-bench-sample")
        ledger.register_benchmark(benchmark)
        for answers in bundled_answers(benchmark):
            ledger.add_responses(read_responses(answers, benchmark).responses)
        sharing = Sharing(people=number, each=min(SEEN_BY, number))
        asked = AskedStudy(data=benchmark.digest, form="forced", pairs=Pairs(), sharing=sharing)
        study = make_people_study(ledger, asked, made_by=None)
        token = invite(ledger, Invite(role="annotator", uses=number)).token
        people: list[Person] = []
        for one in range(number):
            joined = join(ledger, token, f"Person {one}")
            place = find_place(ledger, take_place(ledger, study, joined.person))
            assert place is not None
            people.append(Person(session=joined.key.token, place=place.id, tasks=place.tasks))
    return people


async def everybody(url: str, people: list[Person], seconds: float, pause: float) -> Seen:
    seen, ends = Seen(), asyncio.get_running_loop().time() + seconds
    connector = aiohttp.TCPConnector(limit=0)
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(url, connector=connector, cookie_jar=jar) as client:
        # Spread over the first pause: nobody's clock is another's.
        late = (pause * number / len(people) for number in range(len(people)))
        await asyncio.gather(
            *(
                comparing(client, one, seen, late=wait, pause=pause, ends=ends)
                for one, wait in zip(people, late, strict=True)
            )
        )
    return seen


async def comparing(
    client: aiohttp.ClientSession, person: Person, seen: Seen, *, late: float, pause: float, ends: float
) -> None:
    await asyncio.sleep(late)
    clock, number = asyncio.get_running_loop().time, 1
    page = await asked(client, person, seen, number)
    while page is not None and number <= person.tasks and clock() < ends:
        await asyncio.sleep(pause)
        token, after, showing = _TOKEN.search(page), _AFTER.search(page), _SHOWING.search(page)
        assert token
        assert after
        assert showing
        choice = "AB"[number % 2]
        fields = {"csrf": token[1], "after": after[1], "showing": showing[1], "choice": choice, "go": "next"}
        if await sent(client, person, seen, number, fields):
            person.acknowledged[number] = choice
            number += 1
        page = await asked(client, person, seen, number) if number <= person.tasks else None


async def asked(client: aiohttp.ClientSession, person: Person, seen: Seen, number: int) -> str | None:
    begun = time.perf_counter()
    async with client.get(f"/compare/{person.place}/{number}", headers=_cookie(person)) as answer:
        words = await answer.text()
    seen.pages.append(1000 * (time.perf_counter() - begun))
    return words if _as_wanted(answer.status, 200, words, seen) else None


async def sent(client: aiohttp.ClientSession, person: Person, seen: Seen, number: int, fields: dict[str, str]) -> bool:
    seen.sent += 1
    begun = time.perf_counter()
    path = f"/compare/{person.place}/{number}"
    async with client.post(path, data=fields, headers=_cookie(person), allow_redirects=False) as answer:
        words = await answer.text()
    seen.forms.append(1000 * (time.perf_counter() - begun))
    return _as_wanted(answer.status, 303, words, seen)


def _cookie(person: Person) -> dict[str, str]:
    return {"Cookie": f"evenhand={person.session}"}


def _as_wanted(status: int, wanted: int, words: str, seen: Seen) -> bool:
    if "database is locked" in words:
        seen.troubles["database is locked"] += 1
    if status != wanted:
        seen.troubles[f"status {status}"] += 1
    return status == wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    recorded: int
    lost: int
    """Acknowledged, and not what the ledger says."""
    doubled: int


def kept(path: Path, people: list[Person]) -> Kept:
    lost = 0
    with closing(Ledger(f"sqlite:///{path}", create=False)) as ledger:
        for person in people:
            place = find_place(ledger, person.place)
            assert place is not None
            said = choices(ledger, place)
            lost += sum(said[number - 1] != choice for number, choice in person.acknowledged.items())
        with ledger.reading() as connection:
            trials = connection.exec_driver_sql("SELECT trial FROM judgements WHERE reader = 'form'").scalars().all()
    return Kept(recorded=len(trials), lost=lost, doubled=len(trials) - len(set(trials)))


def figures(seen: Seen, kept: Kept) -> list[Figure]:
    troubles = ", ".join(f"{number} {what}" for what, number in seen.troubles.items())
    both = [*seen.pages, *seen.forms]
    return [
        Figure(what="acknowledged and lost", value=kept.lost, at_most=0),
        Figure(what="recorded twice", value=kept.doubled, at_most=0),
        Figure(what="answers other than wanted", value=seen.troubles.total(), at_most=0, note=troubles),
        Figure(what="every request, p50", value=float(np.percentile(both, 50)), unit="ms"),
        Figure(what="every request, p95", value=float(np.percentile(both, 95)), unit="ms", at_most=300),
        Figure(what="pages, p95", value=float(np.percentile(seen.pages, 95)), unit="ms"),
        Figure(what="forms, p95", value=float(np.percentile(seen.forms, 95)), unit="ms"),
        Figure(what="slowest request", value=max(both), unit="ms"),
    ]


if __name__ == "__main__":
    main()
