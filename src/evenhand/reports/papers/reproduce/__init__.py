"""The papers' published tables recomputed from the counts they print, row by row: a file for each paper."""
