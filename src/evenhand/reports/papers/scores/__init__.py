"""The numbers of the papers' own tables, made of what the ledger holds.

Creation-MMBench: `creation_figures.py` has Reward, Win Rate and VFS of one model, `creation_score.py` the table of all,
`creation_sheets.py` its shape on paper. VisIT-Bench: `visit_bench.py` and `visit_sheets.py`.
"""
