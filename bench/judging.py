"""Client CPU of a judgement, ledger write included, beside a bare aiohttp loop that sends the same bytes.

`python -m bench.judging`: both ask the scripted server in its own process with 64 calls in flight, in turns, so that a
noisy machine disturbs both alike. The ratio is what counts.
"""

import argparse
import asyncio
import gc
import tempfile
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import aiohttp
import orjson

from bench.figures import Figure, median_figure, print_table
from bench.generated import Generated, endpoint_at, generated
from evenhand.domain.trial import See
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store.record import Ledger
from evenhand.models.endpoint import Endpoint
from evenhand.models.prices import PriceList
from evenhand.models.wire.body import BodyShape, BodyWriter
from evenhand.models.wire.openai import OpenAIWire
from tests.scripted_server import server_process

IN_FLIGHT = 64
MODELS = 4  # six pairs in two orders: twelve judgements an item
_BLOCK = 192
"""Prepared bodies held in memory at once: with images they are 0.4 MB each."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """Seconds of CPU for each judgement or call."""

    judged: float
    bare: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    study: Generated
    see: See

    def round(self, endpoint: Endpoint, *, bare_first: bool) -> Round:
        """One pass of each over the same trials, with a ledger made for it and thrown away."""
        with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
            ledger = Ledger(f"sqlite:///{Path(folder)}/ledger.db")
            ledger.register_benchmark(self.study.benchmark)
            ledger.add_responses(self.study.responses)
            if bare_first:
                bare = self._bare(endpoint, ledger)
                judged = self._judged(endpoint, ledger)
            else:
                judged = self._judged(endpoint, ledger)
                bare = self._bare(endpoint, ledger)
            ledger.close()
        return Round(judged=judged, bare=bare)

    def _judged(self, endpoint: Endpoint, ledger: Ledger) -> float:
        gc.collect()
        begun = time.process_time()
        prepared = self.study.prepared(ledger, endpoint=endpoint, see=self.see)
        asyncio.run(judge_all(prepared, endpoint=endpoint, ledger=ledger))
        return (time.process_time() - begun) / prepared.wanted

    def _bare(self, endpoint: Endpoint, ledger: Ledger) -> float:
        gc.collect()
        prepared = self.study.prepared(ledger, endpoint=endpoint, see=self.see)
        return asyncio.run(send_all(bodies(prepared, endpoint=endpoint, ledger=ledger), endpoint)) / prepared.wanted


async def judge_all(prepared: PreparedStudy, *, endpoint: Endpoint, ledger: Ledger) -> None:
    """As `evenhand judge --quiet` does it."""
    client = OpenAIWire(
        endpoint,
        environment={},
        pictures=lambda picture: ledger.images.data_url(picture.digest, max_edge=picture.max_edge),
    )
    context = CallContext(
        client=client,
        pricing=Quote(endpoint, PriceList(), ledger.images.get),
        budget=Budget(None),
        pacing=Pacing(max_connections=IN_FLIGHT),
    )
    ended = await run_study(prepared, ledger=ledger, context=context, stop=StopSign())
    tally = ended.tally
    if ended.error or tally.verdicts != prepared.wanted or tally.requests != prepared.wanted:
        raise SystemExit(f"The run did not do what is measured: {ended}")


def bodies(prepared: PreparedStudy, *, endpoint: Endpoint, ledger: Ledger) -> Iterator[bytes]:
    """The bytes that judging sends, in its order."""
    writer = BodyWriter(
        endpoint,
        explicit=frozenset(),
        pictures=lambda picture: ledger.images.data_url(picture.digest, max_edge=picture.max_edge),
    )
    shape = BodyShape.of(endpoint)
    for trial in prepared.trials():
        request = prepared.asking.request(trial)
        body = writer.body(request, writer.fixed(request, shape))
        yield body if isinstance(body, bytes) else b"".join(body.chunks)


async def send_all(prepared_bodies: Iterable[bytes], endpoint: Endpoint) -> float:
    """Seconds of CPU to send the bodies and to read and parse the replies; making the bodies is not counted."""
    spent = 0.0
    stream = iter(prepared_bodies)
    headers = {"Content-Type": "application/json", "Accept-Encoding": "identity"}
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), headers=headers) as session:
        while block := list(islice(stream, _BLOCK)):
            begun = time.process_time()
            await _send_block(session, endpoint.chat_url, block)
            spent += time.process_time() - begun
    return spent


async def _send_block(session: aiohttp.ClientSession, url: str, block: Sequence[bytes]) -> None:
    waiting = iter(block)

    async def worker() -> None:
        for body in waiting:
            async with session.post(url, data=body) as response:
                reply = orjson.loads(await response.read())
                assert reply["choices"]

    await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))


def measured(case: Case, endpoint: Endpoint, *, rounds: int) -> list[Figure]:
    case.round(endpoint, bare_first=True)  # imports, caches and the server's own first steps
    found = [case.round(endpoint, bare_first=number % 2 == 0) for number in range(rounds)]
    return [
        median_figure(f"{case.name}: ratio to bare aiohttp", [one.judged / one.bare for one in found], at_most=3),
        median_figure(f"{case.name}: CPU of a judgement", [one.judged * 1e3 for one in found], unit="ms"),
        median_figure(f"{case.name}: CPU of a bare call", [one.bare * 1e3 for one in found], unit="ms"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--items", type=int, default=250, help="twelve judgements each")
    parser.add_argument("--items-with-images", type=int, default=100)
    chosen = parser.parse_args()
    with server_process() as base_url:
        endpoint = endpoint_at(base_url)
        text = Case(name="text", study=generated(items=chosen.items, models=MODELS), see="caption")
        figures = measured(text, endpoint, rounds=chosen.rounds)
        seen = generated(items=chosen.items_with_images, models=MODELS, pictures=True)
        images = Case(name="three 100 KB images", study=seen, see="images")
        figures += measured(images, endpoint, rounds=chosen.rounds)
    print(f"{text.study.benchmark.name}: {chosen.items * 12} judgements of text, "
          f"{chosen.items_with_images * 12} with images, {IN_FLIGHT} in flight")  # fmt: skip
    print_table(figures)


if __name__ == "__main__":
    main()
