"""Answers of models, brought onto the record and written."""
