"""VisIT-Bench, and the sample of our own in its manner."""
