"""Many people writing, captioning and verifying at once: what `evenhand serve` keeps of it, and how long they wait.

    python -m bench.web_growing [--people 200] [--proposals 2000] [--seconds 60] [--pause 5]

A third of the people write with an upload, a third caption, a third verify, each in a closed loop with a session of
their own: the next task, its page, so many seconds, the form with its token. Half of the proposals that are there at
the start wait for a caption, half for a verifier. At the end the ledger is read: what was acknowledged must be there.
"""

import argparse
import asyncio
import os
import re
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import aiohttp
from sqlalchemy import insert

from bench.figures import print_table
from bench.web import Kept, Seen, figures
from bench.web_board import served
from evenhand.benchmarks.catalog import load_benchmark
from evenhand.domain.identity import canonical_json
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, invite, join
from evenhand.site.living.events import Answer, Caption, Instruction, Rules, Said, Verification
from evenhand.site.living.settings import Example, LivingTerms, NewBenchmark, Skill, begin_growing
from evenhand.site.living.store import proposals

SKILLS = 70
STEPS = ("write", "caption", "verify")
_TOKEN = re.compile(r'name="csrf" value="(\w+)"')
_ABOUT = re.compile(r'name="about" value="(\d+)"')
_KINDS: dict[type[Any], str] = {Instruction: "instruction", Caption: "caption", Answer: "answer"}


@dataclass(kw_only=True)
class Person:
    id: str
    session: str
    step: str
    acknowledged: int = 0


@dataclass(kw_only=True)
class Visit:
    """One person's requests, timed."""

    client: aiohttp.ClientSession
    person: Person
    seen: Seen

    async def page(self, path: str, wanted: int = 200) -> tuple[str, str] | None:
        """The words and where it leads."""
        return await self._timed(self.client.get, path, wanted, self.seen.pages)

    async def form(self, path: str, fields: dict[str, Any]) -> bool:
        self.seen.sent += 1
        data = aiohttp.FormData({name: value for name, value in fields.items() if isinstance(value, str)})
        if "image" in fields:
            data.add_field("image", fields["image"], filename="a.png", content_type="image/png")
        answer = await self._timed(self.client.post, path, 303, self.seen.forms, data=data)
        self.person.acknowledged += answer is not None
        return answer is not None

    async def _timed(
        self, send: Callable[..., Any], path: str, wanted: int, times: list[float], **more: Any
    ) -> tuple[str, str] | None:
        begun = time.perf_counter()
        cookie = {"Cookie": f"evenhand={self.person.session}"}
        async with send(path, headers=cookie, allow_redirects=False, **more) as answer:
            words = await answer.text()
        times.append(1000 * (time.perf_counter() - begun))
        if "database is locked" in words:
            self.seen.troubles["database is locked"] += 1
        if answer.status != wanted:
            self.seen.troubles[f"status {answer.status}"] += 1
            return None
        return words, answer.headers.get("Location", "")


@dataclass(kw_only=True)
class Garden:
    id: str
    people: list[Person] = field(default_factory=list[Person])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--people", type=int, default=200)
    parser.add_argument("--proposals", type=int, default=2000)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--pause", type=float, default=5.0)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        path = Path(folder) / "ledger.db"
        garden = planted(path, given.people, given.proposals)
        with served(path) as server:
            load, cpu = os.getloadavg()[0], server.cpu_seconds()
            begun, own = time.monotonic(), time.process_time()
            seen = asyncio.run(everybody(f"http://127.0.0.1:{server.port}", garden, given.seconds, given.pause))
            wall, own, cpu = time.monotonic() - begun, time.process_time() - own, server.cpu_seconds() - cpu
        found = kept(path, garden)
        print(f"{seen.sent:,} forms sent by {given.people} people, {given.proposals:,} proposals at the start")
        print_table(figures(seen, found))
    requests, after = len(seen.pages) + len(seen.forms), os.getloadavg()[0]
    print(
        f"{wall:.0f} s; server {cpu:.1f} s CPU, {1000 * cpu / requests:.1f} ms a request, generator {own:.1f} s CPU; "
        f"load {load:.1f} before, {after:.1f} after"
    )


def planted(path: Path, people: int, number: int) -> Garden:
    with closing(Ledger(f"sqlite:///{path}")) as ledger:
        example = Example(instruction="What is this dish?", output="A curry.")
        terms = LivingTerms(
            skills=tuple(Skill(name=f"skill {one}", example=example) for one in range(SKILLS)), rules=Rules(alone=True)
        )
        asked = NewBenchmark(name="garden", licence="CC0", base=None, terms=terms)
        garden = Garden(id=begin_growing(ledger, asked, by="owner"))
        image = ledger.images.put(picture()).digest
        rows = [row for one in range(number) for row in _rows(garden.id, one, image)]
        for seq, row in enumerate(rows, start=1):
            row["seq"] = seq
            if "about" in row:
                row["content"] = canonical_json({**row["content"], "about": seq - row.pop("about")})
        with ledger.writing() as connection:
            connection.execute(insert(schema.proposal_events), rows)
        token = invite(ledger, Invite(role="annotator", uses=people)).token
        for one in range(people):
            joined = join(ledger, token, f"Person {one}")
            step = STEPS[one % len(STEPS)]
            garden.people.append(Person(id=joined.person.id, session=joined.key.token, step=step))
    return garden


@cache
def picture() -> bytes:
    sample = load_benchmark("visit-bench-sample")
    return next(sample.pictures[image] for item in sample.items for image in item.images if image in sample.pictures)


def _rows(growing: str, number: int, image: str) -> Iterator[dict[str, Any]]:
    """One proposal's events; every second one is captioned and answered."""
    words = Instruction(skill=f"skill {number % SKILLS}", text=f"What is {number}?", licence="CC0", image=image)
    yield {**_row(growing, number, words, f"w{number // SKILLS}"), "content": canonical_json(asdict(words))}
    if number % 2:
        return
    text = f"{number} dots. " * 40
    yield {**_row(growing, number, Caption(about=0, text=text), "c"), "about": 1}
    answer = Answer(about=0, attempt=1, text=text, model="m", call="k")
    yield {**_row(growing, number, answer, None), "about": 1}


def _row(growing: str, number: int, said: Said, person: str | None) -> dict[str, Any]:
    return {
        "growing": growing,
        "proposal": f"p{number:06}",
        "kind": _KINDS[type(said)],
        "person": person,
        "content": asdict(said),
        "once": None,
        "at": float(number),
    }


async def everybody(url: str, garden: Garden, seconds: float, pause: float) -> Seen:
    seen, ends = Seen(), asyncio.get_running_loop().time() + seconds
    jar = aiohttp.DummyCookieJar()
    async with aiohttp.ClientSession(url, connector=aiohttp.TCPConnector(limit=0), cookie_jar=jar) as client:

        async def one(person: Person, late: float) -> None:
            await asyncio.sleep(late)
            visit, task = Visit(client=client, person=person, seen=seen), 0
            while asyncio.get_running_loop().time() < ends:
                task += 1
                do: Callable[..., Awaitable[bool]] = writing if person.step == "write" else working
                if not await do(visit, garden.id, task, pause):
                    return

        # Spread over the first pause: nobody's clock is another's.
        late = (pause * number / len(garden.people) for number in range(len(garden.people)))
        await asyncio.gather(*(one(person, wait) for person, wait in zip(garden.people, late, strict=True)))
    return seen


async def writing(visit: Visit, growing: str, task: int, pause: float) -> bool:
    came = await visit.page(f"/write/{growing}", 303)
    page = None if came is None else await visit.page(came[1])
    if came is None or page is None:
        return False
    await asyncio.sleep(pause)
    fields = {"csrf": _found(_TOKEN, page[0]), "instruction": f"What is it, {task}?", "licence": "CC0"}
    return await visit.form(came[1], {**fields, "image": picture()})


async def working(visit: Visit, growing: str, task: int, pause: float) -> bool:
    came = await visit.page(f"/{visit.person.step}/{growing}", 303)
    page = None if came is None else await visit.page(came[1])
    if came is None or page is None:
        return False
    await asyncio.sleep(pause)
    fields = {"csrf": _found(_TOKEN, page[0]), "about": _found(_ABOUT, page[0])}
    said = {"caption": f"{task} dots, as seen."} if visit.person.step == "caption" else {"follows": "yes"}
    return await visit.form(came[1], {**fields, **said})


def _found(pattern: re.Pattern[str], page: str) -> str:
    found = pattern.search(page)
    assert found
    return found[1]


def kept(path: Path, garden: Garden) -> Kept:
    counted: Counter[str] = Counter()
    twice = 0
    with closing(Ledger(f"sqlite:///{path}", create=False)) as ledger:
        for one in proposals(ledger, garden.id):
            people = [(event.person, type(event.said)) for event in one.events]
            twice += len(people) - len(set(people))
            counted.update(
                event.person
                for event in one.events
                if event.person is not None and isinstance(event.said, Instruction | Caption | Verification)
            )
    lost = sum(max(0, person.acknowledged - counted[person.id]) for person in garden.people)
    return Kept(recorded=sum(counted[person.id] for person in garden.people), lost=lost, doubled=twice)


if __name__ == "__main__":
    main()
