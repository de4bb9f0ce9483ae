"""The loops that ask models for what people want on the pages.

Start with `loop.py`.
"""
