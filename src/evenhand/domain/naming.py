"""Helping somebody who mistyped a name."""

import difflib
from collections.abc import Iterable

_LISTED = 12


def hint(word: str, known: Iterable[str]) -> str:
    """The end of a sentence: `did you mean 'x'?`, or what there is."""
    names = sorted(known)
    near = difflib.get_close_matches(word, names, n=2, cutoff=0.5)
    if near:
        return f"did you mean {' or '.join(repr(name) for name in near)}?"
    if not names:
        return "there is none."
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"there is {', '.join(names[:_LISTED])}{more}."
