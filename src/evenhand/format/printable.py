"""Words that others wrote, made fit for a terminal, a page and a spreadsheet."""

import csv
import io
import re
from collections.abc import Iterable

# A lone carriage return lets the end of a line hide its beginning; half of a surrogate pair cannot be encoded, and
# some terminals are sent it as the control character it stands for; U+202A to U+202E and U+2066 to U+2069 turn the
# direction of what follows, beyond the words they stand in.
_STEERING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]|\r(?!\n)")


def printable(text: str) -> str:
    r"""The text with control characters spelt out (`\x1b`, `\u202e`), so that none steers; lines and tabs stay."""
    return _STEERING.sub(_spelt, text)


def _spelt(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"


# A spreadsheet takes a cell that begins so for a formula, in full width too, and some skip the white space before it.
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠")
_HIDING = ("\t", "\r", "\n")


def is_formula(cell: str) -> bool:
    """Whether a spreadsheet that opens a CSV file would run what this cell holds."""
    return cell.startswith(_HIDING) or cell.lstrip().startswith(_FORMULA)


def no_formula(cell: str) -> str:
    """With an apostrophe before it where a spreadsheet would run it."""
    return f"'{cell}" if is_formula(cell) else cell


def csv_text(headings: Iterable[str], rows: Iterable[Iterable[object]], *, line_end: str = "\r\n") -> str:
    """Cells are written as they come: `no_formula` guards what a spreadsheet may open.

    A line end of two characters makes the writer quote cells that hold either of them.
    """
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator=line_end)
    writer.writerow(headings)
    writer.writerows(rows)
    return text.getvalue()
