"""The page on which a benchmark's judges are compared: `pages.py`."""
