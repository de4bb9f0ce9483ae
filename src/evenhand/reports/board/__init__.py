"""Who is better than whom, how certainly, and what to be careful about.

`ranking.py` makes a `board.py`, whose `as_json` is the document of `rank --json`; `findings.py` says what follows;
`table.py` and `charts.py` show it. Which models are separated is decided and said in `stats/ratings/ranks.py`; the
report's first sentence is in `reports/page/leaders.py`.
"""
