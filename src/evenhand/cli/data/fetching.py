"""From the flags of `benchmarks fetch` to a benchmark's own file, or to images beside the ledger."""

import asyncio
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from evenhand.benchmarks.files.data_file import DataFile, Downloaded, download
from evenhand.cli.environment import WrongUse
from evenhand.cli.sentences import INCOMPLETE
from evenhand.cli.waiting import waiting
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.exchange.tables import ExchangeTable, Shape, check_format, write_table
from evenhand.files.outputs import Target
from evenhand.images.fetching import Fetched, FetchLimits, NotFetched, Outcome, Problem, fetch_images
from evenhand.images.guard import anywhere, is_public
from evenhand.ledger.store.opening import explained
from evenhand.ledger.store.record import Ledger

if TYPE_CHECKING:
    from evenhand.cli.data.benchmarks_command import FetchOptions

_WHY: Mapping[Problem, str] = {
    "address": "the address cannot be fetched",
    "private": "the address is of this machine or a private network (--allow-private, if that is meant)",
    "unreachable": "the server could not be reached",
    "timeout": "the server was too slow",
    "status": "the server refused",
    "redirects": "there were too many redirects",
    "too-large": "the image is too large (--max-bytes)",
    "bomb": "the image is larger than is decoded",
    "not-an-image": "what came is no image that can be used",
}
_COLUMNS: Mapping[str, Shape] = {
    "url": "text",
    "sha256": "text",
    "licence": "text",
    "problem": "text",
    "detail": "text",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class FetchOutcome:
    urls: int
    known: int
    """At hand before: fetched earlier, or in the data itself."""
    outcomes: Sequence[Outcome]

    @property
    def lost(self) -> list[NotFetched]:
        return [one for one in self.outcomes if isinstance(one, NotFetched)]

    @property
    def exit_code(self) -> int:
        return INCOMPLETE if self.lost else 0

    @property
    def document(self) -> dict[str, Json]:
        failed: dict[str, Json] = {why: len(some) for why, some in self._by_problem().items()}
        fetched = len(self.outcomes) - len(self.lost)
        return {"schema": 1, "urls": self.urls, "known": self.known, "fetched": fetched, "failed": failed}

    def print_summary(self) -> None:
        fetched = len(self.outcomes) - len(self.lost)
        click.echo(f"{self.urls} images given as URLs: {self.known} fetched before, {fetched} fetched.", err=True)
        for problem, some in self._by_problem().items():
            first = some[0]
            click.echo(f"{len(some)} not fetched: {_WHY[problem]}. The first: {first.url}: {first.detail}", err=True)
        if self.lost:
            click.echo("The same command again fetches only what is missing.", err=True)

    def _by_problem(self) -> dict[Problem, list[NotFetched]]:
        found: dict[Problem, list[NotFetched]] = {}
        for one in self.lost:
            found.setdefault(one.problem, []).append(one)
        return found


def fetch_data(files: Sequence[DataFile], folder: Path) -> dict[str, Json]:
    """The benchmark's own files in the folder. Raises BenchmarkError, DownloadError where one did not come."""
    done = [_downloaded(file, folder) for file in files]
    rows: list[Json] = [{"path": str(one.path), "bytes": one.bytes, "came": one.came} for one in done]
    return {"schema": 1, "files": rows}


def _downloaded(file: DataFile, folder: Path) -> Downloaded:
    def told(here: int, whole: int | None) -> None:
        of = f" of {whole / 1e6:.1f}" if whole else ""
        click.echo(f"\r{file.name}: {here / 1e6:.1f}{of} MB", nl=False, err=True)

    shown = sys.stderr.isatty()
    try:
        done = download(file, folder, told=told) if shown else download(file, folder)
    finally:
        click.echo("\r\x1b[2K" if shown else "", nl=False, err=True)
    how = f"{done.came} of its {done.bytes} bytes came now" if done.came else f"it was here, {done.bytes} bytes"
    click.echo(f"{done.path}: {how}; its MD5 is {file.md5}, as published. Give it with --data {done.path}", err=True)
    return done


def fetch_order(given: "FetchOptions") -> FetchOutcome:
    """Fetches what is missing, and writes the table that `--out` asks for."""
    loaded = given.source.load(given.name)
    out = _table_file(given.out, loaded.name)
    if out is not None:
        check_format(out)
        out.check()
    urls = list(dict.fromkeys(image for item in loaded.items for image in item.images if "://" in image))
    if not urls:
        raise WrongUse(f"{loaded.name} names no image by a URL; there is nothing to fetch.")
    ledger = Ledger(given.store)
    known = with_fetched(loaded, ledger.images).addresses
    limits = FetchLimits(bytes=given.max_bytes, allowed=anywhere if given.allow_private else is_public)
    missing = [url for url in urls if url not in known]
    with explained(ledger.images.where), waiting("Fetching") as shown:
        settled: list[Outcome] = []

        def told(outcome: Outcome) -> None:
            settled.append(outcome)
            shown.count(len(settled), len(missing), "images")

        outcomes = asyncio.run(fetch_images(missing, ledger.images, licences=loaded.licences, limits=limits, told=told))
    if out is not None:
        with explained(out.path):
            write_table(_table(urls, known, outcomes, loaded), out)
    return FetchOutcome(urls=len(urls), known=len(urls) - len(missing), outcomes=outcomes)


def _table_file(out: Target | None, benchmark: str) -> Target | None:
    """A folder gets the table under the benchmark's name."""
    if out is None or (out.suffix and not out.path.is_dir()):
        return out
    with explained(out.path):
        out.path.mkdir(parents=True, exist_ok=True)
    return out.below(f"{benchmark}-images.jsonl")


def _table(
    urls: Sequence[str], known: Mapping[str, str], outcomes: Sequence[Outcome], benchmark: Benchmark
) -> ExchangeTable:
    by_url = {one.url: one for one in outcomes}
    rows: list[Mapping[str, Json]] = []
    for url in urls:
        outcome = by_url.get(url)
        digest = outcome.info.digest if isinstance(outcome, Fetched) else known.get(url)
        lost = outcome if isinstance(outcome, NotFetched) else None
        rows.append(
            {
                "url": url,
                "sha256": digest,
                "licence": benchmark.licences.get(url),
                "problem": lost and lost.problem,
                "detail": lost and lost.detail,
            }
        )
    return ExchangeTable(columns=_COLUMNS, rows=rows)
