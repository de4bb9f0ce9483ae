"""`evenhand export --public`: what everybody may have of a benchmark, and its images as files."""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.benchmarks.catalog import benchmark_names, find_benchmark
from evenhand.benchmarks.files.own_items import is_own_file
from evenhand.cli.environment import WrongUse
from evenhand.domain.item import Benchmark
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.exchange.tables import ExchangeTable, check_format, jsonl_lines, write_table
from evenhand.files.outputs import Target
from evenhand.format.near_names import hint
from evenhand.images import ImageStore
from evenhand.ledger.read.projection import benchmarks
from evenhand.ledger.store.opening import explained, sqlite_path
from evenhand.ledger.store.record import Ledger
from evenhand.site.living.public_export import COLUMNS, WrittenImages, on_record, public_rows, write_images
from evenhand.site.living.settings import growing_benchmarks, versions

if TYPE_CHECKING:
    from evenhand.cli.data.export_command import ExportOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class _Found:
    benchmark: Benchmark
    store: ImageStore | None
    """Where images lie; None where there is no ledger, and none is made to look."""


def export_public(given: "ExportOptions") -> None:
    out = given.out
    if out != "-":
        check_format(out, spreadsheet=given.spreadsheet)
        out.check()
    found = _found(given)
    folder = given.images
    written: WrittenImages | None = None
    if folder is not None:
        with explained(folder.path):
            written = write_images(found.benchmark, folder, found.store)
    rows = public_rows(found.benchmark, files=_from_table(written, folder, Path() if out == "-" else out.path.parent))
    table = ExchangeTable(columns=COLUMNS, rows=rows)
    if out == "-":
        for line in jsonl_lines(table):
            click.echo(line, nl=False)
    else:
        with explained(out.path):
            write_table(table, out, spreadsheet=given.spreadsheet)
    click.echo(f"{len(rows)} items written{'' if out == '-' else f' to {out}'}, their public part.", err=True)
    if written is not None:
        click.echo(f"{len(written.files)} images written to {folder}.", err=True)
        _tell_absent(written)


def _tell_absent(written: WrittenImages) -> None:
    if written.absent:
        click.echo(
            f"{len(written.absent)} images are not available and were left out (the first is {written.absent[0]}); "
            "`evenhand benchmarks fetch` brings those that are URLs.",
            err=True,
        )


def _from_table(written: WrittenImages | None, folder: Target | None, beside: Path) -> dict[str, str]:
    """The image files as one finds them from the folder of the table, by digest."""
    if written is None or folder is None:
        return {}
    way = Path(os.path.relpath(folder.path, beside)).as_posix()
    return {digest: f"{way}/{name}" for digest, name in written.files.items()}


def _found(given: "ExportOptions") -> _Found:
    """Raises WrongUse where it is not plain which benchmark is meant."""
    name, data = given.choosing.benchmark, given.source.data
    if not name:
        raise WrongUse("Name the benchmark whose public part is wanted with --benchmark.")
    path = sqlite_path(given.store)
    ledger = None if path is not None and not path.exists() else Ledger(given.store, create=False)
    store = None if ledger is None else ledger.images
    bundled = name in benchmark_names() and find_benchmark(name).items is not None
    if data or bundled or is_own_file(name):
        loaded = given.source.load(name)
        return _Found(benchmark=loaded if store is None else with_fetched(loaded, store), store=store)
    if ledger is None:
        sentence = f"There is no ledger to look up {name} in; give its file with --data."
        raise WrongUse(sentence, code="EH-LEDGER-MISSING")
    return _Found(benchmark=on_record(ledger, _digest(ledger, name)), store=store)


def _digest(ledger: Ledger, name: str) -> str:
    for growing in growing_benchmarks(ledger):
        made = versions(ledger, growing.id) if growing.name == name else ()
        if made:
            return made[-1].data
    held = benchmarks(ledger)
    found = [one.data for one in held if one.name == name]
    if not found:
        raise WrongUse(
            f"The ledger holds nothing for --benchmark {name}; {hint(name, sorted({one.name for one in held}))}",
            code="EH-CHOOSE-NOTHING",
        )
    if len(found) > 1:
        raise WrongUse(
            f"The ledger holds {len(found)} data files under {name}; say which with --data.", code="EH-CHOOSE-SEVERAL"
        )
    return found[0]
