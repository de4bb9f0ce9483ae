"""Judgements as rows: read, brought onto the record, written."""
