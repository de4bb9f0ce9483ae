"""Makes the bundled verdicts of LLMFAO from the three tables that were published: `python -m tools.llmfao FOLDER`."""

import argparse
import csv
import gzip
import io
from collections.abc import Iterator
from pathlib import Path

from evenhand.benchmarks.catalog import find_benchmark

COLUMNS = ("item", "prompt", "left", "right", "rater", "rater_kind", "winner")
TABLES = {
    "llmfao-crowd-comparisons.csv": None,
    "llmfao-gpt4-crowd-comparisons.csv": "gpt-4",
    "llmfao-gpt3-crowd-comparisons.csv": "gpt-3.5",
}
"""Who judged; of people the table says it."""


def verdicts(folder: Path) -> Iterator[tuple[str, ...]]:
    """In the tables' own order, people first."""
    for name, judge in TABLES.items():
        with (folder / name).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                rater, kind = (row["worker"], "human") if judge is None else (judge, "model")
                yield row["id"], row["prompt"], row["left"], row["right"], rater, kind, row["winner"]


def packed(rows: Iterator[tuple[str, ...]]) -> bytes:
    """The same bytes of the same rows, whenever they are packed."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([COLUMNS, *rows])
    return gzip.compress(text.getvalue().encode(), 9, mtime=0)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path, help="Where the three tables lie.")
    made = packed(verdicts(parser.parse_args().folder))
    path = find_benchmark("llmfao").verdicts
    assert path is not None
    path.write_bytes(made)
    print(f"Written: {path} ({len(made):,} bytes)")
