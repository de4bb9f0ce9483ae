"""The papers' own tables: from the record (`scores/`), and from the published figures (`reproduce/`)."""
