"""Claims about tables as files: what a cell holds arrives whole, and breaks nothing around it."""

import csv
import io
import re
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from evenhand.format.printable import no_formula
from evenhand.format.sheet import MISSING, Format, Sheet, written
from evenhand.format.sheet_table import print_sheet
from evenhand.format.tables import console
from tests.refusals import refused

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
    with refused(ValueError, "Odd", "[1] cells", "2 headings"):
        Sheet(title="Odd", headings=("a", "b"), rows=(("1", "2"), ("3",)))


def test_csv_leaves_a_missing_number_empty_and_has_no_title():
    assert written([SHEET], "csv") == "model,Reward,WR 95 %\na_b|c,-10.34,-3 to -1 %\nGPT-4o {x},,0.5\n"


def test_csv_lets_no_name_run_in_a_spreadsheet_and_leaves_numbers_alone():
    sheet = Sheet(
        title="t", headings=("table", "model", "gap"), rows=(("r", "=cmd|calc", "-0.5"), ("r", "-2+3", "+1 %"))
    )
    assert written([sheet], "csv") == "table,model,gap\nr,'=cmd|calc,-0.5\nr,'-2+3,+1 %\n"


@given(tables)
def test_csv_gives_back_what_was_put_in(sheet: Sheet):
    read = list(csv.reader(io.StringIO(written([sheet], "csv"), newline="")))
    kept = [["" if cell == MISSING else no_formula(cell) for cell in row] for row in sheet.rows]
    kept = [[cell[1:] if re.fullmatch(r"'[-+]?[\d.,]+", cell) else cell for cell in row] for row in kept]
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
        r"a\_b\textbar{}c & $-$10.34 & $-$3 to $-$1 \% \\",
        r"GPT-4o \{x\} & -- & 0.5 \\",
        r"\hline",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize(("form", "line"), [("md", "| --- | --- | ---: |"), ("latex", r"\begin{tabular}{llr}")])
def test_every_column_of_names_stands_to_the_left(form: Literal["md", "latex"], line: str):
    sheet = Sheet(title="t", headings=("model", "group", "Reward"), rows=(("a", "open", "1"),), names=2)
    assert line in written([sheet], form).splitlines()


def test_latex_writes_bounds_that_are_infinite_and_marks_of_html():
    sheet = Sheet(title="t", headings=("m", "i"), rows=(("<b>|", "–∞ to 3"), ("x", "1179 to ∞")))
    lines = written([sheet], "latex").splitlines()
    assert r"\textless{}b\textgreater{}\textbar{} & $-\infty$ to 3 \\" in lines
    assert r"x & 1179 to $\infty$ \\" in lines


@pytest.mark.parametrize("name", ["[beta] m", "*star"])
def test_a_name_is_not_taken_for_an_argument_of_the_line_before(name: str):
    sheet = Sheet(title="t", headings=("m", "n"), rows=(("x", "1"), (name, "2")))
    assert rf"{{}}{name} & 2 \\" in written([sheet], "latex").splitlines()


@pytest.mark.parametrize(("form", "mark"), [("md", "- "), ("latex", "% ")])
def test_opening_sentences_stand_above_the_tables_and_notes_below(form: Format, mark: str):
    text = written([SHEET], form, ["Below."], opening=["Above."])
    assert text.startswith(f"{mark}Above.\n\n")
    assert text.endswith(f"\n{mark}Below.\n")
    assert written([SHEET], "csv", ["Below."], opening=["Above."]) == written([SHEET], "csv")


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


WIDE = Sheet(
    title="How sure",
    headings=("model", "rank", "answered", "Reward 95 %", "WR 95 %", "baseline VFS", "preferences read", "grades read"),
    rows=(
        ("sample-careless", "1", "16/16", "-100.00 to -93.22", "12.2 to 44.5 %", "9.00", "32/32", "30/30"),
        ("reference (baseline)", "2", "16/16", "-10.00 to 93.22", "1.2 to 44.5 %", "9.00", "32/32", MISSING),
    ),
)


def printed_at(width: int, sheet: Sheet) -> str:
    terminal = Console(width=width, highlight=False, file=io.StringIO())
    with terminal.capture() as printed:
        print_sheet(sheet, terminal)
    return printed.get()


@pytest.mark.parametrize("width", [40, 60, 80, 100, 120, 200])
def test_no_word_is_broken_and_no_line_too_long_however_narrow_the_terminal(width: int):
    out = printed_at(width, WIDE)
    assert all(len(line) <= width for line in out.splitlines())
    for row in WIDE.rows:
        assert all(cell in out for cell in row)
    words = set(out.replace("─", " ").split())
    assert words <= {word for cells in (WIDE.headings, *WIDE.rows) for cell in cells for word in cell.split()} | {
        "How",
        "sure",
    }


def test_each_part_of_a_table_too_wide_begins_with_the_names():
    lines = printed_at(80, WIDE).splitlines()
    assert sum(line.startswith("sample-careless") for line in lines) == 2
    assert sum(line.startswith("sample-careless") for line in printed_at(200, WIDE).splitlines()) == 1


def test_a_heading_is_broken_at_spaces_before_a_table_is():
    sheet = Sheet(title="T", headings=("model", "much longer heading", "n"), rows=(("m", "1", "2"),))
    lines = printed_at(20, sheet).splitlines()
    assert [line.split() for line in lines[2:5]] == [["much"], ["longer"], ["model", "heading", "n"]]


@given(tables, st.integers(30, 90))
def test_every_column_is_printed_once(sheet: Sheet, width: int):
    sheet = replace(sheet, headings=tuple(f"h{place}" for place in range(len(sheet.headings))))
    found = re.findall(r"\bh[1-9]\b", printed_at(width, replace(sheet, rows=())))
    assert found == list(sheet.headings[1:])


def test_a_name_wider_than_the_terminal_is_folded_and_whole():
    sheet = Sheet(title="T", headings=("model", "n"), rows=(("x" * 50, "7"),))
    out = printed_at(30, sheet)
    assert out.count("x") == 50
    assert all(len(line) <= 30 for line in out.splitlines())


def test_notes_stand_under_the_tables_of_a_text():
    notes = ["95 % of a_b,\non two lines", "Second."]
    assert written([SHEET], "md", notes) == written([SHEET], "md") + "\n- 95 % of a\\_b, on two lines\n- Second.\n"
    assert written([SHEET], "latex", notes) == written([SHEET], "latex") + "\n% 95 % of a_b, on two lines\n% Second.\n"
    assert written([SHEET], "csv", notes) == written([SHEET], "csv")


@pytest.mark.parametrize("form", ["md", "latex"])
def test_no_control_character_is_written(form: Format):
    sheet = Sheet(title="a\x1b[31m", headings=("model\x1b[31m", "n"), rows=(("b\x1b[2J\u202e", "1"),))
    told = written([sheet], form, opening=("c\x1b[31m",), notes=("d\x07",))
    assert all(letter.isprintable() or letter == "\n" for letter in told)
    assert "x1b" in told


def test_a_column_without_a_number_is_not_shown_to_people_and_stays_in_a_file():
    sheet = Sheet(title="t", headings=("model", "VFS", "Reward"), rows=(("a", MISSING, "1.0"), ("b", MISSING, MISSING)))
    assert (sheet.known.headings, sheet.known.rows) == (("model", "Reward"), (("a", "1.0"), ("b", MISSING)))
    words = io.StringIO()
    print_sheet(sheet, Console(file=words, width=80))
    assert "VFS" not in words.getvalue()
    assert written([sheet], "csv").startswith("model,VFS,Reward")
