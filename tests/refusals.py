"""What a refusal must say: its type, its code and its facts. How it is worded is tested in tests/golden alone."""

import re
from collections.abc import Generator, Iterable
from contextlib import contextmanager
from typing import TypeVar

import pytest

from evenhand.cli.sentences import error_document
from evenhand.domain.errors import EvenhandError, code_of

Raised = TypeVar("Raised", bound=BaseException)


class Refused(str):
    """The sentence of an error, with its code."""

    __slots__ = ("code",)

    code: str

    @classmethod
    def made(cls, sentence: str, code: str) -> "Refused":
        refused = cls(sentence)
        refused.code = code
        return refused

    @classmethod
    def of(cls, left: BaseException, words: str) -> "Refused":
        """What a command said, and the code of the error for which it ended (the cause of its SystemExit)."""
        error = left.__cause__
        assert isinstance(error, Exception), words
        return cls.made(words, error_code_of(error))


def error_code_of(error: Exception) -> str:
    """As `--json` tells it."""
    return str(error_document(error)["code"])


def says(refused: Refused, code: str, *facts: object) -> None:
    """Lines are folded, so that a fact may stand across two."""
    words = " ".join(refused.split())
    assert refused.code == code, words
    missing = [str(fact) for fact in facts if " ".join(str(fact).split()) not in words]
    assert not missing, f"{missing} not in: {words}"


@contextmanager
def refused(kind: type[Raised], *facts: object, code: str | None = None) -> Generator[pytest.ExceptionInfo[Raised]]:
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
    """Each fact stands in the sentence as a whole, be it across two lines: 3 is not told by 13."""
    for fact in facts:
        assert _holds(str(said), fact), f"{fact!r} is not in: {said}"


def _holds(said: str, fact: object) -> bool:
    fact, said = (" ".join(str(words).split()) for words in (fact, said))
    return re.search(rf"(?<!\w){re.escape(fact)}(?!\w)", said) is not None
