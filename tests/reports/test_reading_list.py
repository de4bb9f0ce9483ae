"""Claims about which judgements are worth reading first: what is told of many is what a look at each finds."""

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest

import evenhand as eh
from evenhand.reports.page.reading import ReadFirst, reading_list

ALL = 10**9
SHAPES = [(3, 1), (8, 3), (20, 1), (20, 3), (200, 2), (400, 1)]


def board_of(seed: int, *, items: int, raters: int) -> eh.Board:
    """Rows of five models; the further apart their names, the likelier the first wins, and some by
    much."""
    draw = random.Random(seed)
    rows: list[dict[str, str]] = []
    for _ in range(400):
        one, other = draw.sample("VWXYZ", 2)
        lead = (ord(other) - ord(one)) / 3 + draw.gauss(0, 1)
        won = "tie" if abs(lead) < 0.2 else "model_a" if lead > 0 else "model_b"
        rows.append(
            {
                "model_a": one,
                "model_b": other,
                "winner": won,
                "item": f"item {draw.randrange(items)}",
                "rater": str(draw.randrange(raters)),
            }
        )
    board = eh.rank(pl.DataFrame(rows))
    shown = board.findings.shown
    strength = np.array([draw.choice((1, 2)) for _ in range(len(shown))], dtype=np.int8)
    return replace(board, findings=replace(board.findings, shown=replace(shown, value=shown.sign * strength)))


def kinds(case: ReadFirst) -> set[str]:
    return {one.kind for one in case.reasons}


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize(("items", "raters"), SHAPES)
def test_the_first_of_many_are_the_first_of_all(seed: int, items: int, raters: int) -> None:
    board = board_of(seed, items=items, raters=raters)
    every = reading_list(board, most=ALL)
    counts = Counter(kind for case in every.cases for kind in kinds(case))
    assert every.counts == {"people": 0, "raters": 0, "orders": 0, "surprise": 0, **counts}
    for most in (1, 5, 12):
        found = reading_list(board, most=most)
        assert found.cases == every.cases[:most]
        assert found.counts == every.counts


def test_each_reason_is_found_where_it_is() -> None:
    """So that the boards above have some of every kind."""
    found = [reading_list(board_of(0, items=items, raters=raters)).counts for items, raters in SHAPES]
    assert all(sum(one[kind] for one in found) > 20 for kind in ("raters", "orders", "surprise"))
