"""What benchmarks ask, item by item, before and after anything is judged: all of them by kind, and each one whole.

Start with `pages.py`; `listing.py` finds the items that fit.
"""
