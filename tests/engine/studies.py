"""A small study over a real ledger and a scripted server, for the tests of the engine."""

import asyncio
import time
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from evenhand.domain.item import Benchmark, Item
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing, Pricing
from evenhand.engine.run.plan import Retrying
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.retry import RetryRule
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import Ended, run_study
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Matching, PreparedStudy, Showing, prepare
from evenhand.ledger.store.record import Ledger
from evenhand.models.endpoint import Endpoint, resolve
from evenhand.models.prices import Price, PriceList
from evenhand.models.wire.openai import OpenAIWire
from evenhand.models.wire.timeouts import Timeouts
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from tests.database import ledger_in
from tests.scripted_server import Canned, Script, ScriptedServer

SECONDS = 120.0
"""Until something that must come is said not to: no machine stands still for so long."""
SWIFT = RetryRule(retries=3, first_wait=0.005, longest_wait=0.02)


@dataclass(frozen=True, kw_only=True)
class Bench:
    """A ledger and a server; each `run` is one command's worth of work."""

    ledger: Ledger
    server: ScriptedServer

    def study(
        self,
        *,
        items: int = 4,
        models: tuple[str, ...] = ("ann", "ben"),
        matching: Matching | None = None,
        protocol: Protocol | str = "visit_pairwise",
        fenced: bool = False,
        extractor: Extractor | None = None,
    ) -> PreparedStudy:
        """`items` x pairs of models x both orders."""
        asked = [
            Item(label=str(number), instruction=f"What is in picture {number}?", caption=f"Picture {number}: a house.")
            for number in range(items)
        ]
        answers = [
            Response(item=item.digest, model=model, text=f"{model.title()} sees {item.label} houses.")
            for item in asked
            for model in models
        ]
        benchmark = Benchmark(name="houses", items=tuple(asked), licence="CC0-1.0", citation="", protocols=())
        self.ledger.register_benchmark(benchmark)
        self.ledger.add_responses(answers)
        protocol = load_protocol(protocol) if isinstance(protocol, str) else protocol
        endpoint = self.endpoint
        return prepare(
            benchmark,
            answers,
            items=asked,
            judge=Rater(kind="model", name=endpoint.name, endpoint="scripted", settings=protocol.settings),
            model=endpoint.model,
            showing=Showing(protocol=protocol, fenced=fenced, extractor=extractor),
            matching=matching or Matching(),
            fence_secret=self.ledger.fence_secret(),
        )

    @property
    def endpoint(self) -> Endpoint:
        return resolve("openai/gpt-4o", base_url=self.server.base_url, environment={})

    def quote(self, price: Price | None) -> Quote:
        return Quote(self.endpoint, PriceList([price] if price else []), self.ledger.images.get)

    async def seen(self, requests: int) -> None:
        """Returns once the server has seen so many."""
        deadline = time.monotonic() + SECONDS
        while (came := self.server.attempts.total()) < requests:
            assert time.monotonic() < deadline, f"the server has seen {came} requests, and not {requests}"
            await asyncio.sleep(0.005)

    async def run(
        self,
        study: PreparedStudy,
        *,
        pacing: Pacing | None = None,
        budget: Budget | None = None,
        price: Price | None = None,
        pricing: Pricing | None = None,
        stop: StopSign | None = None,
        retrying: Retrying | None = None,
        seconds: float = SECONDS,
        waits: bool = False,
    ) -> Ended:
        endpoint = self.endpoint
        context = CallContext(
            client=OpenAIWire(endpoint, environment={}, timeouts=Timeouts(total=seconds, connect=seconds)),
            pricing=pricing or self.quote(price),
            budget=budget or Budget(None),
            pacing=pacing or Pacing(retry=SWIFT),
        )
        return await run_study(
            study, ledger=self.ledger, context=context, stop=stop or StopSign(), retrying=retrying, waits=waits
        )


@asynccontextmanager
async def bench(folder: Path, script: Script | None = None, *canned: Canned) -> AsyncGenerator[Bench]:
    ledger = ledger_in(folder)
    async with ScriptedServer(script) as server:
        server.then(*canned)
        try:
            yield Bench(ledger=ledger, server=server)
        finally:
            ledger.close()
