"""Tables, opening, writing, budgets, claims, the hash chain's links.

Start with `record.py`.
"""
