"""From comparisons of two models to numbers about each: pure functions on arrays."""

from evenhand.ratings.comparisons import Comparisons, battles
from evenhand.ratings.elo import EloRating, elo
from evenhand.ratings.win_rate import WinRate, win_rates

__all__ = ["Comparisons", "EloRating", "WinRate", "battles", "elo", "win_rates"]
