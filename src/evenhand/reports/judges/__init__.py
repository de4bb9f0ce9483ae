"""The board of judges: every judge on record in one table, and which of them to pay.

Start with report.py (what is known of each judge, and what follows); gathering.py finds it in the ledger or in files,
table.py and chart.py show it.
"""
