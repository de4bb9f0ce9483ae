"""The board of a table in parts that is too large to be read at once: by sums, which say the same as its rows do."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast

import numpy as np

from evenhand.benchmarks.data_error import quoted
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.rater import is_scripted
from evenhand.format.words import counted, listed
from evenhand.reports.board.board import Board, Unit
from evenhand.reports.board.clusters import Clusters, heaviest
from evenhand.reports.board.evidence import EvidenceSource
from evenhand.reports.board.findings import Findings
from evenhand.reports.board.methods import RatingMethod, Ratings, Scoring
from evenhand.reports.board.methods.bradley_terry import rate_fitted, refuse_unknown_anchor
from evenhand.reports.board.standings import neighbours, range_sentences, standings
from evenhand.reports.errors import RankError
from evenhand.stats.ratings.bradley_terry.in_parts import bradley_terry_in_parts, cells_of
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.neighbours import NeighbourTest, too_many, with_neighbours
from evenhand.stats.ratings.row_parts import RowsInParts, pair_sums
from evenhand.stats.ratings.shares.share_sums import Policy
from evenhand.stats.ratings.shares.win_rate import WinRate
from evenhand.stats.ratings.shares.win_rate_sums import mean_win_rates_in_parts, win_rates_in_parts
from evenhand.stats.ratings.table import PairTable
from evenhand.stats.reliability import Coverage, Summary
from evenhand.stats.reliability.order_bias import order_bias_in_parts
from evenhand.stats.reliability.summary import summary_of

if TYPE_CHECKING:
    from evenhand.exchange.battles.parts import Parts
    from evenhand.exchange.battles_file import BattleColumns, Repeats
    from evenhand.exchange.battles_in_parts import BattleParts

WHOLE = 2_000_000
"""Rows up to which all parts are read at once."""
MOST_WHOLE = 20_000_000
"""The same where something is asked for that sums do not tell."""
_NAMED = 3
_POLICIES: tuple[Policy, ...] = ("average", "creation", "visit")


def table_in_parts(source: object) -> "Parts | None":
    """Where the source is a folder, or a pattern of names. Raises ExchangeError, RankError beside other files."""
    if not isinstance(source, str | Path | list | tuple):
        return None
    from evenhand.exchange.battles.parts import is_parted, open_parts

    named = [source] if isinstance(source, str | Path) else cast("Sequence[str | Path]", source)
    paths = [Path(one) for one in named]
    parted = [path for path in paths if is_parted(path)]
    if not parted:
        return None
    if len(paths) > 1:
        raise RankError(
            f"{parted[0]} is a table in parts and stands alone: leave the other files out, or name all files one by "
            "one.",
            code="EH-CHOICE-KIND",
        )
    return open_parts(parted[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class PartsAsked:
    """Of a table in parts."""

    method: RatingMethod
    scoring: Scoring
    by_cluster: str | None
    repeats: "Repeats"
    unit: Unit
    settings: Mapping[str, Json]
    needs: str | None
    """What is asked for that sums do not tell; None: nothing."""
    whole: int = WHOLE
    told: Callable[[int, int], None] | None = None
    """Hears how many parts are read, and of how many."""


def board_in_parts(parts: "Parts", columns: "BattleColumns", asked: PartsAsked) -> Board | None:
    """None where the rows are to be read at once: there are few, or they are needed and not too many.

    Raises ExchangeError, RankError.
    """
    from evenhand.exchange.battles_in_parts import NeedsRows, read_battle_parts

    if parts.rows <= asked.whole:
        return None
    try:
        needs = asked.needs or _needed_of_columns(columns)
        if needs is not None:
            raise NeedsRows(needs)
        read = read_battle_parts(parts, columns, repeats=asked.repeats, told=asked.told)
        _refuse_raters(read.rows, asked.by_cluster)
    except NeedsRows as error:
        if parts.rows <= MOST_WHOLE:
            return None
        raise RankError(
            f"{parts.path}: {parts.rows:,} rows are ranked by sums, a part at a time, and sums do not tell {error}: "
            f"that takes the rows themselves, up to {MOST_WHOLE:,} of them.",
            code="EH-METHOD-OPTION",
        ) from error
    return _board(read, parts, asked)


def part_note(parts: "Parts") -> str:
    """How many there are, and which; which of them look like copies, and what only names of folders say."""
    first, last = (parts.name_of(parts.each[place]) for place in (0, -1))
    named = first if len(parts.each) == 1 else f"{first} to {last}"
    said = [f"One table in {counted(len(parts.each), 'part')}: {named}."]
    if copies := parts.copies:
        said.append(f"{listed(copies, most=_NAMED)}; these rows count again: leave copies out.")
    if told := parts.told_by_folders:
        said.append(f"What names of folders say ({quoted(told)}) is not read: rows that need it have it in a column.")
    return " ".join(said)


def _needed_of_columns(columns: "BattleColumns") -> str | None:
    asked = (
        (columns.raters, "whose verdicts count (--raters)"),
        (columns.rater_names, "a rater for all rows (--rater)"),
        (columns.names is not None, "names for the models' ids"),
        (columns.kind or columns.rater_kind, "whether raters are people or models"),
        (columns.cluster, f"clusters by {columns.cluster}"),
    )
    return next((what for there, what in asked if there), None)


def _refuse_raters(rows: RowsInParts, by_cluster: str | None) -> None:
    """Raises NeedsRows where raters are clusters too."""
    from evenhand.exchange.battles_in_parts import NeedsRows

    judged = np.zeros(len(rows.raters), dtype=np.bool_)  # some may have set models against themselves alone
    for part in rows.parts:
        if part.rater is not None:
            judged[part.rater] = True
    if by_cluster is None and 1 < np.count_nonzero(judged) < len(rows):
        raise NeedsRows("clusters of raters beside those of items (--by-cluster item leaves the raters out)")
    if by_cluster == "item" and not rows.named:
        raise RankError("Rows cannot be clustered by item: no item column is known; name one with --item-column.")


def _board(read: "BattleParts", parts: "Parts", asked: PartsAsked) -> Board:
    rows, scoring = read.rows, asked.scoring
    table = pair_sums(rows)
    try:
        refuse_unknown_anchor(scoring, rows.models)
        fitted = bradley_terry_in_parts(rows, table, ties=scoring.ties, scale=scoring.scale)
        found = rate_fitted(fitted, scoring)
    except ValueError as error:
        raise RankError(str(error)) from error
    tests = _neighbours(rows, found, scoring.seed)
    if found.ranges is not None:
        found = _replaced(found, tests)
    cells = cells_of(table, rows)
    about_ranks = range_sentences(cells, found, tests)
    clusters = _clusters(read, intervals=any(one.rating.lower is not None for one in found.models))
    coverage = Coverage(wanted=len(rows), with_verdict=len(rows), reasons={})
    findings = FindingsInParts(rows, table, fitted, asked.method.name, scoring)
    return Board(
        origin=EvidenceSource(
            source=read.name,
            digest=read.digest,
            columns=read.layout.as_json(),
            scripts=tuple(filter(is_scripted, rows.raters)),
        ),
        rated_by=asked.method,
        unit=asked.unit,
        models=standings(found, findings.rates["average"]),
        votes=len(rows),
        battles=len(rows),
        items=sum(map(len, rows.items)) if rows.named else None,
        coverage=coverage,
        reliability=_reliability(rows, coverage),
        basis=(*found.notes, *about_ranks, *clusters.about, *clusters.sentences),
        about_ranks=about_ranks,
        neighbours=tests,
        remarks=(part_note(parts), *read.notes),
        settings=asked.settings,
        findings=findings,
        clusters=clusters,
    )


def _replaced(found: Ratings, tests: tuple[NeighbourTest, ...]) -> Ratings:
    return replace(found, ranges=None if found.ranges is None else with_neighbours(found.ranges, tests))


def _neighbours(rows: RowsInParts, found: Ratings, seed: int) -> tuple[NeighbourTest, ...]:
    components = [one.component for one in found.models if one.rank is not None]
    pairs = len(components) - len(set(components))
    return () if not pairs or too_many(len(rows.models), pairs, len(rows)) else neighbours(rows.whole(), found, seed)


def _reliability(rows: RowsInParts, coverage: Coverage) -> Summary | None:
    if not rows.named:
        return None
    order = order_bias_in_parts(rows)
    return summary_of(order, coverage, images=False) if order.swap_consistency.n > 0 else None


def _clusters(read: "BattleParts", *, intervals: bool) -> Clusters:
    rows = read.rows
    of_items = [np.bincount(part.item, weights=part.weight) for part in rows.parts if part.item is not None]
    of_raters, together = _rater_weights(rows)
    raters = int(np.count_nonzero(of_raters[0]))
    numbers = np.concatenate(rows.items) if rows.named else np.zeros(0, dtype=np.int32)
    return Clusters(
        by="item" if rows.named else "row",
        counts={"item": len(numbers)} if rows.named else {"row": len(rows)},
        item=heaviest(np.concatenate(of_items), len(rows), lambda code: read.item_name(int(numbers[code])))
        if rows.named
        else None,
        rater=None if raters < 2 else heaviest(of_raters[1], len(rows), rows.raters.__getitem__),
        intervals=intervals,
        raters=0 if raters < 2 or together == raters else raters,
    )


def _rater_weights(rows: RowsInParts) -> tuple[tuple["np.ndarray[tuple[int], np.dtype[np.float64]]", ...], int]:
    """Of each rater: how many rows, and their weight; and how many raters and items occur together."""
    count, weight, together = np.zeros(len(rows.raters)), np.zeros(len(rows.raters)), 0
    for part in rows.parts:
        if part.rater is None:
            continue
        count += np.bincount(part.rater, minlength=len(count))
        weight += np.bincount(part.rater, weights=part.weight, minlength=len(weight))
        if part.item is None:
            together += len(part)
        else:
            together += len(np.unique(part.item.astype(np.int64) * len(count) + part.rater))
    return (count, weight), together


class FindingsInParts(Findings):
    """What sums tell beside the ratings; what takes the rows is refused in a sentence."""

    def __init__(
        self, rows: RowsInParts, table: PairTable, fitted: BradleyTerry, method: str, scoring: Scoring
    ) -> None:
        given = {
            "_parts": rows, "_table": table, "_found": fitted, "method": method, "scoring": scoring,
            "missing": None, "item_name": None, "came": None, "soft": False,
        }  # fmt: skip
        for name, value in given.items():
            object.__setattr__(self, name, value)

    _parts: RowsInParts
    _table: PairTable
    _found: BradleyTerry

    @cached_property
    def rates(self) -> dict[Policy, tuple[WinRate, ...]]:
        return win_rates_in_parts(self._parts, self._table, _POLICIES)

    def _refused(self) -> NoReturn:
        raise RankError(
            f"{len(self._parts):,} rows were ranked by sums, a part at a time, and what was asked for beside the board "
            f"takes the rows themselves: give at most {MOST_WHOLE:,} rows as one file.",
            code="EH-METHOD-OPTION",
        )

    @property
    def shown(self) -> Comparisons:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._refused()

    @property
    def battles(self) -> Comparisons:  # pyright: ignore[reportIncompatibleVariableOverride]
        return self._refused()

    @property
    def rated(self) -> Comparisons:  # pyright: ignore[reportIncompatibleVariableOverride]
        """A row for each pair and outcome, which is enough for a matrix of wins."""
        return cells_of(self._table, self._parts)

    @property
    def knows_first(self) -> bool:
        return self._parts.knows_first

    @property
    def of_rows(self) -> bool:
        return False

    @property
    def few(self) -> bool:
        return False

    @cached_property
    def plain(self) -> BradleyTerry:
        return self._found

    @cached_property
    def unclustered(self) -> BradleyTerry:
        ties, scale = self.scoring.ties, self.scoring.scale
        return bradley_terry_in_parts(self._parts, self._table, ties=ties, clustered=False, scale=scale)

    @cached_property
    def fit_tests(self) -> NoReturn:
        return self._refused()

    def win_rates(self, policy: Policy) -> dict[str, WinRate]:
        return {one.model: one for one in self.rates[policy]}

    def of_models(self) -> dict[str, dict[str, Json]]:
        means = {one.model: one for one in mean_win_rates_in_parts(self._parts, self._table)}
        creation, visit = self.win_rates("creation"), self.win_rates("visit")
        found: dict[str, dict[str, Json]] = {}
        for model in self._parts.models:
            rates: list[tuple[str, Estimate]] = [
                ("mean_win_rate", means[model].win_rate),
                ("win_rate_creation", creation[model].win_rate),
                ("win_rate_visit", visit[model].win_rate),
            ]
            found[model] = {
                **{name: value for field, rate in rates for name, value in rate.as_json(field).items()},
                "elo": None,
                "missing": None,
                "missing_share": None,
                "missing_more_than_others": None,
            }
        return found
