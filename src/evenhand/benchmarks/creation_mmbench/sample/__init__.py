"""Cases of our own in the manner of Creation-MMBench, with answers and images."""
