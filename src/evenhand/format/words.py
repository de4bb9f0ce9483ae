"""Numbers, counts and lists in words, one way for every surface."""

from collections.abc import Iterable

NAMED = 5
"""Names that a sentence lists."""


def per_cent(share: float | None) -> str:
    return "–" if share is None else f"{100 * share:.1f} %"


def unbroken(sentence: str) -> str:
    """With a no-break space before every per cent sign, so that no line ends between a number and it."""
    return sentence.replace(" %", "\u00a0%")


def count(number: float) -> str:
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def counted(number: int, one: str, several: str | None = None) -> str:
    """`1 item`, `2,000 items`; `several`: where more than the noun changes, as in `2 rows do`."""
    return f"{number:,} {one if number == 1 else several or plural(one)}"


def plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"


def listed(names: Iterable[str], *, most: int = NAMED) -> str:
    """`a, b and c`; of more than `most` the first so many, and how many more there are."""
    every = list(names)
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most:,} more"
    return " and ".join(filter(None, (", ".join(every[:-1]), *every[-1:])))
