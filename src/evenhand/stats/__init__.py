"""Statistics: pure functions on arrays. No file, network, clock or ledger is known here.

`ratings/` ranks models, `reliability/` measures judges, `intervals/` serves both.
"""
