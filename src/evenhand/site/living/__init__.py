"""Benchmarks that grow: proposals, captions, references, versions. Everything that one needs lies here.

Start with `pages.py`, `events.py` and `following.py`.
"""
