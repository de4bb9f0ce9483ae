"""The record. Every line of SQL is in this room.

`store/` opens, writes and claims; `read/` answers questions with columns; `submissions/` holds what teams sent in;
`upkeep/` checks, backs up, restores and signs. Start with `store/record.py` and `store/schema.py`.
"""
