"""A ledger's board as one HTML file with every verdict behind it, and as tables."""
