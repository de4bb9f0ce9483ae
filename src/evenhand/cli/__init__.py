"""The command line: flags, and the few lines that call the rooms below and show what came of it.

No number is computed here. A command NAME lies in `NAME_command.py`, in a folder by purpose: `ask` (what calls
models), `read` (what reads the record), `data` (what goes in and out), `people`, `server`, `start`. Start with
`main.py`; a command's options are a dataclass of flags (`options.py`), settings come through `folder.py`, sentences go
out through `saying.py`.
"""
