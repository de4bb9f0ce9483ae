"""What the columns of a board mean, in the same words wherever one is shown."""

from collections.abc import Collection

OWN_RANGE, SIMULTANEOUS, TIER = "own range", "simultaneous", "tier"
OUTSIDE_MARK = "†"
"""Beside an interval that its rating does not lie in."""

_RANGES = {
    OWN_RANGE: "own range: the ranks a model may hold, right for that model alone (at 95 %)",
    SIMULTANEOUS: "simultaneous: right for all models together",
}
_TIERS = "Tier 1: no model is separated above it, tier 2: only those of tier 1, and so on."
_OUTSIDE = (
    f"{OUTSIDE_MARK}: the rating, of one pass, lies outside its interval, which tells how resamples in other orders "
    "scatter; the median lies in it."
)


def legend(unit: str, shown: Collection[str] = (OWN_RANGE, SIMULTANEOUS, TIER)) -> str:
    """Of the columns and marks that are shown; `unit`: items, or rows where none are named."""
    ranges = "; ".join(words for name, words in _RANGES.items() if name in shown)
    sentences = [
        f"{ranges}." if ranges else "",
        _TIERS if TIER in shown else "",
        f"Ranges are wide where few {unit} separate the models." if ranges else "",
        _OUTSIDE if OUTSIDE_MARK in shown else "",
    ]
    return " ".join(filter(None, sentences))
