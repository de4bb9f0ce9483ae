"""Benchmarks and answers read from files: what does not fit is told in sentences, and nothing is half loaded."""
