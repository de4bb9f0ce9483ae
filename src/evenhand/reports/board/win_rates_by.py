"""Win rates beside a rating: against the reference, and within each category of items. Of boards, reports, receipts."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.response import REFERENCE
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.shares.win_rate import WinRate, win_rates, win_rates_against


@dataclass(frozen=True, slots=True, kw_only=True)
class InCategory:
    category: str
    rate: WinRate


def against_reference(shown: Comparisons) -> dict[str, WinRate]:
    """By model, of those that met the reference; a tie is half a win."""
    if REFERENCE not in shown.models:
        return {}
    return {one.model: one for one in win_rates_against(shown, REFERENCE) if one.win_rate.value is not None}


def pair_rates(shown: Comparisons, models: Sequence[str]) -> dict[str, dict[str, WinRate]]:
    """Of each of the models, against each other one that it met; a tie is half a win. Who met none is absent."""
    found: dict[str, dict[str, WinRate]] = {model: {} for model in models}
    # Each model's rows are looked out: what no share won rests on would be looked out in vain.
    shown = replace(shown, first=None, value=None, length=None, rater=None, raters=())
    for other in models:
        for one in win_rates_against(shown, other) if other in shown.models else ():
            if one.model in found and one.win_rate.value is not None:
                found[one.model][other] = one
    return {model: rates for model, rates in found.items() if rates}


def by_category(judged: JudgedBattles, category_of: Mapping[str, str | None]) -> dict[str, dict[str, WinRate]]:
    """Of each category, in the order of their names, the rates of the models that play in it; a tie is half a win.

    `category_of`: of items by digest; those of none are passed over.
    """
    shown = judged.votes.comparisons()
    assert shown.item is not None
    # Numbers of items are given in the order in which votes name them.
    categories = [category_of.get(digest) for digest in judged.votes.item.in_order_of_rows().names]
    found: dict[str, dict[str, WinRate]] = {}
    for category in sorted({name for name in categories if name}):
        within = np.array([name == category for name in categories], dtype=np.bool_)
        rates = win_rates(shown.rows(within[shown.item]))
        found[category] = {one.model: one for one in rates if one.win_rate.value is not None}
    return found


def categories_of(model: str, found: Mapping[str, Mapping[str, WinRate]]) -> list[InCategory]:
    """Those of `by_category` in which this model plays."""
    return [InCategory(category=name, rate=rates[model]) for name, rates in found.items() if model in rates]
