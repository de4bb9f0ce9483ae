"""Agreement of raters: kappa, alpha, alignment, juries."""
