"""The papers' own tables. `catalog.py` has one record for each paper, `paper.py` says what such a record is.

`visit_bench.py` and `creation_mmbench.py` are the two with a table of models; their numbers are made in `scores/`,
their printed figures recomputed in `reproduce/`.
"""
