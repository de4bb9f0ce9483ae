"""Calls that may wait, sent many at a time for less: a client that gathers them, and the wires of those who offer it.

Start with client.py, which gathers and sends; following.py sees each batch through. What is on record of a batch, and
what it costs, is the engine's: record.py says what is asked of it.
"""
