"""Claims about `evenhand growing`: the owner's settings, and rows of other datasets, from the command line."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import Invite, invite, join
from evenhand.site.living.settings import (
    Example,
    LivingTerms,
    NewBenchmark,
    Skill,
    begin_growing,
    find_growing,
)
from evenhand.site.living.store import proposals
from tests.benchmarks.files import BLUE, RED
from tests.cli.shell import Shell

SKILLS = ("counting", "food recipe")


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


@pytest.fixture
def growing(here: Shell) -> str:
    ledger = Ledger("sqlite:///.evenhand/ledger.db")
    terms = LivingTerms(skills=tuple(Skill(name=one, example=Example(instruction="i", output="o")) for one in SKILLS))
    return begin_growing(ledger, NewBenchmark(name="Garden", licence="CC BY 4.0", base=None, terms=terms), by="olga")


def ledger_here() -> Ledger:
    return Ledger("sqlite:///.evenhand/ledger.db", create=False)


def test_the_owner_sets_how_many_instructions_a_person_writes(here: Shell, growing: str):
    assert "1 instruction of each person" in here.run("growing")[0]
    _, told = here.run("growing", "set", "Garden", "--per-skill", 2)
    assert "2 instructions" in told
    found = find_growing(ledger_here(), growing)
    assert found is not None
    assert (found.terms.per_skill, [one.name for one in found.terms.skills]) == (2, list(SKILLS))
    (listed,) = here.document("growing")["growing"]
    assert (listed["name"], listed["skills"], listed["per_skill"], listed["proposals"]) == ("Garden", 2, 2, {})


def test_a_name_that_does_not_grow_is_refused_with_those_that_do(here: Shell, growing: str):
    here.refuses("EH-USAGE", "Gardn", "Garden", of=("growing", "set", "Gardn", "--per-skill", 2))
    here.run("growing", "set", "Garden", "--per-skill", 0, expect=2)


def row(number: int, **more: Any) -> dict[str, Any]:
    given = {
        "images": ["red.png"],
        "skill": "Counting",
        "instruction": f"How many dots are in {number}?",
        "source": "Dots",
        "licence": "CC BY 4.0",
        "instance": f"dots-{number}",
    }
    return {name: value for name, value in {**given, **more}.items() if value is not None}


def written(here: Shell, *rows: dict[str, Any], name: str = "rows.jsonl") -> Path:
    (here.folder / "red.png").write_bytes(RED)
    (here.folder / "blue.png").write_bytes(BLUE)
    return here.file(name, *(json.dumps(one) for one in rows))


def test_each_row_becomes_a_proposal_that_waits_for_what_it_lacks(here: Shell, growing: str):
    file = written(
        here,
        row(1),
        row(2, instruction=None),
        row(3, images=["blue.png", "red.png"], captions=["A blue picture.", "A red picture."]),
        row(4, images=["https://images.example/a.png", "red.png"], skill="food_recipe", mood="gay"),
    )
    out, told = here.run("growing", "take", "Garden", file)
    assert out == ""
    assert "4 rows" in told
    assert "`mood`" in told
    found = [one.standing for one in proposals(ledger_here(), growing)]
    assert [one.stage for one in found] == ["caption", "instruct", "answer", "image"]
    assert [one.asked.skill for one in found] == ["counting", "counting", "counting", "food recipe"]
    third = found[2]
    assert third.caption is not None
    assert third.caption.text == "Image 1: A blue picture.\nImage 2: A red picture."
    assert [ledger_here().images.get(one) for one in third.images] == [BLUE, RED]
    assert {(one.asked.source, one.asked.licence) for one in found} == {("Dots", "CC BY 4.0")}
    assert [one.asked.instance for one in found] == [f"dots-{number}" for number in range(1, 5)]
    assert here.document("growing")["growing"][0]["proposals"]["instruct"] == 1


def test_taking_the_same_rows_in_again_adds_only_those_that_are_new(here: Shell, growing: str):
    first = here.document("growing", "take", "Garden", written(here, row(1), row(2, instruction=None)))
    assert (first["added"], first["known"], first["stages"]) == (2, 0, {"caption": 1, "instruct": 1})
    again = here.document("growing", "take", "Garden", written(here, row(1), row(2, instruction=None), row(3)))
    assert (again["added"], again["known"]) == (1, 2)
    assert len(proposals(ledger_here(), growing)) == 3


def test_a_dry_run_takes_in_nothing(here: Shell, growing: str):
    told = here.document("growing", "take", "Garden", written(here, row(1)), "--dry-run")
    assert (told["dry_run"], told["added"]) == (True, 1)
    assert not proposals(ledger_here(), growing)
    assert not list(ledger_here().images.digests())


@pytest.mark.parametrize(
    ("wrong", "code", "facts"),
    [
        ({"skill": "countin"}, "EH-DATA-CELL", ["countin", "counting"]),
        ({"source": None}, "EH-DATA-COLUMN", ["source"]),
        ({"instance": " "}, "EH-DATA-BLANK", ["instance"]),
        ({"licence": None}, "EH-DATA-COLUMN", ["licence"]),
        ({"licence": "all rights reserved"}, "EH-LICENCE-NOT-PUBLIC", ["all rights reserved"]),
        ({"images": None}, "EH-DATA-COLUMN", ["images"]),
        ({"images": []}, "EH-DATA-IMAGE", ["0 images"]),
        ({"images": ["red.png"] * 11}, "EH-DATA-IMAGE", ["11 images"]),
        ({"images": ["green.png"]}, "EH-DATA-IMAGE", ["green.png"]),
        ({"images": ["../red.png"]}, "EH-DATA-IMAGE", ["../red.png"]),
        ({"images": ["http://127.0.0.1/a.png"]}, "EH-DATA-IMAGE", ["127.0.0.1"]),
        ({"images": ["rows.jsonl"]}, "EH-DATA-IMAGE", ["rows.jsonl"]),
        ({"instruction": "x" * 2001}, "EH-DATA-CELL", ["2,001"]),
        ({"instruction": None, "captions": ["A red picture."]}, "EH-DATA-BLANK", ["caption"]),
        ({"captions": ["A red picture.", "And another."]}, "EH-DATA-CELL", ["2 captions", "1 image"]),
        ({"captions": ["thin"]}, "EH-DATA-CELL", ["4 characters"]),
        ({"writer": "Nobody"}, "EH-DATA-CELL", ["Nobody"]),
        ({"instance": "dots-1"}, "EH-DATA-TWICE", ["dots-1", "row 1"]),
    ],
)
def test_a_row_that_cannot_be_taken_in_is_told_and_none_is_taken_in(
    here: Shell, growing: str, wrong: dict[str, Any], code: str, facts: list[str]
):
    file = written(here, row(1), row(2), row(3, **wrong))
    here.refuses(code, "row 3", *facts, of=("growing", "take", "Garden", file))
    assert not proposals(ledger_here(), growing)


def test_all_bad_rows_are_told_at_once(here: Shell, growing: str):
    file = written(here, row(1, skill="?"), row(2), row(3, licence="unknown"), row(4, images=["no.png"]))
    here.refuses("EH-ROWS", "row 1", "row 3", "row 4", of=("growing", "take", "Garden", file))


def test_an_instance_with_another_content_than_before_is_refused(here: Shell, growing: str):
    here.run("growing", "take", "Garden", written(here, row(1)))
    file = written(here, row(2), row(1, instruction="Something else?", licence="CC0 1.0"))
    here.refuses("EH-DATA-TWICE", "row 2", "instruction and licence", of=("growing", "take", "Garden", file))
    assert len(proposals(ledger_here(), growing)) == 1


def test_a_table_of_text_has_its_lists_as_json(here: Shell, growing: str):
    written(here)
    with (here.folder / "rows.csv").open("w", newline="", encoding="utf-8") as file:
        table = csv.writer(file)
        table.writerow(["image", "category", "instruction", "caption", "source", "license", "instance"])
        several = ('["red.png", "blue.png"]', '["A red one.", "A blue one.", NaN]')
        table.writerow([several[0], "counting", "Which?", several[1], "D", "CC0", "1"])
        table.writerow(["red.png", "food recipe", "", "", "D", "CC0", "2"])
    assert here.document("growing", "take", "Garden", "rows.csv")["stages"] == {"answer": 1, "instruct": 1}


def test_a_row_counts_for_its_writer_as_far_as_they_are_asked(here: Shell, growing: str):
    ledger = ledger_here()
    ada = join(ledger, invite(ledger, Invite(role="annotator")).token, name="Ada").person
    file = written(here, row(1, writer="Ada"), row(2, writer="Ada"))
    here.refuses("EH-DATA-CELL", "row 2", "--per-skill", of=("growing", "take", "Garden", file))
    here.run("growing", "set", "Garden", "--per-skill", 2)
    here.run("growing", "take", "Garden", file)
    found = [one.standing for one in proposals(ledger_here(), growing)]
    assert [(one.instruction.by, one.asked.round) for one in found] == [(ada.id, 1), (ada.id, 2)]
