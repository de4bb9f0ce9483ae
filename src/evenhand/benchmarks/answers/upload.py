"""The bytes of an uploaded file as lines of text, within bounds; or a sentence that says why they are none."""

import codecs
import io
import re
from collections.abc import Iterator

_PACKED = {
    b"PK\x03\x04": "a ZIP archive or a spreadsheet (XLSX)",
    b"PK\x05\x06": "an empty ZIP archive",
    b"\x1f\x8b": "packed with gzip",
    b"BZh": "packed with bzip2",
    b"\xfd7zXZ\x00": "packed with xz",
    b"\x28\xb5\x2f\xfd": "packed with Zstandard",
    b"7z\xbc\xaf\x27\x1c": "a 7z archive",
    b"PAR1": "Parquet",
    b"\xd0\xcf\x11\xe0": "an old spreadsheet (XLS)",
    b"%PDF-": "a PDF",
}
_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)
_CHUNK = 1 << 20
_HEAD = 1 << 16
_HEADER = re.compile(r'"?(?:item|id|index|instruction|response|output|prediction|model)"?[ ]*[,;\t]')
"""How the first line of a .csv file may begin."""


class TooMuch(Exception):
    """More than is read; the message is a sentence."""


def why_no_text(data: bytes) -> str | None:
    """A sentence where the bytes are not UTF-8 text."""
    for start, what in _PACKED.items():
        if data.startswith(start):
            return f"The file is {what}, whatever its name says; give the plain text itself."
    if data.startswith(_WIDE):
        return "The file is UTF-16 or UTF-32; save it as UTF-8."
    nul = data.find(b"\x00")
    if nul >= 0:
        if data.count(b"\x00", 0, 1000) * 4 > min(len(data), 1000):
            return "The file is UTF-16 or UTF-32; save it as UTF-8."
        return f"Line {_line(data, nul)} holds a NUL byte, which no text does; take it out."
    wrong = _not_utf8(data)
    if wrong is None:
        return None
    letter = data[wrong : wrong + 1].decode("cp1252", "replace")
    as_latin = f" (in Latin-1 or Windows-1252 the byte there is {letter!r})" if letter.isalpha() else ""
    return f"Line {_line(data, wrong)} is not UTF-8{as_latin}; save the file as UTF-8."


def why_misnamed(data: bytes, ending: str) -> str | None:
    """A sentence where text is not of the kind that the file's ending says: `.csv` or `.jsonl`."""
    text = data[:_HEAD].decode("utf-8-sig", "ignore").lstrip()
    first = text.partition("\n")[0].rstrip("\r")
    if ending == ".csv" and first.startswith(("{", "[")):
        return "The file ends .csv and begins as JSON does; if it is JSONL, one object on each line, let it end .jsonl."
    if ending == ".jsonl" and _HEADER.match(first):
        return "The file ends .jsonl and its first line is no JSON; if it is CSV, let it end .csv."
    if ending == ".csv" and "," not in first and (mark := next((one for one in ";\t" if one in first), None)):
        return (
            f"The cells of the first line are separated by {'semicolons' if mark == ';' else 'tabs'}; separate the "
            "cells of a .csv file by commas."
        )
    return None


def text_lines(data: bytes, *, longest: int, most: int) -> Iterator[str]:
    """Lines with their ends; of a longer line the first `longest` characters and a few more. Raises TooMuch."""
    text = io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")
    for _ in range(most):
        line = piece = text.readline(longest + 3)
        if not line:
            return
        while piece and not piece.endswith(("\n", "\r")):
            piece = text.readline(longest)
        yield line
    raise TooMuch(f"The file has more than {most:,} lines.")


def _not_utf8(data: bytes) -> int | None:
    """Where the first byte stands that is not UTF-8; a piece at a time, since text takes up to four times the room."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _CHUNK):
        pending = len(decoder.getstate()[0])
        piece = data[start : start + _CHUNK]
        try:
            decoder.decode(piece, final=start + _CHUNK >= len(data))
        except UnicodeDecodeError as error:
            return start - pending + error.start
    return None


def _line(data: bytes, position: int) -> int:
    return data.count(b"\n", 0, position) + 1
