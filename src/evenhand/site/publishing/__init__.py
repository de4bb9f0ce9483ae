"""The site's public pages as files, for any static host and for opening from disk.

`walk.py` asks the very application that `serve` runs, as somebody passing by does, for each page that a link leads to:
what may be seen is decided there and nowhere else. `addresses.py` knows which addresses become files, under which
names, and turns links into relative ones. How the files come into their folder is `files/kept_folder.py`.
"""
