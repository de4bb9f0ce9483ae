"""From comparisons of two models to numbers about each: pure functions on arrays.

Start with `comparisons.py`; `bradley_terry/ratings.py` rates, `bradley_terry/covariance.py` makes the intervals,
`ranks.py` and `neighbours.py` say which models are separated, `fit_tests.py` whether the model fits, `tipping.py` what
missing verdicts could change, `bradley_terry/shrinking.py` has ratings for few battles; `win_rate.py`, `elo/` and
`reward.py` count otherwise, `effects/` has what order, length and levels add, `bradley_terry/unbounded_fits.py` what
to do where a rating has no finite value.
"""
