"""Intervals that do not take two showings of one item for two independent cases."""

from evenhand.stats.intervals.amounts import amount_mean, median
from evenhand.stats.intervals.mean import Range, clustered_mean, joined_means
from evenhand.stats.intervals.quantile import FEW_CLUSTERS, LEVEL, MANY, ONE_SIDED, error_of, reach, reaches
from evenhand.stats.intervals.share import clustered_share, share_of_clusters, share_of_sums
from evenhand.stats.intervals.wilson import UNSEEN, Basis, left_out, wilson

__all__ = [
    "FEW_CLUSTERS",
    "LEVEL",
    "MANY",
    "ONE_SIDED",
    "UNSEEN",
    "Basis",
    "Range",
    "amount_mean",
    "clustered_mean",
    "clustered_share",
    "error_of",
    "joined_means",
    "left_out",
    "median",
    "reach",
    "reaches",
    "share_of_clusters",
    "share_of_sums",
    "wilson",
]
