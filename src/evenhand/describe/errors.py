"""Why a benchmark cannot be described."""

from evenhand.domain.errors import EvenhandError


class DescribeError(EvenhandError):
    """A description that cannot be made as asked."""

    code = "EH-DESCRIBE"
