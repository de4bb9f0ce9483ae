"""A board for people: in a terminal, as a chart, as a table to take along, and the columns that are asked for.

Start with `table.py`. Nothing here works out a rating.
"""
