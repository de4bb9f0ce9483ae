"""Items from a table of any kind, row by row: what a cell may hold, which file it is, what is wrong with it.

Nothing here knows a benchmark by name. Start with `items_file.py`.
"""
