"""Teams and their submissions to a withheld test: offers, uploads, checks, decisions, receipts.

Start with `pages.py` and `actions.py`.
"""
