"""Commands that read what is on record or in files, and ask nobody: rank, score, report, align, show, runs."""
