"""Intervals that do not take two showings of one item for two independent cases."""

from evenhand.intervals.share import FEW_CLUSTERS, LEVEL, clustered_share

__all__ = ["FEW_CLUSTERS", "LEVEL", "clustered_share"]
