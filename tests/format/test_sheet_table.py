"""Claims about a table that is wider than the terminal."""

import io

from rich.console import Console

from evenhand.format.sheet import Sheet
from evenhand.format.sheet_table import print_sheet


def printed(sheet: Sheet, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, color_system=None)
    print_sheet(sheet, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue().splitlines()


def test_every_part_tells_its_rows_apart():
    rows = tuple((f"judge-{one}", model, "0.123", "0.456", "98.76 %") for one in "ab" for model in ("oak", "elm"))
    headings = ("rater", "model", "MAE", "error", "Consistency")
    lines = printed(Sheet(title="Parts", headings=headings, rows=rows, names=2), 36)
    assert all(len(line.rstrip()) <= 36 for line in lines)
    for row in rows:
        told = [line.split() for line in lines if line.startswith(f"{row[0]}   {row[1]}")]
        assert len(told) == 2, "once in each part"
        assert [cell for line in told for cell in line[2:]] == ["0.123", "0.456", "98.76", "%"]


def test_what_fits_is_one_part():
    sheet = Sheet(title="One", headings=("model", "MAE"), rows=(("oak", "0.1"),))
    assert sum(line.startswith("oak") for line in printed(sheet, 36)) == 1


def test_long_names_are_folded_where_that_keeps_all_columns_beside_each_other():
    rows = tuple((f"a-lab/a-model-with-a-long-name-{n}-preview", "1051", "1047", "-4", "-25 to 17") for n in range(2))
    headings = ("model", "first", "second", "difference", "interval")
    lines = printed(Sheet(title="Ratings", headings=headings, rows=rows), 72)
    assert all(len(line.rstrip()) <= 72 for line in lines)
    assert sum("-25 to 17" in line and "1051" in line and line.startswith("a-lab/") for line in lines) == 2


def test_a_table_of_names_alone_keeps_its_first_column():
    one, other = "a-lab/a-model-with-a-long-name-2026-05", "another-lab/another-model-with-a-long-name"
    sheet = Sheet(
        title="Battles", headings=("item", "between", "winner"), rows=(("q-17", f"{one}, {other}", one),), names=3
    )
    lines = printed(sheet, 60)
    assert all(len(line.rstrip()) <= 60 for line in lines)
    assert any(line.startswith("q-17 ") for line in lines)
