"""Claims about tables as files: what a cell holds arrives whole, and breaks nothing around it."""

import csv
import io
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.reports.sheet import MISSING, Format, Sheet, written
from evenhand.reports.sheet_table import print_sheet
from evenhand.reports.tables import console

SHEET = Sheet(
    title="Ours & theirs",
    headings=("model", "Reward", "WR 95 %"),
    rows=(("a_b|c", "-10.34", "-3 to -1 %"), ("GPT-4o {x}", MISSING, "0.5")),
)

cells = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
tables = st.integers(1, 4).flatmap(
    lambda width: st.builds(
        lambda headings, rows: Sheet(title="t", headings=tuple(headings), rows=tuple(map(tuple, rows))),
        st.lists(cells, min_size=width, max_size=width),
        st.lists(st.lists(cells, min_size=width, max_size=width), max_size=4),
    )
)


def test_a_row_that_does_not_fit_its_headings_is_refused():
    with pytest.raises(ValueError, match=r"Odd: rows of \[1\] cells under 2 headings"):
        Sheet(title="Odd", headings=("a", "b"), rows=(("1", "2"), ("3",)))


def test_csv_leaves_a_missing_number_empty_and_has_no_title():
    assert written([SHEET], "csv") == "model,Reward,WR 95 %\na_b|c,-10.34,-3 to -1 %\nGPT-4o {x},,0.5\n"


@given(tables)
def test_csv_gives_back_what_was_put_in(sheet: Sheet):
    read = list(csv.reader(io.StringIO(written([sheet], "csv"), newline="")))
    kept = [["" if cell == MISSING else cell for cell in row] for row in sheet.rows]
    assert [row or [""] for row in read] == [list(sheet.headings), *kept]


def test_markdown_aligns_numbers_to_the_right_and_escapes_its_own_marks():
    assert written([SHEET], "md").splitlines() == [
        "**Ours & theirs**",
        "",
        "| model | Reward | WR 95 % |",
        "| --- | ---: | ---: |",
        r"| a\_b\|c | -10.34 | -3 to -1 % |",
        "| GPT-4o {x} | – | 0.5 |",
    ]


@given(tables)
def test_markdown_has_one_line_for_each_row_and_as_many_cells(sheet: Sheet):
    _, _, *lines = written([sheet], "md").split("\n")[:-1]
    assert len(lines) == len(sheet.rows) + 2
    assert {len(re.findall(r"(?<!\\)(?:\\\\)*\|", line)) for line in lines} == {len(sheet.headings) + 1}


def test_latex_sets_a_minus_and_escapes_what_would_be_a_command():
    assert written([SHEET], "latex").splitlines() == [
        "% Ours & theirs",
        r"\begin{tabular}{lrr}",
        r"\hline",
        r"model & Reward & WR 95 \% \\",
        r"\hline",
        r"a\_b|c & $-$10.34 & $-$3 to $-$1 \% \\",
        r"GPT-4o \{x\} & -- & 0.5 \\",
        r"\hline",
        r"\end{tabular}",
    ]


@given(tables)
def test_latex_has_as_many_cells_as_headings_and_no_open_brace(sheet: Sheet):
    body = written([sheet], "latex").split(r"\hline")[1:-1]
    lines = [line for part in body for line in part.strip("\n").split("\n") if line]
    assert len(lines) == 1 + len(sheet.rows)
    for line in lines:
        assert len(re.findall(r"(?<!\\)&", line)) == len(sheet.headings) - 1
        assert line.endswith(r" \\")
        bare = re.sub(r"\\[{}]", "", line)
        assert bare.count("{") == bare.count("}")


@pytest.mark.parametrize("form", ["csv", "md", "latex"])
def test_several_tables_stand_apart_by_an_empty_line(form: Format):
    alone = written([SHEET], form)
    assert written([SHEET, SHEET], form) == f"{alone}\n{alone}"


def test_a_terminal_shows_markup_in_a_name_as_it_is():
    terminal = console()
    with terminal.capture() as printed:
        print_sheet(Sheet(title="[bold]T", headings=("model", "n"), rows=(("[red]m[/red]", "7"),)), terminal)
    assert "[bold]T" in printed.get()
    assert "[red]m[/red]" in printed.get()
