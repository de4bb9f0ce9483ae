"""What is said of a table that cannot be made."""

from evenhand.domain.errors import EvenhandError


class RankError(EvenhandError):
    """A board that cannot be made as asked. A sentence."""


class AlignmentError(EvenhandError):
    """Raters that cannot be held against people as asked. A sentence."""
