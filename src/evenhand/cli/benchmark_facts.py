"""What `benchmarks show` tells of one benchmark, and of the data that a user brings for it."""

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import click

from evenhand.benchmarks import visit_bench
from evenhand.benchmarks.benchmark import BenchmarkInfo, count
from evenhand.benchmarks.catalog import describe_benchmark, find_benchmark, load_benchmark
from evenhand.cli.notes import say_notes
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.reports.tables import console, print_rows


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFacts:
    info: BenchmarkInfo
    sources: tuple[tuple[str, int], ...] = ()
    """Items drawn from each existing dataset, by name; VisIT-Bench alone tells."""
    notes: tuple[str, ...] = ()

    @property
    def document(self) -> dict[str, Json]:
        sources: list[Json] = [{"source": name, "items": items} for name, items in self.sources]
        return {"schema": 1, **self.info.as_json(), "sources": sources, "notes": list(self.notes)}

    def print(self) -> None:
        info, counts = self.info, self.info.counts
        click.echo(f"{info.name}: {info.title}")
        click.echo(f"licence    {info.licence}\ncitation   {info.citation}\nsource     {info.url}")
        click.echo(f"protocols  {', '.join(info.protocols)}\ndata       {info.needs}")
        if counts is not None:
            click.echo(
                f"counts     {counts.items} items, {len(counts.categories)} categories, {counts.images} images, "
                f"{counts.captions} with a caption, {counts.references} with a reference"
            )
            print_rows(("category", "items"), [(name, str(n)) for name, n in counts.categories], console())
        if self.sources:
            print_rows(("source", "items"), [(name, str(n)) for name, n in self.sources], console())
        say_notes(self.notes)


def benchmark_facts(name: str, *, data: Path | None = None, reference: str | None = None) -> BenchmarkFacts:
    """Raises BenchmarkError where the data cannot be used."""
    if data is None and reference is None:
        return BenchmarkFacts(info=describe_benchmark(name))
    info = find_benchmark(name)
    loaded = load_benchmark(name, path=data, reference=reference)
    return BenchmarkFacts(info=replace(info, counts=count(loaded)), sources=_sources(info, loaded), notes=loaded.notes)


def _sources(info: BenchmarkInfo, loaded: Benchmark) -> tuple[tuple[str, int], ...]:
    if info.package != visit_bench.__name__:
        return ()
    from evenhand.reports.scores.visit_bench import source_name

    return tuple(sorted(Counter(map(source_name, loaded.items)).items()))
