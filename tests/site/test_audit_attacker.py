"""A claim about audits of a judge on a benchmark whose references are withheld: its pairs are those of the board, the
reference's among them, and what it counts of them is not of whole batches. The same audit is made three times, of a
judge that lets amber win against the reference on one item, lets it lose there, or goes by position. Whoever could tell
one from the other knew more of that single verdict than the board says."""

import re
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

import evenhand as eh
from evenhand.domain.item import Benchmark
from evenhand.domain.response import REFERENCE, Response
from evenhand.ledger.store.record import Ledger
from tests.database import url_in
from tests.engine.contest import questions
from tests.scripted_server import Body, Script, ScriptedServer
from tests.site.house import served

ITEMS = questions(3)
BENCHMARK = Benchmark(name="houses", items=ITEMS, licence="CC0-1.0", citation="", protocols=())
ANSWERS = [
    Response(item=one.digest, model=model, text=f"{model.title()} sees {one.label}.")
    for one in ITEMS
    for model in ("amber", "blue")
]
REFERENCES = [Response(item=one.digest, model=REFERENCE, text=str(one.reference)) for one in ITEMS]
JUDGE, PROTOCOL = "openai/gpt-4o", "visit_pairwise"
WORLDS = ("won", "lost", "by position")
_OTHERWISE = re.compile(r"[\s\S]*<section|</section>[\s\S]*|\bclip\d+")
"""Of a page what is not of the audit, and names in its pictures, which are counted on."""
_SHOWN = re.compile(r"Response A:\s*(\w+)[\s\S]*?Response B:\s*(\w+)")


def says(world: str, body: Body) -> str:
    """Who is first by name wins, but on one item against the reference."""
    text = str(body["messages"][-1]["content"])
    first, second = _SHOWN.findall(text)[-1]
    turned = "picture 1?" in text and {first, second} == {"Amber", "House"}
    if turned and world == "by position":
        return "Overall, Response A is better."
    return f"Overall, Response {'A' if (first < second) != (turned and world == 'lost') else 'B'} is better."


async def pages(folder: Path, world: str) -> list[str]:
    """Of a visitor and of the owner, what the audit's page tells."""
    with closing(Ledger(url_in(folder / world))) as ledger:
        async with ScriptedServer(Script(judge=partial(says, world))) as server:
            judge = partial(eh.judge_async, judge=JUDGE, protocol=PROTOCOL, base_url=server.base_url, ledger=ledger)
            await judge(BENCHMARK, [*ANSWERS, *REFERENCES])
            audit = partial(eh.audit_async, JUDGE, protocol=PROTOCOL, base_url=server.base_url, ledger=ledger)
            await audit(benchmark=BENCHMARK, responses=ANSWERS, parts=["pairs", "length"], budget=100)
        with served(ledger) as house:
            visitor = house.visitor()
            (board,) = (one["board"] for one in visitor.get("/api/boards").json()["boards"])
            found = [one.get(f"/boards/{board}/audit").text for one in (visitor, house.signed_in("owner"))]
    return [_OTHERWISE.sub("", one) for one in found]


@pytest.mark.slow
async def test_an_audit_tells_nobody_what_was_said_of_the_reference(tmp_path: Path):
    told = [await pages(tmp_path, world) for world in WORLDS]
    everybodys, owners = zip(*told, strict=True)
    assert "length effect" in everybodys[0]
    assert len({*everybodys}) == 1
    assert len({*owners}) == len(WORLDS)
