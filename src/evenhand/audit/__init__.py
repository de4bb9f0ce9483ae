"""How far a judge can be trusted: the trials that an audit asks, the measures it takes of them, what it concludes.

`measures/` has one record for each measure: the trials it wants, its number, its words. `design.py` says what is asked,
`trials.py` makes it; `findings.py` and `conclusion.py` tell what was found; `gate.py` decides from few calls;
`report_card.py` and `section.py` show it. Asking itself is the engine's. Start with `measures/`.
"""
