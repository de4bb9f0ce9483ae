"""What `benchmarks show` tells of one benchmark, and of the data that a user brings for it."""

from collections import Counter
from dataclasses import dataclass, replace
from shlex import quote
from textwrap import shorten

import click

from evenhand.benchmarks import creation_mmbench, visit_bench
from evenhand.benchmarks.benchmark import BenchmarkInfo, count
from evenhand.benchmarks.catalog import find_benchmark
from evenhand.benchmarks.creation_mmbench.tasks import categories
from evenhand.benchmarks.data_error import BenchmarkError
from evenhand.benchmarks.files.own_items import is_own_file
from evenhand.benchmarks.visit_bench.load import SourceDataset, released_sources, skills, sources
from evenhand.cli.notes import say_notes
from evenhand.cli.options import DataOptions
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.format.tables import console, print_entries, print_rows

_SHOWN = 90
"""Characters of an instruction in the list of items."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskFacts:
    """A task of Creation-MMBench, a skill of VisIT-Bench, or what a user's own items call their task."""

    name: str
    category: str | None
    items: int | None
    """None: no data was read."""

    def as_json(self) -> dict[str, Json]:
        return {"task": self.name, "category": self.category, "items": self.items}


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarkFacts:
    info: BenchmarkInfo
    tasks: tuple[TaskFacts, ...] = ()
    """The published ones; of data that was read, those that it has."""
    topics: tuple[SourceDataset, ...] = ()
    """The existing datasets that VisIT-Bench draws on."""
    sources: tuple[tuple[str, int], ...] = ()
    """Items drawn from each existing dataset, by name; VisIT-Bench alone tells."""
    notes: tuple[str, ...] = ()
    items: tuple[Item, ...] | None = None
    """None: they are not listed."""

    @property
    def document(self) -> dict[str, Json]:
        sources: list[Json] = [{"source": name, "items": items} for name, items in self.sources]
        listed = {} if self.items is None else {"item_list": [_listed(item) for item in self.items]}
        return {
            "schema": 1,
            **self.info.as_json(),
            "tasks": [one.as_json() for one in self.tasks],
            "topics": [one.as_json() for one in self.topics],
            "sources": sources,
            "notes": list(self.notes),
            **listed,
        }

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
        if self.tasks:
            told = [{name: value for name, value in one.as_json().items() if value is not None} for one in self.tasks]
            known = [name for name in ("task", "category", "items") if any(name in one for one in told)]
            print_rows(known, [[str(one.get(name, "")) for name in known] for one in told], console())
        if self.topics:
            click.echo("draws on   (the paper names no licence; each is as told by what stands in parentheses)")
            print_entries([(one.name, _topic_facts(one)) for one in self.topics], console())
        if self.sources:
            print_rows(("source", "items"), [(name, str(n)) for name, n in self.sources], console())
        if self.items is not None:
            rows = [
                (item.label, item.category or "", str(len(item.images)), _beginning(item.instruction))
                for item in self.items
            ]
            print_rows(("item", "category", "images", "instruction"), rows, console())
        say_notes(self.notes)


def _topic_facts(one: SourceDataset) -> list[str]:
    told = "found nowhere; look at its page" if one.told_by == "nobody" else one.told_by
    return [
        f"{one.topic}, {one.images} image{'s' if one.images == 'multiple' else ''}",
        f"{one.licence} ({told})",
        one.address,
    ]


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


def benchmark_facts(name: str, source: DataOptions, *, items: bool = False) -> BenchmarkFacts:
    """With `items`, also a list of them. Raises BenchmarkError where the data cannot be used."""
    if is_own_file(name):
        raise BenchmarkError(f"{name} is a file of your own; `evenhand describe {quote(name)}` tells what it holds.")
    info = find_benchmark(name)
    given = bool(source.data or source.reference or items)
    topics = (*sources(), *released_sources()) if info.name == _DRAWS_ON else ()
    if info.items is None and not given:
        return BenchmarkFacts(info=info, tasks=_published(info), topics=topics)
    loaded = source.load(name)
    return BenchmarkFacts(
        info=replace(info, counts=count(loaded)),
        tasks=_held(loaded),
        topics=topics,
        sources=_sources(info, loaded),
        notes=loaded.notes if given else (),
        items=loaded.items if items else None,
    )


_DRAWS_ON = "visit-bench"


def _published(info: BenchmarkInfo) -> tuple[TaskFacts, ...]:
    if info.package == creation_mmbench.__name__:
        return tuple(TaskFacts(name=task, category=one.name, items=None) for one in categories() for task in one.tasks)
    if info.package == visit_bench.__name__:
        return tuple(TaskFacts(name=skill, category=None, items=None) for skill in skills())
    return ()


def _held(loaded: Benchmark) -> tuple[TaskFacts, ...]:
    """Of items that name a task; skills are categories, which are counted already."""
    held = Counter((item.task, item.category) for item in loaded.items if item.task)
    return tuple(
        TaskFacts(name=task or "", category=category, items=items)
        for (task, category), items in sorted(held.items(), key=lambda one: (one[0][1] or "", one[0][0] or ""))
    )


def _sources(info: BenchmarkInfo, loaded: Benchmark) -> tuple[tuple[str, int], ...]:
    if info.package != visit_bench.__name__:
        return ()
    from evenhand.reports.papers.scores.visit_bench import source_name

    return tuple(sorted(Counter(map(source_name, loaded.items)).items()))
