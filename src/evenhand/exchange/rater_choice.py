"""Whose verdicts of a table of battles make a board: people and models are never joined in one by accident."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from evenhand.exchange.battles_file import BattleTable
from evenhand.exchange.errors import ExchangeError
from evenhand.format.near_names import hint
from evenhand.format.words import listed
from evenhand.stats.ratings.comparisons import Comparisons

PEOPLE, MODELS, ALL = "people", "models", "all"


def of_raters(table: BattleTable, wanted: Sequence[str] = ()) -> BattleTable:
    """`wanted`: people, models, all, or names. Nothing: people's where people and models judged, which is noted.

    Raises ExchangeError where nobody is called so.
    """
    raters = table.comparisons.raters
    people = [name for name in raters if table.kind_of(name) == "human"]
    models = [name for name in raters if table.kind_of(name) == "model"]
    if not wanted:
        if not people or not models:
            return table
        note = (
            f"People and models judged here, and no board joins them unasked: this one is people's, {{0:,}} of {{1:,}} "
            f"rows. --raters chooses others: {listed(models)}, models, all."
        )
        return _told(_only(table, people), table, note)
    groups = {PEOPLE: people, MODELS: models, ALL: list(raters)}
    chosen = dict.fromkeys(one for name in wanted for one in ([name] if name in raters else groups.get(name, ())))
    for name in wanted:
        if name not in raters and not groups.get(name):
            known = "No column says who judged" if not raters else f"Nobody is called so; {hint(name, raters)}"
            raise ExchangeError(f"{table.name}: --raters {name}: {known}", code="EH-CHOOSE-NOTHING")
    if len(chosen) == len(raters):
        return table
    return _told(_only(table, list(chosen)), table, f"Only what {listed(chosen)} said: {{0:,}} of {{1:,}} rows.")


def _told(part: BattleTable, whole: BattleTable, note: str) -> BattleTable:
    return replace(part, notes=(note.format(part.rows, whole.rows), *part.notes))


def _only(table: BattleTable, raters: Sequence[str]) -> BattleTable:
    kept = _of(table.comparisons, raters)
    items = None if kept.item is None else np.unique(kept.item)
    showings = None if table.showings is None else _of(table.showings, raters)
    in_vain = tuple(one for one in table.in_vain if one.rater is None or one.rater in raters)
    names = sorted({*_models_of(kept), *(name for one in in_vain for name in one.models)})

    def part(of: Comparisons) -> Comparisons:
        return _numbered(_of(of, raters) if of.raters != kept.raters else of, names, items)

    def item_name(code: int) -> str:
        return table.item_name(code if items is None else int(items[code]))

    return replace(
        table,
        comparisons=part(kept),
        rows=len(kept),
        verdicts=len(kept),
        in_vain=in_vain,
        item_name=item_name,
        item_names=lambda: (
            {} if items is None else {place: table.item_names()[int(code)] for place, code in enumerate(items)}
        ),
        showings=None if showings is None else part(showings),
        each_counted=None if table.each_counted is None else part(table.each_counted),
    )


def _of(rows: Comparisons, raters: Sequence[str]) -> Comparisons:
    assert rows.rater is not None
    places = {name: place for place, name in enumerate(raters)}
    new = np.array([places.get(name, -1) for name in rows.raters], dtype=np.int32)
    kept = rows.rows(new[rows.rater] >= 0)
    assert kept.rater is not None
    return replace(kept, rater=new[kept.rater], raters=tuple(raters), self_battles=0)


def _models_of(rows: Comparisons) -> set[str]:
    return {rows.models[int(code)] for code in np.union1d(rows.model_a, rows.model_b)}


def _numbered(rows: Comparisons, models: Sequence[str], items: npt.NDArray[np.int32] | None) -> Comparisons:
    """By the models and items that are left."""
    number = {name: code for code, name in enumerate(models)}
    new = np.array([number.get(name, -1) for name in rows.models], dtype=np.int32)
    item = None if rows.item is None or items is None else np.searchsorted(items, rows.item).astype(np.int32)
    cluster = None if rows.cluster is None else np.unique(rows.cluster, return_inverse=True)[1].astype(np.int32)
    a, b = new[rows.model_a], new[rows.model_b]
    return replace(rows, models=tuple(models), model_a=a, model_b=b, item=item, cluster=cluster)
