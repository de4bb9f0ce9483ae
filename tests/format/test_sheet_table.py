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
