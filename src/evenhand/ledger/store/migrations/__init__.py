"""Brings an older ledger's tables up to date."""
