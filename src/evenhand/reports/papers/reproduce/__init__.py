"""The papers' published tables recomputed, row by row against what was printed."""
