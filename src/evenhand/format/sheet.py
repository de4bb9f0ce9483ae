"""A table of words and numbers as text for a terminal, CSV, Markdown or LaTeX."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.format.printable import csv_text, no_formula, printable

Format: TypeAlias = Literal["table", "csv", "md", "latex"]

MISSING = "–"
"""Stands where there is no number."""

_NUMBERS = re.compile(r"[-+−]?[\d.,]+(?: ?%)?(?: to [-+−]?[\d.,]+(?: ?%)?)?\*?")
"""A number or an interval, which no spreadsheet takes for a formula."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sheet:
    title: str
    headings: tuple[str, ...]
    """The first column, or the first `names`, hold names, every other one numbers."""
    rows: tuple[tuple[str, ...], ...]
    names: int = 1
    """Columns that tell a row from others: they stand in every part of a table too wide for a terminal."""

    def __post_init__(self) -> None:
        widths = {len(row) for row in self.rows} - {len(self.headings)}
        if widths:
            raise ValueError(f"{self.title}: rows of {sorted(widths)} cells under {len(self.headings)} headings.")

    @property
    def known(self) -> "Sheet":
        """Without the columns that hold no number at all, for people to read; a file keeps its columns."""
        kept = [
            place
            for place in range(len(self.headings))
            if place < self.names or not self.rows or any(row[place] != MISSING for row in self.rows)
        ]
        rows = tuple(tuple(row[place] for place in kept) for row in self.rows)
        headings = tuple(self.headings[place] for place in kept)
        return Sheet(title=self.title, headings=headings, rows=rows, names=self.names)


def written(sheets: Sequence[Sheet], form: Format, notes: Sequence[str] = (), *, opening: Sequence[str] = ()) -> str:
    """All of them one after the other, the opening sentences above and the notes under them; `table` is for
    `print_sheet`.

    A CSV file has no place for sentences.
    """
    assert form != "table"
    write = {"csv": _csv, "md": _markdown, "latex": _latex}[form]
    parts = list(map(write, sheets))
    if form != "csv":
        parts = [*_sentences(opening, form), *parts, *_sentences(notes, form)]
    return "\n".join(parts)


def _sentences(sentences: Sequence[str], form: Format) -> list[str]:
    mark, escaped = ("-", _for_markdown) if form == "md" else ("%", _one_line)
    return ["".join(f"{mark} {escaped(one)}\n" for one in sentences)] if sentences else []


def _one_line(text: str) -> str:
    return printable(" ".join(text.split()))


def _csv(sheet: Sheet) -> str:
    return csv_text(sheet.headings, (map(_csv_cell, row) for row in sheet.rows), line_end="\n")


def _csv_cell(cell: str) -> str:
    if cell == MISSING:
        return ""
    return cell if _NUMBERS.fullmatch(cell) else no_formula(cell)


def _markdown(sheet: Sheet) -> str:
    lines = [
        f"**{_for_markdown(sheet.title)}**",
        "",
        _markdown_line(sheet.headings),
        "|" + "|".join([" --- "] * sheet.names + [" ---: "] * (len(sheet.headings) - sheet.names)) + "|",
        *map(_markdown_line, sheet.rows),
        "",
    ]
    return "\n".join(lines)


def _markdown_line(cells: Sequence[str]) -> str:
    return "| " + " | ".join(map(_for_markdown, cells)) + " |"


def _for_markdown(text: str) -> str:
    return "".join(f"\\{letter}" if letter in "\\`*_[]<>|#" else letter for letter in _one_line(text))


def _latex(sheet: Sheet) -> str:
    lines = [
        f"% {_one_line(sheet.title)}",
        r"\begin{tabular}{" + "l" * sheet.names + "r" * (len(sheet.headings) - sheet.names) + "}",
        r"\hline",
        _latex_line(sheet.headings),
        r"\hline",
        *map(_latex_line, sheet.rows),
        r"\hline",
        r"\end{tabular}",
        "",
    ]
    return "\n".join(lines)


def _latex_line(cells: Sequence[str]) -> str:
    line = " & ".join(map(_for_latex, cells)) + r" \\"
    # After the \\ of the line before they would be taken for its argument.
    return f"{{}}{line}" if line.startswith(("[", "*")) else line


_LATEX = {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "–": "--",
    "∞": r"$\infty$",
    "–∞": r"$-\infty$",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{letter: f"\\{letter}" for letter in "&%$#_{}"},
}


def _for_latex(text: str) -> str:
    escaped = re.sub("–∞|.", lambda found: _LATEX.get(found[0], found[0]), _one_line(text))
    # A hyphen before a number is set as a minus.
    return re.sub(r"(?<!\S)-(?=\d)", "$-$", escaped)
