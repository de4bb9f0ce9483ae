"""From comparisons of two models to numbers about each: pure functions on arrays."""

from evenhand.ratings.bradley_terry import BradleyTerry, Differences, Rated, bradley_terry, differences
from evenhand.ratings.codes import WINNERS, coded_items, coded_names, winner_signs
from evenhand.ratings.comparisons import Comparisons, battles
from evenhand.ratings.elo import EloRating, elo
from evenhand.ratings.scale import Scale
from evenhand.ratings.win_rate import WinRate, win_rates

__all__ = [
    "WINNERS",
    "BradleyTerry",
    "Comparisons",
    "Differences",
    "EloRating",
    "Rated",
    "Scale",
    "WinRate",
    "battles",
    "bradley_terry",
    "coded_items",
    "coded_names",
    "differences",
    "elo",
    "win_rates",
    "winner_signs",
]
