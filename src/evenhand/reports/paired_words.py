"""A paired difference as cells of a table and in a sentence."""

from collections.abc import Callable

from evenhand.format.sheet import MISSING
from evenhand.stats.reliability.paired_difference import PairedDifference


def about_p(family: str) -> str:
    """`family`: for what one measure's p is adjusted."""
    return (
        f"p is two-sided, by sign flips of items, adjusted by Holm {family}, each measure by itself; 'higher' and "
        "'lower' hold at 5 %, by p and by the interval."
    )


def difference_cells(one: PairedDifference, word: Callable[[float], str]) -> tuple[str, str, str]:
    """Difference, interval, p."""
    found = one.difference
    if found.value is None:
        return MISSING, MISSING, MISSING
    bounds = MISSING if found.lower is None or found.upper is None else f"{word(found.lower)} to {word(found.upper)}"
    p = one.p_adjusted
    return word(found.value), bounds, MISSING if p is None else "< 0.0001" if p < 0.0001 else f"{p:.4f}"


def difference_words(name: str, one: PairedDifference, word: Callable[[float], str], noun: str) -> str | None:
    """None where there is no case."""
    if one.difference.value is None:
        return None
    value, bounds, p = difference_cells(one, word)
    return f"{name} {one.finding}, {value} ({bounds}, p {p}, {one.difference.n:.0f} {noun})"
