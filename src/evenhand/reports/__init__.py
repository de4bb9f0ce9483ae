"""What is shown of the record: boards, the papers' tables, alignment, grades, the HTML report, receipts.

A report is a value with its JSON; the command line and the site only show it. Start with `board/ranking.py`; what
is told of one case, anywhere, is in `case.py`.
"""
