"""What is on record, as columns and counts; nothing here writes but the copy in `columns`, which nobody needs.

Start with `votes.py` (what boards rest on) and `results.py`.
"""
