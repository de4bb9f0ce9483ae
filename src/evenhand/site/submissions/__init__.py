"""Teams and their submissions to a withheld test: offers, uploads, checks, decisions, receipts.

`public_pages.py` is for everybody, `team_pages.py` a team's own (`submission.html` words its submission's page, from
the numbers that `team_progress.py` gathers), `owner_pages.py` the owner's; `actions.py` does what they ask for.
"""
