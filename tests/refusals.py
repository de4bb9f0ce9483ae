"""An error is told by what scripts and readers go by: its type, its code, and the facts that its sentence holds."""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager

import pytest

from evenhand.domain.errors import EvenhandError, code_of


@contextmanager
def refused(
    kind: type[BaseException], *facts: object, code: str | None = None
) -> Generator[pytest.ExceptionInfo[BaseException]]:
    """The block raises `kind`, with `code` (its class's, where none is given) and the facts in its sentence."""
    with pytest.raises(kind) as found:
        yield found
    if isinstance(found.value, EvenhandError):
        assert code_of(found.value) == (code or type(found.value).code), found.value
    tells(found.value, *facts)


def noted(notes: Iterable[str], *facts: object) -> bool:
    """Whether one of the sentences holds all these facts."""
    return any(all(_holds(one, fact) for fact in facts) for one in notes)


def tells(said: object, *facts: object) -> None:
    """Each fact stands in the sentence as a whole: 3 is not told by 13."""
    for fact in facts:
        assert _holds(str(said), fact), f"{fact!r} is not in: {said}"


def _holds(said: str, fact: object) -> bool:
    return re.search(rf"(?<!\w){re.escape(str(fact))}(?!\w)", said) is not None
