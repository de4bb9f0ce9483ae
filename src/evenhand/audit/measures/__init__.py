"""What an audit measures, one file each: the trials it wants, its number, how that is read, its chart.

`record.py` says what a measure is, `catalog.py` lists the built-in ones and finds those of installed packages (entry
point group `evenhand.measures`). Nothing else knows a measure by its name, except the plan of a gate and the pictures
of the positions.
"""
