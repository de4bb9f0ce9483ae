"""The numbers of the papers' own tables, made of what the ledger holds."""
