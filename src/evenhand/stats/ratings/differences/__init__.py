"""Which models are better than which: ranks and tiers, neighbours, pairs, and what missing verdicts could change.

Start with `ranks.py`.
"""
