"""`evenhand benchmarks`: what there is to be asked."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.cli import options
from evenhand.cli.options import DataOptions, option, output
from evenhand.files.outputs import Target

if TYPE_CHECKING:
    from evenhand.benchmarks.benchmark import BenchmarkInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchmarksOptions:
    as_json: bool = options.as_json()


@click.group("benchmarks", cls=options.ShowingGroup, invoke_without_command=True)
@options.takes(BenchmarksOptions)
def command(ctx: click.Context, given: BenchmarksOptions) -> None:
    """The available benchmarks, with licence, counts and default protocols."""
    if ctx.invoked_subcommand is not None:
        return
    from evenhand.cli.notes import say_notes
    from evenhand.format.tables import console, print_entries

    infos, notes = _listed()
    if given.as_json:
        document = {"schema": 1, "benchmarks": [info.as_json() for info in infos], "notes": notes}
        click.echo(json.dumps(document, ensure_ascii=False))
        return
    print_entries([(info.name, _facts(info)) for info in infos], console())
    say_notes(notes)


def _listed() -> "tuple[list[BenchmarkInfo], list[str]]":
    """And a sentence on each that is installed and cannot be used."""
    from evenhand.benchmarks.catalog import benchmark_names, describe_benchmark
    from evenhand.benchmarks.data_error import BenchmarkError

    infos: list[BenchmarkInfo] = []
    notes: list[str] = []
    for name in benchmark_names():
        try:
            infos.append(describe_benchmark(name))
        except BenchmarkError as error:
            notes.append(str(error))
    return infos, notes


def _facts(info: "BenchmarkInfo") -> list[str]:
    items = [f"{info.counts.items:,} items"] if info.counts else []
    return [
        info.title,
        *items,
        f"data: {info.needs}",
        f"licence: {info.licence}",
        f"protocols: {', '.join(info.protocols)}",
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShowBenchmarkOptions:
    force: bool = options.force()
    name: str = options.argument()
    source: DataOptions
    items: bool = option(
        "--items",
        is_flag=True,
        help="List every item with the name that files and --items of other commands give it.",
    )
    pages: Target | None = output(
        "--pages",
        checked=False,
        type=click.Path(path_type=Path),
        help="Write every item with its images to this folder, as pages that open from disk and need no server.",
    )
    as_json: bool = options.as_json()


@command.command("show")
@options.takes(ShowBenchmarkOptions)
def show(_: click.Context, given: ShowBenchmarkOptions) -> None:
    """Everything about one benchmark; with --data, also about a file of your own."""
    if given.pages is not None:
        from evenhand.cli.server.publishing import publish_cases

        document = publish_cases(given.pages, given.source.load(given.name))
        if given.as_json:
            click.echo(json.dumps(document, ensure_ascii=False))
        return
    from evenhand.cli.data.benchmark_facts import benchmark_facts

    facts = benchmark_facts(given.name, given.source, items=given.items)
    if given.as_json:
        click.echo(json.dumps(facts.document, ensure_ascii=False))
    else:
        facts.print()


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOptions:
    force: bool = options.force()
    name: str = options.argument()
    source: DataOptions
    max_bytes: int = option(
        "--max-bytes", type=click.IntRange(1), default=20_000_000, show_default=True, help="Of one image."
    )
    allow_private: bool = option(
        "--allow-private", is_flag=True, help="Fetch from this machine and private networks too."
    )
    out: Target | None = output(
        "--out",
        checked=False,
        type=click.Path(path_type=Path),
        help="The folder for the benchmark's file [.]; of images, a .jsonl, .csv or .parquet file on each URL, or a "
        "folder for it.",
    )
    store: str = options.store()
    as_json: bool = options.as_json()


@command.command("fetch")
@options.takes(FetchOptions)
def fetch(ctx: click.Context, given: FetchOptions) -> None:
    """Fetch NAME's own file, or the images that its data gives as URLs.

    Without --data, the file that a benchmark's authors publish comes into the folder --out, its hash checked; what came
    before an interruption is kept, and the same command again gets the rest. With --data, or where the data is bundled,
    the images that it gives as URLs are kept beside the ledger. The items stay as they are: judges with eyes find the
    images by URL. What was fetched before is not fetched again.
    """
    from evenhand.benchmarks.catalog import find_benchmark
    from evenhand.benchmarks.files.data_file import data_files
    from evenhand.benchmarks.files.own_items import is_own_file
    from evenhand.cli.data.fetching import fetch_data, fetch_order

    files = () if given.source.data or is_own_file(given.name) else data_files(find_benchmark(given.name))
    if files:
        document = fetch_data(files, given.out.path if given.out else Path())
        if given.as_json:
            click.echo(json.dumps(document, ensure_ascii=False))
        return
    outcome = fetch_order(given)
    if given.as_json:
        click.echo(json.dumps(outcome.document, ensure_ascii=False))
    outcome.print_summary()
    ctx.exit(outcome.exit_code)
