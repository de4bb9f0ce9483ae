"""Why a benchmark cannot be described."""


class DescribeError(Exception):
    """The message is a sentence for the user."""
