"""The door: sessions, guards, limits, uploads, who may see what. Every feature uses it.

Start with `service.py`; `visibility.py` is the one place that decides who sees which items.
"""
