"""Tables, opening, writing, budgets, claims, event logs, the hash chain's links.

Start with `record.py`.
"""
