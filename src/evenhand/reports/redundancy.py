"""How much the benchmarks of a table of scores say the same: every pair, as a document, a table and a picture."""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from rich.console import Console

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.response import REFERENCE
from evenhand.domain.trial import seen
from evenhand.exchange.score_table import ScoreTable
from evenhand.files.outputs import Place
from evenhand.format.charts import Heading, correlation_chart, save, stacked
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.tables import escape
from evenhand.format.words import NAMED, count, listed, unbroken
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.board import Board
from evenhand.reports.board.evidence import of_record
from evenhand.reports.board.ranking import Ranking, board
from evenhand.reports.errors import RankError
from evenhand.stats.reliability.score_columns import ColumnPair, correlate


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    models: int
    benchmarks: tuple[str, ...]
    pairs: tuple[ColumnPair, ...]
    notes: tuple[str, ...] = ()

    @classmethod
    def of(cls, table: ScoreTable, notes: Sequence[str] = ()) -> "Redundancy":
        return cls(
            models=len(table.models),
            benchmarks=tuple(table.scores),
            pairs=correlate(table.scores, table.errors),
            notes=tuple(notes),
        )

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "models": self.models,
            "benchmarks": list(self.benchmarks),
            "pairs": [pair.as_json() for pair in self.pairs],
            "notes": list(self.notes),
        }

    def matrix(self, of: Callable[[ColumnPair], Estimate]) -> list[list[float | None]]:
        """Symmetric, 1 on the diagonal."""
        found = {(pair.first, pair.second): of(pair).value for pair in self.pairs}
        return [
            [1.0 if row == column else found.get((row, column), found.get((column, row))) for column in self.benchmarks]
            for row in self.benchmarks
        ]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoresOnRecord:
    """A column for each board that a ledger holds: Bradley-Terry ratings with their standard errors."""

    table: ScoreTable
    notes: tuple[str, ...]

    @classmethod
    def of(cls, ledger: Ledger) -> "ScoresOnRecord":
        """Raises RankError where the ledger holds fewer than one board that compares models."""
        boards: dict[tuple[str, ...], list[StudyOnRecord]] = {}
        for study in studies(ledger):
            if study.decided:
                boards.setdefault(_board_parts(study), []).append(study)
        names = dict(zip(boards, _column_names(list(boards)), strict=True))
        rated: dict[str, Board] = {}
        unrated: list[str] = []
        for parts, of_board in boards.items():
            try:
                rated[names[parts]] = board(of_record(counted_battles(ledger, of_board), 0), Ranking())
            except RankError:
                unrated.append(names[parts])
        if not rated:
            raise RankError(
                "The ledger holds no board of models that were compared; `evenhand judge` makes one, or give a table "
                "of scores.",
                code="EH-CHOOSE-NOTHING",
            )
        data = {names[parts]: parts[_DATA] for parts in boards}
        shared = len({data[name] for name in rated}) < len(rated)
        return cls(table=_score_table(rated, data), notes=tuple(_record_notes(unrated, shared=shared)))


def with_boards(given: ScoreTable, on_record: ScoreTable) -> ScoreTable:
    """One table of both; a model's names must be the same in both. Raises RankError where a column is in both."""
    twice = sorted(set(given.scores) & set(on_record.scores))
    if twice:
        raise RankError(f"The table has a column '{twice[0]}', as a board of the ledger is called; name it otherwise.")
    models = tuple(dict.fromkeys((*given.models, *on_record.models)))
    parts = [_spread(one, models) for one in (given, on_record)]
    return ScoreTable(
        models=models,
        scores={name: column for part in parts for name, column in part.scores.items()},
        errors={name: column for part in parts for name, column in part.errors.items()},
    )


def _spread(table: ScoreTable, models: Sequence[str]) -> ScoreTable:
    """Over these models, of which it need not have all."""
    place = {model: number for number, model in enumerate(table.models)}

    def column(values: Sequence[float | None]) -> tuple[float | None, ...]:
        return tuple(values[place[model]] if model in place else None for model in models)

    return replace(
        table,
        models=tuple(models),
        scores={name: column(values) for name, values in table.scores.items()},
        errors={name: column(values) for name, values in table.errors.items()},
    )


def _board_parts(study: StudyOnRecord) -> tuple[str, ...]:
    """What makes a board one of its own, what people know it by first."""
    condition = study.condition
    return (
        study.benchmark, study.rater.name, condition.protocol, f"sees {seen(condition) or 'unknown'}",
        condition.readout, study.variant or "default", study.data[:12], study.rater.key[:12], condition.key[:12],
    )  # fmt: skip


_DATA = 6
"""Where the data's digest stands among a board's parts."""


def _column_names(boards: Sequence[tuple[str, ...]]) -> list[str]:
    """The benchmark's name, and as much besides as tells a board from others of that name."""
    names = [parts[0] for parts in boards]
    for place in range(1, len(boards[0]) if boards else 0):
        kinds: dict[str, set[str]] = {}
        for parts, name in zip(boards, names, strict=True):
            kinds.setdefault(name, set()).add(parts[place])
        names = [
            f"{name}, {parts[place]}" if len(kinds[name]) > 1 else name
            for parts, name in zip(boards, names, strict=True)
        ]
    return names


def _score_table(rated: Mapping[str, Board], data: Mapping[str, str]) -> ScoreTable:
    """`data`: the digest of each board's. Two benchmarks' references are by others, and so no one model's scores."""
    several = len({data[name] for name in rated}) > 1
    columns = {
        name: {
            f"{REFERENCE} of {data[name]}" if several and row.model == REFERENCE else row.model: row
            for row in one.models
        }
        for name, one in rated.items()
    }
    models = tuple(dict.fromkeys(model for rows in columns.values() for model in rows))
    return ScoreTable(
        models=models,
        scores={
            name: tuple(rows[model].rating.value if model in rows else None for model in models)
            for name, rows in columns.items()
        },
        errors={
            name: tuple(rows[model].error if model in rows else None for model in models)
            for name, rows in columns.items()
        },
    )


def _record_notes(unrated: Sequence[str], *, shared: bool) -> Iterator[str]:
    yield "Columns of the ledger are Bradley-Terry ratings, each with the standard error of its interval."
    if unrated:
        yield f"Boards on which nobody compared two answers have no such rating: {listed(sorted(unrated))}."
    if shared:
        yield (
            "Boards of one benchmark share its items, so their errors are not independent and `latent` is too high; "
            "`evenhand align` compares judges item by item."
        )


def print_redundancy(found: Redundancy, console: Console) -> None:
    rows = [
        (
            f"{pair.first} and {pair.second}",
            _cells(pair.spearman)[0],
            _of_one_truth(pair),
            *_cells(pair.latent),
            *_cells(pair.r_squared),
            count(pair.spearman.n),
        )
        for pair in sorted(found.pairs, key=_closest_first)
    ]
    headings = (
        "benchmarks",
        "Spearman",
        "of one truth",
        "latent",
        "95 % interval",
        "R²",
        "95 % interval",
        "models",
    )
    print_sheet(Sheet(title=f"Redundancy over {found.models} models", headings=headings, rows=tuple(rows)), console)
    for why, of in _reasons(found.pairs).items():
        more = f" and {len(of) - NAMED:,} more" if len(of) > NAMED else ""
        console.print(unbroken(escape(f"{'; '.join(of[:NAMED])}{more}: {why}.")))
    if any(pair.one_truth is None for pair in found.pairs):
        console.print(
            "Spearman is as observed: errors of the scores lower it. Columns NAME_se with their standard errors tell "
            "what two benchmarks of one truth would show, and the correlation without the errors.",
            style="dim",
        )
    if any(pair.one_truth is not None for pair in found.pairs):
        console.print(
            "of one truth: where Spearman lies in 95 % of simulated pairs of benchmarks that measure the same with "
            "these errors. latent: the correlation without the errors; its interval, from 4 models on, is "
            "conservative, since it also counts which models were taken.",
            style="dim",
        )


def plot_redundancy(found: Redundancy, path: Place) -> None:
    """Writes SVG, PNG or HTML by the path's suffix. Raises ChartError where that cannot be."""
    names = found.benchmarks
    ranks = correlation_chart(
        names, found.matrix(lambda pair: pair.spearman), Heading(title="Spearman's rank correlation"), lowest=-1.0
    )
    explained = correlation_chart(names, found.matrix(lambda pair: pair.r_squared), Heading(title="R²"), lowest=0.0)
    save(stacked(ranks, explained), path)


def _closest_first(pair: ColumnPair) -> float:
    """Pairs without a correlation come last, after those that are turned round."""
    return math.inf if pair.spearman.value is None else -pair.spearman.value


def _of_one_truth(pair: ColumnPair) -> str:
    if pair.one_truth is None:
        return MISSING
    spearman, _ = pair.one_truth
    return f"{spearman.lower:.3f} to {spearman.upper:.3f}"


def _reasons(pairs: Sequence[ColumnPair]) -> dict[str, list[str]]:
    """The pairs by why a figure of theirs is missing."""
    found: dict[str, list[str]] = {}
    for pair in pairs:
        if why := _why(pair):
            found.setdefault(why, []).append(f"{pair.first} and {pair.second}")
    return found


def _why(pair: ColumnPair) -> str:
    """Why the correlation is missing, or the interval that the latent one would have."""
    if pair.spearman.value is None:
        return pair.spearman.reason or ""
    return "" if pair.latent.value is None else pair.latent.reason or ""


def _cells(one: Estimate) -> tuple[str, str]:
    if one.value is None:
        return MISSING, MISSING
    bounds = MISSING if one.lower is None or one.upper is None else f"{one.lower:.3f} to {one.upper:.3f}"
    return f"{one.value:.3f}", bounds
