"""What is raised where a ledger cannot be opened, read or written."""

from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from functools import wraps
from typing import ParamSpec, TypeVar

from evenhand.domain.errors import EvenhandError

P = ParamSpec("P")
T = TypeVar("T")

_TRIES = 5
"""Of a transaction that the server ends each time; each waits until the server can be reached."""


class LedgerError(EvenhandError):
    """The ledger cannot be opened, read or written."""

    code = "EH-LEDGER"


class DamagedRow(LedgerError, ValueError):
    """A row of the ledger that does not hold what any version of Evenhand writes."""

    code = "EH-LEDGER-DAMAGED"


class Unmade(LedgerError):
    """The database server of the ledger cannot be reached, or ended what was under way: none of that is on record."""

    code = "EH-LEDGER-SERVER"


def busy(where: object, waited: float) -> LedgerError:
    return LedgerError(
        f"Another process has held the ledger at {where} for more than {waited:g} s; "
        "wait until it ends, then run the same command again: nothing that was committed is lost.",
        code="EH-LEDGER-BUSY",
    )


@contextmanager
def of_row(kind: str, name: object) -> Generator[None]:
    """Turns what reading a row raises into a sentence that names the row."""
    try:
        yield
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError, OSError) as error:
        raise DamagedRow(
            f"The {kind} '{name}' on record cannot be read: it is not as it was written. `evenhand ledger check` tells "
            "what else was changed and what rests on it; `evenhand ledger restore` brings back a backup."
        ) from error


def until_made(work: Callable[P, T]) -> Callable[P, T]:
    """Does one transaction again where a server ended it. Around functions that keep nothing of a try that failed."""

    @wraps(work)
    def tried(*given: P.args, **named: P.kwargs) -> T:
        for _ in range(_TRIES - 1):
            with suppress(Unmade):
                return work(*given, **named)
        return work(*given, **named)

    return tried
