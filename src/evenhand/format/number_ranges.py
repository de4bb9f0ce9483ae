"""Many whole numbers in few characters: `1-1400,1521,1600-2920`."""

import re
from collections.abc import Iterable, Iterator

_RANGES = re.compile(r"(?:[0-9]{1,18}(?:-[0-9]{1,18})?(?:,(?=[0-9]))?)*")


def as_ranges(numbers: Iterable[int]) -> str:
    """Of numbers in ascending order, none of them twice."""
    parts: list[tuple[int, int]] = []
    for number in numbers:
        if parts and parts[-1][1] == number - 1:
            parts[-1] = parts[-1][0], number
        else:
            parts.append((number, number))
    return ",".join(str(first) if first == last else f"{first}-{last}" for first, last in parts)


def from_ranges(written: str, *, most: int) -> list[int]:
    """Raises ValueError where the numbers are not written as `as_ranges` does, or one is above `most`."""
    if not _RANGES.fullmatch(written):
        raise ValueError(f"{written[:40]!r} is not a list of numbers such as 1-3,5.")
    found = list(_numbers(written, most)) if written else []
    if as_ranges(found) != written:
        raise ValueError(f"The numbers {written[:40]!r} are not in order.")
    return found


def _numbers(written: str, most: int) -> Iterator[int]:
    last = -1
    for part in written.split(","):
        first, _, end = part.partition("-")
        low, high = int(first), int(end or first)
        if low <= last or high > most:
            raise ValueError(f"The numbers {written[:40]!r} are not in order, or go beyond {most}.")
        yield from range(low, high + 1)
        last = high
