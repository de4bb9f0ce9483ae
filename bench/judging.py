"""What a judgement costs as users run it, `evenhand judge` in a process of its own, beside bare calls of those bytes.

    python -m bench.judging [--rounds 5] [--items 250] [--items-with-images 100] [--max-cost]

The command reads its items, images and answers from files into a new ledger, and asks a scripted server in another
process; answers and replies are English sentences of 1,000 characters. A bare client, in a process of its own too,
sends the very bodies that the command sent and reads the replies: aiohttp on the loop that the command runs on, 64 at
a time. In each round the bare client goes first, then the command with one item, then the command with all of them;
CPU is that of the process alone, user and system. Two ratios are told: of the command less its start, which is the
command with one item (the interpreter, imports, a new ledger), and of the whole command.
"""

import argparse
import asyncio
import gc
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
import urllib.request
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp
import orjson
from aiohttp import web
from sqlalchemy import select

from bench.figures import Figure, median_figure, print_table
from bench.generated import PICTURES_EACH, Prose, endpoint_at, picture
from evenhand.api import running
from evenhand.domain.call import Message, Part, Picture, Request
from evenhand.domain.rater import Settings
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.models.endpoint import Endpoint
from evenhand.models.wire.body import BodyShape, BodyWriter
from tests import warm

IN_FLIGHT = 64
"""As many as the command has by default."""
MODELS = 4  # six pairs in two orders: twelve judgements an item
LENGTH = 1000
"""Characters of an answer, and of a reply."""
AT_MOST = 2.5
_EVENHAND = Path(sys.executable).with_name("evenhand")
"""As it is installed."""
_BLOCK_BYTES = 80 * 2**20
"""Prepared bodies held in memory at once: with images they are 0.4 MB each."""
_ANSWERS = re.compile(r"Response A: (.*?)\n\nResponse B: (.*?)(?:\n\nThink step-by-step|\Z)", re.DOTALL)


def write_study(folder: Path, *, items: int, pictures: bool) -> None:
    """Instructions of 150 characters; captions of 250, or three images of 100 KB each; four models' answers."""
    prose = Prose(1)
    asked: list[dict[str, Any]] = []
    answers: list[dict[str, Any]] = []
    for number in range(items):
        row: dict[str, Any] = {"item": str(number), "instruction": prose.about_a_picture(150)}
        if pictures:
            names = [f"{number}-{place}.{'png' if place % 2 else 'jpg'}" for place in range(PICTURES_EACH)]
            for place, name in enumerate(names):
                (folder / name).write_bytes(picture(prose.draw, as_jpeg=place % 2 == 0))
            row["images"] = names
        else:
            row["caption"] = prose.about_a_picture(250)
        asked.append(row)
        answers += [
            {"item": str(number), "model": f"model-{model}", "response": prose.about_a_picture(LENGTH)}
            for model in range(MODELS)
        ]
    for name, rows in (("items", asked), ("answers", answers)):
        _write_rows(folder / f"{name}.jsonl", rows)
        _write_rows(folder / f"{name}-of-one.jsonl", [row for row in rows if row["item"] == "0"])


def _write_rows(path: Path, rows: Iterable[dict[str, Any]]) -> None:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def serve() -> None:
    """The judge: other sentences about each case, words of both answers among them, and a decision. It does less with
    a request than the server of the tests, which would keep a client with images waiting."""
    prose = Prose(2)
    seen: set[tuple[int, int]] = set()

    async def handle(request: web.BaseRequest) -> web.StreamResponse:
        if request.path == "/_distinct":
            return web.Response(body=orjson.dumps(len(seen)))
        raw = await request.content.read()
        seen.add((len(raw), zlib.crc32(raw)))
        asked = orjson.loads(raw)["messages"][-1]["content"]
        text = asked if isinstance(asked, str) else "".join(part.get("text", "") for part in asked)
        found = _ANSWERS.search(text)
        assert found is not None
        decision = f"\n\nOverall, Response {prose.draw.choice('AB')} is better."
        said = prose.of_a_judge(found[1], found[2], LENGTH, ending=decision)
        return web.Response(body=orjson.dumps(completion(said)), content_type="application/json")

    async def served() -> None:
        runner = web.ServerRunner(web.Server(handle))
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        print(f"http://127.0.0.1:{runner.addresses[0][1]}/v1", flush=True)
        await asyncio.to_thread(sys.stdin.read)

    running.run(served())


def completion(said: str) -> dict[str, Any]:
    """As OpenAI's endpoint gives it."""
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_760_000_000,
        "model": "scripted",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": said}, "finish_reason": "stop"}],
        "usage": {
            "prompt_tokens": 1200,
            "completion_tokens": 250,
            "total_tokens": 1450,
            "prompt_tokens_details": {"cached_tokens": 0},
            "completion_tokens_details": {"reasoning_tokens": 0},
        },
        "system_fingerprint": "fp_scripted",
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class Spent:
    """By one process."""

    calls: int
    cpu: float
    """Seconds, user and system, of all that it did."""
    run: float = 0.0
    """Of these, by the command's own word, from its plan to the last verdict: files are taken in before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    bare: Spent
    """Of its calls alone."""
    start: Spent
    """Of the command with one item."""
    command: Spent

    @property
    def net(self) -> float:
        """Seconds of CPU of a judgement, without the start."""
        return (self.command.cpu - self.start.cpu) / (self.command.calls - self.start.calls)

    @property
    def run(self) -> float:
        """Seconds of CPU of a judgement, without the start and the taking in of files."""
        return self.command.run / self.command.calls

    @property
    def whole(self) -> float:
        """Seconds of CPU of a judgement, with its share of the start."""
        return self.command.cpu / self.command.calls

    @property
    def call(self) -> float:
        """Seconds of CPU of a bare call."""
        return self.bare.cpu / self.bare.calls


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    room: Path
    """With the study's files."""
    url: str
    more: tuple[str, ...] = ()
    """Flags."""

    def judged(self, *, one: bool = False, store: str | None = None) -> Spent:
        """By the command, into a new ledger. `one`: of the items the first alone."""
        of = "-of-one" if one else ""
        with tempfile.TemporaryDirectory(prefix="ledger-", dir=self.room) as made:
            files = ("judge", f"items{of}.jsonl", "--responses", f"answers{of}.jsonl", "--protocol", "visit_pairwise")
            judge = ("--judge", "openai/scripted", "--judge-base-url", self.url, "--endpoint-name", "bench")
            kept = ("--store", store or f"sqlite:///{made}/ledger.db", "--json")
            used = _cpu_of_children()
            outcome = self._run(str(_EVENHAND), *files, *judge, *self.more, *kept)
            cpu = _cpu_of_children() - used
        if not outcome["verdicts"] == outcome["planned"] == outcome["called"] == outcome["requests"]:
            raise SystemExit(f"The run did not do what is measured: {outcome}")
        return Spent(calls=outcome["called"], cpu=cpu, run=outcome["cpu_s"])

    def bare(self, store: str) -> Spent:
        """By a bare client, of the calls on record in a ledger."""
        sent = self._run(sys.executable, "-m", "bench.judging", "--bare", store, "--url", self.url)
        return Spent(calls=sent["calls"], cpu=sent["cpu"])

    def rounds(self, number: int) -> Iterator[Round]:
        store = f"sqlite:///{self.room}/sent.db"
        # The server's own first steps, and the files into the machine's memory.
        calls = self.judged(store=store).calls
        for _ in range(number):
            yield Round(bare=self.bare(store), start=self.judged(one=True), command=self.judged())
        with urllib.request.urlopen(f"{self.url.removesuffix('/v1')}/_distinct") as told:
            distinct = json.load(told)
        if distinct != calls:
            raise SystemExit(f"The bare client sent other bytes than the command: {distinct} bodies for {calls} calls")

    def figures(self, rounds: int) -> list[Figure]:
        found: list[Round] = []
        for one in self.rounds(rounds):
            found.append(one)
            told = {"net": one.net, "run": one.run, "whole": one.whole}
            each = ", ".join(f"{what} {1e3 * value:.3f} ms ({value / one.call:.2f})" for what, value in told.items())
            start = f"start {one.start.cpu:.2f} s, load {os.getloadavg()[0]:.1f}"
            print(f"{self.name}, {len(found)}: bare {1e3 * one.call:.3f} ms, {each}, {start}", file=sys.stderr)
        net = [one.net / one.call for one in found]
        whole = [one.whole / one.call for one in found]
        run = [one.run / one.call for one in found]
        name, judged = self.name, found[0].command.calls
        return [
            median_figure(f"{name}: a judgement / a bare call, less the start", net, at_most=AT_MOST),
            median_figure(f"{name}: the same of its run, files taken in before", run),
            median_figure(f"{name}: a judgement / a bare call, whole command of {judged:,}", whole),
            median_figure(f"{name}: CPU of a judgement, less the start", [1e3 * one.net for one in found], unit="ms"),
            median_figure(f"{name}: CPU of a judgement, whole command", [1e3 * one.whole for one in found], unit="ms"),
            median_figure(f"{name}: CPU of a bare call", [1e3 * one.call for one in found], unit="ms"),
            median_figure(f"{name}: CPU of the command with one item", [one.start.cpu for one in found], unit="s"),
        ]

    def _run(self, *words: str) -> dict[str, Any]:
        """What a Python process printed."""
        here = os.pathsep.join(map(os.path.abspath, sys.path))
        environment = {**os.environ, "OPENAI_API_KEY": "none", "PYTHONPATH": here}
        # Else each start compiles all of our own modules, as it does nowhere but where this is set.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        done = subprocess.run(words, cwd=self.room, env=environment, capture_output=True, text=True)
        if done.returncode:
            raise SystemExit(f"{' '.join(words)} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)


def _cpu_of_children() -> float:
    """Seconds, of those that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def bare(store: str, url: str) -> dict[str, float]:
    endpoint = endpoint_at(url)
    with closing(Ledger(store, create=False)) as ledger:
        asked = requests_on_record(ledger)
        cpu = running.run(send_all(bodies(asked, endpoint=endpoint, ledger=ledger), endpoint))
    return {"calls": len(asked), "cpu": cpu}


def requests_on_record(ledger: Ledger) -> list[Request]:
    with ledger.reading() as connection:
        rows = connection.execute(select(schema.calls.c.key, schema.calls.c.request)).all()
    found = [_request(json.loads(row.request)) for row in rows]
    assert [one.key for one in found] == [row.key for row in rows]
    return found


def _request(content: dict[str, Any]) -> Request:
    """Of a call that offers no answers."""
    messages = tuple(Message(role=role, parts=tuple(map(_part, parts))) for role, parts in content["messages"])
    return Request(
        endpoint=content["endpoint"],
        model=content["model"],
        messages=messages,
        settings=Settings(**content["settings"]),
        replicate=content["replicate"],
        attempt=content["attempt"],
    )


def _part(value: Any) -> Part:
    if isinstance(value, str):
        return value
    return Picture(digest=value["image"], detail=value["detail"], max_edge=value["max_edge"])


def bodies(requests: Iterable[Request], *, endpoint: Endpoint, ledger: Ledger) -> Iterator[bytes]:
    """The bytes that judging sends."""
    writer = BodyWriter(
        endpoint,
        explicit=frozenset(),
        pictures=lambda picture: ledger.images.data_url(picture.digest, max_edge=picture.max_edge),
    )
    shape = BodyShape.of(endpoint)
    for request in requests:
        body = writer.body(request, writer.fixed(request, shape))
        yield body if isinstance(body, bytes) else b"".join(body.chunks)


async def send_all(prepared_bodies: Iterable[bytes], endpoint: Endpoint) -> float:
    """Seconds of CPU to send the bodies and to read and parse the replies; making the bodies is not counted."""
    spent = 0.0
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:
        for block in _blocks(prepared_bodies):
            gc.collect()
            begun = time.process_time()
            await _send_block(session, endpoint.chat_url, block)
            spent += time.process_time() - begun
    return spent


def _blocks(prepared: Iterable[bytes]) -> Iterator[list[bytes]]:
    block: list[bytes] = []
    size = 0
    for body in prepared:
        block.append(body)
        size += len(body)
        if size >= _BLOCK_BYTES:
            yield block
            block, size = [], 0
    yield block


async def _send_block(session: aiohttp.ClientSession, url: str, block: Sequence[bytes]) -> None:
    waiting = iter(block)

    async def worker() -> None:
        for body in waiting:
            async with session.post(url, data=body) as response:
                reply = orjson.loads(await response.read())
                assert reply["choices"]

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--items", type=int, default=250, help="twelve judgements each; 0: none of text")
    parser.add_argument("--items-with-images", type=int, default=100, help="twelve judgements each; 0: none of images")
    parser.add_argument("--max-cost", action="store_true", help="with a price and a budget")
    parser.add_argument("--bare", metavar="STORE", help="be the bare client of the calls on record there")
    parser.add_argument("--url", help="that the bare client asks")
    chosen = parser.parse_args()
    if chosen.bare:
        print(json.dumps(bare(chosen.bare, chosen.url)))
        return
    money = ("--price", "input=2.5,output=10", "--max-cost", "100000") if chosen.max_cost else ()
    figures: list[Figure] = []
    for name, items, flags in (
        ("three 100 KB images", chosen.items_with_images, ("--see", "images")),
        ("text", chosen.items, ()),
    ):
        if items:
            with (
                tempfile.TemporaryDirectory(prefix="evenhand-bench-") as made,
                warm.heard("bench.judging:serve") as url,
            ):
                write_study(Path(made), items=items, pictures=bool(flags))
                case = Case(name=name, room=Path(made), url=url, more=(*flags, *money))
                figures += case.figures(chosen.rounds)
    print_table(figures)


if __name__ == "__main__":
    main()
