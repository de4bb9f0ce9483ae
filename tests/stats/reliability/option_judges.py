"""Choices of judges whose habits are known, and the Grade Score as the authors' code counts it."""

import math
from collections.abc import Callable, Sequence

from evenhand.stats.reliability.grade_score.option_rows import OptionRow, rotations

Habit = Callable[[tuple[int, ...]], int | None]
"""From the order shown to the place chosen."""


def row_of(item: str, options: int, habit: Habit, *, unrelated: bool = False, replicate: int = 0) -> OptionRow:
    chosen = tuple(habit(order) for order in rotations(options, unrelated=unrelated))
    return OptionRow(item=item, selected_positions=chosen, unrelated=unrelated, replicate=replicate)


def follows_content(favourite: int) -> Habit:
    return lambda order: order.index(favourite)


def follows_place(place: int) -> Habit:
    return lambda _: place


def as_the_authors_count(places: Sequence[int | None]) -> tuple[float, float, float]:
    """LLM Score, Choice Score and Grade Score of one row of two options or more, from the description in spec C2."""
    n = len(places)
    base = list(range(n))
    chosen_places: list[int] = []
    chosen_options: list[int] = []
    for place in places:
        base = [base[-1], *base[:-1]]
        if place is not None:
            chosen_places.append(place)
            chosen_options.append(base[place])
    if not chosen_places:
        return 0.0, 0.0, 0.0
    usable = len(chosen_places)
    shares = [chosen_places.count(place) / usable for place in range(n)]
    llm = -sum(share * math.log2(share) for share in shares if share) / math.log2(n)
    choice = max(chosen_options.count(option) for option in range(n)) / usable
    return llm, choice, 2 * llm * choice / (llm + choice)
