"""What is said of a table that cannot be made."""


class RankError(Exception):
    """A board that cannot be made as asked. A sentence."""


class AlignmentError(Exception):
    """Raters that cannot be held against people as asked. A sentence."""
