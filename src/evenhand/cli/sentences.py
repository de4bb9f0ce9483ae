"""Which errors are sentences for the user, and the exit code of each."""

from evenhand.benchmarks.data_error import BenchmarkError, DownloadError, ResponsesError
from evenhand.cli.environment import WrongUse
from evenhand.describe.errors import DescribeError
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.engine.run.retry import LongPause
from evenhand.exchange.errors import ExchangeError
from evenhand.files.outputs import OutputRefused
from evenhand.files.private_files import WayOut
from evenhand.format.charts import ChartError
from evenhand.images import ImageError
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
    if isinstance(error, LedgerError | CallFailure | FetchFailed | WayOut):
        return FAILED
    return None
