"""Claims about what may stand beside a board."""

from dataclasses import replace

import polars as pl
import pytest

from evenhand.reports.board.ranking import rank
from evenhand.reports.board.shown.columns import five_levels


@pytest.mark.parametrize(
    ("gain", "words"),
    [
        (0.25, "worth 25 % more verdicts;"),
        (-0.05, "worth 5 % fewer verdicts;"),
        (-0.001, "worth as many verdicts;"),
    ],
)
def test_levels_that_cost_precision_are_worth_fewer_verdicts(gain: float, words: str):
    rows = [("X", "Y", value, item) for item, value in enumerate([2, 1, 0, -1, -2, 1, 2, -1, 0, 1] * 6)]
    board = rank(pl.DataFrame(rows, schema=["model_a", "model_b", "verdict", "item"], orient="row"))
    # Worked out when first looked at, and here known beforehand.
    vars(board.findings)["ordinal"] = replace(board.findings.ordinal, gain=gain)
    assert any(words in sentence for sentence in five_levels(board).sentences)
