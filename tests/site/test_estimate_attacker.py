"""A claim about what a team is told before its file is judged: how wide the interval of its rating is likely to be. The
same board is made twice, of a judge that lets ann win against the reference on one item and lose on another, or the
other way round. Whoever could tell one from the other knew more of these verdicts than their sum."""

import re
from contextlib import closing
from functools import partial
from pathlib import Path

import pytest

from tests.database import ledger_in
from tests.engine.contest import TERMS, founded
from tests.scripted_server import Body, Script, ScriptedServer
from tests.site.house import served
from tests.site.test_team_attacker import Attacker, by_lot, ours

ITEMS = 8
_ANN_AGAINST_REFERENCE = re.compile(r"Response A:\s*(Ann|House)[\s\S]*Response B:\s*(Ann|House)")
_LIKELY = re.compile(r"likely to place it within ±([\d,]+)")


def decides(won: str, body: Body) -> str:
    """ann wins against the reference on two items and on the one asked about."""
    text = str(body["messages"][-1]["content"])
    shown = _ANN_AGAINST_REFERENCE.search(text)
    if shown is None or len({*shown.groups()}) == 1:
        return by_lot(body)
    wins = any(f"picture {one}?" in text for one in ("1", "2", won))
    return f"Overall, Response {'A' if wins == (shown[1] == 'Ann') else 'B'} is better."


async def told(folder: Path, won: str) -> str:
    """By the team's page."""
    with closing(ledger_in(folder)) as ledger:
        async with ScriptedServer(Script(judge=partial(decides, won))) as server:
            contest = await founded(ledger, server.base_url, items=ITEMS, terms=TERMS)
            with served(ledger) as house:
                team = Attacker(contest, house, server.base_url)
                made = await team.submits(ours)
                page = team.client.get(f"/submissions/{made}").text
    found = _LIKELY.search(page)
    assert found is not None
    return found[1]


@pytest.mark.slow
async def test_the_likely_interval_tells_nothing_of_battles_against_the_reference(tmp_path: Path):
    items = "034567"
    for one in items:
        (tmp_path / one).mkdir()
    found = [await told(tmp_path / one, one) for one in items]
    assert len({*found}) == 1
