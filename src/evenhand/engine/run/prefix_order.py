"""In which order calls go out, so that a provider finds the beginnings of prompts in its cache."""

from collections.abc import Sequence
from itertools import pairwise, zip_longest

from evenhand.engine.run.task import Due, S

FEWEST_IN_A_LANE = 8
"""Fewer calls one after the other, and the first of each lane, which finds nothing, weighs more than what is saved."""


def in_prefix_order(due: Sequence[Due[S]], *, connections: int, in_turn: bool = False) -> list[Due[S]]:
    """What is due, those with a reply on record first; the others so that prompts which begin alike follow each other.
    `in_turn`: those too, each in the place that it had without one.

    Sorted by their words, neighbours share the longest beginnings: the fixed turns, then the item's, then the first
    answer. But calls in flight together find nothing of each other in a cache. So the sorted list is cut into lanes, as
    many as there are connections, and each place goes to the next lane in turn: when a call goes out, the one before it
    in its lane is answered.
    """
    stored = [one for one in due if one.stored is not None and not in_turn]
    asked = sorted((one for one in due if one.stored is None or in_turn), key=lambda one: one.request.canonical)
    lanes = max(1, min(connections, len(asked) // FEWEST_IN_A_LANE))
    cuts = [len(asked) * lane // lanes for lane in range(lanes + 1)]
    parts = (asked[start:end] for start, end in pairwise(cuts))
    return [*stored, *(one for row in zip_longest(*parts) for one in row if one is not None)]
