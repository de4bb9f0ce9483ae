"""Judgements, battles and answers as files: our own layouts and those of peers, in and out.

Start with `battles_file.py` for what `rank FILE` takes, and `judgements/file.py` for what `import` takes.
"""
