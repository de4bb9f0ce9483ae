"""Claims about what a team learns that chooses its answers, from all that it gets: receipts, battle files, boards.

The attacker knows its own answers, which of them were against the reference, and that nonsense loses; it solves for
the verdicts on single answers. Where the owner lets such a file meet the reference nevertheless it finds one, so that
finding none elsewhere says something.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import people
from tests.database import ledger_in
from tests.engine.contest import TERMS, Contest, at_work, founded
from tests.scripted_server import Body, Script, ScriptedServer
from tests.site.house import House, form_token, served

ITEMS = 12
ALL = replace(TERMS, battles=2 * ITEMS, reference_battles=ITEMS)
NONSENSE = "Nothing can be said about this."
_SHOWN = re.compile(r"Response A:\s*(.*?)\n\s*Response B:\s*(.*?)\n\nThink step-by-step", re.DOTALL)

Battle = tuple[str, str]
"""An item's label, and the answer that met the reference there."""


def by_lot(body: Body) -> str:
    """A judge that decides each pair of texts by lot, whatever their order; nonsense loses."""
    parts = body["messages"][-1]["content"]
    text = parts if isinstance(parts, str) else "\n".join(one.get("text", "") for one in parts)
    found = _SHOWN.search(text)
    assert found is not None, text
    first, second = (one.strip() for one in found.groups())
    low, high = sorted((first, second))
    winner = (low, high)[hashlib.sha256(f"{low}|{high}".encode()).digest()[0] % 2]
    if NONSENSE in (first, second):
        winner = first if second == NONSENSE else second
    return f"Overall, Response {'A' if winner == first else 'B'} is better."


@dataclass
class Attacker:
    contest: Contest
    house: House
    url: str
    client: httpx.Client = field(init=False)
    id: str = field(init=False)
    files: dict[str, dict[str, str]] = field(default_factory=dict[str, dict[str, str]])
    """By submission, the answers by label."""
    sums: list[tuple[dict[Battle, float], float]] = field(default_factory=list[tuple[dict[Battle, float], float]])
    """Wins less losses against the reference on these battles."""
    seen: list[str] = field(default_factory=list[str])
    """All that was got, as text."""

    def __post_init__(self) -> None:
        self.client = self.house.signed_in("team", "Birds")
        self.id = next(one.id for one in people(self.contest.ledger) if one.name == "Birds")

    async def submits(self, say: Callable[[Item], str]) -> str:
        made = self.contest.submitted(say, team=self.id)
        self.files[made] = {item.label: say(item) for item in self.contest.items if say(item)}
        await self.worker()
        return made

    async def worker(self) -> None:
        await at_work(replace(self.contest.kind(self.url), receipt=receipt_of))

    async def judged(self, say: Callable[[Item], str], **decided: str) -> str:
        """Submitted, approved by the owner on the page, judged if that is let pass, and all looked at."""
        made = await self.submits(say)
        owner = self.house.signed_in("owner")
        estimate = str(self.contest.stands(made).estimated_seq)
        sent = {"csrf": form_token(owner.get("/admin")), "word": "approve", "estimate": estimate, "unlimited": "yes"}
        owner.post(f"/admin/submissions/{made}", data={**sent, **decided})
        await self.worker()
        self.look(made)
        return made

    def look(self, submission: str) -> None:
        """At the receipt, the battle file, the page, and every board in every method."""
        got = [self.client.get(f"/api/submissions/{submission}{what}") for what in ("", "/receipt", "/battles")]
        got.append(self.client.get(f"/submissions/{submission}"))
        self.seen += [one.text for one in got]
        if got[1].status_code == 200:
            played = [json.loads(line) for line in got[2].text.splitlines()]
            self.add(submission, got[1].json()["row"]["votes"], played)
        for board in self.client.get("/api/boards").json()["boards"]:
            for method in ("bradley-terry", "win-rate"):
                answer = self.client.get(f"/api/boards/{board['board']}", params={"method": method})
                if answer.status_code == 200:
                    self.seen.append(answer.text)
                    rows = [one for one in answer.json()["models"] if submission in one["model"]]
                    for row in rows:
                        self.add(submission, row, played=None)

    def add(self, submission: str, votes: dict[str, Any], played: list[dict[str, Any]] | None) -> None:
        """What all its votes are, less those that it knows one by one."""
        known = self.known if played is None else self.of_file(submission, played)
        self.known = known
        number = round(votes["wins"] + votes["losses"]) // 2 - known[0]
        total = (votes["wins"] - votes["losses"]) / 2 - known[1]
        answers = self.files[submission]
        if number == len(answers):  # else it is not known which
            self.sums.append(({(label, text): 1.0 for label, text in answers.items()}, total))

    known: tuple[int, float] = (0, 0.0)

    def of_file(self, submission: str, played: list[dict[str, Any]]) -> tuple[int, float]:
        """Battles that are in its file, and its wins less its losses in them."""
        assert not any(REFERENCE in (row["model_a"], row["model_b"]) for row in played)
        own = self.contest.submission(submission).entered.model
        wins = sum(1 if own in str(row[f"model_{row['winner'][-1]}"]) else -1 for row in played)
        return len(played), wins

    def certain(self) -> dict[Battle, int]:
        """Verdicts on answers that say something, that follow from all sums and from what is sure to lose."""
        battles = sorted({one for some, _ in self.sums for one in some})
        rows = [[some.get(one, 0.0) for one in battles] for some, _ in self.sums]
        totals = [total for _, total in self.sums]
        for place, (_, text) in enumerate(battles):
            if text == NONSENSE:
                rows.append([float(place == other) for other in range(len(battles))])
                totals.append(-1.0)
        if not rows:
            return {}
        inverse = np.linalg.pinv(np.array(rows), rcond=1e-9)
        solved, known = inverse @ np.array(totals), inverse @ np.array(rows)
        return {
            one: 1 if solved[place] > 0 else -1
            for place, one in enumerate(battles)
            if known[place, place] > 1 - 1e-6 and one[1] != NONSENSE
        }

    def differences(self) -> list[dict[Battle, int]]:
        """What two sums tell of the battles that only one of them has."""
        found: list[dict[Battle, int]] = []
        for some, total in self.sums:
            for others, their_total in self.sums:
                mine, theirs = some.keys() - others.keys(), others.keys() - some.keys()
                if len(mine) == len(theirs) == 1 and abs(total - their_total) == 2:
                    won = 1 if total > their_total else -1
                    found.append({next(iter(mine)): won, next(iter(theirs)): -won})
        return found

    def truth(self) -> dict[Battle, int]:
        """What the record says."""
        ledger = self.contest.ledger
        labels = {item.digest: item.label for item in self.contest.items}
        found: dict[Battle, int] = {}
        for study in studies(ledger):
            results = judged_battles(ledger, [study]).results
            for item, models, verdict in results.each():
                if REFERENCE not in models:
                    continue
                place = models.index(REFERENCE)
                submission = models[1 - place].removeprefix("submission-")
                if submission in self.files and isinstance(verdict, Preference):
                    value = verdict.value
                    found[labels[item], self.files[submission][labels[item]]] = value if place == 1 else -value
        return found


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


def ours(item: Item) -> str:
    return f"Behind gate {item.label} stands a small house with a green roof."


def another(item: Item) -> str:
    return f"On the second look it is a barn, seen from lane {item.label}."


def ours_but_one(item: Item) -> str:
    return another(item) if item.label == "2" else ours(item)


def nonsense_but_one(item: Item) -> str:
    return another(item) if item.label == "2" else NONSENSE


CHOSEN = {"two files that differ in one answer": ours_but_one, "nonsense everywhere but once": nonsense_but_one}


@pytest.mark.slow
@pytest.mark.parametrize("chosen", CHOSEN)
@pytest.mark.parametrize("decided", ["", "without_reference", "with_reference"])
async def test_a_team_that_chooses_its_answers_learns_no_single_verdict_unless_the_owner_lets_it(
    ledger: Ledger, chosen: str, decided: str
):
    async with ScriptedServer(Script(judge=by_lot)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=ALL)
        with served(ledger) as house:
            team = Attacker(contest, house, server.base_url)
            first = await team.judged(ours)
            second = await team.judged(CHOSEN[chosen], despite=decided)
            assert contest.stands(first).stage == "judged"
            assert contest.stands(second).stage == ("judged" if decided else "confirmed")
            told = [*team.certain().items(), *(one for some in team.differences() for one in some.items())]
    assert team.sums, "it gets what it is due"
    assert not any("reference text" in one or "House 2." in one for one in team.seen)
    truth = team.truth()
    if decided == "with_reference":
        assert told, "so the attack works"
        assert all(truth[battle] == won for battle, won in told)
    else:
        assert told == []
