"""A judge's Grade Score and grades, as tables and a page."""
