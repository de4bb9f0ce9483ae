"""Which errors are sentences for the user, the exit code of each, and the document that `--json` gives of one."""

import click

from evenhand.benchmarks.data_error import BenchmarkError, DownloadError, IntakeError, ResponsesError
from evenhand.cli.environment import WrongUse
from evenhand.cli.saying import typeable
from evenhand.describe.errors import DescribeError
from evenhand.domain.errors import UNEXPECTED, USAGE, CallFailure, EvenhandError, Misuse, code_of
from evenhand.domain.identity import Json
from evenhand.engine.run.retry import LongPause
from evenhand.exchange.errors import ExchangeError
from evenhand.files.outputs import OutputRefused
from evenhand.files.private_files import WayOut
from evenhand.format.charts import ChartError
from evenhand.images import ImageError
from evenhand.images.places import PlaceError
from evenhand.ledger.store.opening import LedgerError
from evenhand.models.local.weights import FetchFailed
from evenhand.protocols.protocol import ProtocolError
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.errors import AlignmentError, RankError

FAILED, WRONG_USE, INCOMPLETE, GATE_NOT_MET, INTERRUPTED = 1, 2, 3, 4, 130

_WRONG_USE = (
    WrongUse,
    Misuse,
    MixedError,
    RankError,
    AlignmentError,
    ChartError,
    BenchmarkError,
    ResponsesError,
    IntakeError,
    ProtocolError,
    ImageError,
    ExchangeError,
    DescribeError,
    OutputRefused,
)


def exit_code_of(error: Exception) -> int | None:
    """None for an unexpected error."""
    if isinstance(error, DownloadError | LongPause):
        return INCOMPLETE
    if isinstance(error, _WRONG_USE):
        return WRONG_USE
    if isinstance(error, LedgerError | CallFailure | FetchFailed | WayOut | PlaceError):
        return FAILED
    return None


def error_document(error: Exception) -> dict[str, Json]:
    """What `--json` prints of a command that could not be carried out."""
    if isinstance(error, click.ClickException):
        return _document(error.format_message(), _code_of_click(error), error.exit_code)
    exit_code = exit_code_of(error)
    if exit_code is None:
        return _document(f"Unexpected error ({type(error).__name__}).", UNEXPECTED, FAILED)
    return _document(str(error), code_of(error), exit_code)


def _document(sentence: str, code: str, exit_code: int) -> dict[str, Json]:
    return {"schema": 1, "error": typeable(sentence), "code": code, "exit_code": exit_code}


def _code_of_click(error: click.ClickException) -> str:
    """Its own; else that of the error that it passes on, else of wrong use."""
    if isinstance(error.__cause__, EvenhandError):
        return code_of(error.__cause__)
    return getattr(error, "code", USAGE)
