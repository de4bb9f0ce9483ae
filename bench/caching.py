"""Share of input tokens that a provider's prefix cache holds: in the order of the plan, and in the order of a run.

`python -m bench.caching`: a scripted server counts the longest beginning that an answered prompt had too, in blocks of
128 tokens, from 1,024 tokens on, and forgets the blocks that were used longest ago (`tests/prefix_cache.py`).
"""

import argparse
import asyncio
import tempfile
from dataclasses import dataclass
from pathlib import Path

from bench.generated import Generated, endpoint_at, generated
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.ledger.store.record import Ledger
from evenhand.models.prices import PriceList
from evenhand.models.wire.openai import OpenAIWire
from tests.scripted_server import Script, ScriptedServer


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    name: str
    study: Generated


async def cached_share(study: Generated, *, by_prefix: bool, connections: int, blocks: int, latency: float) -> float:
    """Of the input tokens of one run, with a ledger made for it and thrown away."""
    script = Script(cache_blocks=blocks, latency=latency, keep=False)
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as folder:
        ledger = Ledger(f"sqlite:///{Path(folder)}/ledger.db")
        ledger.register_benchmark(study.benchmark)
        ledger.add_responses(study.responses)
        async with ScriptedServer(script) as server:
            endpoint = endpoint_at(server.base_url)
            context = CallContext(
                client=OpenAIWire(endpoint, environment={}),
                pricing=Quote(endpoint, PriceList(), ledger.images.get),
                budget=Budget(None),
                pacing=Pacing(max_connections=connections, by_prefix=by_prefix),
            )
            prepared = study.prepared(ledger, endpoint=endpoint)
            ended = await run_study(prepared, ledger=ledger, context=context, stop=StopSign())
        ledger.close()
    if ended.error or ended.tally.verdicts != prepared.wanted:
        raise SystemExit(f"The run did not do what is measured: {ended}")
    return ended.tally.tokens["cached"] / ended.tally.tokens["input"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--items", type=int, default=60)
    parser.add_argument("--models", type=int, default=5, help="in both orders: twenty calls an item")
    parser.add_argument("--blocks", type=int, default=20_000, help="that the cache holds, of 128 tokens each")
    parser.add_argument("--latency", type=float, default=0.05, help="seconds of a call")
    chosen = parser.parse_args()
    sizes = {"captions of 40 words, answers of 50 to 70": (40, (50, 70)),
             "captions of 300 words, answers of 300 to 400": (300, (300, 400)),
             "captions of 800 words, answers of 300 to 400": (800, (300, 400))}  # fmt: skip
    cases = [
        Case(name=name, study=generated(items=chosen.items, models=chosen.models, caption=caption, answer=answer))
        for name, (caption, answer) in sizes.items()
    ]
    print(f"{chosen.items} items, {chosen.models} models, {chosen.latency:g} s a call; share of input tokens cached")
    for case in cases:
        for connections in (1, 16, 64):
            before, after = (
                asyncio.run(
                    cached_share(
                        case.study,
                        by_prefix=by_prefix,
                        connections=connections,
                        blocks=chosen.blocks,
                        latency=chosen.latency if connections > 1 else 0.0,
                    )
                )
                for by_prefix in (False, True)
            )
            print(f"  {case.name}, {connections} in flight: {before:.1%} before, {after:.1%} after")


if __name__ == "__main__":
    main()
