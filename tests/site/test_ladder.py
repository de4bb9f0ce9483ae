"""Claims about a board whose feedback is the ladder: what its team learns, what it publishes, what its owner sees."""

import asyncio
import hashlib
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from threading import Barrier, BrokenBarrierError
from typing import Any

import httpx2 as httpx
import numpy as np
import pytest

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.submission import Estimated, Judged, Published, SubmissionTerms, Withdrawn
from evenhand.domain.verdict import Preference
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import intakes_on_record, set_terms
from evenhand.ledger.submissions.store import receipt_on_record
from evenhand.reports.board.withheld.released import FEWEST
from evenhand.reports.receipts.check import verify
from evenhand.reports.receipts.ladder import drawn_reserve, figure_in, published_figures
from evenhand.reports.receipts.reading import read_receipt
from evenhand.site.accounts.store import people
from evenhand.site.http.visibility import sight
from evenhand.site.http.visitor import Visitor
from evenhand.stats.ladder import fewest_new
from tests.database import ledger_in
from tests.engine.contest import TERMS, Contest, at_work, founded, questions
from tests.scripted_server import Body, Script, ScriptedServer
from tests.site.desk import words_of
from tests.site.house import House, fill, fill_with_lengths, form_token, refusal_of, served

ITEMS = 20
RESERVED = tuple(item.digest for item in questions(ITEMS)[::3])
LADDER = replace(TERMS, battles=2 * ITEMS, reference_battles=ITEMS, feedback="ladder", reserve=0.35, reserved=RESERVED)
ROW = {"model", "feedback", "shown", "shown_n", "shown_of", "changed", "compared_with"}
SHOWN = re.compile(r"Response A:\s*(.*?)\n\s*Response B:\s*(.*?)\n\nThink step-by-step", re.DOTALL)
_LINK = re.compile(r'href="(/[^"#]*)')
_WHICH = re.compile(r"(?<=[?&])(item|a|b)=[^&]*")
"""In the address of a battle: all of it but how it was come to."""
MINE = "as the climber sees it"
"""What every answer of the team says, and nothing else."""


def judge(body: Body) -> str:
    """By lot, whatever the order; what is poor loses, what is perfect wins."""
    parts = body["messages"][-1]["content"]
    text = parts if isinstance(parts, str) else "\n".join(one.get("text", "") for one in parts)
    found = SHOWN.search(text)
    assert found is not None, text
    first, second = (one.strip() for one in found.groups())
    low, high = sorted((first, second))
    winner = (low, high)[hashlib.sha256(f"{low}|{high}".encode()).digest()[0] % 2]
    for one, other in ((first, second), (second, first)):
        if "perfect" in one or "poor" in other:
            winner = one
    return f"Overall, Response {'A' if winner == first else 'B'} is better."


@dataclass
class Climber:
    """A team that has two equally good answers to each item, and changes about."""

    contest: Contest
    house: House
    url: str
    nth: int = 1
    """Of the ways to battles, by how their list was sorted, each kind is gone once in so many times."""
    client: httpx.Client = field(init=False)
    id: str = field(init=False)
    made: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.client = self.house.signed_in("team", "Birds")
        self.id = next(one.id for one in people(self.contest.ledger) if one.name == "Birds")

    async def submits(self, kind: str = "") -> dict[str, Any]:
        """The row it gets. `kind`: perfect, poor, half of them perfect, a few more; else one of two each."""
        lots = np.random.default_rng(len(self.made)).integers(0, 2, ITEMS).tolist()

        def say(item: Item) -> str:
            number = int(item.label)
            words = kind or ("a roof", "a door")[lots[number]]
            if kind in ("half", "few"):
                won = number % 2 == 0 or (kind == "few" and number in (1, 5))
                words = "perfect" if won else "poor"
            return f"Picture {item.label} {MINE}: {words}."

        made = self.contest.submitted(say, team=self.id)
        await self.works()
        owner = self.house.signed_in("owner")
        estimate = str(self.contest.stands(made).estimated_seq)
        sent = {"csrf": form_token(owner.get("/admin")), "word": "approve", "estimate": estimate, "unlimited": "yes"}
        owner.post(f"/admin/submissions/{made}", data={**sent, "despite": "with_reference"})
        await self.works()
        assert self.contest.stands(made).stage == "judged"
        self.made.append(made)
        return self.client.get(f"/api/submissions/{made}").json()["row"]

    async def works(self) -> None:
        await at_work(replace(self.contest.kind(self.url), receipt=receipt_of))

    def publishes(self, submission: str) -> None:
        token = form_token(self.client.get("/account"))
        sent = self.client.post(f"/submissions/{submission}/publish", data={"csrf": token, "sure": "yes"})
        assert sent.status_code == 303, sent.text

    def scores(self, submission: str, *, reserve: bool) -> dict[str, float]:
        """By item, as the record tells it."""
        label, found = f"submission-{submission}", dict[str, list[float]]()
        ledger = self.contest.ledger
        for study in studies(ledger):
            for item, models, verdict in judged_battles(ledger, [study]).results.each():
                if label in models and isinstance(verdict, Preference) and (item in RESERVED) is reserve:
                    won = verdict.value if models[0] == label else -verdict.value
                    found.setdefault(item, []).append(0.5 + 0.5 * float(np.sign(won)))
        return {item: sum(some) / len(some) for item, some in found.items()}

    def everything(self) -> dict[str, str]:
        """All pages, files and documents that the team can get to."""
        found: dict[str, str] = {}
        met: dict[str, dict[str, int]] = {}
        paths = self.client.get("/openapi.json").json()["paths"]
        boards = [one["board"] for one in self.client.get("/api/boards").json()["boards"]]
        names = {"submission": self.made, "intake": [self.contest.id], "board": boards, "ending": ["jsonl", "csv"]}
        to_see = [
            "/",
            "/submissions",
            "/submit",
            *_filled([path for path, ways in paths.items() if "get" in ways], names),
        ]
        to_see += [f"/submissions/{one}/{file}" for one in self.made for file in ("receipt.json", "battles.jsonl")]
        while to_see:
            path = to_see.pop()
            if path in found or path.startswith(("/static", "/images")) or "sign-out" in path:
                continue
            if "/battle?" in path and "sort=" in path:
                alike = met.setdefault(_WHICH.sub("", path), {})
                if alike.setdefault(path, len(alike)) % self.nth:
                    continue
            answer = self.client.get(path)
            found[path] = answer.text if answer.status_code == 200 else ""
            if "text/html" in answer.headers.get("content-type", ""):
                to_see += [one.replace("&amp;", "&") for one in _LINK.findall(answer.text)]
        return found


def _filled(paths: list[str], names: dict[str, list[str]]) -> list[str]:
    for name, values in names.items():
        paths = [
            path.replace(f"{{{name}}}", one) for path in paths for one in (values if f"{{{name}}}" in path else [""])
        ]
    return [path for path in paths if "{" not in path]


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


# In `make test-slow` every eighth of each kind of way to a battle, in `make soak` all of them.
@pytest.mark.slow
@pytest.mark.parametrize("nth", [8, pytest.param(1, marks=pytest.mark.soak)])
async def test_a_team_that_climbs_learns_its_row_alone_and_publishes_what_the_reserve_says(ledger: Ledger, nth: int):
    async with ScriptedServer(Script(judge=judge)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=LADDER)
        with served(ledger) as house:
            team = Climber(contest, house, server.base_url, nth=nth)
            kinds = ("poor", "half", "few", "perfect", "poor", "")
            rows = [await team.submits(kind) for kind in kinds]
            by_the_rule(team, rows)
            assert [row["shown"] for row in rows] == [0, 6 / 13, 6 / 13, 1, 1, 1]
            assert [row["changed"] for row in rows] == [True, True, False, True, False, False]
            nothing_by_item(team)
            receipts_hold(team)
            await publication(team)
            nothing_by_item(team)
            the_owner_sees_how_much_was_asked(team)


def by_the_rule(team: Climber, rows: list[dict[str, Any]]) -> None:
    shown = team.scores(team.made[0], reserve=False)
    for made, row in zip(team.made, rows, strict=True):
        assert row.keys() == ROW
        new = team.scores(made, reserve=False)
        assert len(new) == ITEMS - len(RESERVED)
        gains = np.array([new[item] - shown[item] for item in new])
        moves = gains.mean() > gains.std(ddof=1) / math.sqrt(len(gains)) + 1e-9 and np.count_nonzero(gains) >= 5
        assert row["changed"] == (moves or made == team.made[0])
        shown = new if row["changed"] else shown
        assert row["shown"] == math.floor(sum(shown.values()) + 0.5) / len(new)


def nothing_by_item(team: Climber, reserved: Sequence[str] = RESERVED) -> None:
    seen = team.everything()
    receipts = {path: text for path, text in seen.items() if "receipt" in path and text}
    assert len(receipts) >= 2 * len(team.made), "so it was looked at"
    assert len(seen) > 40
    for path, text in seen.items():
        assert MINE not in text, path
        if path not in receipts and not path.startswith("/api/submissions/"):
            assert "submission-" not in text.replace("submission-new", ""), path
        for item in reserved:
            assert item not in text, path
    for one in team.made:
        assert team.client.get(f"/api/submissions/{one}/battles").json()["code"] == "EH-LADDER"
        told = team.client.get(f"/api/submissions/{one}/receipt").json()
        assert (told["row"].keys(), told["moved"], told["ranking"]) == (ROW, [], {})


def receipts_hold(team: Climber) -> None:
    for one in team.made:
        told = team.client.get(f"/api/submissions/{one}/receipt")
        found = verify(team.contest.ledger, read_receipt(told.content))
        assert [check.name for check in found.checks if not check.ok] == []
        forged = json.loads(told.content)
        forged["row"]["shown"] = 0.123
        found = verify(team.contest.ledger, read_receipt(json.dumps(forged).encode()))
        assert "row" in [check.name for check in found.checks if not check.ok]


async def publication(team: Climber) -> None:
    passing = team.house.visitor()
    assert passing.get("/api/submit").json()["intakes"][0]["published"] == []
    for one in (team.made[3], team.made[5]):
        team.publishes(one)
    (intake,) = passing.get("/api/submit").json()["intakes"]
    assert (intake["feedback"], intake["reserve"]) == ("ladder", 0.35)
    told = {one["submission"]: one for one in intake["published"]}
    for one in (team.made[3], team.made[5]):
        scores = team.scores(one, reserve=True)
        assert told[one]["share"] == math.floor(sum(scores.values()) + 0.5) / len(RESERVED)
        assert told[one]["share_lower"] <= told[one]["share"] <= told[one]["share_upper"]
        assert told[one]["publications"] == 2
    page = passing.get(f"/submit/{team.contest.id}").text
    assert "model-4 1 (Team)" in page
    assert "2 publications" in page
    board = passing.get("/api/boards").json()["boards"][0]["board"]
    names = {one["model"] for one in passing.get(f"/api/boards/{board}").json()["models"]}
    assert names == {"ann", "ben", "reference"}, "the board of ratings has none of them"


def the_owner_sees_how_much_was_asked(team: Climber) -> None:
    owner = team.house.signed_in("owner")
    page = owner.get(f"/admin/submissions/intakes/{team.contest.id}").text
    assert "6 submissions judged, at most 6 of one team; 2 publications." in page
    assert "about 0.026 more than is true after up to 50 submissions" in page
    assert owner.get(f"/api/submissions/{team.made[0]}/battles").status_code == 200, "the owner sees all"


async def test_a_file_of_which_too_little_is_new_has_no_published_figure(ledger: Ledger):
    """By all items: 18 of 20 are sure to have five of the seven in reserve among them. Also where the first is
    withdrawn: its figure was seen. Signs and capitals make no other answer."""
    wanted = fewest_new(ITEMS, len(RESERVED), among=FEWEST)
    assert wanted == 18
    every = [item.digest for item in questions(ITEMS)]
    files: list[tuple[str, Sequence[str]]] = [
        ("a door", every), ("a door", every), ("a window", every[: wanted - 1]), ("a gate", every[-wanted:])
    ]  # fmt: skip
    async with ScriptedServer(Script(judge=judge)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=LADDER)
        work = replace(contest.kind(server.base_url), receipt=receipt_of)
        made: list[str] = []
        for number, (words, some) in enumerate(files):

            def say(item: Item, number: int = number, words: str = words, some: Sequence[str] = some) -> str:
                return f"Picture {item.label} HAS {words if item.digest in some else 'a door'}{'!' * number}"

            made.append(contest.submitted(say, team="birds"))
            await at_work(work)
            contest.approve(made[-1], despite="with_reference")
            await at_work(work)
            contest.say(made[-1], Published(), person="birds")
    contest.say(made[0], Withdrawn(), person="birds")
    (intake,) = intakes_on_record(ledger)
    shares = {one.submission.id: one.share for one in published_figures(ledger, intake)}
    assert [shares[one].value is None for one in made[1:]] == [True, True, False]
    (why,) = {shares[one].reason for one in made[1:3]}
    assert why is not None
    assert "too few of its answers are new" in why


async def test_two_submissions_of_one_team_that_two_workers_judge_at_once_move_its_row_one_after_the_other(
    ledger: Ledger,
):
    """Both better than the one that is shown by many items, and than each other by one: of two rows that were held
    against the same the difference would be its verdict."""
    terms = replace(LADDER, battles=ITEMS, reference_battles=0, reserve=0.0, reserved=())
    both = Barrier(2)

    def together(*given: Any) -> Mapping[str, Json]:
        made = receipt_of(*given)
        if len(shown) == 1:
            with suppress(BrokenBarrierError):
                both.wait(timeout=1)
        return made

    async with ScriptedServer(Script(judge=judge)) as server:
        contest = await founded(ledger, server.base_url, items=ITEMS, terms=terms)
        shown: list[str] = []
        for won in ((0,), (10, 11)):
            made = [
                contest.submitted(
                    lambda item, n=n: f"{'Perfect' if int(item.label) < n else 'Poor'} {item.label}".lower(),
                    team="birds",
                )
                for n in won
            ]
            workers = [replace(contest.kind(server.base_url), receipt=together) for _ in made]
            await at_work(workers[0])
            for one in made:
                contest.approve(one, despite="with_reference")
            await asyncio.gather(*map(at_work, workers))
            shown += made
    found = [receipt_on_record(ledger, one) for one in shown]
    told = {figure_in(one["row"]) for one in found if one is not None}
    assert len(told) == 2, "the first, and one of the others"


@pytest.mark.parametrize(("terms", "hidden"), [(LADDER, True), (TERMS, False)])
async def test_a_published_submission_of_a_ladder_is_hidden_from_all_but_the_owner(
    ledger: Ledger, terms: SubmissionTerms, hidden: bool
):
    async with ScriptedServer(Script(judge=judge)) as server:
        contest = await founded(ledger, server.base_url, items=3, terms=terms)
    with served(ledger) as house:
        team = house.signed_in("team", "Birds")
        person = next(one for one in people(ledger) if one.name == "Birds")
        made = contest.submitted(team=person.id)
        estimated = Estimated(
            opponents=("ann",), battles=3, reference_battles=0, seed=0, trials=6, calls_at_least=6, calls_at_most=6,
            input_tokens=1, output_tokens=1, cost_usd=None,
        )  # fmt: skip
        contest.say(made, estimated, person=None)
        contest.approve(made)
        contest.say(made, Judged(receipt={}), person=None)
        assert contest.say(made, Published(), person=person.id).published
        assert team.get(f"/api/submissions/{made}").status_code == 200
    data = contest.intake.board.data
    owner = replace(person, role="owner")
    for who, unseen in ((None, hidden), (person, hidden), (owner, False)):
        visitor = Visitor(address="127.0.0.1", person=who)
        assert (f"submission-{made}" in sight(ledger, visitor, data=data, sample=False).hidden) is unseen


TERMS_OF_FORM = {
    "policy": "Nobody trains on it.", "battles": "64", "reference_battles": "24", "seed": "3", "per_team": "2",
    "days": "30", "missing_allowed": "0", "open": "yes",
}  # fmt: skip


def test_feedback_and_reserve_are_settled_when_the_board_is_opened(house: House):
    fill_with_lengths(house.ledger)
    owner = house.signed_in("owner")
    (board,) = owner.get("/api/boards").json()["boards"]
    token = {"csrf": form_token(owner.get("/admin")), "board": board["board"]}
    fields = {**token, **TERMS_OF_FORM, "feedback": "ladder"}
    for wrong, words in (
        ({"reserve": "95"}, "whole number from 0 to 90"),
        ({"reserve": "1"}, "Give a reserve from 12 to 88 % (0.12 to 0.88)"),
        ({"reserve": "50", "battles": "63"}, "each item is played"),
        ({"reserve": "50", "reference_battles": "23"}, "at least 24 on 40 items, so that 5 are sure to be in reserve"),
        ({"reserve": "0", "reference_battles": "4"}, "or at least 5 on 40 items: where another"),
        ({"reserve": "50", "missing_allowed": "1"}, "every item needs an answer"),
    ):
        refused = owner.post("/admin/submissions/intakes", data={**fields, **wrong})
        assert refused.status_code == 422
        assert words in refused.text
    made = owner.post("/admin/submissions/intakes", data={**fields, "reserve": "50"})
    assert made.status_code == 303, made.text
    (intake,) = intakes_on_record(house.ledger)
    terms: SubmissionTerms = intake.terms
    assert (terms.feedback, terms.reserve) == ("ladder", 0.5)
    assert len(terms.reserved) >= 5
    told = words_of(house.visitor().get(f"/submit/{intake.id}").text)
    assert "Which 20 of the 40 items are in reserve" in told
    changed = owner.post(made.headers["location"], data={**fields, "feedback": "paper", "per_team": "7"})
    assert changed.status_code == 303
    assert intakes_on_record(house.ledger)[0].terms == replace(terms, per_team=7)
    for wrong, words in (({"battles": "63"}, "each item is played"), ({"reference_battles": "6"}, "or at least 24")):
        fewer = owner.post(made.headers["location"], data={**fields, **wrong})
        assert refusal_of(fewer, words)[0] == 422
    with_some = replace(intakes_on_record(house.ledger)[0].terms, missing_allowed=3)
    set_terms(house.ledger, intake.id, with_some, by="an earlier version")
    assert house.visitor().get("/api/submit").json()["intakes"][0]["missing_allowed"] == 0
    missing = owner.post(made.headers["location"], data={**fields, "missing_allowed": "1"})
    assert refusal_of(missing, "every item needs an answer")[0] == 422
    assert intakes_on_record(house.ledger)[0].terms == replace(terms, per_team=7)


def test_a_reserve_without_the_ladder_is_refused(house: House):
    fill(house.ledger)
    owner = house.signed_in("owner")
    (board,) = owner.get("/api/boards").json()["boards"]
    token = form_token(owner.get("/admin"))
    sent = {"board": board["board"], "terms": {"reserve": 0.3}}
    refused = owner.post("/api/intakes", json=sent, headers={"X-CSRF-Token": token})
    assert refused.status_code == 422, refused.text
    assert "goes with the feedback" in refused.text


def test_the_reserve_is_drawn_by_seed_and_secret():
    items = [item.digest for item in questions(50)]
    drawn = drawn_reserve(items, share=0.3, seed=1, secret=b"s")
    assert drawn == drawn_reserve(items[::-1], share=0.3, seed=1, secret=b"s")
    assert len(drawn) == 15
    assert drawn != drawn_reserve(items, share=0.3, seed=2, secret=b"s")
    assert drawn != drawn_reserve(items, share=0.3, seed=1, secret=b"t")
