"""A claim about a team whose answer to an item is the withheld reference word for word: against every other model the
judge was asked in these words before, so its reply is on record. Whoever could tell that would know the reference, and
of each of those models its verdict against it. The judge is a scripted server, and the team asks over HTTP."""

from typing import Any

import pytest

from evenhand.domain.item import Item
from evenhand.ledger.store.record import Ledger
from tests.engine.contest import founded
from tests.scripted_server import Script, ScriptedServer
from tests.site.house import served
from tests.site.test_team_attacker import ALL, ITEMS, Attacker, by_lot

GUESSED = "11"
"""The label of the item to which the team says what the reference says: the last of all."""


def guess(item: Item) -> str:
    return item.reference or "" if item.label == GUESSED else f"I see {item.label} gables and a door in it."


@pytest.mark.slow
async def test_nothing_tells_a_team_which_of_its_answers_the_judge_had_read_before(ledger: Ledger):
    async with ScriptedServer(Script(judge=by_lot)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=ALL)
        with served(ledger) as house:
            team = Attacker(contest, house, server.base_url)
            before = len(server.requests)
            made = await team.judged(guess)
            asked = len(server.requests) - before
            battles, showings = looked_at(team, made)
    others = {(one["label"], one["opponent"]) for one in battles}
    known = 2 * sum(label == GUESSED for label, _ in others)
    assert known, "it met none of the others there; then nothing was to be told"
    # Nor in two orders where both answers are the same.
    assert asked == 2 * (len(others) + ITEMS) - known - 1, "the judge is not asked anew"
    assert {one["at"] for one in showings} == {None}
    assert battles == sorted(battles, key=lambda one: (int(one["label"]), one["opponent"]))


def looked_at(team: Attacker, submission: str) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Its battles as they are listed, and what is told of each showing."""
    label = team.contest.submission(submission).label
    (board,) = (one["board"] for one in team.client.get("/api/boards").json()["boards"])
    battles = team.client.get(f"/api/boards/{board}/battles", params={"model": label}).json()["battles"]
    showings: list[dict[str, Any]] = []
    for one in battles:
        asked = {"item": one["item"], "a": label, "b": one["opponent"]}
        showings += team.client.get(f"/api/boards/{board}/battle", params=asked).json()["showings"]
    return battles, showings
