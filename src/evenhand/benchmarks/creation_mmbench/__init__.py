"""Creation-MMBench, and the sample of our own in its manner."""
