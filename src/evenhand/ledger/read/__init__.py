"""What is on record, as columns and counts; nothing here writes.

Start with `votes.py` (what boards rest on) and `results.py`.
"""
