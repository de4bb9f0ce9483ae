"""Whether the record is as it was written: check, backup, restore, chain heads, signatures.

Start with `check.py`.
"""
