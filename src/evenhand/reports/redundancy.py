"""How much the benchmarks of a table of scores say the same: every pair, as a document, a table and a picture."""

from collections.abc import Callable
from dataclasses import dataclass

from rich.console import Console

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.exchange.score_table import ScoreTable
from evenhand.files.outputs import Place
from evenhand.format.charts import Heading, correlation_chart, save, stacked
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.words import count
from evenhand.stats.reliability.score_columns import ColumnPair, correlate


@dataclass(frozen=True, slots=True, kw_only=True)
class Redundancy:
    models: int
    benchmarks: tuple[str, ...]
    pairs: tuple[ColumnPair, ...]

    @classmethod
    def of(cls, table: ScoreTable) -> "Redundancy":
        return cls(
            models=len(table.models), benchmarks=tuple(table.scores), pairs=correlate(table.scores, table.errors)
        )

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "models": self.models,
            "benchmarks": list(self.benchmarks),
            "pairs": [pair.as_json() for pair in self.pairs],
        }

    def matrix(self, of: Callable[[ColumnPair], Estimate]) -> list[list[float | None]]:
        """Symmetric, 1 on the diagonal."""
        found = {(pair.first, pair.second): of(pair).value for pair in self.pairs}
        return [
            [1.0 if row == column else found.get((row, column), found.get((column, row))) for column in self.benchmarks]
            for row in self.benchmarks
        ]


def print_redundancy(found: Redundancy, console: Console) -> None:
    rows = [
        (
            f"{pair.first}, {pair.second}",
            _cells(pair.spearman)[0],
            _of_one_truth(pair),
            *_cells(pair.latent),
            *_cells(pair.r_squared),
            count(pair.spearman.n),
            _why(pair),
        )
        for pair in sorted(found.pairs, key=lambda pair: -(pair.spearman.value or -2.0))
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
        "",
    )
    print_sheet(Sheet(title=f"Redundancy over {found.models} models", headings=headings, rows=tuple(rows)), console)
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


def _of_one_truth(pair: ColumnPair) -> str:
    if pair.one_truth is None:
        return MISSING
    spearman, _ = pair.one_truth
    return f"{spearman.lower:.3f} to {spearman.upper:.3f}"


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
