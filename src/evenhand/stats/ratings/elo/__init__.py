"""Elo, in the order of play and averaged over orders."""
