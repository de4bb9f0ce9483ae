"""Battles as columns: the layout of a file, and how its columns are found."""
