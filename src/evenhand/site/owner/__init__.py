"""What the owner sees: what waits, who did what."""
