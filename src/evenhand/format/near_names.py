"""Names in sentences: with their article, and for somebody who mistyped one."""

import difflib
import heapq
from collections.abc import Collection, Iterable
from operator import ne

_LISTED = 12
_LOOKED_AT = 2_000
"""Names among which difflib looks for those that look alike."""


def with_article(noun: str) -> str:
    """`a table`, `an index`; by the first letter, as no noun here sounds otherwise."""
    return f"{'an' if noun[:1].lower() in tuple('aeiou') else 'a'} {noun}"


def hint(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: `did you mean 'x'?`, or what there is."""
    names = sorted(known)
    near = _near(word, names)
    if near:
        return f"did you mean {' or '.join(repr(name) for name in near)}?"
    if not names:
        return "there is none."
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"there is {', '.join(names[:_LISTED])}{more}."


def close_to(word: str, names: Collection[str], *, most: int, cutoff: float) -> list[str]:
    """As difflib.get_close_matches; among very many names only those are looked at that have most letters in place.

    difflib takes 14 microseconds a name: seconds for each word that is not found among 200,000.
    """
    if len(names) > _LOOKED_AT:
        names = heapq.nsmallest(_LOOKED_AT, names, key=lambda name: _letters_off(word, name))
    return difflib.get_close_matches(word, names, n=most, cutoff=cutoff)


def _letters_off(word: str, name: str) -> int:
    """Letters that differ, held against each other from the beginning or from the end, whichever is fewer."""
    longer = abs(len(word) - len(name))
    off = sum(map(ne, word, name))
    return longer + (min(off, sum(map(ne, reversed(word), reversed(name)))) if longer and off > 1 else off)


def _near(word: str, names: Iterable[str]) -> list[str]:
    """The two that look most like it, whatever their capitals and spaces."""
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(_plain(name), []).append(name)
    close = close_to(_plain(word), folded, most=2, cutoff=0.5)
    return [name for plain in close for name in folded[plain]][:2]


def _plain(name: str) -> str:
    return "".join(name.casefold().split())
