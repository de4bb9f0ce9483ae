"""What a benchmark holds, as a page."""
