"""What is said of a table that cannot be made."""

from evenhand.domain.errors import EvenhandError


class RankError(EvenhandError):
    """A board that cannot be made as asked."""

    code = "EH-RANK"


class AlignmentError(EvenhandError):
    """Raters that cannot be compared with people as asked."""

    code = "EH-ALIGN"
