"""Rows of a file without a winner or a verdict are judgements without a verdict: kept, counted, and never a tie."""

from pathlib import Path

import pytest

from evenhand.api.reporting import report_on_files
from evenhand.exchange.battles_file import read_battles
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.judgements.preferences_file import read_preference_files
from evenhand.reports.board.ranking import rank
from evenhand.reports.page.file_report import FileReport
from tests.refusals import tells

ROWS = ["1,X,Y,model_a", "2,X,Y,", "3,Y,Z,tie", "4,X,Z,  "]


def written(folder: Path, header: str, *rows: str) -> Path:
    path = folder / "said.csv"
    path.write_text("\n".join((header, *rows)) + "\n", encoding="utf-8")
    return path


def test_a_row_without_a_winner_is_missing_on_the_board_and_moves_no_rating(tmp_path: Path):
    path = written(tmp_path, "item,model_a,model_b,winner", *ROWS)
    made = rank(path)
    assert (made.votes, made.coverage.wanted, made.coverage.with_verdict) == (2, 4, 2)
    assert made.coverage.reasons == {"unreadable": 2}
    found = {one.model: one.rating.value for one in made.models}
    without = rank(written(tmp_path, "item,model_a,model_b,winner", ROWS[0], ROWS[2]))
    assert found == {one.model: one.rating.value for one in without.models}
    assert made.as_json()["bands"] is not None


def test_the_reason_of_such_a_row_is_its_own_and_one_that_nobody_knows_is_refused(tmp_path: Path):
    header = "item,model_a,model_b,verdict,reason"
    rows = ["1,X,Y,A>B,", "2,X,Y,,refused", "3,X,Y,,"]
    read = read_battles(written(tmp_path, header, *rows))
    assert [one.reason for one in read.in_vain] == ["refused", "unreadable"]
    with pytest.raises(ExchangeError) as wrong:
        read_battles(written(tmp_path, header, *rows, "4,X,Y,,lost"))
    tells(str(wrong.value), "row 4", "'lost'", "refused")


def test_where_it_stands_in_the_file_is_told_of_a_row_after_one_without_a_winner(tmp_path: Path):
    with pytest.raises(ExchangeError) as wrong:
        read_battles(written(tmp_path, "item,model_a,model_b,winner", *ROWS, "5,X,Y,perhaps"))
    tells(str(wrong.value), "row 5, line 6", "'perhaps'")


def test_people_and_judges_are_compared_with_such_rows_as_without_a_verdict(tmp_path: Path):
    found = read_preference_files([written(tmp_path, "item,model_a,model_b,winner", *ROWS)]).given
    assert [getattr(one.verdict, "reason", None) for one in found] == [None, "unreadable", None, "unreadable"]


@pytest.mark.parametrize("column", ["winner", "verdict"])
def test_a_file_in_which_nothing_was_decided_is_refused_with_what_to_do(tmp_path: Path, column: str):
    path = written(tmp_path, f"item,model_a,model_b,{column}", "1,X,Y,", "2,X,Z,")
    for read in (rank, lambda one: read_preference_files([one])):
        with pytest.raises(ExchangeError) as wrong:
            read(path)
        tells(str(wrong.value), f"`{column}` is empty", "Fill in")


def test_a_report_tells_in_one_line_why_its_raters_are_not_compared(tmp_path: Path):
    rows = [f"{item},{rater},X,Y,{won},1" for item in range(3) for rater in "uv" for won in ("model_a", "model_b")]
    made = report_on_files([written(tmp_path, "item,rater,model_a,model_b,winner,replicate", *rows)]).report
    assert isinstance(made, FileReport)
    assert made.people_unknown is not None
    assert "\n" not in made.people_unknown
    tells(made.people_unknown, "row 2", "5 more such problems", "`replicate`")
