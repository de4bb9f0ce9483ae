"""Commands for the first minutes: demo and doctor."""
