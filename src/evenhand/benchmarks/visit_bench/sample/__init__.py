"""Twelve cases of our own in the manner of VisIT-Bench, with answers and images."""
