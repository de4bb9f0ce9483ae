"""What boards need of the record, kept as columns beside it, and never the truth.

Start with `kept_columns.py`: what is kept, whether it fits, what came since. `record_columns.py` has their form,
`new_columns.py` reads them from the record, `column_files.py` brings them to a file and back.
"""
