"""Reading JSON that others wrote: what is not of the expected kind is as good as missing."""

from typing import Any, cast


def mapping(value: object) -> dict[str, Any]:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def sequence(value: object) -> list[Any]:
    return cast("list[Any]", value) if isinstance(value, list) else []


def text(value: object) -> str:
    return value if isinstance(value, str) else ""


MOST = 10**9
"""No endpoint counts so many tokens in one call, and a sum of dollars on record could not hold the price of more."""


def count(value: object) -> int | None:
    return value if type(value) is int and 0 <= value <= MOST else None


_YEAR_9999 = 253_370_764_800


def moment(value: object) -> float | None:
    """Seconds since 1970 that a clock can show."""
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < _YEAR_9999:
        return float(value)
    return None
