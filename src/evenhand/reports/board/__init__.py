"""Who is better than whom, how certainly, and what to be careful about.

`ranking.py` makes a `board.py`; `findings.py` says what follows; `table.py` and `charts.py` show it.
"""
