"""Claims about rows gathered by item."""

import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.ratings.bradley_terry.likelihood import centred_inverse, slopes_at
from evenhand.stats.ratings.bradley_terry.sandwich import clustered_scores
from evenhand.stats.ratings.bradley_terry.score_cells import likelihood_cells
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.item_blocks import item_blocks, item_order, items_met, played_and_items
from tests.stats.ratings.made import drawn


@given(st.lists(st.integers(0, 30), max_size=60), st.integers(1, 9), st.integers(1, 80))
def test_blocks_hold_every_row_once_and_an_items_rows_together(items: list[int], width: int, numbers: int):
    item = np.array(items, dtype=np.int32)
    count = int(item.max(initial=-1)) + 1
    rows: list[int] = []
    whole: list[int] = []
    first = 0
    for block in item_blocks(item, count, width, numbers=numbers):
        here = np.arange(len(item))[block.rows]
        assert (item[here] == block.item + first).all()
        assert block.items * width <= max(numbers, width)
        rows += here.tolist()
        whole += [block.items]
        first += block.items
    assert sorted(rows) == list(range(len(item)))
    assert sum(whole) == count


def test_rows_that_stand_in_order_are_not_moved():
    item = np.repeat(np.arange(50, dtype=np.int32), 3)
    assert item_order(item, 50, 10, numbers=20).order is None
    assert item_order(item[::-1], 50, 10, numbers=20).order is not None


@pytest.mark.parametrize("items", [3, 700])
def test_items_of_a_model_are_counted_once(items: int):
    table = drawn(rows=2000, models=7, items=items, seed=1)
    assert table.item is not None
    played, met = played_and_items(table)
    for model in range(7):
        mine = (table.model_a == model) | (table.model_b == model)
        assert played[model] == mine.sum()
        assert met[model] == len(np.unique(table.item[mine]))


def test_more_items_than_a_byte_counts_are_counted():
    one = np.arange(1000) * 2
    assert items_met(one, one + 1, 1000, 2).tolist() == [1000, 1000]


@pytest.mark.parametrize("sizes", [[60] * 4_300, [800] + [5] * 14_000], ids=["of 60 rows", "one of 800 rows"])
@pytest.mark.slow
def test_clusters_of_many_models_take_little_memory_whatever_their_sizes(sizes: list[int]):
    item = np.repeat(np.arange(len(sizes)), sizes).astype(np.int32)
    table = replace(drawn(rows=len(item), models=420, items=1, seed=8), item=item)
    solution = solve(table)
    bread = centred_inverse(solution.fit.information, solution.structure.group)
    cells = likelihood_cells(solution.grouped.table, slopes_at(solution.grouped.table, solution.fit))
    tracemalloc.start()
    parts = clustered_scores(cells, solution.grouped.cell, item, None, bread)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # Every two rows of the items of 60 at once are 1,000 MB, and a column for each model on every item is 200 MB.
    assert peak < 70e6
    whole = clustered_scores(cells, solution.grouped.cell, item, None, bread, numbers=2_000_000)
    np.testing.assert_allclose(parts.product, whole.product, rtol=1e-12, atol=1e-12 * np.abs(whole.product).max())
    np.testing.assert_allclose(parts.effective, whole.effective, rtol=1e-12)
    assert parts.clusters_of.tolist() == whole.clusters_of.tolist()
