"""What of a board's withheld verdicts everybody may see, and when.

Start with `released.py`, the one place that decides it; `batches.py` says which can be released together, `dealt.py`
how they are dealt anew, `chosen.py` which files of answers are made to find them out.
"""
