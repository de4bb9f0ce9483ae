"""Intervals that do not take two showings of one item for two independent cases."""

from evenhand.stats.intervals.mean import Range, clustered_mean
from evenhand.stats.intervals.quantile import FEW_CLUSTERS, LEVEL, MANY, ONE_SIDED, reach
from evenhand.stats.intervals.share import clustered_share, effective_cases, share_of_sums
from evenhand.stats.intervals.wilson import Basis, wilson

__all__ = [
    "FEW_CLUSTERS",
    "LEVEL",
    "MANY",
    "ONE_SIDED",
    "Basis",
    "Range",
    "clustered_mean",
    "clustered_share",
    "effective_cases",
    "reach",
    "share_of_sums",
    "wilson",
]
