"""P-values of several comparisons that answer one question, corrected for how many they are."""

from collections.abc import Sequence


def holm(p_values: Sequence[float]) -> tuple[float, ...]:
    """Holm's step-down (1979, Scand. J. Stat. 6, 65), in the order given: calling all at or below a level different
    is wrong about any with at most that probability, however the comparisons depend on each other."""
    adjusted = [1.0] * len(p_values)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(p_values)), key=p_values.__getitem__)):
        highest = max(highest, min(1.0, (len(p_values) - rank) * p_values[place]))
        adjusted[place] = highest
    return tuple(adjusted)
