"""VisIT-Bench: instructions about images, with captions that let a judge without eyes follow them."""

import re
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal

from evenhand.benchmarks.benchmark import BenchmarkInfo
from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.benchmarks.items_file import read_items
from evenhand.domain.item import Benchmark


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDataset:
    """An existing dataset that VisIT-Bench draws on (Table 5)."""

    name: str
    topic: str
    images: Literal["single", "multiple"]
    skill: str | None
    """Its name in Table 6; None where Table 6 does not list it."""


def load(info: BenchmarkInfo, path: Path) -> Benchmark:
    """Items in our JSON Lines form, skills in Table 6's spelling. Raises BenchmarkError."""
    if path.suffix.lower() in (".csv", ".tsv", ".parquet"):
        raise BenchmarkError(
            f"{path}: the official CSV and Parquet files are not read yet. {info.name} reads .jsonl now, "
            'one item a line: {"item", "instruction", "images", "captions", "reference", "category"}.'
        )
    read = read_items(path, category=skill_name)
    known = set(skills())
    unknown = sorted({item.category for item in read.items if item.category and item.category not in known})
    notes = read.notes
    if unknown:
        notes = (*notes, f"Categories that are not among the paper's 70 skills: {', '.join(unknown)}.")
    return Benchmark(
        name=info.name,
        items=read.items,
        licence=info.licence,
        citation=info.citation,
        protocols=info.protocols,
        sample=info.sample,
        pictures=read.pictures,
        notes=notes,
    )


def skill_name(text: str) -> str:
    """Table 6's spelling of a skill; another name in small letters with single spaces."""
    known = _skills_by_letters().get(_letters(text))
    if known is not None:
        return known
    joined = re.sub(r"(?<=\w)-\s+(?=\w)", "", text.casefold())
    return re.sub(r"[\s_-]+", " ", joined).strip()


@cache
def skills() -> tuple[str, ...]:
    """The 70 skills of Table 6, in its order."""
    return tuple(_document()["skills"])


@cache
def sources() -> tuple[SourceDataset, ...]:
    """The 15 single-image and 10 multi-image datasets of Table 5, in its order."""
    return tuple(
        SourceDataset(name=row["name"], topic=row["topic"], images=row["images"], skill=row.get("skill"))
        for row in _document()["source"]
    )


@cache
def _skills_by_letters() -> dict[str, str]:
    return {_letters(skill): skill for skill in skills()}


def _letters(text: str) -> str:
    # The sheets write spot_the_diff and Tour Guide, a scan of Table 6 "wino- gavil".
    return "".join(char for char in text.casefold() if char.isalnum())


def _document() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "benchmark.toml").read_text(encoding="utf-8"))
