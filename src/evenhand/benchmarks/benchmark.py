"""What is known about a benchmark before its data is read: a folder's benchmark.toml."""

import tomllib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, cast

from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark


@dataclass(frozen=True, slots=True, kw_only=True)
class Counts:
    items: int
    images: int
    captions: int
    """Items that have a caption."""
    references: int
    categories: tuple[tuple[str, int], ...]
    """Items of each category, by name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkInfo:
    name: str
    title: str
    licence: str
    citation: str
    url: str | None
    protocols: tuple[str, ...]
    """Used when none is asked for."""
    needs: str
    """A sentence: the data that a user must bring, or that none is needed."""
    sample: bool
    package: str
    """Import name of the folder."""
    items: Path | None
    """The bundled items; None where a user brings them."""
    answers: Path | None
    """Bundled answers of stand-in models."""
    references: tuple[str, ...] = ()
    """What may play as the reference, where there is a choice; the first by default."""
    verdicts: Path | None = None
    """Bundled verdicts of people and judges, which `rank`, `align` and `report` read."""
    counts: Counts | None = None

    def as_json(self) -> dict[str, Json]:
        counts = self.counts
        return {
            "benchmark": self.name,
            "title": self.title,
            "licence": self.licence,
            "citation": self.citation,
            "url": self.url,
            "protocols": list(self.protocols),
            "needs": self.needs,
            "sample": self.sample,
            "bundled": self.items is not None,
            "items": counts and counts.items,
            "images": counts and counts.images,
            "captions": counts and counts.captions,
            "references": counts and counts.references,
            "categories": counts and [{"category": name, "items": items} for name, items in counts.categories],
        }


class Loader(Protocol):
    """The function `load` of a benchmark folder's load.py."""

    def __call__(self, info: BenchmarkInfo, path: Path) -> Benchmark: ...


class ChoosingLoader(Protocol):
    """The same where benchmark.toml names several `references`."""

    def __call__(self, info: BenchmarkInfo, path: Path, *, reference: str) -> Benchmark: ...


def count(benchmark: Benchmark) -> Counts:
    items = benchmark.items
    return Counts(
        items=len(items),
        images=sum(len(item.images) for item in items),
        captions=sum(item.caption is not None for item in items),
        references=sum(item.reference is not None for item in items),
        categories=tuple(sorted(Counter(item.category for item in items if item.category).items())),
    )


def read_infos(folder: Path, package: str) -> tuple[BenchmarkInfo, ...]:
    """The benchmarks of one folder, in the order of its benchmark.toml. Raises BenchmarkError."""
    path = folder / "benchmark.toml"
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise BenchmarkError(f"{path} cannot be read: {error}.") from error
    tables = document.get("benchmark")
    if not isinstance(tables, list) or not tables:
        raise BenchmarkError(f"{path} has no [[benchmark]] table.")
    return tuple(_info(folder, package, table) for table in cast("list[object]", tables))


def _info(folder: Path, package: str, value: object) -> BenchmarkInfo:
    table = cast("dict[str, object]", value) if isinstance(value, dict) else {}

    def text(key: str) -> str:
        value = table.get(key)
        if not isinstance(value, str) or not value:
            raise BenchmarkError(f"{folder / 'benchmark.toml'}: `{key}` of a [[benchmark]] must be text.")
        return value

    def below(key: str) -> Path | None:
        return folder / text(key) if key in table else None

    def listed(key: str) -> tuple[str, ...]:
        value = table.get(key, [])
        names = cast("list[object]", value) if isinstance(value, list) else [None]
        if not all(isinstance(name, str) for name in names):
            raise BenchmarkError(f"{folder / 'benchmark.toml'}: `{key}` must be a list of names.")
        return tuple(cast("list[str]", names))

    return BenchmarkInfo(
        name=text("name"),
        title=text("title"),
        licence=text("licence"),
        citation=text("citation"),
        url=text("url") if "url" in table else None,
        protocols=listed("protocols"),
        needs=text("needs"),
        sample=table.get("sample") is True,
        package=package,
        items=below("items"),
        answers=below("answers"),
        references=listed("references"),
        verdicts=below("verdicts"),
    )
