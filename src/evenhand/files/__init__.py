"""Files as the owner's: private rights, nothing written over, each file whole or not there.

No other room opens a file to write it. Start with `whole.py`; `outputs.py` is for what a user asked to have written,
`private_files.py` for what lies beside the ledger.
"""
