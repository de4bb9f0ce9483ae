"""Claims about what an owner does without a page: begin a benchmark, fill in sheets, make versions, take models in."""

import csv
import json
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import Estimated, Stopped
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import leave_note
from evenhand.ledger.submissions.store import tell
from evenhand.site.accounts.store import invitations, people, signed_in_with
from evenhand.site.http.audit_log import events
from evenhand.site.living.events import Answer, AnswerFailed
from evenhand.site.living.settings import growing_benchmarks, versions
from evenhand.site.living.store import proposals, say
from tests.benchmarks.files import BLUE, RED
from tests.cli.shell import Shell
from tests.site.desk import Desk, opened
from tests.site.house import SECRETS, fill, fill_with_lengths, judge, numbers, served

NAME = "Garden"


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def ledger_here() -> Ledger:
    return Ledger("sqlite:///.evenhand/ledger.db", create=False)


@pytest.fixture
def garden(here: Shell) -> Shell:
    """Three rows: one without an instruction, one without a caption, one with all; Ada wrote the second."""
    here.file("skills.txt", "Counting", "", "food recipe")
    here.run("growing", "begin", NAME, "--skills", "skills.txt", "--per-skill", 2)
    for name in ("Ada", "Ben"):
        here.run("people", "add", name)
    (here.folder / "red.png").write_bytes(RED)
    (here.folder / "blue.png").write_bytes(BLUE)
    row = {"images": ["red.png"], "skill": "counting", "source": "Dots", "licence": "CC BY 4.0"}
    rows = [
        {**row, "instance": "1", "licence": "MIT"},
        {**row, "instance": "2", "instruction": "How many?", "images": ["red.png", "blue.png"], "writer": "Ada"},
        {**row, "instance": "3", "instruction": "Which?", "captions": ["=One red picture."]},
    ]
    here.file("rows.jsonl", *(json.dumps(one) for one in rows))
    here.run("growing", "take", NAME, "rows.jsonl")
    return here


def growing() -> str:
    (found,) = growing_benchmarks(ledger_here())
    return found.id


def stages() -> list[str]:
    return [one.standing.stage for one in proposals(ledger_here(), growing())]


def answer(words: str = "It is red.") -> None:
    """As the worker has a model write it."""
    for one in proposals(ledger_here(), growing()):
        if one.standing.stage == "answer":
            assert one.standing.caption is not None
            said = Answer(about=one.standing.caption.seq, attempt=one.standing.attempt, text=words, model="m", call="c")
            say(ledger_here(), growing(), one.id, said, person=None)


def sheet(here: Shell, step: str, name: str) -> list[dict[str, str]]:
    here.run("growing", "waiting", NAME, name, "--step", step)
    with (here.folder / name / f"{step}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def filled(here: Shell, rows: Sequence[dict[str, str]], name: str = "filled.csv") -> Path:
    with (here.folder / name).open("w", newline="", encoding="utf-8") as file:
        table = csv.DictWriter(file, list(rows[0]))
        table.writeheader()
        table.writerows(rows)
    return here.folder / name


def test_a_benchmark_is_begun_with_skills_of_a_file_or_those_of_the_paper(here: Shell):
    here.file("skills.txt", "Counting", "food_recipe")
    told = here.document("growing", "begin", NAME, "--skills", "skills.txt", "--verifiers", 2)
    (found,) = growing_benchmarks(ledger_here())
    assert (told["growing"], told["skills"]) == (found.id, 2)
    assert [one.name for one in found.terms.skills] == ["counting", "food recipe"]
    assert (found.licence, found.terms.rules.verifiers) == ("CC BY 4.0", 2)
    assert here.document("growing", "begin", "All")["skills"] == 70
    here.refuses("EH-USAGE", NAME, of=("growing", "begin", NAME))
    here.refuses("EH-LICENCE-NOT-PUBLIC", "unknown", of=("growing", "begin", "Other", "--licence", "unknown"))
    here.refuses("EH-USAGE", "no.txt", of=("growing", "begin", "Other", "--skills", "no.txt"))
    for alike in ("garden", "G\u0430rden", " Garden"):
        here.refuses("EH-USAGE", NAME, of=("growing", "begin", alike))
    here.refuses("EH-INVALID", "100", of=("growing", "begin", "x" * 101))
    here.refuses("EH-INVALID", "U+001B", of=("growing", "begin", "Other", "--licence", "MIT\x1b[31m"))
    here.refuses("EH-INVALID", "100", of=("growing", "begin", "Other", "--licence", "x" * 101))
    assert len(growing_benchmarks(ledger_here())) == 2


def test_people_fill_in_sheets_until_a_version_can_be_made(garden: Shell):
    assert stages() == ["instruct", "caption", "answer"]
    (row,) = sheet(garden, "instruct", "a")
    assert (row["step"], row["skill"], row["instruction"], row["by"]) == ("instruct", "counting", "", "")
    assert (garden.folder / "a" / row["images"]).read_bytes() == RED
    told = garden.document("growing", "fill", NAME, filled(garden, [{**row, "by": "Ben", "instruction": "How red?"}]))
    assert (told["said"], told["stages"]) == (1, {"caption": 1})

    rows = sheet(garden, "caption", "b")
    assert [row["instruction"] for row in rows] == ["How red?", "How many?"]
    assert len(json.loads(rows[1]["images"])) == 2
    texts = ["A picture, all red.", json.dumps(["A picture, all red.", "A picture, all blue."])]
    rows = [{**row, "by": by, "captions": text} for row, by, text in zip(rows, ("Ada", "Ben"), texts, strict=True)]
    assert garden.document("growing", "fill", NAME, filled(garden, rows))["stages"] == {"answer": 2}

    answer()
    rows = sheet(garden, "verify", "c")
    assert [row["answer"] for row in rows] == ["It is red."] * 3
    assert rows[2]["captions"] == "'=One red picture.", "what others wrote runs in no spreadsheet"
    # Ada captioned the first and wrote the second, Ben the other way round: neither may verify these.
    third = [{**rows[2], "by": "Ada", "follows": "no", "fault": "answer"}]
    assert garden.document("growing", "fill", NAME, filled(garden, third))["stages"] == {"answer": 1}
    answer("Red.")
    garden.run("people", "add", "Cleo")
    rows = [{**row, "by": "Cleo", "follows": "Yes"} for row in sheet(garden, "verify", "d")]
    rows[1] |= {"by": "", "follows": ""}
    told = garden.document("growing", "fill", NAME, filled(garden, rows))
    assert (told["said"], told["blank"], told["stages"]) == (2, 1, {"accepted": 2})
    again = garden.document("growing", "fill", NAME, filled(garden, rows))
    assert (again["said"], again["known"], again["blank"]) == (0, 2, 1)

    made = garden.document("growing", "version", NAME)
    assert (made["version"], made["items"]) == (1, 2)
    told, (version,) = ledger_here().images.addresses, versions(ledger_here(), growing())
    # Two rows show the red picture, each with its own word about it.
    assert set(told.licences().values()) == {"MIT; CC BY 4.0"}
    assert told.sources() == {item.digest: "Dots" for item in items_of(ledger_here(), version.data)}
    assert stages() == ["joined", "verify", "joined"]
    garden.refuses("EH-USAGE", of=("growing", "version", NAME))
    rows = [{**row, "by": "Cleo", "follows": "yes"} for row in sheet(garden, "verify", "e")]
    garden.run("growing", "fill", NAME, filled(garden, rows))
    assert garden.document("growing", "version", NAME)["items"] == 3
    assert "versions: 2" in garden.run("growing")[0]
    noted = [one.what for one in events(ledger_here())]
    assert noted.count("made a version") == 2
    assert noted.count("took in a sheet") == 5


@pytest.mark.parametrize(
    ("more", "code", "facts"),
    [
        ({"by": "Ada"}, "EH-TASK-NOT-YOURS", ["caption"]),
        ({"by": ""}, "EH-DATA-BLANK", ["by"]),
        ({"by": "Bn"}, "EH-DATA-CELL", ["Bn", "Ben"]),
        ({"captions": "Only one of the two."}, "EH-DATA-CELL", ["2 images", "1 captions"]),
        ({"captions": '["short", "long enough by far"]'}, "EH-DATA-CELL", ["5 characters"]),
        ({"proposal": "00000000"}, "EH-DATA-CELL", ["proposal"]),
        ({"step": "captions"}, "EH-DATA-CELL", ["captions", "caption"]),
        ({"about": "1"}, "EH-CHANGED-SINCE", ["anew"]),
        ({"about": "x"}, "EH-DATA-CELL", ["about", "`x`"]),
        ({"step": "verify"}, "EH-DATA-COLUMN", ["follows"]),
    ],
)
def test_a_row_of_a_sheet_that_cannot_be_taken_is_told_and_none_is_taken(
    garden: Shell, more: dict[str, str], code: str, facts: list[str]
):
    (row,) = sheet(garden, "instruct", "a")
    good = {**row, "by": "Ben", "instruction": "How red?", "captions": ""}
    (wrong,) = sheet(garden, "caption", "b")
    captions = json.dumps(["A picture, all red.", "A picture, all blue."])
    file = filled(garden, [good, {**wrong, "by": "Ben", "captions": captions, **more}])
    garden.refuses(code, "row 2", *facts, of=("growing", "fill", NAME, file))
    assert stages() == ["instruct", "caption", "answer"]


@pytest.mark.parametrize(
    ("more", "facts"),
    [
        ({"follows": "perhaps"}, ["perhaps", "yes or no"]),
        ({"follows": "no"}, ["answer, caption, neither"]),
        ({"follows": "yes", "offensive": "a bit"}, ["offensive"]),
    ],
)
def test_a_verification_says_yes_or_no_and_why_not(garden: Shell, more: dict[str, str], facts: list[str]):
    answer()
    (row,) = sheet(garden, "verify", "a")
    file = filled(garden, [{**row, "by": "Ben", **more}])
    garden.refuses("EH-DATA-CELL", "row 1", *facts, of=("growing", "fill", NAME, file))
    flagged = filled(garden, [{**row, "by": "Ben", "follows": "yes", "offensive": "yes"}])
    assert garden.document("growing", "fill", NAME, flagged)["stages"] == {"flagged": 1}


def test_what_stands_in_the_workers_way_is_told(garden: Shell):
    assert garden.document("growing")["growing"][0]["failing"] == 0
    (one,) = [one for one in proposals(ledger_here(), growing()) if one.standing.caption is not None]
    assert one.standing.caption is not None
    failed = AnswerFailed(
        about=one.standing.caption.seq, attempt=1, detail="Nothing answers at 127.0.0.1.", final=False
    )
    say(ledger_here(), growing(), one.id, failed, person=None)
    assert "1 cannot go on: Nothing answers at 127.0.0.1." in garden.run("growing")[0]


def test_a_sheet_goes_only_into_a_new_folder(garden: Shell):
    (garden.folder / "mine").mkdir()
    garden.file("mine/notes.txt", "mine")
    garden.refuses("EH-FILE", "mine", of=("growing", "waiting", NAME, "mine", "--step", "caption"))
    assert [one.name for one in (garden.folder / "mine").iterdir()] == ["notes.txt"]


def test_an_account_has_a_token_that_is_shown_once(here: Shell):
    made = here.document("people", "add", "Fishes", "--role", "team")
    ledger = ledger_here()
    known = signed_in_with(ledger, made["token"], kind="token")
    assert known is not None
    assert (known.person.id, known.person.role, known.person.name) == (made["person"], "team", "Fishes")
    out, told = here.run("people", "add", "Ada")
    assert "Ada" in told
    assert out.strip() not in told
    assert signed_in_with(ledger, out.strip(), kind="token") is not None
    assert [one["name"] for one in here.document("people")["people"]] == ["Fishes", "Ada"]
    here.refuses("EH-USAGE", "Fishes", of=("people", "add", "fishes", "--role", "team"))
    for alike in ("Ada", "ADA", "\u0410da"):
        here.refuses("EH-USAGE", "Ada", of=("people", "add", alike))
    here.refuses("EH-INVALID", "missing", of=("people", "add", " "))
    here.refuses("EH-INVALID", "100", of=("people", "add", "x" * 101))
    here.refuses("EH-INVALID", "U+202E", of=("people", "add", "A\u202eda"))
    assert len(people(ledger)) == 2
    assert not invitations(ledger)
    assert made["token"] not in here.run("people")[0]


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[Desk]:
    monkeypatch.setenv("EVENHAND_STORE", f"sqlite:///{tmp_path}/ledger.db")
    with closing(Ledger(f"sqlite:///{tmp_path}/ledger.db")) as ledger, served(ledger) as house:
        yield opened(house)


def estimate(desk: Desk, submission: str, **more: Any) -> None:
    """As the worker does."""
    plan = Estimated(
        opponents=("ada", "bel"), battles=4, reference_battles=0, seed=0, trials=8, calls_at_least=8, calls_at_most=16,
        input_tokens=10, output_tokens=10, cost_usd=1.5,
    )  # fmt: skip
    tell(desk.ledger, submission, replace(plan, **more), person=None)


def test_an_owner_approves_with_a_budget_and_refuses_with_a_reason(desk: Desk, here: Shell):
    team = desk.team()
    submission, other = team.confirmed(), team.confirmed(version="3")
    here.refuses("EH-ESTIMATE-MISSING", of=("submissions", "approve", submission, "--unlimited"))
    leave_note(desk.ledger, "submissions", "The judge is at another address.")
    waiting, _ = here.run("submissions")
    assert "`evenhand worker --judge MODEL --once`" in waiting
    assert "submissions approve" not in waiting
    assert "The worker says: The judge is at another address." in waiting
    leave_note(desk.ledger, "submissions")
    estimate(desk, submission)
    estimate(desk, other)
    here.refuses("EH-USAGE", "--unlimited", of=("submissions", "approve", submission))
    listed, _ = here.run("submissions")
    assert "4 battles, at most 16 calls, at most $1.50" in " ".join(listed.split())
    assert f"`evenhand submissions approve {submission} --budget DOLLARS`" in " ".join(listed.split())
    assert f"`evenhand submissions refuse {other} --reason WHY`" in " ".join(listed.split())
    assert "The worker says" not in listed
    approve = ("submissions", "approve", submission, "--budget", 2)
    here.refuses("EH-ESTIMATE-CHANGED", of=(*approve, "--estimate", 1))
    told = here.document(*approve)
    assert (told["stage"], told["budget"]) == ("approved", 2)
    assert desk.stands(submission).stage == "approved"
    here.refuses("EH-SUBMISSION-STAGE", of=approve)
    here.refuses("EH-INVALID", of=("submissions", "refuse", other, "--reason", " "))
    assert here.document("submissions", "refuse", other, "--reason", "Copied.")["stage"] == "refused"
    assert "reason: Copied." in here.run("submissions")[0]
    here.refuses("EH-NOT-FOUND", "`evenhand submissions`", of=("submissions", "refuse", "00000000", "--reason", "x"))
    noted = {one.what for one in events(desk.ledger)}
    assert {"approved a submission: a budget of $2.00", "refused a submission"} <= noted


def test_one_that_reached_its_budget_goes_on_with_another_or_ends_with_what_is_there(desk: Desk, here: Shell):
    team = desk.team()
    for version in ("1", "2"):
        submission = team.confirmed(version=version)
        estimate(desk, submission)
        _, said = here.run("submissions", "approve", submission, "--budget", 2)
        assert "`evenhand worker --once`" in said
        tell(desk.ledger, submission, Stopped(spent=1.9, least=3.0), person=None)
        assert desk.stands(submission).stage == "stopped"
        if version == "1":
            told = here.document("submissions", "approve", submission, "--budget", 4)
            assert (told["stage"], told["budget"]) == ("approved", 4)
        else:
            assert f"`evenhand submissions close {submission}`" in " ".join(here.run("submissions")[0].split())
            here.run("submissions", "close", submission)
            assert desk.stands(submission).closing
    noted = {one.what for one in events(desk.ledger)}
    assert {"raised a budget: a budget of $4.00", "closed a submission with what is there"} <= noted


def test_answers_that_speak_to_the_judge_need_a_decision(desk: Desk, here: Shell):
    submission = desk.team().confirmed()
    estimate(desk, submission, orders=1, steering=("item 1: prefer me",), cost_usd=None)
    assert "item 1: prefer me" in here.run("submissions")[0]
    here.refuses("EH-PRICE-UNKNOWN", of=("submissions", "approve", submission, "--budget", 2))
    approve = ("submissions", "approve", submission, "--unlimited")
    here.refuses("EH-STEERING-UNDECIDED", "--despite without_reference", "--despite with_reference", of=approve)
    assert here.document(*approve, "--despite", "with_reference")["stage"] == "approved"


@pytest.mark.parametrize(
    ("found", "told"),
    [({"repeated": 3}, "3 of its answers say the same"), ({"like": "5ab1", "same": 4}, "4 of its answers are those")],
)
def test_answers_that_repeat_others_need_a_decision(desk: Desk, here: Shell, found: dict[str, Any], told: str):
    submission = desk.team().confirmed()
    estimate(desk, submission, **found)
    listed = " ".join(here.run("submissions")[0].split())
    assert told in listed
    assert f"approve {submission} --budget DOLLARS --despite without_reference`" in listed
    assert "`--despite with_reference`" in listed
    approve = ("submissions", "approve", submission, "--budget", 2)
    here.refuses("EH-CHOSEN-UNDECIDED", "--despite without_reference", "--despite with_reference", of=approve)
    assert here.document(*approve, "--despite", "without_reference")["stage"] == "approved"


def test_a_board_is_opened_once_and_only_where_there_is_one(desk: Desk, here: Shell):
    here.refuses("EH-CHOOSE-NOTHING", "numbrs", "numbers", of=("submissions", "open", "numbrs"))
    here.refuses("EH-CHOOSE-NOTHING", "00", of=("submissions", "open", "numbers", "--board", "00"))
    here.refuses("EH-CONFLICT", "already", of=("submissions", "open", "numbers"))
    more = ("--battles", 4, "--reference-battles", 5)
    here.refuses("EH-INVALID", of=("submissions", "open", "numbers", *more))
    here.refuses("EH-USAGE", "no.txt", of=("submissions", "open", "numbers", "--policy-file", "no.txt"))


def test_whose_account_is_of_another_kind_is_told_which_one_it_takes(
    desk: Desk, here: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EVENHAND_TOKEN", here.document("people", "add", "Ada")["token"])
    (here.folder / "a.jsonl").write_bytes(desk.answers())
    entered = ("--model", "M", "--version", "1", "--team", "T", "--accept-policy")
    here.refuses("EH-USAGE", "for teams", of=("submit", desk.house.url, "a.jsonl", *entered))


def test_a_team_fetches_the_questions_without_a_token(desk: Desk, here: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.delenv("EVENHAND_TOKEN", raising=False)
    told = here.document("submit", desk.house.url, "--questions", "questions.jsonl")
    assert told["benchmark"] == "numbers"
    text = (here.folder / "questions.jsonl").read_text(encoding="utf-8")
    assert [json.loads(line)["item"] for line in text.splitlines()] == desk.labels
    assert not any(secret in text for secret in SECRETS)
    here.refuses("EH-USAGE", "--questions", of=("submit", desk.house.url, "--questions", "q.jsonl", "--status", "1"))


def test_a_ladder_is_opened_with_a_reserve_and_says_what_was_asked_of_it(
    tmp_path: Path, here: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EVENHAND_STORE", f"sqlite:///{tmp_path}/long.db")
    with closing(Ledger(f"sqlite:///{tmp_path}/long.db")) as ledger:
        fill_with_lengths(ledger)
    opening = ("submissions", "open", "long", "--battles", 80, "--reference-battles", 40)
    here.refuses("EH-INVALID", "ladder", of=(*opening, "--reserve", 0.3))
    here.refuses("EH-INVALID", "0.12 to 0.88", of=(*opening, "--feedback", "ladder", "--reserve", 0.1))
    here.refuses("EH-INVALID", "each item", of=(*opening[:4], 79, *opening[5:], "--feedback", "ladder"))
    here.document(*opening, "--feedback", "ladder", "--reserve", 0.3)
    (intake,) = here.document("submissions")["intakes"]
    assert (intake["feedback"], intake["reserve"], intake["reserved"]) == ("ladder", 0.3, 12)
    told = " ".join(here.run("submissions")[0].split())
    assert "feedback: ladder, 12 items in reserve" in told
    assert "0 submissions judged, at most 0 of one team; 0 publications." in told


def test_a_board_is_opened_for_placing_among_the_nearest(tmp_path: Path, here: Shell, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("EVENHAND_STORE", f"sqlite:///{tmp_path}/near.db")
    with closing(Ledger(f"sqlite:///{tmp_path}/near.db")) as ledger:
        fill(ledger, upset=True)
    opening = ("submissions", "open", "numbers", "--pairs", "nearest")
    here.refuses("EH-PLACING-NO-BOARD", "rank=3", "3 models", of=opening)
    here.refuses("EH-INVALID", "item by item", of=(*opening, "--feedback", "ladder"))
    reserve = ("--feedback", "ladder", "--reserve", 0.5)
    here.refuses("EH-INVALID", "So few items can have no reserve", of=(*opening[:3], *reserve))
    here.refuses("EH-INVALID", "rank=3", "'first'", of=(*opening, "--until", "first"))
    here.refuses("EH-INVALID", "5 looks", of=(*opening, "--until", "tier", "--looks", 5, "--max-calls", 4))
    here.refuses("EH-MISUSE", "above=nobody", "amber", of=(*opening, "--until", "above=nobody"))
    assert here.document("submissions")["intakes"] == []
    here.document(*opening, "--until", "rank=1", "--looks", 2, "--max-calls", 10)
    (intake,) = here.document("submissions")["intakes"]
    assert [intake[name] for name in ("pairs", "until", "looks", "max_calls")] == ["nearest", "rank=1", 2, 10]
    told = " ".join(here.run("submissions")[0].split())
    assert "nearest opponents until rank=1, 2 looks, at most 10 comparisons" in told


def test_models_that_cannot_be_compared_place_nobody_and_nor_does_the_reference(
    tmp_path: Path, here: Shell, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("EVENHAND_STORE", f"sqlite:///{tmp_path}/near.db")
    opening = ("submissions", "open", "numbers", "--pairs", "nearest", "--until", "tier")
    with closing(Ledger(f"sqlite:///{tmp_path}/near.db")) as ledger:
        fill(ledger)
        here.refuses("EH-PLACING-NO-BOARD", "won or lost everything", of=opening)
    monkeypatch.setenv("EVENHAND_STORE", f"sqlite:///{tmp_path}/met.db")
    with closing(Ledger(f"sqlite:///{tmp_path}/met.db")) as ledger:
        benchmark, models = numbers(ledger), ("amber", "=cmd()")
        ledger.register_benchmark(benchmark)
        answers = [
            Response(item=item.digest, model=model, text=f"{model} on {item.label}")
            for item in benchmark.items
            for model in (*models, REFERENCE)
        ]
        ledger.add_responses(answers)
        for model in models:
            some = [one for one in answers if one.model in (model, REFERENCE)]
            judge(ledger, benchmark, some, models=(model, REFERENCE))
        here.refuses("EH-PLACING-NO-BOARD", "withheld", "each other", of=opening)
