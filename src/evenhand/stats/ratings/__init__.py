"""From comparisons of two models to numbers about each: pure functions on arrays.

Start with `comparisons.py`; `bradley_terry/ratings.py` rates, `bradley_terry/covariance.py` makes the intervals,
`differences/` says which models are separated and what missing verdicts could change, `fit_tests.py` whether the model
fits, `bradley_terry/shrinking.py` has ratings for few battles; `shares/` and `elo/` count otherwise, `effects/` has
what order, length and levels add, `bradley_terry/unbounded_fits.py` what to do where a rating has no finite value.
"""
