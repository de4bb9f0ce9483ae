"""AlpacaEval's preference: 1 for output_1, 2 for output_2, or how far between them a weighing annotator stands."""

import math
from dataclasses import dataclass

from evenhand.domain.verdict import NoVerdict
from evenhand.stats.ratings.comparisons import LIGHTEST

EXPECTED = "a number from 1 (output_1 is better) to 2 (output_2 is), 1.5 or 0 for a draw, or nothing"

_FIRST, _DRAW, _SECOND = 1.0, 1.5, 2.0
_OLD_DRAW = 0.0
"""What its first versions wrote for a draw."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorPreference:
    """What an annotator said of two outputs."""

    second: float
    """The share of the verdict that output_2 has, from 0 to 1; the rest is output_1's."""

    @property
    def divided(self) -> bool:
        """Whether both outputs have a share that a rating sees, and it is no draw."""
        return self.second != 0.5 and min(self.second, 1 - self.second) > LIGHTEST

    @property
    def side(self) -> int:
        """1 for output_1, -1 for output_2, 0 for a draw."""
        return (self.second < 0.5) - (self.second > 0.5)


def read_leaning(preference: object, completion: object) -> AnnotatorPreference | NoVerdict | None:
    """None for anything that is no preference: never a draw. `completion` is what the annotator wrote, if anything."""
    if preference is None or (isinstance(preference, str) and preference.strip().casefold() in ("", "nan", "null")):
        silent = completion in (None, "", [], {})
        return NoVerdict(reason="empty-reply" if silent else "unreadable")
    number = _number(preference)
    if number is None:
        return None
    if number == _OLD_DRAW:
        return AnnotatorPreference(second=_DRAW - _FIRST)
    return AnnotatorPreference(second=number - _FIRST) if _FIRST <= number <= _SECOND else None


def _number(value: object) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return number if math.isfinite(number) else None
