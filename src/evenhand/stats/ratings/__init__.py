"""From comparisons of two models to numbers about each: pure functions on arrays."""
