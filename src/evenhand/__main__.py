"""`python -m evenhand` is `evenhand`: the current folder, where Python looks for modules then, is a stranger's."""

import os
import sys

if __name__ == "__main__":
    # Only what -m itself put first; a folder that the user names in PYTHONPATH comes after it.
    if not sys.flags.safe_path and os.path.realpath(sys.path[0]) == os.path.realpath(os.getcwd()):
        del sys.path[0]
    from evenhand.cli.main import main

    main()
