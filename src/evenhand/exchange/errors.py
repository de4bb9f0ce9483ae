"""What is said of a file that does not fit."""

from evenhand.benchmarks.data_error import DataError


class ExchangeError(DataError):
    """A file that does not fit what is expected of it."""

    code = "EH-FILE"
