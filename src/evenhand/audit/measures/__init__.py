"""What an audit measures, a file for those that share trials: what they want, the number, how it is read, the chart.

`record.py` says what a measure is, `catalog.py` lists the built-in ones and finds those of installed packages (entry
point group `evenhand.measures`). Nothing else knows a measure by its name, except the plan of a gate, the pictures
of the positions, and the few that stand under a board (`reports/board/trust/audit_on_record.py`).
"""
