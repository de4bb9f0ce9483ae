"""Sums from which single verdicts that are withheld could be read, as they rest on few items: the owner's alone.

Withheld one by one are people's verdicts and all battles against the reference. A pair's are left out of a view in
which they are on fewer than five items, before anything is counted or fitted: else a rating would tell them.
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.domain.response import REFERENCE
from evenhand.format.words import counted
from evenhand.ledger.read.results import Results
from evenhand.ledger.read.steering import Steering
from evenhand.ledger.read.votes import JudgedBattles

FEWEST = 5
"""Items."""
TOO_FEW = "too few items to be shown"

Codes = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownFigures:
    judged: JudgedBattles
    left_out: int
    """Verdicts."""

    @property
    def sentences(self) -> tuple[str, ...]:
        if not self.left_out:
            return ()
        return (
            f"{counted(self.left_out, 'verdict')} of people, or against the reference, left out: where two models met "
            f"on fewer than {FEWEST} items, those are {TOO_FEW}.",
        )


def without_few(judged: JudgedBattles, category_of: Mapping[str, str | None] | None = None) -> ShownFigures:
    """`category_of` items by digest: for what is shown of each category for itself, beside what is shown of all.

    Then a category's sum must not follow from that of all and those of the others, so one alone is not left out where
    it is on fewer items than that.
    """
    results = judged.results
    named = [""] if category_of is None else sorted({category_of.get(item) or "" for item in results.item.names})
    part_of = {name: code for code, name in enumerate(named)}
    parts = [0 if category_of is None else part_of[category_of.get(item) or ""] for item in results.item.names]
    first, second = (codes.astype(np.int64) for codes in results.pair_by_name)
    cell = (first * len(results.models) + second) * len(named) + np.array(parts, dtype=np.int64)[results.item.code]
    withheld = _withheld(results, human=judged.study.rater.kind == "human")
    met = _items_of_cells(cell[withheld], results.item.code[withheld])
    left_out = withheld & np.isin(cell, few_cells(met, len(named)))
    if not left_out.any():
        return ShownFigures(judged=judged, left_out=0)
    return ShownFigures(judged=replace(judged, results=results.rows(~left_out)), left_out=int(left_out.sum()))


def told_to_all(found: Mapping[str, Steering], category: str | None) -> dict[str, Steering]:
    """Of the models with answers to enough items, without naming any; of a category nothing, as the other items would
    follow from it."""
    if category is not None:
        return {}
    return {
        model: replace(one, verdict_items=(), order_items=())
        for model, one in found.items()
        if one.answers_shown >= FEWEST
    }


def _withheld(results: Results, *, human: bool) -> npt.NDArray[np.bool_]:
    if human or REFERENCE not in results.models:
        return results.pair if human else np.zeros(len(results), dtype=np.bool_)
    reference = results.models.index(REFERENCE)
    return results.pair & ((results.first_model == reference) | (results.second_model == reference))


def _items_of_cells(cell: Codes, item: npt.NDArray[np.integer]) -> Counter[int]:
    met = np.unique(np.stack((cell, item.astype(np.int64))), axis=1)
    cells, counts = np.unique(met[0], return_counts=True)
    return Counter(dict(zip(cells.tolist(), counts.tolist(), strict=True)))


def few_cells(items: Mapping[int, int], parts: int) -> Sequence[int]:
    """Of the cells, pair by pair so many parts, those that are left out."""
    pairs: dict[int, list[tuple[int, int]]] = {}
    for cell, number in items.items():
        pairs.setdefault(cell // parts, []).append((number, cell))
    found: list[int] = []
    for cells in pairs.values():
        hidden = 0
        for number, cell in sorted(cells):
            if number >= FEWEST and not 0 < hidden < FEWEST:
                break
            hidden += number
            found.append(cell)
    return found
