"""The report of a Grade Score as tables, a page and a document."""

import csv
import io
import json
from pathlib import Path
from typing import Any, get_args

import pytest
from rich.console import Console

from evenhand.format.charts import ChartError
from evenhand.format.sheet import written
from evenhand.reports.grade.chart import plot
from evenhand.reports.grade.claims import Answer
from evenhand.reports.grade.page import print_report
from evenhand.reports.grade.report import GradeReport
from evenhand.reports.grade.sheets import long_sheet, tables
from tests.refusals import refused
from tests.reports.grade_cells import ROWS, cell

ONE = GradeReport(source="ants", cells=(cell(15, unread=3),), left_out={"one_option": 4})
SEVERAL = GradeReport(
    source="ants",
    cells=tuple(
        cell(steady, judge=judge, prompt=prompt, unrelated=unrelated)
        for judge, steady in (("openai/gpt-4o", 20), ("local/smollm2", 5))
        for prompt in (1, 3)
        for unrelated in (False, True)
    ),
)


def page(report: GradeReport, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width, highlight=False)
    print_report(report, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_document_of_one_cell_is_flat():
    document = json.loads(json.dumps(ONE.as_json(), allow_nan=False))
    assert document["schema"] == 1
    assert "cells" not in document
    assert (document["judge"], document["prompt"], document["unrelated"]) == ("openai/gpt-4o", 1, False)
    assert document["grade_score"] == pytest.approx(15 / 27)
    assert document["grade_score_n"] == 27
    assert {"grade_score_lower", "llm_score", "choice_score", "chance", "above_chance", "positions"} <= document.keys()
    assert document["one_option"] == document["left_out"]["one_option"] == 4
    assert document["coverage"] == {"wanted": 90, "with_verdict": 87, "reasons": {"refused": 3}}
    assert document["rows"][-1]["selected_positions"] == [None, 0, 0]
    assert document["rows"][-1]["grade_score"] is None
    assert document["findings"] == []


def test_several_cells_stand_under_cells_with_the_findings_beside_them():
    document: dict[str, Any] = json.loads(json.dumps(SEVERAL.as_json(), allow_nan=False))
    assert "grade_score" not in document
    cells = document["cells"]
    assert [(one["judge"], one["prompt"], one["unrelated"]) for one in cells][:2] == [
        ("openai/gpt-4o", 1, False),
        ("openai/gpt-4o", 1, True),
    ]
    assert cells[1]["rows"][0]["unrelated"] == 3
    assert cells[0]["unrelated_removed_from_scoring"] is None
    assert cells[1]["unrelated_removed_from_scoring"]["grade_score"] == pytest.approx(2 / 3)
    assert {one["section"] for one in document["findings"]} == {"6.1", "6.2", "6.3", "6.4", "6.5"}


def test_the_three_tables_have_a_row_for_each_prompt_and_way():
    grade, llm, choice = tables(SEVERAL, intervals=False)
    assert grade.headings == ("", "openai/gpt-4o", "local/smollm2")
    assert grade.rows == (
        ("prompt 1", "0.667", "0.167"),
        ("prompt 1, unrelated option", "0.667", "0.167"),
        ("prompt 3", "0.667", "0.167"),
        ("prompt 3, unrelated option", "0.667", "0.167"),
    )
    assert llm.rows[0] == ("prompt 1", "0.667", "0.167")
    assert choice.rows[1] == ("prompt 1, unrelated option", f"{(20 + 10 / 4) / 30:.3f}", f"{(5 + 25 / 4) / 30:.3f}")
    assert "Table 3" in choice.title
    assert tables(SEVERAL)[0].rows[0][1].startswith("0.667 [0.4")


def test_a_cell_that_was_not_asked_is_blank():
    lacking = GradeReport(source="ants", cells=(cell(5), cell(5, prompt=2, judge="b")))
    assert tables(lacking, intervals=False)[0].rows == (("prompt 1", "0.167", "–"), ("prompt 2", "–", "0.167"))


def test_latex_and_csv():
    assert r"prompt 1, unrelated option & 0.667" in written(tables(SEVERAL, intervals=False), "latex")
    rows = list(csv.DictReader(io.StringIO(written((long_sheet(SEVERAL),), "csv"))))
    assert len(rows) == 8
    assert (rows[1]["judge"], rows[1]["prompt"], rows[1]["unrelated"]) == ("openai/gpt-4o", "1", "yes")
    assert float(rows[1]["grade_score"]) == pytest.approx(2 / 3, abs=1e-5)
    assert float(rows[1]["unrelated_pick_rate"]) == pytest.approx(10 / 4 / ROWS, abs=1e-5)
    assert rows[0]["unrelated_pick_rate"] == rows[0]["human_agreement"] == ""
    assert (rows[0]["rows"], rows[0]["incomplete_rows"], rows[0]["trials"]) == ("30", "0", "90")


def test_the_page_tells_scores_chance_places_coverage_and_what_is_left_out():
    said = " ".join(page(ONE).split())
    assert "Grade Score 0.556" in said
    assert "0.580 " in said  # what a random judge scores with three options
    assert "27 of 30 rows scored; 87 of 90 trials have a choice (3 refused)." in said
    assert "3 rows have a showing without a choice and no score." in said
    assert "Rows left out: 4 with fewer than two options." in said
    assert "0.500 and 0.5" in said
    assert "What the paper found" not in said


def test_the_page_draws_a_bar_for_each_place():
    bars = [line for line in page(GradeReport(source="ants", cells=(cell(0),))).splitlines() if "█" in line]
    assert len(bars) == 1
    assert bars[0].count("█") == 20


def test_the_page_of_several_cells_begins_with_the_findings_and_then_has_the_tables():
    said = page(SEVERAL)
    assert (
        said.index("What the paper found") < said.index("Holm's method") < said.index("Table 1") < said.index("Table 3")
    )
    assert "The unrelated option was picked in 8 % of the trials read" in " ".join(said.split()).replace("\u00a0", " ")
    assert any(answer in said for answer in get_args(Answer))


@pytest.mark.parametrize("report", [ONE, SEVERAL])
def test_no_line_is_wider_than_the_terminal(report: GradeReport):
    assert max(map(len, page(report).splitlines())) <= 80


def test_a_judges_name_does_not_steer_the_terminal():
    assert "\x1b" not in page(GradeReport(source="[bold]ants", cells=(cell(5, judge="a\x1b[2J"),)))


def test_the_tables_are_drawn_as_heat_maps(tmp_path: Path):
    plot(SEVERAL, tmp_path / "grades.svg")
    drawn = (tmp_path / "grades.svg").read_text(encoding="utf-8")
    assert all(
        words in drawn for words in ("Grade Score", "Choice Score", "openai/gpt-4o", "0.667", "unrelated option")
    )


def test_nothing_scored_draws_nothing(tmp_path: Path):
    with refused(ChartError, "score", code="EH-CHART-EMPTY"):
        plot(GradeReport(source="ants", cells=(cell(0, unread=ROWS),)), tmp_path / "grades.svg")
    assert not (tmp_path / "grades.svg").exists()
