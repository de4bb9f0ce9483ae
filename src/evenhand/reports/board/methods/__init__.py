"""Rating methods, one file each: a function from comparisons to ratings, and the record of what it is and takes.

`record.py` says what a method is, `catalog.py` lists the built-in ones and finds those of installed packages (entry
point group `evenhand.methods`). Nothing else knows a method by its name.
"""

from evenhand.reports.board.methods.record import RatingMethod, Ratings, Scoring

__all__ = ["RatingMethod", "Ratings", "Scoring"]
