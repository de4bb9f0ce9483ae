"""Claims about a board whose submissions are placed among their nearest: what its owner chooses, what a team sees."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import Closed
from evenhand.reports.receipts.check import verify
from evenhand.reports.receipts.reading import read_receipt
from evenhand.site.accounts.store import people
from tests.engine.contest import PRICE, Contest, at_work
from tests.engine.nearest import JUDGE, STRENGTHS, copied, entering, founded_in
from tests.scripted_server import ScriptedServer
from tests.site.desk import words_of
from tests.site.house import House, form_token, refusal_of, served

TERMS = {
    "policy": "Nobody trains on it.", "battles": "12", "reference_battles": "6", "seed": "0", "per_team": "99",
    "days": "30", "missing_allowed": "0", "open": "yes", "pairs": "nearest", "until": "rank=2", "looks": "3",
    "max_calls": "45",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Hall:
    contest: Contest
    house: House
    owner: httpx.Client
    team: httpx.Client
    person: str

    def submitted(self) -> str:
        return entering(self.contest, team=self.person)

    def worked(self) -> None:
        asyncio.run(self._worked())

    async def _worked(self) -> None:
        async with ScriptedServer(JUDGE) as server:
            await at_work(replace(self.contest.kind(server.base_url, price=PRICE), receipt=receipt_of))

    def judged(self) -> str:
        submission = self.submitted()
        self.worked()
        self.contest.approve(submission)
        self.worked()
        return submission

    def change(self, **fields: str) -> httpx.Response:
        token = form_token(self.owner.get("/admin"))
        path = f"/admin/submissions/intakes/{self.contest.id}"
        return self.owner.post(path, data={"csrf": token, **TERMS, **fields})


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return founded_in(tmp_path_factory.mktemp("board"))


@pytest.fixture
def hall(board: Path, tmp_path: Path) -> Iterator[Hall]:
    with copied(board, tmp_path / "here") as contest, served(contest.ledger) as house:
        owner, team = house.signed_in("owner", "Olga"), house.signed_in("team", "Birds")
        person = next(one.id for one in people(contest.ledger) if one.name == "Birds")
        yield Hall(contest=contest, house=house, owner=owner, team=team, person=person)


def test_the_owner_chooses_it_in_the_form_and_teams_read_it(hall: Hall):
    assert hall.change().status_code == 303
    terms = hall.contest.intake.terms
    assert (terms.pairs, terms.until, terms.looks, terms.max_calls) == ("nearest", "rank=2", 3, 45)
    page = hall.owner.get(f"/admin/submissions/intakes/{hall.contest.id}").text
    assert 'value="nearest" checked' in page
    assert 'value="rank=2"' in page
    told = words_of(hall.house.visitor().get(f"/submit/{hall.contest.id}").text)
    for words in (
        "its rank is known within 2",
        "at most 45 comparisons",
        "3 times planned",
        "never meets the reference",
    ):
        assert words in told
    (listed,) = hall.house.visitor().get("/api/submit").json()["intakes"]
    assert (listed["pairs"], listed["until"], listed["looks"], listed["max_calls"]) == ("nearest", "rank=2", 3, 45)
    assert hall.change(pairs="random").status_code == 303
    (listed,) = hall.house.visitor().get("/api/submit").json()["intakes"]
    assert (listed["pairs"], listed["until"], listed["looks"], listed["max_calls"]) == ("random", None, None, None)


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"until": "best"}, ["The rule is rank=3", "'best'"]),
        ({"until": "above=nobody"}, ["above=nobody", "ada"]),
        ({"until": f"above={REFERENCE}"}, ["no such model"]),
        ({"until": "rank=4"}, ["before the first call", "4 models"]),
        ({"looks": "1"}, ["2"]),
        ({"max_calls": "2"}, ["too few for 3 looks"]),
        ({"until": " "}, ["missing"]),
    ],
)
def test_what_cannot_be_is_refused_in_a_sentence(hall: Hall, fields: dict[str, str], told: list[str]):
    before = hall.contest.intake.terms
    assert refusal_of(hall.change(**fields), *told)[0] == 422
    assert hall.contest.intake.terms == before


def test_a_ladder_is_refused_with_its_reason(hall: Hall):
    """It needs every item of every submission."""
    terms = {name: value for name, value in TERMS.items() if name != "open"}
    given: dict[str, Any] = {**terms, "feedback": "ladder"}
    (board,) = hall.owner.get("/api/boards").json()["boards"]
    answer = hall.owner.post(
        "/admin/submissions/intakes",
        data={"csrf": form_token(hall.owner.get("/admin")), "board": board["board"], "reserve": "0", **given},
    )
    assert refusal_of(answer, "item by item", "at random")[0] == 422


def test_the_owner_sees_what_it_likely_takes_and_the_team_when_it_ends(hall: Hall):
    submission = hall.submitted()
    hall.worked()
    page = words_of(hall.owner.get(f"/admin/submissions/{submission}").text)
    for words in ("Until width=1", "Comparisons, likely 45", "Comparisons, at most 45", "never the reference"):
        assert words in page
    for words in ("Calls 15 to 90", "A comparison is one call, and a second where", "ada, bel, cal, dot"):
        assert words in page
    told = words_of(hall.team.get(f"/submissions/{submission}").text)
    assert (
        "until its rating is known within 1 point to each side: likely about 45 comparisons, at most 45 comparisons"
        in told
    )
    (one,) = hall.owner.get("/api/all-submissions").json()["submissions"]
    plan = one["estimate"]
    assert (plan["until"], plan["looks"], plan["max_calls"], plan["expected_calls"]) == ("width=1", 3, 45, 45)
    token = form_token(hall.owner.get("/admin"))
    sent = {"csrf": token, "word": "approve", "estimate": str(plan["number"]), "unlimited": "yes", "despite": ""}
    assert hall.owner.post(f"/admin/submissions/{submission}", data=sent).status_code == 303
    approved = hall.contest.stands(submission).approved
    assert approved
    assert (approved.until, approved.looks, approved.max_calls) == ("width=1", 3, 45)
    assert "It ends as soon as" in words_of(hall.team.get(f"/submissions/{submission}").text)


def test_a_team_reads_its_look_its_repeated_interval_and_every_battle(hall: Hall):
    submission = hall.judged()
    told = words_of(hall.team.get(f"/submissions/{submission}").text)
    for words in (
        "the repeated one",
        "2.28 standard errors",
        "at look 3 of 3 planned beforehand, after 45 comparisons",
        "all looks are taken",
    ):
        assert words in told
    assert "Skill by skill" not in told
    assert "How much the others moved" not in told
    moved = hall.owner.get(f"/api/submissions/{submission}").json()["moved"]
    assert {one["before"] - one["after"] for one in moved} == {0}, "so it says nothing that is not so"
    seen = hall.team.get(f"/submissions/{submission}/battles.jsonl")
    rows = [json.loads(line) for line in seen.text.splitlines()]
    assert sum(len(row["votes"]) for row in rows) == 45, "of all batches, also those in both orders"
    met = {row["model_a"] for row in rows} | {row["model_b"] for row in rows}
    assert len(met & {*STRENGTHS}) == len(met) - 1
    given = hall.team.get(f"/submissions/{submission}/receipt.json").content
    assert verify(hall.contest.ledger, read_receipt(given)).verified


def test_scripts_get_the_same(hall: Hall):
    submission = hall.judged()
    document = hall.owner.get(f"/api/submissions/{submission}").json()
    assert (document["wanted"], document["done"], document["partial"]) == (45, 45, False)
    assert document["looks"] == {"until": "width=1", "planned": 3, "taken": 3, "next_after": None}
    assert document["row"]["placed"]["look"] == 3
    receipt = hall.owner.get(f"/api/submissions/{submission}/receipt").content
    assert verify(hall.contest.ledger, read_receipt(receipt)).verified


def test_one_that_is_ended_early_says_so(hall: Hall):
    submission = hall.submitted()
    hall.worked()
    hall.contest.approve(submission, 12.0)
    hall.worked()
    page = words_of(hall.team.get(f"/submissions/{submission}").text)
    assert "At most 45 verdicts are wanted." in page
    assert "looked at 3 times planned beforehand" in page
    looks = {"until": "width=1", "planned": 3, "taken": None, "next_after": None}
    document = hall.team.get(f"/api/submissions/{submission}").json()
    assert (document["wanted"], document["done"], document["looks"]) == (45, None, looks)
    known = hall.owner.get(f"/api/submissions/{submission}").json()
    assert known["done"] > 0
    assert known["looks"]["taken"] is not None
    hall.contest.say(submission, Closed())
    hall.worked()
    told = words_of(hall.team.get(f"/submissions/{submission}").text)
    assert "it was ended before its rating is known within 1 point" in told
    assert hall.owner.get(f"/admin/submissions/{submission}").status_code == 200


def test_everybody_sees_its_repeated_interval_under_the_name_it_has(hall: Hall):
    submission = hall.judged()
    visitor = hall.house.visitor()
    (board,) = visitor.get("/api/boards").json()["boards"]
    rows = {row["model"]: row for row in visitor.get(f"/api/boards/{board['board']}").json()["models"]}
    row = rows[f"submission-{submission}"]
    assert (row["placed"]["look"], row["placed"]["done"]) == (3, True)
    page = words_of(visitor.get(f"/boards/{board['board']}").text)
    assert f"The interval of anonymous {submission} is the repeated one" in page
    assert f"submission-{submission}" not in page
