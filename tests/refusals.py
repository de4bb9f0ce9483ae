"""What a refusal must say: its code and facts. How it is worded is tested in tests/golden alone."""

from collections.abc import Generator
from contextlib import contextmanager

import pytest

from evenhand.cli.sentences import error_document
from evenhand.domain.errors import EvenhandError, code_of


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
    assert refused.code == code, f"{refused.code}: {words}"
    missing = [str(fact) for fact in facts if " ".join(str(fact).split()) not in words]
    assert not missing, f"{missing} not in: {words}"


@contextmanager
def refuses(code: str, *facts: object) -> Generator[pytest.ExceptionInfo[EvenhandError]]:
    """What is done within raises an error that has this code and tells these facts."""
    with pytest.raises(EvenhandError) as found:
        yield found
    says(Refused.made(str(found.value), code_of(found.value)), code, *facts)
