"""From comparisons of two models to numbers about each: pure functions on arrays."""

from evenhand.ratings.bands import Band, Bands, Missing, Standing, bands
from evenhand.ratings.bootstrap import bradley_terry_bootstrap
from evenhand.ratings.bradley_terry import BradleyTerry, Differences, Rated, bradley_terry, differences
from evenhand.ratings.codes import WINNERS, coded_items, coded_names, winner_signs
from evenhand.ratings.comparisons import Comparisons
from evenhand.ratings.cycles import Cycle, Cycles, Triples, cycles
from evenhand.ratings.effect import Effect
from evenhand.ratings.elo import EloBootstrap, EloRating, elo, elo_bootstrap
from evenhand.ratings.length_effect import LengthEffect, length_effect
from evenhand.ratings.matrices import WinMatrix, observed_wins, predicted_wins
from evenhand.ratings.order_effect import OrderEffect, RaterOrderEffect, order_effect
from evenhand.ratings.ordinal import Ordinal, OrdinalFit, RankChange, Threshold, ordinal
from evenhand.ratings.paired import PairedTest, paired, paired_through
from evenhand.ratings.ranks import RankRange, RankRanges, elo_rank_ranges, rank_ranges, win_rate_rank_ranges
from evenhand.ratings.resampling import Resampling
from evenhand.ratings.scale import Scale
from evenhand.ratings.win_rate import Policy, WinRate, mean_win_rates, win_rates, win_rates_against

__all__ = [
    "WINNERS",
    "Band",
    "Bands",
    "BradleyTerry",
    "Comparisons",
    "Cycle",
    "Cycles",
    "Differences",
    "Effect",
    "EloBootstrap",
    "EloRating",
    "LengthEffect",
    "Missing",
    "OrderEffect",
    "Ordinal",
    "OrdinalFit",
    "PairedTest",
    "Policy",
    "RankChange",
    "RankRange",
    "RankRanges",
    "Rated",
    "RaterOrderEffect",
    "Resampling",
    "Scale",
    "Standing",
    "Threshold",
    "Triples",
    "WinMatrix",
    "WinRate",
    "bands",
    "bradley_terry",
    "bradley_terry_bootstrap",
    "coded_items",
    "coded_names",
    "cycles",
    "differences",
    "elo",
    "elo_bootstrap",
    "elo_rank_ranges",
    "length_effect",
    "mean_win_rates",
    "observed_wins",
    "order_effect",
    "ordinal",
    "paired",
    "paired_through",
    "predicted_wins",
    "rank_ranges",
    "win_rate_rank_ranges",
    "win_rates",
    "win_rates_against",
    "winner_signs",
]
