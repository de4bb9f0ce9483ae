"""`python -m evenhand` is `evenhand`: the current folder, which Python looks for modules in then, is none of ours."""

import os
import sys


def _elsewhere(entry: str) -> bool:
    return os.path.realpath(entry) != os.path.realpath(os.getcwd())


if __name__ == "__main__":
    # Only the entry that -m itself put first: one that the user named in PYTHONPATH comes after it.
    if not sys.flags.safe_path and sys.path and not _elsewhere(sys.path[0]):
        del sys.path[0]
    from evenhand.cli.main import main

    main()
