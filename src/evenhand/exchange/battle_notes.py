"""Sentences about a table of battles: which columns were taken for what, and what was left out."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from evenhand.exchange.battles.columns import Sides
from evenhand.exchange.battles.layout import LENGTHS, BattleColumns, Layout
from evenhand.exchange.peers.battles import InVain
from evenhand.format.words import counted
from evenhand.stats.ratings.comparisons import Comparisons

# What other people's files call the thing that was asked.
_ASKED = ("prompt", "prompt_id", "question", "question_id", "instruction", "task", "task_id")
# And those who judged it.
_JUDGING = frozenset(
    name + end
    for name in ("judge", "worker", "annotator", "user", "evaluator", "assessor", "voter", "rater")
    for end in ("", "_id", "_name")
)
_JOINED = "Each row joins the showings that its column shown_first lists, so nothing is known about order."
_TOLD_BY_VOTES = (
    "Each row joins the showings that its column shown_first lists: they are rated joined, and its column votes tells "
    "of order."
)
NO_RATER = (
    "No rater column: no row is taken for a repeat of another, and the two orders of a pair are compared as one judge's"
)
_FIRST_ROWS = 1 << 14
_TOLD = 3
FEW_ROWS = 1_000_000
"""Up to so many it is looked for whether showings repeat."""
LEAST_ROWS = 10
"""From which rows that repeat themselves in order are no chance."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RowFacts:
    """What sentences tell of rows."""

    rows: int
    """Without those that set a model against itself."""
    items: int | None
    """None: none are named."""
    raters: int
    total: float | None
    """The sum of the weights; None: there are none."""
    five_levels: bool
    self_battles: int
    of_one_pair: Callable[[], bool]
    """Whether there are several pairs of models and no item is of two of them."""
    mixed: int = 0
    """Pairs of one item with rows in both orders and several in one, where nobody knows the raters."""

    @classmethod
    def of(cls, comparisons: Comparisons) -> "RowFacts":
        return cls(
            rows=len(comparisons),
            items=None if comparisons.item is None else int(np.count_nonzero(np.bincount(comparisons.item))),
            raters=len(comparisons.raters),
            total=None if comparisons.weight is None else comparisons.total,
            five_levels=comparisons.value is not None,
            self_battles=comparisons.self_battles,
            of_one_pair=partial(_each_of_one_pair, comparisons),
            mixed=0 if len(comparisons) > FEW_ROWS else mixed_pairs(comparisons),
        )


def unit_notes(facts: RowFacts, layout: Layout, columns: BattleColumns, names: Sequence[str]) -> tuple[str, ...]:
    """What is an item and who is a rater; `names` are all columns of the table."""
    others = [name for name in names if name.strip().casefold() in _ASKED and name != layout.item]
    there = f" (there is: {', '.join(others)})" if others else ""
    notes = _item_notes(facts, layout.item, there, asked=columns.item is not None)
    if layout.rater is not None:
        notes.append(f"Rater column: {layout.rater} ({counted(facts.raters, 'rater')}).")
    else:
        notes += _no_rater_notes([name for name in names if name.strip().casefold() in _JUDGING], layout.item)
    return (*notes, *_mixed_notes(facts.mixed, layout.item))


def _no_rater_notes(others: Sequence[str], item: str | None) -> list[str]:
    """Without raters every row counts as another's, but the two orders of a pair are compared as one judge's."""
    if others:
        return [f"{NO_RATER}; --rater-column names one (there is: {', '.join(others)})."]
    return [] if item is None else [f"{NO_RATER}."]


def mixed_pairs(comparisons: Comparisons) -> int:
    """Where nobody knows the raters: pairs of which several rows of an item are in one order, others in the other."""
    if comparisons.item is None or comparisons.rater is not None or comparisons.first is None:
        return 0
    pair = _pairs(comparisons, len(comparisons))
    case = comparisons.item.astype(np.int64) * (int(pair.max()) + 1) + pair
    low_first = (comparisons.first > 0) == (comparisons.model_a < comparisons.model_b)
    _, place = np.unique(case, return_inverse=True)
    shown = np.bincount(2 * place + low_first, minlength=2 * (int(place.max()) + 1)).reshape(-1, 2)
    return int(((shown > 1).any(axis=1) & (shown > 0).all(axis=1)).sum())


def _mixed_notes(again: int, item: str | None) -> list[str]:
    if not again:
        return []
    return [
        f"{counted(again, 'pair of one item has', 'pairs of one item have')} several rows in one order: unless they "
        f"are the same two answers shown again, swap consistency pairs different things, and {item} does not name what "
        "was asked or raters are mixed."
    ]


def repeat_notes(rows: int, item: str | None, *, shared: bool) -> tuple[str, ...]:
    """`rows`: that repeat an earlier one of the same item, pair, rater and order."""
    if not rows:
        return ()
    told = "each counts in full, as --repeats count asks"
    if shared:
        told = "they share one weight with it, unless --repeats count"
    return (
        f"{counted(rows, 'row repeats', 'rows repeat')} an earlier one (item, pair, rater, order): {told}. If the "
        f"answers differ, {item} does not name what was asked.",
    )


def _item_notes(facts: RowFacts, item: str | None, there: str, *, asked: bool) -> list[str]:
    items, rows = facts.items, facts.rows
    if item is None or items is None:
        hint = f"; --item-column names one{there}" if there else ""
        return [f"No item column: each row counts as an item of its own{hint}."]
    if items == rows > 1:
        hint = f"; --item-column names another{there}" if there else ""
        return [f"Every row has an item of its own (column {item}){hint}."]
    notes = [f"Item column: {item} ({counted(items, 'item')})."]
    if not asked and facts.of_one_pair():
        notes.append(
            f"Each item of column {item} belongs to one pair of models; "
            f"if several pairs share a prompt, name that column with --item-column{there}."
        )
    return notes


def _each_of_one_pair(comparisons: Comparisons) -> bool:
    """Whether there are several pairs of models and no item is of two of them."""
    # Most tables show among their first rows that they are not so.
    return all(apart(comparisons, rows) for rows in (_FIRST_ROWS, len(comparisons))) and _several_pairs(comparisons)


def _pairs(comparisons: Comparisons, rows: int) -> "np.ndarray[tuple[int], np.dtype[np.int64]]":
    a, b = comparisons.model_a[:rows].astype(np.int64), comparisons.model_b[:rows].astype(np.int64)
    return np.minimum(a, b) * len(comparisons.models) + np.maximum(a, b)


def apart(comparisons: Comparisons, rows: int) -> bool:
    """Whether, among the first so many rows, no item is of two pairs of models."""
    if comparisons.item is None:
        return False
    item, pair = comparisons.item[:rows], _pairs(comparisons, rows)
    of_item = np.zeros(int(item.max(initial=-1)) + 1, dtype=np.int64)
    of_item[item] = pair
    return bool((of_item[item] == pair).all())


def _several_pairs(comparisons: Comparisons) -> bool:
    pair = _pairs(comparisons, len(comparisons))
    return bool((pair != pair[0]).any())


def name_notes(models: Sequence[str]) -> tuple[str, ...]:
    """Models whose names differ only in letter case."""
    alike: dict[str, list[str]] = {}
    for name in models:
        alike.setdefault(name.casefold(), []).append(name)
    several = [names for names in alike.values() if len(names) > 1]
    notes = [
        f"{' and '.join(f'`{name}`' for name in names)} differ only in case: "
        f"they are taken for {'two' if len(names) == 2 else len(names)} models."
        for names in several[:_TOLD]
    ]
    if len(several) > _TOLD:
        notes.append(f"So are {len(several) - _TOLD} more groups of names that differ only in case.")
    return tuple(notes)


def space_notes(spaced: dict[str, int]) -> tuple[str, ...]:
    """`spaced`: rows with spaces around a cell, by what the cell names."""
    where = [f"{what} in {counted(rows, 'row')}" for what, rows in spaced.items() if rows]
    return (f"Spaces around names are left out: {', '.join(where)}.",) if where else ()


def order_notes(sides: Sides, layout: Layout, *, told: bool = False) -> tuple[str, ...]:
    """`told`: of rows that join showings, those are known one by one."""
    if layout.joined:
        return (_TOLD_BY_VOTES if told else _JOINED,)
    first = f"{layout.pair[0]} is taken as shown first."
    if sides.order_untold is None:
        return (f"No first_shown column: {first}",)
    if sides.order_untold:
        return (f"In {counted(sides.order_untold, 'row')} first_shown is empty: {first}",)
    return ()


def other_notes(facts: RowFacts, layout: Layout) -> tuple[str, ...]:
    notes: list[str] = []
    if facts.total is not None and layout.weight is not None:
        notes.append(f"Weight column: {layout.weight} (sum {facts.total:,.6g}).")
    if facts.five_levels:
        notes.append(f"Verdict column: {layout.verdict}, five levels.")
    if len(layout.lengths) == 1:
        both = " and ".join(LENGTHS)
        notes.append(f"The column {layout.lengths[0]} stands alone and is not used: both {both} are needed.")
    if facts.self_battles:
        notes.append(f"{counted(facts.self_battles, 'row')} set a model against itself: left out.")
    return tuple(notes)


def in_vain_notes(in_vain: Sequence[InVain]) -> tuple[str, ...]:
    if not in_vain:
        return ()
    reasons = Counter(one.reason for one in in_vain)
    why = ", ".join(f"{count:,} {reason}" for reason, count in sorted(reasons.items()))
    showings = counted(len(in_vain), "showing")
    return (f"Without a verdict, and so without a row: {showings} ({why}); none is taken for a tie.",)


def twice_notes(comparisons: Comparisons, *, shared: bool) -> tuple[str, ...]:
    """Where the whole table stands there twice, one half after the other or each row after itself.

    `shared`: as repeats the two share one weight.
    """
    rows = len(comparisons)
    columns = [comparisons.model_a, comparisons.model_b, comparisons.sign]
    columns += [one for one in (comparisons.item, comparisons.rater, comparisons.first) if one is not None]
    if rows < LEAST_ROWS or rows % 2 or not any((one != one[0]).any() for one in columns):
        return ()
    half = rows // 2
    after = all((one[:half] == one[half:]).all() for one in columns)
    if not after and not all((one[::2] == one[1::2]).all() for one in columns):
        return ()
    return told_twice(half, shared=shared)


def told_twice(half: int, *, shared: bool) -> tuple[str, ...]:
    """Of a table that is `half` of its rows and the same again."""
    told = "they share one weight, so that no verdict counts twice" if shared else "each counts, "
    told += "" if shared else "so if that is a mistake remove one half"
    return (f"Every row stands there twice ({counted(half, 'row')} and the same again): {told}.",)


def partner_notes(sides: Sides, layout: Layout, columns: BattleColumns) -> tuple[str, ...]:
    """Where a column of models was chosen and no name of it stands in the other."""
    if columns.model_a is None and columns.model_b is None:
        return ()
    one, other = np.unique(sides.one), np.unique(sides.other)
    if min(len(one), len(other)) < 2 or np.intersect1d(one, other, assume_unique=True).size:
        return ()
    named = " and ".join(f"`{name}`" for name in layout.pair)
    return (f"No name stands in both {named}: do the two columns name the same models in the same way?",)
