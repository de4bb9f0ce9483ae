"""Intervals that do not take two showings of one item for two independent cases."""

from evenhand.intervals.quantile import FEW_CLUSTERS, LEVEL, reach
from evenhand.intervals.share import clustered_share, share_of_sums

__all__ = ["FEW_CLUSTERS", "LEVEL", "clustered_share", "reach", "share_of_sums"]
