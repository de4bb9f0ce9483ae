"""What the demo shows first: a bundled record of people and two judges, read without asking any model."""

import csv
import gzip
import io
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rich.console import Console

from evenhand.api.reporting import report_on_files, write_page
from evenhand.benchmarks.benchmark import BenchmarkInfo
from evenhand.benchmarks.catalog import find_benchmark
from evenhand.cli.waiting import waiting
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.files.outputs import Target
from evenhand.format.charts import ChartError, write_out
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.supported import share_interval, share_words
from evenhand.format.tables import escape
from evenhand.format.words import unbroken
from evenhand.reports.alignment.report import Aligned
from evenhand.reports.board.board import Board
from evenhand.reports.board.ranking import rank
from evenhand.reports.page.file_report import FileReport

BENCHMARK = "llmfao"
PEOPLE, JUDGES = "people", ("gpt-4", "gpt-3.5")
_SHOWN = 10
"""Models of the board that the screen has."""
_SAME_PROMPTS = "All of this is of these 13 prompts: on others the boards may differ by more than the intervals say."


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedJudge:
    name: str
    board: Board
    aligned: Aligned

    @property
    def first(self) -> Estimate:
        """How often the first of two equally good answers wins; above one half favours the first position."""
        odds = self.board.findings.order_effect.overall.natural
        return Estimate(value=_share(odds.value), lower=_share(odds.lower), upper=_share(odds.upper), n=odds.n)

    @property
    def favours(self) -> str | None:
        """The position that it favours at 95 %; None where neither is shown."""
        lower, upper = self.first.lower, self.first.upper
        if lower is None or upper is None or lower <= 0.5 <= upper:
            return None
        return "first" if lower > 0.5 else "second"

    def places(self) -> dict[str, int]:
        return {row.model: row.rank for row in self.board.models if row.rank is not None}

    def as_json(self) -> dict[str, Json]:
        return {
            "judge": self.name,
            "board": self.board.as_json(),
            "conclusion": self.aligned.concluded.sentence,
            **self.first.as_json("first_position"),
            "favours": self.favours,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class RealRecord:
    info: BenchmarkInfo
    files: tuple[Path, ...]
    made: FileReport
    judges: tuple[RecordedJudge, ...]

    @property
    def board(self) -> Board:
        """By people."""
        return self.made.board

    def as_json(self, report: Path | None) -> dict[str, Json]:
        return {
            "benchmark": self.info.name,
            "licence": self.info.licence,
            "citation": self.info.citation,
            "files": [str(path) for path in self.files],
            "board": self.board.as_json(),
            "judges": [one.as_json() for one in self.judges],
            "sentences": [self.conclusion, *self.sentences],
            "report": None if report is None else str(report),
        }

    @property
    def conclusion(self) -> str:
        leader = self.board.models[0].model
        level = sum(row.rank_lower == 1 for row in self.board.models) - 1
        others = ", ".join(f"by {one.name} {one.board.models[0].model}" for one in self.judges)
        return f"By people {leader} leads ({level} others may be as good), {others}."

    @property
    def sentences(self) -> list[str]:
        said = [one.aligned.concluded.sentence for one in self.judges]
        said += [self._order(one) for one in self.judges]
        return [*said, self._believed(self.judges[-1]), _SAME_PROMPTS]

    def _order(self, one: RecordedJudge) -> str:
        first = one.first
        claim = "favours neither position" if one.favours is None else f"favours the {one.favours} position"
        wins = f"{share_words(first)} (95 % interval {share_interval(first)})"
        return f"{one.name} {claim}: the first of two equals wins {wins}."

    def _believed(self, one: RecordedJudge) -> str:
        """Who would lead, and who moves most."""
        people = {row.model: row.rank for row in self.board.models if row.rank is not None}
        theirs, leader = one.places(), self.board.models[0].model
        moved = max(people, key=lambda model: (abs(theirs[model] - people[model]), model))
        first = one.board.models[0].model
        return (
            f"Who believed {one.name} would put {first} first, and {leader} on rank {theirs[leader]}; {moved} moves "
            f"most, from rank {people[moved]} to {theirs[moved]}."
        )

    def print_story(self, console: Console) -> None:
        rows = self.board.coverage.with_verdict
        console.print("[bold]Whom to believe: people, GPT-4 or GPT-3.5?[/bold]")
        console.print(
            f"LLMFAO (D. Ustalov, {escape(self.info.licence)}): 59 models, 13 prompts, {rows:,} verdicts of people\n",
            style="dim",
        )
        console.print(f"{escape(self.conclusion)}\n", style="bold")
        print_sheet(self._board_sheet(), console)
        print_sheet(self._judges_sheet(), console)
        for sentence in self.sentences:
            console.print(unbroken(escape(sentence)))

    def print_further(self, console: Console, report: Path | None, program: str) -> None:
        here = [os.path.relpath(path) for path in self.files]
        if report is not None:
            console.print(f"\nAll of it as a page: [bold]{escape(os.path.relpath(report))}[/bold]")
        console.print("\nTo type on, with the same files:")
        for words in (f"rank {here[-1]}", f"align {' '.join(here)}", f"judges {' '.join(here)}"):
            console.print(f"    {escape(program)} {escape(words)}", style="bold", soft_wrap=True)

    def _board_sheet(self) -> Sheet:
        places = [one.places() for one in self.judges]
        rows = tuple(
            (
                str(row.rank),
                row.model,
                _points(row.rating.value),
                f"{_points(row.rating.lower)} to {_points(row.rating.upper)}",
                f"{row.rank_lower}–{row.rank_upper}",
                *(str(theirs.get(row.model, MISSING)) for theirs in places),
            )
            for row in self.board.models[:_SHOWN]
        )
        headings = ("#", "model", "rating", "95 % interval", "ranks", *(one.name for one in self.judges))
        title = f"The board by people, first {_SHOWN} of {len(self.board.models)}, and each judge's rank beside it"
        return Sheet(title=title, headings=headings, rows=rows, names=2)

    def _judges_sheet(self) -> Sheet:
        rows: list[tuple[str, ...]] = []
        for one in self.judges:
            beside = one.aligned.beside_people
            shares = () if beside is None else (beside.judge_side, beside.people_side)
            correlation = one.aligned.board.spearman.value
            cells = (
                *(map(share_words, shares) if shares else (MISSING, MISSING)),
                MISSING if correlation is None else f"{correlation:.2f}",
            )
            rows.append((one.name, *cells, share_words(one.first)))
        headings = ("judge", "takes a person's side", "people do", "boards correlate", "first wins")
        return Sheet(title="How near each judge comes to people, a tie half", headings=headings, rows=tuple(rows))


def _share(log_odds: float | None) -> float | None:
    return None if log_odds is None else 1 / (1 + math.exp(-log_odds))


def _points(value: float | None) -> str:
    return MISSING if value is None else f"{value:.0f}"


def real_record(folder: Path, *, force: bool = False) -> RealRecord:
    """Of the files that it writes into the folder. Raises OutputRefused where others are in the way."""
    info = find_benchmark(BENCHMARK)
    with waiting("Reading the record"):
        files = _written(info, folder, force=force)
        made = report_on_files(files).report
        assert isinstance(made, FileReport)
        assert made.people is not None
        aligned = {one.alignment.rater: one for one in made.people.judges}
        judges = tuple(
            RecordedJudge(name=path.stem, board=rank(path), aligned=aligned[path.stem]) for path in files[1:]
        )
    return RealRecord(info=info, files=files, made=made, judges=judges)


def written_report(record: RealRecord, folder: Path, *, force: bool = False) -> Path | None:
    """None where the extra that draws it is not installed."""
    page = Target(path=folder / f"{BENCHMARK}.html", command="demo", force=force)
    try:
        with waiting("Writing the report"):
            return write_page(record.made, page).path
    except ChartError:
        return None


def _written(info: BenchmarkInfo, folder: Path, *, force: bool) -> tuple[Path, ...]:
    assert info.verdicts is not None
    header, *rows = csv.reader(io.StringIO(gzip.decompress(info.verdicts.read_bytes()).decode()))
    rater, kind = header.index("rater"), header.index("rater_kind")
    parts: dict[str, Sequence[list[str]]] = {PEOPLE: [row for row in rows if row[kind] == "human"]}
    parts |= {judge: [row for row in rows if row[rater] == judge] for judge in JUDGES}
    made: list[Path] = []
    for name, part in parts.items():
        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows([header, *part])
        path = folder / f"{name}.csv"
        write_out(Target(path=path, command="demo", force=force), text.getvalue().encode())
        made.append(path)
    return tuple(made)
