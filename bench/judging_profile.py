"""Where the CPU of a judgement goes: `evenhand judge` as `bench.judging` runs it, each thread profiled.

    python -m bench.judging_profile [--items 250] [--images]

By the CPU time of each thread. What is many small calls seems dearer than it is: shares are what counts, not the sum.
"""

import argparse
import cProfile
import os
import pstats
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from bench.judging import write_study
from tests import warm

PARTS = (
    ("HTTP: aiohttp and its sockets", "models/wire/transport.py", "post"),
    ("reply's JSON and fields", "models/wire/openai.py", "_reply"),
    ("body of the request", "models/wire/openai.py", "_body"),
    ("verdict read", "engine/tasks/asking.py", "_read"),
    ("answers searched for orders to the judge", "engine/tasks/asking.py", "_all_meant"),
    ("planned, and its cost foreseen", "engine/run/expected.py", "over"),
    ("claimed", "ledger/store/claims.py", "claim"),
    ("committed", "ledger/store/record.py", "commit"),
    ("images read and checked", "benchmarks/files/items_file.py", "name"),
    ("images stored", "images/store.py", "put_all"),
)
BEFORE = "images read and checked"
"""What is done before the loop runs."""
LOOP = ("asyncio/runners.py", "run")
"""What runs all but the ledger's thread."""


def profiled(arguments: list[str]) -> None:
    """The command in this process; the table goes to standard error."""
    from evenhand.cli.main import main

    profiles: list[cProfile.Profile] = []

    def begin(*_: Any) -> None:
        profile = cProfile.Profile(time.thread_time)
        profiles.append(profile)
        profile.enable()

    threading.setprofile(begin)
    begin()
    sys.argv = ["evenhand", *arguments]
    try:
        main()
    except SystemExit as ended:
        if ended.code:
            raise
    finally:
        profiles[0].disable()
        told = [pstats.Stats(one).stats for one in profiles]  # type: ignore[attr-defined]  typeshed does not know it
        print_parts(told)


def print_parts(told: list[dict[tuple[str, int, str], tuple[Any, ...]]]) -> None:
    def spent(path: str, name: str) -> float:
        named = (row[3] for one in told for at, row in one.items() if at[0].endswith(path) and name == at[2])
        return max(named, default=0.0)

    found = {words: spent(path, name) for words, path, name in PARTS}
    in_ledger = {
        words for words, path, name in PARTS if path.startswith(("ledger", "engine/run")) or name == "_all_meant"
    } | {BEFORE}
    loop = spent(*LOOP)
    found["loop, tasks and bookkeeping"] = loop - sum(value for words, value in found.items() if words not in in_ledger)
    total = sum(found.values())
    for words, value in found.items():
        if value:
            print(f"{words:45} {value / total:5.0%}", file=sys.stderr)
    calls = sum(row[1] for one in told for row in one.values())
    print(f"calls of functions in all, start included: {calls:,}", file=sys.stderr)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=250, help="twelve judgements each")
    parser.add_argument("--images", action="store_true", help="three an item, in place of a caption")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="evenhand-bench-") as made, warm.heard("bench.judging:serve") as url:
        write_study(Path(made), items=given.items, pictures=given.images)
        files = ("judge", "items.jsonl", "--responses", "answers.jsonl", "--protocol", "visit_pairwise", "--quiet")
        judge = ("--judge", "openai/scripted", "--judge-base-url", url, "--endpoint-name", "bench")
        see = ("--see", "images") if given.images else ()
        here = os.pathsep.join(map(os.path.abspath, sys.path))
        code = "import sys; from bench.judging_profile import profiled; profiled(sys.argv[1:])"
        subprocess.run(
            [sys.executable, "-c", code, *files, *judge, *see, "--store", f"sqlite:///{made}/ledger.db"],
            cwd=made,
            env={**os.environ, "OPENAI_API_KEY": "none", "PYTHONPATH": here},
            check=True,
        )


if __name__ == "__main__":
    main()
