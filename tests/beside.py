"""Data that some tests read where it lies beside the clone, in `../shared`: it is not ours to ship.

A test that needs a file is marked `needs(FILE)`; where the file is not there the test is skipped and says so.
"""

from pathlib import Path

import pytest

SHARED = Path(__file__).parents[2] / "shared"
LLMFAO = SHARED / "data" / "llmfao-crowd-comparisons.csv"
LLMFAO_GPT4 = SHARED / "data" / "llmfao-gpt4-crowd-comparisons.csv"
LLMFAO_GPT3 = SHARED / "data" / "llmfao-gpt3-crowd-comparisons.csv"
OASST = SHARED / "data" / "oasst-en-100-trees.jsonl"
MULTI_IMAGES = SHARED / "data" / "visit_bench_multi_images.csv"
ANNOTATED_EXAMPLE = SHARED / "data" / "visit_fully_annotated_example.csv"
CREATION_PAPER = SHARED / "seeds" / "002_de7f5a555faccd50.txt"

needs = pytest.mark.shared
"""Of one path or several; tests/conftest.py looks whether they are there."""


def skip_without(test: pytest.Item) -> None:
    for mark in test.iter_markers(needs.name):
        missing = [path for path in mark.args if not path.exists()]
        if missing:
            pytest.skip(f"{missing[0].relative_to(SHARED.parent)} is not beside this clone")
