"""From the arguments of `describe` to what is told of each benchmark."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.benchmarks.catalog import find_benchmark
from evenhand.benchmarks.files.own_items import is_own_file
from evenhand.cli.environment import WrongUse
from evenhand.cli.notes import say_notes
from evenhand.cli.options import OwnFileOptions
from evenhand.describe.description import Description, DescriptionContext, describe
from evenhand.describe.errors import DescribeError
from evenhand.describe.image_kinds import labels_of, read_labels, unknown_note
from evenhand.describe.lengths import ESTIMATED
from evenhand.describe.objects import HOW_TO_GIVE_ONE, Detector
from evenhand.describe.verbs import VerbReader
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.files.outputs import Place
from evenhand.format.charts import SUFFIXES
from evenhand.images import ImageStore
from evenhand.ledger.store.opening import sqlite_path
from evenhand.ledger.store.record import Ledger
from evenhand.models.prices import COUNTED_BY

if TYPE_CHECKING:
    from evenhand.cli.data.describe_command import DescribeOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedFile:
    described: tuple[Description, ...]
    notes: tuple[str, ...]

    @property
    def document(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "benchmarks": [one.as_json() for one in self.described],
            "tokens_counted_by": COUNTED_BY,
            "notes": list(self.notes),
        }

    def plot(self, path: Place, only: Sequence[str] = ()) -> None:
        """Raises ChartError where it cannot be drawn or written. `only`: these pictures, where it is not a page."""
        from evenhand.reports.description.charts import plot
        from evenhand.reports.description.page import write_page

        if path.suffix.lower() == ".html":
            write_page(self.described, self.notes, path)
        else:
            plot(self.described, path, only)


@dataclass(frozen=True, slots=True, kw_only=True)
class DescribedSource:
    name: str
    path: Path | None

    @classmethod
    def of(cls, argument: str) -> "DescribedSource":
        if is_own_file(argument) and Path(argument).is_file():
            return cls(name=argument, path=None)
        name, _, path = argument.partition("=")
        return cls(name=name, path=Path(path).expanduser() if path else None)


def told_of(given: "DescribeOptions") -> DescribedFile:
    """Raises WrongUse, BenchmarkError or DescribeError with a sentence."""
    for path in given.plot:
        if path.suffix.lower() not in SUFFIXES:
            raise WrongUse(f"A picture is written as {', '.join(SUFFIXES)}; {path.name} ends in none of them.")
    wanted = [DescribedSource.of(argument) for argument in given.benchmarks]
    labels = read_labels(given.image_kinds) if given.image_kinds else ()
    notes = [ESTIMATED]
    context = DescriptionContext(
        verbs=_verb_reader(notes),
        detector=Detector(given.detector) if given.detector else None,
        store=_fetched(given.store),
    )
    loaded = [_loaded(one, given.own, context.store) for one in wanted]
    kinds = [labels_of(benchmark, labels) for benchmark in loaded]
    names = _names(wanted, loaded)
    described = tuple(
        describe(benchmark, context, name=name, labels=own)
        for benchmark, name, own in zip(loaded, names, kinds, strict=True)
    )
    notes += [f"{one.name}: {note}" for one in described for note in one.notes]
    notes += [] if context.detector else [HOW_TO_GIVE_ONE]
    unknown = unknown_note(labels, [label for own in kinds for label in own.values()])
    return DescribedFile(described=described, notes=(*notes, *([unknown] if unknown else [])))


def _loaded(wanted: DescribedSource, own: OwnFileOptions, store: ImageStore | None) -> Benchmark:
    if wanted.path is None and not is_own_file(wanted.name):
        info = find_benchmark(wanted.name)
        if info.items is None:
            raise WrongUse(
                f"{wanted.name} needs its data: write {wanted.name}=PATH. {info.needs}", code="EH-DATA-NEEDED"
            )
    benchmark = own.load(wanted.name, data=wanted.path)
    say_notes(benchmark.notes)
    return benchmark if store is None else with_fetched(benchmark, store)


def _names(wanted: Sequence[DescribedSource], loaded: Sequence[Benchmark]) -> list[str]:
    """A benchmark that stands there twice is told apart by its file."""
    times = Counter(benchmark.name for benchmark in loaded)
    names = [
        f"{benchmark.name} ({(one.path or Path(one.name)).name})" if times[benchmark.name] > 1 else benchmark.name
        for one, benchmark in zip(wanted, loaded, strict=True)
    ]
    twice = next((name for name, number in Counter(names).items() if number > 1), None)
    if twice is not None:
        raise WrongUse(f"{twice} is given twice; give each once, and files of one benchmark under different names.")
    return names


def _verb_reader(notes: list[str]) -> VerbReader | None:
    try:
        return VerbReader()
    except DescribeError as missing:
        notes.append(str(missing))
        return None


def _fetched(url: str) -> ImageStore | None:
    """Where images lie that were fetched; None where there is no ledger, and none is made to look."""
    path = sqlite_path(url)
    if path is not None and not path.exists():
        return None
    ledger = Ledger(url, create=False)
    try:
        return ledger.images
    finally:
        ledger.close()
