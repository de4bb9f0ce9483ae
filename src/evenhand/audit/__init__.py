"""How far a judge can be trusted: the trials that an audit asks, the measures it takes of them, what it concludes.

`design.py` says what is asked, `trials.py` makes it; `measures.py`, `findings.py` and `wording.py` turn replies into
numbers and sentences; `gate.py` decides from few calls; `report_card.py` and `section.py` show it. Asking itself is the
engine's. Start with `design.py`.
"""
