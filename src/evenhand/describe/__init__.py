"""What a benchmark holds: counts, lengths, images, what its instructions ask for, what its images show."""
