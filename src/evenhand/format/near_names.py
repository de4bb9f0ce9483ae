"""Names in sentences: with their article, and for somebody who mistyped one."""

import difflib
from collections.abc import Iterable

_LISTED = 12


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


def _near(word: str, names: Iterable[str]) -> list[str]:
    """The two that look most like it, whatever their capitals and spaces."""
    folded: dict[str, list[str]] = {}
    for name in names:
        folded.setdefault(_plain(name), []).append(name)
    close = difflib.get_close_matches(_plain(word), folded, n=2, cutoff=0.5)
    return [name for plain in close for name in folded[plain]][:2]


def _plain(name: str) -> str:
    return "".join(name.casefold().split())
