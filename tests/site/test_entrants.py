"""Claims about submitted models on boards: anonymous until published, gone when withdrawn, their answers their own."""

import asyncio
import csv
import io
import itertools
from dataclasses import dataclass, replace
from urllib.parse import urlencode

import httpx2 as httpx
import pytest
from fastapi import FastAPI

from evenhand.domain.response import Response
from evenhand.domain.submission import (
    Approved,
    Confirmed,
    Entered,
    Judged,
    Published,
    Raised,
    SubmissionTerms,
    Uploaded,
    Withdrawn,
    label,
)
from evenhand.ledger.read.public_benchmarks import open_benchmark
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.intakes import BoardIdentity, find_intake, open_intake
from evenhand.ledger.submissions.store import begin_submission, submitted_models, tell
from evenhand.ledger.submissions.submitted_models import board_names, counted_battles, shown_names
from evenhand.site.accounts.store import people
from evenhand.site.boards.listing import boards_on_record
from evenhand.site.http.computed import Computed
from evenhand.site.http.service import Service
from evenhand.site.serving import server_config
from tests.site.house import CONDITION, JUDGE, House, fill, judge, numbers

SECRET_NAME = "Parrot-77"
ANSWER = "words of the parrot"


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    house: House
    submission: str
    team: httpx.Client
    person: str
    data: str

    @property
    def label(self) -> str:
        return label(self.submission)

    @property
    def board(self) -> str:
        return self.house.visitor().get("/api/boards").json()["boards"][0]["board"]

    def battle(self) -> str:
        item = numbers(self.house.ledger).items[0].label
        return f"/boards/{self.board}/battle?" + urlencode({"item": item, "a": self.label, "b": "amber"})

    def everything_public(self) -> str:
        """All that somebody passing by can read about the board and the model."""
        visitor = self.house.visitor()
        board, name = f"/boards/{self.board}", urlencode({"name": self.label})
        model = urlencode({"model": self.label})
        paths = [
            "/",
            board,
            f"{board}?method=elo",
            f"{board}/board.csv",
            f"{board}/board.json",
            f"{board}/model?{name}",
            self.battle(),
            f"/api{board}",
            f"/api{board}/battles?{model}",
            f"/api{self.battle()}",
        ]
        return "\n".join(visitor.get(path).text for path in paths)


def entered(house: House, *, judged: bool = True) -> Entry:
    """A model that comes in third: amber beats it, and it beats the reference."""
    ledger = house.ledger
    data = fill(ledger)
    team = house.signed_in("team", "Birds")
    person = people(ledger)[-1].id
    board = BoardIdentity(data=data, rater=JUDGE.key, condition=CONDITION.key)
    intake = find_intake(ledger, open_intake(ledger, "numbers", board, SubmissionTerms(policy="no"), by="owner"))
    assert intake is not None
    about = Entered(model=SECRET_NAME, version="1", team="Birds", link="https://birds.example/")
    one = begin_submission(ledger, intake, about, person=person)
    tell(ledger, one, Uploaded(file="f" * 64, name="p.csv", size=1, answered=6, faults=0), person=person)
    upload = 1
    tell(ledger, one, Confirmed(about=upload), person=person)
    opponents = ("amber", "reference")
    tell(ledger, one, Approved(budget=None, opponents=opponents, battles=12, reference_battles=6, seed=0), person="o")
    _play(ledger, label(one))
    if judged:
        tell(ledger, one, Judged(receipt={"schema": 1}), person=None)
    return Entry(house=house, submission=one, team=team, person=person, data=data)


def _play(ledger: Ledger, name: str) -> None:
    benchmark = numbers(ledger)
    answers = [Response(item=item.digest, model=name, text=f"{ANSWER} {item.label}") for item in benchmark.items]
    ledger.add_responses(answers)
    others = [one for one in ledger.responses_to(item.digest for item in benchmark.items) if one.model == "amber"]
    references = [
        one for one in ledger.responses_to(item.digest for item in benchmark.items) if one.model == "reference"
    ]
    judge(ledger, benchmark, [*others, *answers, *references], models=("amber", name, "reference"))


def rows(house: House, board: str) -> dict[str, dict[str, object]]:
    document = house.visitor().get(f"/api/boards/{board}").json()
    return {one["model"]: one for one in document["models"]}


def test_until_it_is_published_nobody_reads_its_name_nor_its_answers(house: House):
    entry = entered(house)
    public = entry.everything_public()
    assert SECRET_NAME not in public
    assert ANSWER not in public
    assert f"anonymous {entry.submission}" in public
    assert rows(house, entry.board)[entry.label]["name"] == f"anonymous {entry.submission}"
    assert house.visitor().get(entry.battle()).status_code == 404


def test_until_it_is_published_nobody_reads_whom_it_beats(house: House):
    entry = entered(house)
    assert "anonymous" not in head_to_head(entry)
    tell(house.ledger, entry.submission, Published(), person=entry.person)
    assert SECRET_NAME in head_to_head(entry)


@pytest.mark.parametrize("address", ["/boards/{}/board.json", "/api/boards/{}"])
def test_until_it_is_published_no_document_tells_whom_it_beats(house: House, address: str):
    entry = entered(house)
    rated, pairs = _document(entry, address)
    assert entry.label in rated
    assert pairs == rated - {entry.label}
    tell(house.ledger, entry.submission, Published(), person=entry.person)
    assert _document(entry, address) == (rated, rated)


def _document(entry: Entry, address: str) -> tuple[set[str], set[str]]:
    """The models that it rates, and those of which it tells how they did against single others."""
    document = entry.house.visitor().get(address.format(entry.board)).json()
    matrix = document["matrix"]
    size = len(matrix["models"])
    assert {(len(matrix[name]), *map(len, matrix[name])) for name in ("share", "n", "predicted")} == {
        (size, *[size] * size)
    }
    beaten = {name for one in document["cycles"]["worst"] for name in one["models"]}
    beside = {one[name] for one in document["neighbours"] for name in ("model", "next")}
    return {one["model"] for one in document["models"]}, {*matrix["models"]} | beaten | beside


def head_to_head(entry: Entry) -> str:
    page = entry.house.visitor().get(f"/boards/{entry.board}").text
    return page.split('id="head-to-head"')[1].split("</details>")[0]


def test_its_answers_stay_hidden_where_the_benchmark_is_open(house: House):
    entry = entered(house)
    open_benchmark(house.ledger, entry.data, by="owner")
    assert ANSWER not in entry.everything_public()


def test_its_team_and_the_owner_see_its_battles_and_another_team_does_not(house: House):
    entry = entered(house)
    assert ANSWER in entry.team.get(entry.battle()).text
    assert ANSWER in house.signed_in("owner").get(entry.battle()).text
    assert house.signed_in("team", "Others").get(entry.battle()).status_code == 404
    assert house.signed_in("annotator", "Ann").get(entry.battle()).status_code == 404


def test_published_it_stands_under_its_name_with_its_link(house: House):
    entry = entered(house)
    before = rows(house, entry.board)
    tell(house.ledger, entry.submission, Published(), person=entry.person)
    after = rows(house, entry.board)
    shown = f"{SECRET_NAME} 1 (Birds)"
    assert after[entry.label]["name"] == shown
    assert {name: one["rating"] for name, one in after.items()} == {name: one["rating"] for name, one in before.items()}
    page = house.visitor().get(f"/boards/{entry.board}").text
    assert shown in page
    assert f">{entry.label}<" not in page
    model = house.visitor().get(f"/boards/{entry.board}/model", params={"name": entry.label}).text
    assert shown in model
    assert 'href="https://birds.example/"' in model
    assert ANSWER in house.visitor().get(entry.battle()).text
    table = csv.DictReader(io.StringIO(house.visitor().get(f"/boards/{entry.board}/board.csv").text))
    assert {row["name"] for row in table} == {"", shown}


def test_a_board_on_which_it_never_played_does_not_name_it(house: House):
    entry = entered(house)
    tell(house.ledger, entry.submission, Published(), person=entry.person)
    half = replace(numbers(house.ledger), name="half", items=numbers(house.ledger).items[:3])
    house.ledger.register_benchmark(half)
    answers = house.ledger.responses_to(item.digest for item in half.items)
    judge(house.ledger, half, [one for one in answers if one.model != entry.label], models=("amber", "reference"))
    found = {one.benchmark: one for one in boards_on_record(house.ledger)}
    names = {name: counted_battles(house.ledger, one.studies).names for name, one in found.items()}
    assert names == {"half": {}, "numbers": {entry.label: f"{SECRET_NAME} 1 (Birds)"}}


def test_while_it_is_judged_the_board_is_as_before(house: House):
    entry = entered(house, judged=False)
    assert entry.label not in rows(house, entry.board)
    assert entry.submission not in house.visitor().get(f"/boards/{entry.board}").text.replace("/boards/", "")
    assert house.visitor().get(f"/boards/{entry.board}/model", params={"name": entry.label}).status_code == 404
    tell(house.ledger, entry.submission, Judged(receipt={"schema": 1}, partial=True), person=None)
    assert entry.label in rows(house, entry.board)
    tell(house.ledger, entry.submission, Raised(budget=None), person="owner")
    assert entry.label not in rows(house, entry.board)
    tell(house.ledger, entry.submission, Judged(receipt={"schema": 1}), person=None)
    assert entry.label in rows(house, entry.board)


def test_withdrawn_its_row_goes_and_the_others_stand_as_if_it_had_never_played(house: House):
    entry = entered(house, judged=False)
    alone = rows(house, entry.board)
    tell(house.ledger, entry.submission, Judged(receipt={"schema": 1}), person=None)
    assert rows(house, entry.board).keys() == {*alone, entry.label}
    tell(house.ledger, entry.submission, Published(), person=entry.person)
    tell(house.ledger, entry.submission, Withdrawn(), person=entry.person)
    assert rows(house, entry.board) == alone
    public = entry.everything_public()
    assert SECRET_NAME not in public
    assert ANSWER not in public
    assert entry.team.get(entry.battle()).status_code == 404
    assert ANSWER in house.signed_in("owner").get(entry.battle()).text


def test_what_was_worked_out_before_it_left_is_not_shown_again_however_long_the_next_takes(house: House):
    entry = entered(house)
    tell(house.ledger, entry.submission, Published(), person=entry.person)
    app = server_config(house.ledger, house.site, host="127.0.0.1", port=0).app
    assert isinstance(app, FastAPI)
    minutes = itertools.count(step=60)
    service: Service = app.state.service
    slow = Computed(clock=lambda: float(next(minutes)))
    service = replace(service, figures=replace(service.figures, computed=slow))

    def names() -> str:
        return asyncio.run(service.figures.kept("names", lambda ledger: str(board_names(ledger)), 60.0))

    assert SECRET_NAME in names()
    tell(house.ledger, entry.submission, Withdrawn(), person=entry.person)
    assert SECRET_NAME not in names()


def test_what_shares_its_items_hides_it_likewise(house: House):
    entry = entered(house)
    whole = numbers(house.ledger)
    half = replace(whole, name="half", items=whole.items[:3])
    house.ledger.register_benchmark(half)
    answers = [
        one
        for one in house.ledger.responses_to(item.digest for item in half.items)
        if one.model in ("amber", entry.label)
    ]
    judge(house.ledger, half, answers, models=("amber", entry.label))
    (other,) = [
        one["board"] for one in house.visitor().get("/api/boards").json()["boards"] if one["benchmark"] == "half"
    ]
    query = urlencode({"item": half.items[0].label, "a": entry.label, "b": "amber"})
    battle = f"/boards/{other}/battle?{query}"
    assert house.visitor().get(battle).status_code == 404
    assert ANSWER in entry.team.get(battle).text
    assert entry.label in rows(house, other)
    tell(house.ledger, entry.submission, Withdrawn(), person=entry.person)
    assert house.visitor().get(battle).status_code == 404
    document = house.visitor().get(f"/api/boards/{other}")
    assert entry.submission not in document.text


def test_nobody_learns_that_somebody_is_being_judged_or_went(house: House):
    entry = entered(house, judged=False)
    assert "Left out" not in entry.everything_public()


def test_two_published_under_one_name_say_which_is_which(house: House):
    entry = entered(house)
    tell(house.ledger, entry.submission, Published(), person=entry.person)
    one = submitted_models(house.ledger)[entry.label]
    twin = replace(one, submission="0" * 8)
    shown = f"{SECRET_NAME} 1 (Birds)"
    assert shown_names({one.label: one}) == {one.label: shown}
    assert shown_names({one.label: one, twin.label: twin}) == {
        one.label: f"{shown} [{one.submission}]",
        twin.label: f"{shown} [00000000]",
    }
    assert shown_names({one.label: one}, others=["parrot-77  1 (birds)"]) == {one.label: f"{shown} [{one.submission}]"}


def test_nobody_is_published_under_a_founding_models_name(house: House):
    entry = entered(house)
    tell(house.ledger, entry.submission, Published(), person=entry.person)
    shown = f"{SECRET_NAME} 1 (Birds)"
    assert board_names(house.ledger) == {entry.label: shown}
    item = numbers(house.ledger).items[0].digest
    house.ledger.add_responses([Response(item=item, model=shown.upper(), text="first")])
    assert board_names(house.ledger) == {entry.label: f"{shown} [{entry.submission}]"}
    assert f"{shown} [{entry.submission}]" in house.visitor().get(f"/boards/{entry.board}").text
