"""Intervals that do not take two showings of one item for two independent cases."""

from evenhand.intervals.mean import Range, clustered_mean
from evenhand.intervals.quantile import FEW_CLUSTERS, LEVEL, reach
from evenhand.intervals.share import clustered_share, share_of_sums, wilson

__all__ = ["FEW_CLUSTERS", "LEVEL", "Range", "clustered_mean", "clustered_share", "reach", "share_of_sums", "wilson"]
