"""Bradley-Terry of rows in parts: the fit rests on the sums by pair, the sandwich on sums over the parts."""

from dataclasses import replace

import numpy as np

from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.components import BoolArray, IntArray, davidson_is_finite, structure
from evenhand.stats.ratings.bradley_terry.covariance import Covariance, by_model, spread_of
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit, Ties, centred_inverse, fit, slopes_at
from evenhand.stats.ratings.bradley_terry.placement import core_models
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, sandwich_board
from evenhand.stats.ratings.bradley_terry.row_scores import ScoreVectors, unclustered_scores
from evenhand.stats.ratings.bradley_terry.sandwich import clustered_scores
from evenhand.stats.ratings.bradley_terry.score_cells import likelihood_cells
from evenhand.stats.ratings.bradley_terry.solution import Solution, Unsettled, refuse_lost
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.row_parts import PairPlaces, RowsInParts
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.table import PairTable, pair_table


def bradley_terry_in_parts(
    rows: RowsInParts, table: PairTable, *, ties: Ties = "half", clustered: bool = True, scale: Scale | None = None
) -> BradleyTerry:
    """What `bradley_terry` gives of all rows; `table`: their sums by pair. Raises ValueError as it does."""
    solution = _solved(rows, table, ties)
    around = _spread(rows, solution, clustered=clustered)
    return sandwich_board(solution, around, scale=scale or Scale(), level=LEVEL)


def cells_of(table: PairTable, rows: RowsInParts) -> Comparisons:
    """A row for each pair and outcome that occurs, of the weight of all rows that are so."""
    row, column = np.nonzero(table.counts)
    return Comparisons(
        models=rows.models,
        model_a=table.first[row],
        model_b=table.second[row],
        sign=(column - 1).astype(np.int8),
        weight=table.counts[row, column],
        item=np.zeros(len(row), dtype=np.int32) if rows.named else None,
    )


def _solved(rows: RowsInParts, table: PairTable, ties: Ties) -> Solution:
    """Its `comparisons` are cells; its `everything` are those rows that are looked at one by one: of models that no
    finite rating is given, and between groups."""
    weights = [part.weight for part in rows.counted() if part.weight is not None and part.weight.size]
    ends = [float(end) for weight in weights for end in (weight.min(), weight.max())]
    refuse_lost(np.array(ends) if ends else None)
    found, inner = structure(table), table
    if found.above.any():
        inner = table.rows(found.group[table.first] == found.group[table.second])
    cells = cells_of(inner, rows)
    fitted_ties: Ties = "davidson" if ties == "davidson" and davidson_is_finite(inner) else "half"
    try:
        fitted = fit(inner, gauge=found.group, ties=fitted_ties)
    except NoFiniteFit as error:
        raise Unsettled from error
    solution = Solution(
        everything=cells,
        comparisons=cells,
        grouped=replace(pair_table(cells), table=inner),
        table=table,
        structure=found,
        fit=fitted,
        ties_asked=ties,
    )
    wanted = _looked_at(solution) if found.above.any() else np.zeros((len(rows.models),) * 2, dtype=np.bool_)
    return replace(solution, everything=rows.chosen(wanted))


def _looked_at(solution: Solution) -> BoolArray:
    """M x M: of a row with these two models."""
    core, group = core_models(solution), solution.structure.group
    return ~core[:, None] | ~core[None, :] | (group[:, None] != group[None, :])


def _spread(rows: RowsInParts, solution: Solution, *, clustered: bool) -> Covariance:
    table = solution.grouped.table
    slopes = slopes_at(table, solution.fit)
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    independent = by_model(table, np.einsum("ro,ro->r", table.squares, slopes.by_difference**2))
    places, cells = PairPlaces.of(table), likelihood_cells(table, slopes)
    groups = int(solution.structure.group.max(initial=-1)) + 1
    clusters, rows_of = np.zeros(groups, dtype=np.int64), np.zeros(table.models, dtype=np.int64)
    scores: ScoreVectors | None = None
    for part in rows.counted():
        inside = _inside(part, solution)
        clusters += _clusters_of(inside, solution.structure.group, groups, clustered=clustered)
        if not clustered or inside.item is None:
            rows_of += sum(np.bincount(side, minlength=table.models) for side in (inside.model_a, inside.model_b))
        elif len(inside):
            own = clustered_scores(cells, places.cell(inside), inside.item, inside.weight, bread)
            scores = own if scores is None else scores.plus(own)
    if scores is None:
        scores = unclustered_scores(table, slopes, bread, rows_of)
    return spread_of(solution, bread, scores, clustered=clustered, independent=independent, clusters_by_group=clusters)


def _inside(part: Comparisons, solution: Solution) -> Comparisons:
    """The rows within a group."""
    if not solution.structure.above.any():
        return part
    group = solution.structure.group
    return part.rows(group[part.model_a] == group[part.model_b])


def _clusters_of(part: Comparisons, group: IntArray, groups: int, *, clustered: bool) -> IntArray:
    """Of each group: the items, or the rows, that its fit rests on."""
    of_row = group[part.model_a]
    if part.item is None or not clustered:
        return np.bincount(of_row, minlength=groups)
    items = int(part.item.max(initial=-1)) + 1
    met = np.bincount(of_row * items + part.item, minlength=groups * items) if groups * items < 1 << 26 else None
    if met is not None:
        return np.count_nonzero(met.reshape(groups, items), axis=1) if items else np.zeros(groups, dtype=np.int64)
    return np.bincount(np.unique(of_row * items + part.item) // max(items, 1), minlength=groups)
