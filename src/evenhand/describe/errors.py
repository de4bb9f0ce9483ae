"""Why a benchmark cannot be described."""

from evenhand.domain.errors import EvenhandError


class DescribeError(EvenhandError):
    """The message is a sentence for the user."""
