"""Tables, charts, words and numbers: one way each, for the terminal, pages, CSV and LaTeX.

Start with `tables.py`.
"""
