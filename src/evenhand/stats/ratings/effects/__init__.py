"""What else moves a verdict: position, length, levels."""
