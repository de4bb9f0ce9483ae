"""From comparisons of two models to numbers about each: pure functions on arrays."""

from evenhand.ratings.bootstrap import bradley_terry_bootstrap
from evenhand.ratings.bradley_terry import BradleyTerry, Differences, Rated, bradley_terry, differences
from evenhand.ratings.codes import WINNERS, coded_items, coded_names, winner_signs
from evenhand.ratings.comparisons import Comparisons, battles
from evenhand.ratings.elo import EloBootstrap, EloRating, elo, elo_bootstrap
from evenhand.ratings.resampling import Resampling
from evenhand.ratings.scale import Scale
from evenhand.ratings.win_rate import WinRate, win_rates

__all__ = [
    "WINNERS",
    "BradleyTerry",
    "Comparisons",
    "Differences",
    "EloBootstrap",
    "EloRating",
    "Rated",
    "Resampling",
    "Scale",
    "WinRate",
    "battles",
    "bradley_terry",
    "bradley_terry_bootstrap",
    "coded_items",
    "coded_names",
    "differences",
    "elo",
    "elo_bootstrap",
    "win_rates",
    "winner_signs",
]
