"""Votes of judges whose habits are known."""

from collections.abc import Callable

from evenhand.domain.vote import Vote


def showing(item: str, first: str, second: str, said: int, *, rater: str = "judge", weight: float = 1.0) -> Vote:
    """`said` is positive for the answer shown first; the vote's sides are in the order of the names."""
    a, b = sorted((first, second))
    value = said if first == a else -said
    return Vote(item=item, model_a=a, model_b=b, first=first, value=value, levels=5, rater=rater, weight=weight)


def both_orders(item: str, said: int, said_swapped: int, *, models: str = "XY", weight: float = 1.0) -> list[Vote]:
    """Two showings of one pair; each verdict is positive for the answer shown first in it."""
    x, y = models
    return [showing(item, x, y, said, weight=weight), showing(item, y, x, said_swapped, weight=weight)]


def judged(items: int, verdicts: Callable[[int], tuple[int, int]]) -> list[Vote]:
    return [vote for item in range(items) for vote in both_orders(str(item), *verdicts(item))]
