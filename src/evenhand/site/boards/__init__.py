"""Pages of boards, models and battles, as far as they may be seen: `site/http/visibility.py` decides it."""
