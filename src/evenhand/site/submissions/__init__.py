"""Teams and their submissions to a withheld test: offers, uploads, checks, decisions, receipts.

`public_pages.py` is for everybody, `team_pages.py` a team's own, `owner_pages.py` the owner's; `actions.py` does what
they ask for. `submission.html` and `submission_parts.html` in `site/templates` word a team's page of its submission,
from the numbers that `team_progress.py` gathers.
"""
