"""What `benchmarks show` tells of one benchmark, and of the data that a user brings for it."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from textwrap import shorten

import click

from evenhand.benchmarks import visit_bench
from evenhand.benchmarks.benchmark import BenchmarkInfo, count
from evenhand.benchmarks.catalog import describe_benchmark, find_benchmark, load_benchmark
from evenhand.cli.notes import say_notes
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.format.tables import console, print_rows

_SHOWN = 90
"""Characters of an instruction in the list of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFacts:
    info: BenchmarkInfo
    sources: tuple[tuple[str, int], ...] = ()
    """Items drawn from each existing dataset, by name; VisIT-Bench alone tells."""
    notes: tuple[str, ...] = ()
    items: tuple[Item, ...] | None = None
    """None: they are not listed."""

    @property
    def document(self) -> dict[str, Json]:
        sources: list[Json] = [{"source": name, "items": items} for name, items in self.sources]
        listed = {} if self.items is None else {"item_list": [_listed(item) for item in self.items]}
        return {"schema": 1, **self.info.as_json(), "sources": sources, "notes": list(self.notes), **listed}

    def print(self) -> None:
        info, counts = self.info, self.info.counts
        click.echo(f"{info.name}: {info.title}")
        click.echo(f"licence    {info.licence}\ncitation   {info.citation}")
        if info.url is not None:
            click.echo(f"source     {info.url}")
        click.echo(f"protocols  {', '.join(info.protocols)}\ndata       {info.needs}")
        if counts is not None:
            click.echo(
                f"counts     {counts.items} items, {len(counts.categories)} categories, {counts.images} images, "
                f"{counts.captions} with a caption, {counts.references} with a reference"
            )
            print_rows(("category", "items"), [(name, str(n)) for name, n in counts.categories], console())
        if self.sources:
            print_rows(("source", "items"), [(name, str(n)) for name, n in self.sources], console())
        if self.items is not None:
            rows = [
                (item.label, item.category or "", str(len(item.images)), _beginning(item.instruction))
                for item in self.items
            ]
            print_rows(("item", "category", "images", "instruction"), rows, console())
        say_notes(self.notes)


def _listed(item: Item) -> Json:
    return {
        "item": item.label,
        "category": item.category,
        "task": item.task,
        "images": list(item.images),
        "instruction": item.instruction,
    }


def _beginning(text: str) -> str:
    return shorten(text, _SHOWN, placeholder=" …")


def benchmark_facts(
    name: str, *, data: Path | None = None, reference: str | None = None, items: bool = False
) -> BenchmarkFacts:
    """With `items`, also a list of them. Raises BenchmarkError where the data cannot be used."""
    if data is None and reference is None and not items:
        return BenchmarkFacts(info=describe_benchmark(name))
    info = find_benchmark(name)
    loaded = load_benchmark(name, path=data, reference=reference)
    return BenchmarkFacts(
        info=replace(info, counts=count(loaded)),
        sources=_sources(info, loaded),
        notes=loaded.notes,
        items=loaded.items if items else None,
    )


def _sources(info: BenchmarkInfo, loaded: Benchmark) -> tuple[tuple[str, int], ...]:
    if info.package != visit_bench.__name__:
        return ()
    from evenhand.reports.papers.scores.visit_bench import source_name

    return tuple(sorted(Counter(map(source_name, loaded.items)).items()))
