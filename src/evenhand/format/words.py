"""Numbers, counts and lists in words, one way for every surface."""

import re
from collections.abc import Iterable, Mapping

from evenhand.domain.estimate import whole

NAMED = 5
"""Names that a sentence lists."""
FEW_ITEMS = 10
"""Below this many an interval is wide, however alike the items are."""


def per_cent(share: float | None, *, decimals: int = 1) -> str:
    """`46.3 %`, as `of_hundred` tells it."""
    return "–" if share is None else f"{of_hundred(share, decimals=decimals)} %"


def of_hundred(share: float, *, decimals: int = 1) -> str:
    """`46.3`; 0 and 100 only where they are exact: what would be rounded to them is `<0.1` and `>99.9`."""
    told = f"{100 * share:.{decimals}f}"
    exact = whole(share)
    if exact in (0, 1):
        return f"{100 * exact:.0f}"
    if 0 < share < 1 and float(told) in (0, 100):
        step = 10.0**-decimals
        return f"<{step:.{decimals}f}" if share < 0.5 else f">{100 - step:.{decimals}f}"
    return told


def unbroken(sentence: str) -> str:
    """With a no-break space before every per cent sign, so that no line ends between a number and it."""
    return sentence.replace(" %", "\u00a0%")


def count(number: float) -> str:
    """`40` for 40 and for what rounding left of it; a true fraction with one decimal."""
    number = whole(number)
    return f"{number:,.0f}" if number == int(number) else f"{number:,.1f}"


def counted(number: int, one: str, several: str | None = None) -> str:
    """`1 item`, `2,000 items`; `several`: where more than the noun changes, as in `2 rows do`."""
    return f"{number:,} {one if number == 1 else several or plural(one)}"


def sized(size: int) -> str:
    """Of bytes: `4,542 bytes`; from 100,000 on `0.1 MB`."""
    return counted(size, "byte") if size < 100_000 else f"{size / 1e6:,.1f} MB"


def plural(noun: str) -> str:
    return f"{noun[:-1]}ies" if noun[1:].endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"


def listed(names: Iterable[str], *, most: int = NAMED) -> str:
    """`a, b and c`; of more than `most` the first so many, and how many more there are."""
    every = list(names)
    if len(every) > most:
        return f"{', '.join(every[:most])} and {len(every) - most:,} more"
    return " and ".join(filter(None, (", ".join(every[:-1]), *every[-1:])))


def wide_notes(items: Iterable[int]) -> tuple[str, ...]:
    """`items`: behind each of some intervals; 0 where there is none."""
    few = sorted({number for number in items if 0 < number < FEW_ITEMS})
    if not few:
        return ()
    least = f"{few[0]} to " if len(few) > 1 else ""
    return (f"{least}{counted(few[-1], 'item')}: the interval is wide, and may reach beyond the items' own means.",)


def spelling_notes(names: Iterable[str]) -> tuple[str, ...]:
    """`names`: those that stand in the file in two spellings."""
    every = list(names)
    if not every:
        return ()
    are = "is one model" if len(every) == 1 else "are one model each"
    return (f"{listed(every, most=3)} {are}, in two spellings of one name (Unicode's NFC and NFD).",)


_PARAMETERS: Mapping[str, str] = {
    "allow-partial": '`gaps="allow"`',
    "batch-resend": "`Terms(batch_resend=True)`",
    "data": "`path`",
    "family": "`families`",
    "format": "`form`",
    "insecure-http": "the variable",
    "item-column": "`BattleColumns(item=…)`",
    "judge-api-key-env": "`api_key_env`",
    "judge-base-url": "`base_url`",
    "json": "`to_json()`",
    "part": "`parts`",
    "price": "`prices`",
    "rater-column": "`BattleColumns(rater=…)`",
    "store": "`ledger`",
    "winner-as": "`BattleColumns(winner_as=…)`",
    "winner-words": "`BattleColumns(winner_words=…)`",
}
"""Flags whose parameter has another name."""
_FLAG = re.compile(r"(?P<quoted>`[^`]*`)|(?<![\w-])--(?P<flag>[a-z][a-z-]*[a-z])")


def in_python(sentence: str) -> str:
    """The sentence with parameters for flags; what stands in backticks is a command to be typed, and stays."""

    def named(found: re.Match[str]) -> str:
        flag = found["flag"]
        return found[0] if flag is None else _PARAMETERS.get(flag, f"`{flag.replace('-', '_')}`")

    return _FLAG.sub(named, sentence)
