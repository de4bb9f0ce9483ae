"""Studies in which people compare answers: plans, the comparing page, agreement.

Start with `studies.py`; what a person is shown is in `comparisons.py`, what they say in `saying.py`.
"""
