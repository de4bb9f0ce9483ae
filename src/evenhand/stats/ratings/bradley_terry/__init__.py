"""Bradley-Terry: the fit, clustered covariance, bootstrap, placement of one model.

Start with `ratings.py`.
"""
