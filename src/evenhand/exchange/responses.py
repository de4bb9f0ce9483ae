"""Answers of a file into the ledger, all of it or nothing, and as a table that `import --responses` reads back."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from evenhand import __version__
from evenhand.benchmarks.answers.responses_file import Gaps, ResponseSet, read_responses, reference_responses
from evenhand.benchmarks.data_error import TWICE, Problems, quoted
from evenhand.benchmarks.files.rows import read_rows
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.response import REFERENCE
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.tables import ExchangeTable
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import runs

_EMPTY = "empty"
"""In an import's outcome: the empty answers of its file."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportedResponses:
    new: int
    known: int
    models: tuple[str, ...]
    run: str | None
    """None where nothing was new."""

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "responses": self.new,
            "known": self.known,
            "models": list(self.models),
            "runs": [self.run] if self.run else [],
        }


def named_variant(path: Path, given: str | None) -> str:
    """The variant that the file's own column names, else the one given. Raises ExchangeError where they differ."""
    rows = read_rows(path, Problems(ExchangeError))  # what cannot be read is told by read_responses
    named = {str(row.fields["variant"] or "").strip() for row in rows if "variant" in row.fields}
    if len(named) > 1:
        found = quoted(sorted(name or "default" for name in named))
        raise ExchangeError(
            f"{path}: the column `variant` names several: {found}. One file, one variant: split it.", code=TWICE
        )
    own = named.pop() if named else None
    if own is not None and given is not None and own != given:
        raise ExchangeError(
            f"{path}: the column `variant` says `{own or 'default'}` and --variant says `{given or 'default'}`.",
            code=TWICE,
        )
    return own or given or ""


def read_answers(
    path: Path,
    benchmark: Benchmark,
    *,
    variant: str | None = None,
    gaps: Gaps = "note",
    columns: Mapping[str, str] | None = None,
) -> ResponseSet:
    """As `read_responses`, and of the variant that the file's own column names. Raises ExchangeError on several."""
    return read_responses(path, benchmark, variant=named_variant(path, variant), gaps=gaps, columns=columns)


def import_responses(
    ledger: Ledger,
    benchmark: Benchmark,
    read: ResponseSet,
    *,
    replace: bool = False,
    settings: Mapping[str, Json] | None = None,
) -> ImportedResponses:
    """Raises LedgerError where the ledger holds other texts, unless `replace`; then nothing was added."""
    new = ledger.add_responses(read.responses, replace=replace, benchmark=benchmark)
    ledger.add_responses(reference_responses(benchmark))
    ledger.register_benchmark(benchmark)
    known = len(read.responses) - new
    empty = _empty_in(read, benchmark) - empty_answers(ledger)
    run = _imported(ledger, benchmark, empty, new=new, known=known, settings=settings) if new or empty else None
    return ImportedResponses(new=new, known=known, models=read.models, run=run)


def remember_empty(ledger: Ledger, benchmark: Benchmark, read: ResponseSet) -> None:
    """That these answers were empty, where their file is judged and not imported."""
    empty = _empty_in(read, benchmark) - empty_answers(ledger)
    if empty:
        ledger.register_benchmark(benchmark)
        _imported(ledger, benchmark, empty)


def _empty_in(read: ResponseSet, benchmark: Benchmark) -> set[tuple[str, str, str]]:
    digests = {item.label: item.digest for item in benchmark.items}
    return {(digests[one.item], one.model, read.variant) for one in read.empty}


def _imported(
    ledger: Ledger,
    benchmark: Benchmark,
    empty: set[tuple[str, str, str]],
    *,
    new: int = 0,
    known: int = 0,
    settings: Mapping[str, Json] | None = None,
) -> str:
    """The run on record."""
    run = ledger.begin_run("import", {**(settings or {}), "benchmark": benchmark.name}, study=None, version=__version__)
    outcome: dict[str, Json] = {"known": known, "imported": new, "called": 0, "failed": {}}
    ledger.end_run(run, outcome | ({_EMPTY: [list(one) for one in sorted(empty)]} if empty else {}))
    return run


def empty_answers(ledger: Ledger) -> set[tuple[str, str, str]]:
    """Item, model and variant of the empty answers that files held: they are not judged, but others may have judged
    them."""
    ended = (one.outcome or {} for one in runs(ledger, command="import"))
    return {(item, model, variant) for outcome in ended for item, model, variant in outcome.get(_EMPTY, ())}


def variants_held(ledger: Ledger, data: str) -> set[str]:
    """The variants in which the ledger holds answers to this data; "" is the plain one."""
    items = [item.digest for item in items_of(ledger, data)]
    return {one.variant for one in ledger.responses_to(items, variant=None) if one.model != REFERENCE}


def responses_table(ledger: Ledger, data: str, *, variant: str = "") -> ExchangeTable:
    """The answer that stands for each model to each item, in the benchmark's order; its own references are left out."""
    items = items_of(ledger, data)
    place = {item.digest: number for number, item in enumerate(items)}
    held = [one for one in ledger.responses_to(place, variant=variant) if one.model != REFERENCE]
    held.sort(key=lambda one: (place[one.item], one.model))
    return ExchangeTable(
        columns={"item": "text", "model": "text", "response": "text", "variant": "text"},
        rows=[
            {"item": items[place[one.item]].label, "model": one.model, "response": one.text, "variant": one.variant}
            for one in held
        ],
    )
