"""The nouns: item, response, trial, study, verdict, judgement, rater, call, vote, estimate, and how each is identified.

Standard library only. Start with `trial.py` and `verdict.py`.
"""
