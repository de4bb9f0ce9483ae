"""Files of battles all the way: a report of them without a ledger, of several raters, and of what an export wrote."""

import csv
import re
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.domain.rater import Rater
from evenhand.ledger.store.record import Ledger
from tests.cli.shell import Shell
from tests.reports.report_scene import numbered
from tests.reports.test_report_cases import amber_always, first_always

HEADER = "item,rater,rater_kind,model_a,model_b,winner"


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    return Shell(tmp_path, monkeypatch, capsys)


def page(shell: Shell, name: str = "report.html") -> str:
    text = (shell.folder / name).read_text(encoding="utf-8")
    assert "<script" not in text
    assert text.rstrip().endswith("</html>")
    assert "&lt;/body" not in text
    return text.replace("&#39;", "'").replace("\u00a0", " ")


def test_files_of_two_people_make_a_report_with_their_agreement_and_where_they_part(shell: Shell):
    ann = shell.file("ann.csv", "item,model_a,model_b,winner", *(f"q{n},X,Y,X" for n in range(8)))
    bob = shell.file("bob.csv", "item,model_a,model_b,winner", *(f"q{n},X,Y,{'Y' if n < 2 else 'X'}" for n in range(8)))
    made = shell.document("report", ann, bob)
    assert not (shell.folder / ".evenhand").exists()
    assert [one["rows"] for one in made["files"]] == [8, 8]
    assert (made["board"]["votes"], made["board"]["items"]) == (16, 8)
    assert {one["item"] for one in made["read_first"]} == {"q0", "q1"}
    assert made["read_first"][0]["reasons"][0] == "ann chose X, bob Y"
    assert made["people"] == shell.document("align", ann, bob)["conclusions"][0]
    text = page(shell)
    assert made["people"] in text
    assert "ann chose X, bob Y" in text
    assert "<h1>2 models, judged by 2 raters " in text
    assert "From ann.csv and bob.csv." in text
    assert text.index("Worth reading first") < text.index("The board</h2>")


def test_a_judge_in_files_stands_beside_the_people_in_them(shell: Shell):
    rows = [
        f"q{n},{who},{kind},X,Y,{'X' if (n % 2 if who == 'gpt' else n % 4) else 'Y'}"
        for n in range(24)
        for who, kind in (("ann", "human"), ("bob", "human"), ("gpt", "model"))
    ]
    path = shell.file("all.csv", HEADER, *rows)
    made = shell.document("report", path)
    assert made["people"].startswith("gpt agrees with people less often than people agree with each other: 75 %")
    assert made["people"] in made["trust"]
    assert made["read_first"][0]["item"] in {f"q{n}" for n in range(24) if n % 4 == 2}
    assert "gpt chose Y, people X" in made["read_first"][0]["reasons"]
    text = page(shell)
    assert "Beside people" in text
    assert "<h1>2 models, judged by 2 people " in text
    shell.run("report", path, "--raters", "gpt")
    assert "<h1>2 models, judged by gpt " in page(shell)


def test_rows_whose_names_are_others_and_a_rater_shown_both_orders(shell: Shell):
    rows = [f"{n},{a},{b},{word}" for n in range(6) for a, b, word in (("X", "Y", "A"), ("Y", "X", "A"))]
    path = shell.file("b.csv", "question,left,right,choice", *rows)
    how = ("--columns", "question=item,choice=winner", "--winner-words", "A=model_a")
    made = shell.document("report", path, *how)
    assert made["board"]["reliability"]["swap_consistency"] == 0
    assert made["read_first"][0]["reasons"] == ["the answer shown first was chosen in both orders"]
    assert "not to be trusted" in made["trust"]
    out, _ = shell.run("report", path, *how, "--format", "csv")
    assert {"table": "The files", "row": "b.csv", "column": "rows", "value": "12"} in list(
        csv.DictReader(out.splitlines())
    )


def test_a_win_against_the_ratings_is_worth_reading(shell: Shell):
    rows = [f"{n},ann,human,X,Y,{'Y' if n == 17 else 'X'}" for n in range(30)]
    made = shell.document("report", shell.file("b.csv", HEADER, *rows))
    assert made["read_first"] == [
        {"item": "17", "models": ["X", "Y"], "reasons": ["Y won, which the ratings expect 3 times in 100"]}
    ]


def test_flags_of_a_ledger_and_of_files_are_not_mixed(shell: Shell):
    path = shell.file("b.csv", HEADER, "1,ann,human,X,Y,X")
    shell.refuses("EH-USAGE", "--judge", "b.csv", of=("report", path, "--judge", "x"))
    shell.refuses("EH-USAGE", "--winner-words", of=("report", "--winner-words", "A=tie"))
    assert "none.csv" in shell.refused("report", "none.csv")


def test_what_export_wrote_is_ranked_reported_and_aligned(shell: Shell):
    (shell.folder / ".evenhand").mkdir()
    ledger = Ledger("sqlite:///.evenhand/ledger.db")
    numbered(6).judged(ledger, first_always)
    person = Rater(kind="human", name="ann")
    replace(numbered(6), rater=person).judged(ledger, amber_always)
    for judge, name in (("openai/judge", "judge.csv"), ("people", "ann.jsonl")):
        shell.run("export", "--battles", "--judge", judge, "--out", name)
    board = shell.document("rank", "--judge", "openai/judge")
    of_file = shell.document("rank", "judge.csv")
    assert of_file["reliability"]["swap_consistency"] == board["reliability"]["swap_consistency"] == 0
    assert "not to be trusted" in shell.run("rank", "judge.csv")[0]
    (rater,) = shell.document("align", "judge.csv", "ann.jsonl")["raters"]
    (same,) = shell.document("align")["raters"]
    assert (rater["agreement"], rater["both_orders"]) == (same["agreement"], same["both_orders"])
    made = shell.document("report", "judge.csv", "ann.jsonl")
    assert made["people"] == rater["conclusion"]


@pytest.mark.slow
def test_the_report_of_a_ledger_sets_its_judge_beside_people_who_judged_the_same(shell: Shell):
    (shell.folder / ".evenhand").mkdir()
    ledger = Ledger("sqlite:///.evenhand/ledger.db")
    alone = numbered(6)
    alone.judged(ledger, first_always)
    assert shell.document("report")["people"] is None
    for name in ("Ann Secret", "Bob Secret"):
        replace(alone, rater=Rater(kind="human", name=name)).judged(ledger, amber_always)
    made = shell.document("report", "--judge", "openai/judge", "--force")
    assert made["people"] == shell.document("align")["raters"][0]["conclusion"]
    first = made["read_first"][0]
    assert first["reasons"] == ["the answer shown first was chosen in both orders"]
    text = (shell.folder / "report.html").read_text(encoding="utf-8").replace("\u00a0", " ")
    opening, rest = text.split("</section>", 1)
    assert (opening.count(made["people"]), rest.count(made["people"])) == (1, 1)
    assert "measure order only" not in text
    assert text.count("Worth reading first") == 1
    assert text.index("Worth reading first") < text.index('id="board"')
    assert "Secret" not in text
    unfolded = re.sub(r"<(details|svg).*?</\1>", "", text, flags=re.DOTALL)
    assert "Student" in text
    assert not re.search("Student|sandwich|Krippendorff|Bonferroni", unfolded)
    links = re.findall(r'<a href="#case=(\w+)">', text)
    assert len(links) == 6
