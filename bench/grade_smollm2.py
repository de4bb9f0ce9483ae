"""The Grade Score of a real small model on real answers: SmolLM2-135M picks among Open Assistant replies.

    python -m bench.grade_smollm2 TREES.jsonl --ledger FOLDER

TREES.jsonl holds Open Assistant trees; the 12 prompts whose options are shortest together are asked about under
Prompt 1, with and without an unrelated option, with constrained readout. FOLDER keeps the ledger: run it again and it
goes on where it ended. Needs `evenhand models fetch local/smollm2`.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path

from evenhand.benchmarks.options.load import read_options
from evenhand.benchmarks.options.option_set import OptionSet, Selection, select
from evenhand.domain.identity import Json

PROMPTS = 12
MOST_CHARACTERS = 1600
"""About 400 tokens, prompt and options together."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("trees", type=Path)
    parser.add_argument("--ledger", type=Path, required=True, help="folder that keeps the ledger and the chosen rows")
    parser.add_argument("--readout", choices=["constrained", "free"], default="constrained")
    parser.add_argument("--format", choices=["table", "md", "csv"], default="table")
    chosen = parser.parse_args()
    chosen.ledger.mkdir(parents=True, exist_ok=True)
    rows = chosen.ledger / "short-oasst.jsonl"
    rows.write_text("".join(map(_line, shortest(chosen.trees))), encoding="utf-8")
    store = f"sqlite:///{(chosen.ledger / 'ledger.db').resolve()}"
    command = [
        sys.executable, "-m", "evenhand", "grade", str(rows), "--judge", "local/smollm2", "--prompts", "1",
        "--readout", chosen.readout, "--format", chosen.format, "--store", store,
    ]  # fmt: skip
    print("evenhand " + " ".join(command[3:]), file=sys.stderr)
    sys.exit(subprocess.run(command, check=False).returncode)


def shortest(trees: Path) -> list[OptionSet]:
    """Only these are in the file that is asked about, so that the unrelated options are short too."""
    selected = select(read_options(trees).sets, Selection(max_characters=MOST_CHARACTERS))
    return sorted(selected.sets, key=lambda one: (one.characters, one.item.digest))[:PROMPTS]


def _line(one: OptionSet) -> str:
    row: dict[str, Json] = {
        "item": one.item.label,
        "prompt": one.item.instruction,
        "outputs": [option.text for option in one.options],
    }
    if one.best is not None:
        row["ranks"] = [int(number != one.best) for number in range(len(one.options))]
    return json.dumps(row, ensure_ascii=False) + "\n"


if __name__ == "__main__":
    main()
