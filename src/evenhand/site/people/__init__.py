"""Studies in which people compare answers: plans, the comparing page, agreement.

Start with `studies.py`.
"""
