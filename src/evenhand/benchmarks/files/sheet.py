"""Cells of the first sheet of an XLSX file; knows nothing of what they mean."""

import io
import re
import zipfile
import zlib
from typing import cast

from evenhand.domain.errors import EvenhandError

CELL_LIMIT = 32_767
"""The most characters a cell of XLSX holds; programs cut longer texts without a word."""
_LARGEST_UNPACKED = 500_000_000
_MOST_CELLS = 5_000_000
# Within a tag, since an answer may itself speak of cells.
_PLACE = re.compile(rb"""<(?:\w+:)?(?:c|row)\s(?:[^<>]*\s)?r=["'](?P<column>[A-Z]{0,3})(?P<row>[0-9]{1,7})["']""")


class SheetError(EvenhandError, ValueError):
    """A file that is no readable sheet."""

    code = "EH-SHEET"


def first_sheet(data: bytes) -> list[list[object]]:
    """Rows from the top, an empty cell being "". Raises SheetError."""
    # It loads a compiled library, and few files of answers are sheets.
    import python_calamine

    _refuse_oversized(data)
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(data))
        if not book.sheet_names:
            raise SheetError("The file has no sheet.")
        sheet = book.get_sheet_by_index(0)
        rows = sheet.to_python(skip_empty_area=False)
    except python_calamine.CalamineError as error:
        raise SheetError(f"This is not XLSX that can be read: {error}.") from error
    return cast("list[list[object]]", rows)


def is_cut(text: str) -> bool:
    """Whether the text is exactly as long as the longest that a cell holds, counted either way programs count."""
    return CELL_LIMIT in (len(text), len(text.encode("utf-16-le", "surrogatepass")) // 2)


def _refuse_oversized(data: bytes) -> None:
    """Before the reader sees it: memory is taken for all that lies between the first and the last cell."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            unpacked = sum(member.file_size for member in archive.infolist())
            if unpacked > _LARGEST_UNPACKED:
                raise SheetError(f"The sheet unpacks to {unpacked} bytes and at most {_LARGEST_UNPACKED} are read.")
            for name in archive.namelist():
                if name.startswith("xl/worksheets/") and name.endswith(".xml"):
                    _refuse_scattered(archive.read(name))
    except (zipfile.BadZipFile, zlib.error, RuntimeError, NotImplementedError, OSError) as error:
        raise SheetError(f"This is not XLSX that can be read: {error}.") from error


def _refuse_scattered(sheet: bytes) -> None:
    rows = columns = 0
    for place in _PLACE.finditer(sheet):
        rows = max(rows, int(place["row"]))
        columns = max(columns, _number(place["column"]))
    if rows * columns > _MOST_CELLS:
        raise SheetError(
            f"The sheet reaches to row {rows} and column {columns}, and at most {_MOST_CELLS} cells are read; "
            "delete the stray ones far from the table."
        )


def _number(column: bytes) -> int:
    """1 for A, 27 for AA."""
    number = 0
    for letter in column:
        number = number * 26 + letter - ord("A") + 1
    return number
