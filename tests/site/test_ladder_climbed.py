"""200 submissions of one team through the site: what its ladder shows too much, and that nothing tells of an item."""

import hashlib
import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest

from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import submission_events, submissions
from evenhand.ledger.submissions.store import BEGUN_MOST
from evenhand.site.accounts.store import grant_token, people
from evenhand.stats.ladder import BIAS, BIAS_ITEMS, rounded, step
from evenhand.stats.ratings.sums import FloatArray
from tests.database import ledger_in
from tests.engine.contest import TERMS, Contest, founded, questions
from tests.scripted_server import Body, Script, ScriptedServer
from tests.site.house import GENEROUS, House, served
from tests.site.test_ladder import MINE, SHOWN, Climber, nothing_by_item

SUBMISSIONS, ITEMS = 200, 24
RESERVED = tuple(item.digest for item in questions(ITEMS)[::4])
SEEN = [number for number in range(ITEMS) if number % 4]
LADDER = replace(
    TERMS, battles=ITEMS, reference_battles=0, per_team=1000, feedback="ladder", reserve=0.25, reserved=RESERVED
)


def answer(number: int, way: int) -> str:
    return f"Picture {number} {MINE}: {('a roof', 'a door')[way]}."


def won(number: int, way: int) -> float:
    """Whether the judge prefers it to whatever it meets: by lot, so that neither way is better."""
    return float(hashlib.sha256(answer(number, way).encode()).digest()[0] % 2)


def judge(body: Body) -> str:
    parts = body["messages"][-1]["content"]
    text = parts if isinstance(parts, str) else "\n".join(one.get("text", "") for one in parts)
    found = SHOWN.search(text)
    assert found is not None, text
    first, second = (one.strip() for one in found.groups())
    mine = next((one for one in (first, second) if MINE in one), min(first, second))
    better = hashlib.sha256(mine.encode()).digest()[0] % 2 == 1
    return f"Overall, Response {'A' if (mine == first) is better else 'B'} is better."


class ApiClimber(Climber):
    """Sends each submission as a script does: begun, uploaded, confirmed; the owner approves it by the API too."""

    def __init__(self, contest: Contest, house: House, url: str) -> None:
        super().__init__(contest, house, url)
        self._script = self._by_token(self.id)
        owner = self.house.signed_in("owner", "Olga")
        assert owner.get("/admin").status_code == 200
        self._owner = self._by_token(next(one.id for one in people(contest.ledger) if one.name == "Olga"))

    def _by_token(self, person: str) -> httpx.Client:
        granted = grant_token(self.contest.ledger, person, note="script")
        return self.house.visitor(Authorization=f"Bearer {granted.token}")

    async def sends(self, ways: list[int]) -> dict[str, Any]:
        """The row it gets."""
        (offer,) = self._script.get("/api/submit").json()["intakes"]
        entered = {"model": f"model-{len(self.made)}", "version": "1", "team": "Birds", "link": ""}
        begun = self._script.post(
            f"/api/submit/{self.contest.id}", json={**entered, "policy_hash": offer["policy_hash"]}
        )
        assert begun.status_code == 201, begun.text
        path = f"/api/submissions/{begun.json()['submission']}"
        rows = [{"item": str(number), "response": answer(number, way)} for number, way in enumerate(ways)]
        data = "\n".join(map(json.dumps, rows)).encode()
        upload = self._script.put(f"{path}/file", params={"name": "answers.jsonl"}, content=data)
        assert upload.status_code == 200, upload.text
        assert self._script.post(f"{path}/confirm", json={"upload": upload.json()["upload"]}).status_code == 200
        await self.works()
        every = {one["submission"]: one for one in self._owner.get("/api/all-submissions").json()["submissions"]}
        estimate = every[begun.json()["submission"]]["estimate"]["number"]
        said = self._owner.post(f"{path}/decide", json={"word": "approve", "estimate": estimate, "unlimited": True})
        assert said.status_code == 200, said.text
        await self.works()
        stands = self._script.get(path).json()
        assert stands["stage"] == "judged"
        self.made.append(stands["submission"])
        return stands["row"]

    def sleeps(self) -> None:
        """A day goes by, for a team may begin and upload so much within one."""
        with self.contest.ledger.writing() as connection:
            for table in (submissions, submission_events):
                connection.execute(table.update().values(at=table.c.at - 86_400))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


def climbed(scores: FloatArray, rng: np.random.Generator, submissions: int) -> float:
    """Shown at the end, by the ladder's rule alone: `scores` of each way and item."""
    items = scores.shape[1]
    shown: list[float] | None = None
    for _ in range(submissions):
        new: list[float] = scores[rng.integers(0, 2, items), np.arange(items)].tolist()
        if shown is None or ((found := step(shown, new)).up and found.moved >= 5):
            shown = new
    assert shown is not None
    return rounded(shown)


@pytest.mark.soak
async def test_200_submissions_gain_what_the_table_expects_and_learn_of_no_item(ledger: Ledger) -> None:
    lots, shown = np.random.default_rng(1), list[float]()
    held: list[float] | None = None
    ways: list[int] = []
    async with ScriptedServer(Script(judge=judge)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=LADDER)
        with served(ledger, limits=replace(GENEROUS, answers_per_hour=10_000)) as house:
            team = ApiClimber(contest, house, server.base_url)
            for number in range(SUBMISSIONS):
                if number and number % BEGUN_MOST == 0:
                    team.sleeps()
                ways = lots.integers(0, 2, ITEMS).tolist()
                row = await team.sends(ways)
                new = [won(item, ways[item]) for item in SEEN]
                if held is None or ((found := step(held, new)).up and found.moved >= 5):
                    held = new
                assert row["shown"] == rounded(held), "the row is the rule's, to the last digit"
                shown.append(row["shown"])
            as_the_table(shown)
            team.publishes(team.made[-1])
            (intake,) = house.visitor().get("/api/submit").json()["intakes"]
            reserve = [won(item, ways[item]) for item in range(ITEMS) if item % 4 == 0]
            (published,) = intake["published"]
            assert published["share"] == rounded(reserve), "which nobody climbed on"
            nothing_by_item(team, RESERVED)


def as_the_table(shown: list[float]) -> None:
    """Shown minus true, as much more than the table's as items are fewer, within what single teams differ by."""
    true = float(np.mean([won(number, way) for number in SEEN for way in (0, 1)]))
    for after, bias in BIAS["ladder"].items():
        rng = np.random.default_rng(after)
        lots = [(rng.random((2, len(SEEN))) < 0.5).astype(np.float64) for _ in range(200)]
        teams = [climbed(one, rng, after) - 0.5 for one in lots]
        expected = bias * math.sqrt(BIAS_ITEMS / len(SEEN))
        mean, spread = float(np.mean(teams)), float(np.std(teams))
        print(f"after {after}: shown minus true {shown[after - 1] - true:.3f}, by the rule {mean:.3f} ± {spread:.3f}")
        print(f"  the table for {len(SEEN)} items: {expected:.3f}")
        assert mean <= 1.25 * expected, "the table holds for so few items too"
        assert abs(shown[after - 1] - true - mean) <= 3 * spread
