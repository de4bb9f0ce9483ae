"""A claim about the digests of a receipt: its team may know all behind them but the verdicts. A judge that says its
verdict and no more has one of two replies to each battle, and withheld references are given out on request. So the team
judges its battles against the reference itself, as won and as lost, and tries which of both fit the digest."""

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import replace
from functools import partial
from itertools import product
from pathlib import Path

import pytest

from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.engine.tasks.judging import Matching, Showing, prepare
from evenhand.ledger.read.fingerprints import traces
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.catalog import load_protocol
from tests.database import ledger_in
from tests.engine.contest import SAMPLED, TERMS, Contest, founded, model_at
from tests.scripted_server import Body, Script, ScriptedServer
from tests.site.house import served
from tests.site.test_team_attacker import Attacker, by_lot, ours

ITEMS = 8
ALL = replace(TERMS, battles=2 * ITEMS, reference_battles=ITEMS)

_REFERENCE = re.compile(r"Response ([AB]):\s*House")

Shown = tuple[str, tuple[str, str]]
"""An item's label, and the models in the order shown."""


def as_asked(body: Body, *, won: bool) -> str:
    """Of battles against the reference what the team supposes; the others are in its file."""
    found = _REFERENCE.search(str(body["messages"][-1]["content"]))
    if found is None:
        return by_lot(body)
    return f"Overall, Response {found[1] if not won else 'BA'['AB'.index(found[1])]} is better."


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


async def hashes(folder: Path, contest: Contest, label: str, *, won: bool) -> dict[Shown, bytes]:
    """By showing, what the receipt's digests are of, in a ledger of the team's own."""
    benchmark = Benchmark(name="houses", items=contest.items, licence="CC0-1.0", citation="", protocols=())
    answers = [Response(item=one.digest, model=label, text=ours(one)) for one in contest.items]
    answers += [Response(item=one.digest, model=REFERENCE, text=str(one.reference)) for one in contest.items]
    answers += [
        Response(item=one.digest, model=model, text=f"{model.title()} sees {one.label}.")
        for one in contest.items
        for model in ("ann", "ben")
    ]
    with closing(ledger_in(folder)) as own:
        own.register_benchmark(benchmark)
        own.add_responses(answers)
        async with ScriptedServer(Script(judge=partial(as_asked, won=won))) as server:
            judge = model_at(own, server.base_url)
            prepared = prepare(
                benchmark,
                answers,
                items=contest.items,
                judge=Rater(kind="model", name=judge.name, endpoint=judge.endpoint, settings=SAMPLED),
                model=judge.model,
                showing=Showing(protocol=load_protocol("visit_pairwise")),
                matching=Matching(),
                fence_secret=own.fence_secret(),
            )
            context = judge.call_context(Budget(None), frozenset())
            await run_study(prepared, ledger=own, context=context, stop=StopSign())
        return by_showing(own, contest)


def by_showing(ledger: Ledger, contest: Contest) -> dict[Shown, bytes]:
    results = judged_battles(ledger, studies(ledger)).results
    labels = {one.digest: one.label for one in contest.items}
    found = {one.seq: one.hash for one in traces(ledger, results.seq.tolist())}
    shown = (
        (labels[results.item.names[item]], (results.models[first], results.models[second]))
        for item, first, second in zip(
            results.item.code.tolist(), results.first_model.tolist(), results.second_model.tolist(), strict=True
        )
    )
    return {one: found[number] for one, number in zip(shown, results.seq.tolist(), strict=True)}


def told(said: str, known: set[bytes], either: Sequence[tuple[set[bytes], set[bytes]]]) -> list[tuple[bool, ...]]:
    """Of each item whether it was won, in every way that fits the digest."""
    return [
        way
        for way in product((True, False), repeat=len(either))
        if digest(known.union(*(won if one else lost for one, (won, lost) in zip(way, either, strict=True)))) == said
    ]


def digest(some: set[bytes]) -> str:
    return hashlib.sha256(b"".join(sorted(some))).hexdigest()


@pytest.mark.slow
async def test_the_digests_of_a_receipt_tell_no_verdict_to_who_knows_all_else(ledger: Ledger, tmp_path: Path):
    async with ScriptedServer(Script(judge=by_lot)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=ALL)
        with served(ledger) as house:
            team = Attacker(contest, house, server.base_url)
            made = await team.judged(ours)
            record = team.client.get(f"/api/submissions/{made}/receipt").json()["record"]
            lines = team.client.get(f"/api/submissions/{made}/battles").text.splitlines()
    label, own = contest.submission(made).label, contest.submission(made).entered.model
    for won in (True, False):
        (tmp_path / str(won)).mkdir()
    ways = [await hashes(tmp_path / str(won), contest, label, won=won) for won in (True, False)]
    met = [(row["item"], row["model_b" if own in row["model_a"] else "model_a"]) for row in map(json.loads, lines)]
    known = {ways[0][item, pair] for item, other in met for pair in ((label, other), (other, label))}
    against = [[(one.label, pair) for pair in ((label, REFERENCE), (REFERENCE, label))] for one in contest.items]
    either = [({ways[0][each] for each in some}, {ways[1][each] for each in some}) for some in against]
    # As the record has it: what receipts of earlier versions said.
    truth = tuple(team.truth()[one.label, ours(one)] == 1 for one in contest.items)
    behind = {one for shown, one in by_showing(ledger, contest).items() if label in shown[1]}
    assert told(digest(behind), known, either) == [truth], "so the attack works"
    assert told(record["row_sha256"], known, either) == []
    assert record["row_sha256"] != digest(behind)
    assert record["board_sha256"] != digest({*by_showing(ledger, contest).values()})
