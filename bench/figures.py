"""What a benchmark found, as a small table: figure, target, met or not."""

import statistics
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    what: str
    value: float
    unit: str = ""
    at_most: float | None = None
    """None for a figure that is only told."""
    note: str = ""

    def row(self) -> tuple[str, str, str, str, str]:
        unit = f" {self.unit}" if self.unit else ""
        if self.at_most is None:
            return self.what, f"{_digits(self.value)}{unit}", "", "", self.note
        met = "met" if self.value <= self.at_most else "NOT MET"
        return self.what, f"{_digits(self.value)}{unit}", f"at most {self.at_most:g}{unit}", met, self.note


def _digits(value: float) -> str:
    """Three that count; from a thousand up all before the point."""
    return f"{value:.3g}" if abs(value) < 999.5 else f"{value:,.0f}"


def print_table(figures: Sequence[Figure]) -> None:
    rows = [("figure", "measured", "target", "", ""), *(figure.row() for figure in figures)]
    widths = [max(len(row[column]) for row in rows) for column in range(5)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())


def spread(values: Sequence[float]) -> str:
    """The range of the rounds, as a note."""
    return f"{min(values):.3g} to {max(values):.3g} in {len(values)} rounds"


def median_figure(what: str, values: Sequence[float], *, unit: str = "", at_most: float | None = None) -> Figure:
    return Figure(what=what, value=statistics.median(values), unit=unit, at_most=at_most, note=spread(values))
