"""The papers' own tables, made of what the ledger holds."""
