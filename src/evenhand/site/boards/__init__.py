"""Pages of boards, models and battles, and what may be seen of them."""
