"""Tables, charts, words and numbers: one way each, for the terminal, pages, CSV and LaTeX.

Counts and lists are in `words.py`, verdicts in `verdict_words.py`, charts and their parts in `charts.py`; `html.py`
fills templates, which lie beside what they show. Start with `tables.py`.
"""
