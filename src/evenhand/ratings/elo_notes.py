"""Sentences about what Elo cannot tell of its ratings, and which of them may have no interval."""

from collections.abc import Mapping

import numpy as np

from evenhand.intervals import FEW_CLUSTERS
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.components import BoolArray, structure
from evenhand.ratings.item_blocks import played_and_items
from evenhand.ratings.notes import counted, listed
from evenhand.ratings.resampling import Unit
from evenhand.ratings.table import pair_table

PROVISIONAL = "provisional: too few battles for Elo to forget its start"


def provisional_notes(of_model: Mapping[str, float], *, k: float, settled: float, start: float) -> tuple[str, ...]:
    """`of_model`: the battles of each model that has too few."""
    if not of_model:
        return ()
    names = listed([f"{model} ({battles:,.0f})" for model, battles in sorted(of_model.items(), key=lambda one: one[1])])
    whose, worth = ("Its", "it is") if len(of_model) == 1 else ("Their", "they are")
    return (
        f"Provisional (*): {names}, with fewer than the {settled:,.0f} battles in which Elo at K {k:g} forgets most of "
        f"its start. {whose} Elo stands between {start:g} and what {worth} "
        "worth; resamples do not tell how far, so no interval is given. Bradley-Terry has no start to forget.",
    )


def outnumbered(comparisons: Comparisons, unit: Unit) -> BoolArray:
    """Of each model: its component has no more units that are drawn than ratings to be told apart."""
    component = structure(pair_table(comparisons).table).component
    played = component >= 0
    where = np.where(played, component, 0)
    of_row = where[comparisons.model_a].astype(np.int64)
    units = np.bincount(of_row, minlength=1)
    if comparisons.item is not None and unit == "items":
        items = int(comparisons.item.max(initial=-1)) + 1
        units = np.bincount(np.unique(of_row * items + comparisons.item) // max(items, 1), minlength=1)
    units = np.pad(units, (0, int(where.max(initial=0)) + 1 - len(units)))
    return played & (units[where] <= np.bincount(component[played], minlength=1)[where] - 1)


def few_item_notes(comparisons: Comparisons, unit: Unit, few: BoolArray) -> tuple[str, ...]:
    """`few`: the models that `outnumbered` names."""
    if comparisons.item is None or unit != "items":
        return ()
    played, items = played_and_items(comparisons)
    there = played > 0
    if few.any():
        number = counted(int(items[few].max()), "item")
        return (f"{counted(int(few.sum()), 'rating')} rest on {number}, too few for an interval of each.",)
    scarce = items[there & (items < FEW_CLUSTERS)]
    if not scarce.size:
        return ()
    least, most = int(scarce.min()), int(scarce.max())
    met = f"{least}" if least == most else f"{least} to {most}"
    return (
        f"{counted(len(scarce), 'model')} met on {met} item{'' if most == 1 else 's'}: "
        "resamples of so few items scatter too little, and the intervals are too narrow.",
    )
