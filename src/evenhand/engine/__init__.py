"""Asking models: what is due, in which order, within which limits and budget, and what becomes of each reply.

`run/` is the same for every kind of call; `tasks/` are the kinds. Start with `session.py`.
"""
