"""VisIT-Bench: instructions about images, with captions that let a judge without eyes follow them."""

import re
import tomllib
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from evenhand.benchmarks.benchmark import BenchmarkInfo
from evenhand.benchmarks.data_error import BenchmarkError, FilePlace, Problems
from evenhand.benchmarks.files.items_file import read_items
from evenhand.benchmarks.files.rows import read_rows
from evenhand.benchmarks.grown_name import with_grown_name
from evenhand.benchmarks.visit_bench.sheets import SUFFIXES, Chosen, Sheets, is_sheet
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceDataset:
    """An existing dataset that VisIT-Bench draws on (Table 5)."""

    name: str
    topic: str
    images: Literal["single", "multiple"]
    skill: str | None
    """Its name in Table 6; None where Table 6 does not list it."""
    licence: str
    """As its own authors state it; `unknown` where that was not found. The paper says only that it remains in force."""
    told_by: str
    """Where the licence was read; `nobody` where it was found nowhere."""
    address: str

    def as_json(self) -> dict[str, Json]:
        return {
            "source": self.name,
            "topic": self.topic,
            "images": self.images,
            "skill": self.skill,
            "licence": self.licence,
            "licence_told_by": None if self.told_by == "nobody" else self.told_by,
            "address": self.address,
        }


def load(info: BenchmarkInfo, path: Path, *, reference: str = "given") -> Benchmark:
    """The released sheets, a folder of them, or items in our JSON Lines form; skills in Table 6's spelling. Items of
    an exported benchmark that grew keep that benchmark's name.

    Raises BenchmarkError.
    """
    if path.is_dir() or path.suffix.lower() != ".jsonl":
        return _from_sheets(info, path, cast("Chosen", reference))
    if reference != "given":
        raise BenchmarkError(
            f"{path}: `{reference}` chooses among the texts of the released sheets; leave it out here.",
            code="EH-REFERENCE-UNKNOWN",
        )
    read = read_items(path, category=skill_name)
    loaded = Benchmark(
        name=info.name,
        items=read.items,
        licence=info.licence,
        citation=info.citation,
        protocols=info.protocols,
        sample=info.sample,
        pictures=read.pictures,
        licences=read.licences,
        origins=read.origins,
        sources=read.sources,
        notes=(*read.notes, *_unknown_skills(read.items)),
    )
    return loaded if info.sample else with_grown_name(loaded, path)


def images_of(item: Item) -> Literal["single", "multiple"]:
    """Which of the two boards an item counts for."""
    return "multiple" if len(item.images) > 1 else "single"


def source_of(item: Item) -> SourceDataset | None:
    """The existing dataset that an item was drawn from; None for the families written for VisIT-Bench."""
    known = (*sources(), *released_sources())
    return next((source for source in known if source.skill is not None and source.skill == item.category), None)


def _from_sheets(info: BenchmarkInfo, path: Path, chosen: Chosen) -> Benchmark:
    problems = Problems(BenchmarkError)
    sheets = Sheets(problems, skill=skill_name, chosen=chosen)
    passed_over = _read_folder(path, sheets, problems) if path.is_dir() else []
    if not path.is_dir():
        sheets.add(path, read_rows(path, problems, formats=(*SUFFIXES, ".jsonl")))
    problems.raise_any()
    return Benchmark(
        name=info.name,
        items=sheets.items,
        licence=info.licence,
        citation=info.citation,
        protocols=info.protocols,
        pictures=sheets.pictures,
        addresses=sheets.addresses,
        licences=sheets.licences,
        origins=sheets.origins,
        notes=(*passed_over, *sheets.notes(), *_unknown_skills(sheets.items)),
    )


def _read_folder(folder: Path, sheets: Sheets, problems: Problems) -> list[str]:
    """Adds the sheets directly in the folder, the single-image ones first; a note about the other tables."""
    paths = sorted(one for one in folder.iterdir() if one.suffix.lower() in SUFFIXES)
    tables = [(path, read_rows(path, problems)) for path in paths]
    others = [path.name for path, rows in tables if not is_sheet(rows)]
    fitting = [(path, rows) for path, rows in tables if is_sheet(rows)]
    for path, rows in sorted(fitting, key=lambda table: "images" in table[1][0].fields):
        sheets.add(path, rows)
    if not fitting:
        problems.add(FilePlace(path=folder), f"The folder holds no sheet of VisIT-Bench ({', '.join(SUFFIXES)}).")
    return [f"Files that are no sheet of the benchmark were passed over: {', '.join(others)}."] if others else []


def _unknown_skills(items: Sequence[Item]) -> tuple[str, ...]:
    """A note with how many items each category has that is not among the paper's."""
    known = set(skills())
    unknown = Counter(item.category for item in items if item.category and item.category not in known)
    if not unknown:
        return ()
    listed = ", ".join(f"{name} (items: {count})" for name, count in sorted(unknown.items()))
    return (f"Categories that are not among the paper's 70 skills: {listed}.",)


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
    return _sources("source")


@cache
def released_sources() -> tuple[SourceDataset, ...]:
    """What the released sheets draw on besides."""
    return _sources("released_source")


@cache
def _sources(key: str) -> tuple[SourceDataset, ...]:
    return tuple(
        SourceDataset(
            name=row["name"],
            topic=row["topic"],
            images=row["images"],
            skill=row.get("skill"),
            licence=row["licence"],
            told_by=row["told_by"],
            address=row["address"],
        )
        for row in _document()[key]
    )


@cache
def _skills_by_letters() -> dict[str, str]:
    return {_letters(skill): skill for skill in skills()}


def _letters(text: str) -> str:
    # The sheets write spot_the_diff and Tour Guide, a scan of Table 6 "wino- gavil".
    return "".join(char for char in text.casefold() if char.isalnum())


def _document() -> dict[str, Any]:
    return tomllib.loads((Path(__file__).parent / "benchmark.toml").read_text(encoding="utf-8"))
