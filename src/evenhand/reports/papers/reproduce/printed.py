"""Figures as a paper printed them, and recomputed ones beside them."""

import csv
import math
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal
from importlib.resources import files
from typing import TypeAlias

from evenhand.domain.identity import Json

Figures: TypeAlias = Mapping[str, float | None]
"""By name, in the paper's own units; None where the paper or the data have none."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedRow:
    row: str
    published: Figures
    computed: Figures
    ok: bool = True
    """What was computed is what was printed, or differs in a way that is known and noted."""
    note: str | None = None

    def as_json(self) -> dict[str, Json]:
        return {
            "row": self.row,
            "published": dict(self.published),
            "computed": dict(self.computed),
            "difference": {name: self.difference(name) for name in self.published},
            "ok": self.ok,
            "note": self.note,
        }

    def difference(self, name: str) -> float | None:
        """Computed less published; None where either is missing."""
        published, computed = self.published[name], self.computed.get(name)
        return None if published is None or computed is None else computed - published


@dataclass(frozen=True, slots=True, kw_only=True)
class PrintedTable:
    table: str
    what: str
    """What is recomputed from what, in one sentence."""
    rows: tuple[PrintedRow, ...]
    findings: tuple[str, ...] = ()
    """What the recomputation shows, in sentences."""
    expected: bool = True
    """Besides the rows: what the findings count is what it is known to be."""

    @property
    def ok(self) -> bool:
        return self.expected and all(row.ok for row in self.rows)

    def as_json(self) -> dict[str, Json]:
        return {
            "table": self.table,
            "what": self.what,
            "rows": [row.as_json() for row in self.rows],
            "findings": list(self.findings),
            "ok": self.ok,
        }


def figures(name: str) -> list[dict[str, str]]:
    """The rows of a file in `published/`."""
    text = (files(__package__ or "") / "published" / f"{name}.tsv").read_text(encoding="utf-8")
    return list(csv.DictReader(text.splitlines(), delimiter="\t"))


def number(cell: str) -> float | None:
    return float(cell) if cell else None


def rounded(value: float, places: int = 2) -> float:
    """Half away from zero, as printed tables round; a hair of floating point does not turn a half down."""
    return _quantized(value, places, ROUND_HALF_UP)


def truncated(value: float, places: int = 2) -> float:
    return _quantized(value, places, ROUND_DOWN)


def _quantized(value: float, places: int, rule: str) -> float:
    assert math.isfinite(value)
    return float(Decimal(repr(round(value, 10))).quantize(Decimal(1).scaleb(-places), rounding=rule))
