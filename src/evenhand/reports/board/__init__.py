"""Who is better than whom, how certainly, and what to be careful about.

`ranking.py` makes a `board.py`, whose `as_json` is the document of `rank --json`; `findings.py` says what follows.
`shown` is the board for people, `trust` what is known of its judge, `withheld` what a submission's verdicts may tell.
Which models are separated is decided in `stats/ratings/differences` (`ranks.py`; next on the list: `neighbours.py`) and
said in `standings.py` (under the board) and `shown/leaders.py` (its first sentence).
"""
