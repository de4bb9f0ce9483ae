"""Claims about what a row with unread trials could have scored."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.stats.reliability.grade_score.completions import MOST_COMPLETIONS, grade_bounds
from evenhand.stats.reliability.grade_score.option_rows import OptionRow, blocks
from tests.examples import examples
from tests.stats.reliability.option_judges import as_the_authors_count

some_rows = st.integers(2, 5).flatmap(
    lambda options: st.lists(
        st.lists(st.none() | st.integers(0, options - 1), min_size=options, max_size=options), min_size=1, max_size=6
    )
)


def tried_one_by_one(places: list[int | None]) -> tuple[float, float]:
    offered = [range(len(places)) if place is None else [place] for place in places]
    grades = [as_the_authors_count(way)[2] for way in product(*offered)]
    return min(grades), max(grades)


@settings(deadline=None, max_examples=examples(40))
@given(some_rows)
def test_the_bounds_are_those_of_trying_every_completion(rows: list[list[int | None]]):
    block = blocks([OptionRow(item="a", selected_positions=tuple(row)) for row in rows])[0]
    bounds = grade_bounds(block)
    expected = np.array([tried_one_by_one(row) for row in rows])
    assert bounds.lowest == pytest.approx(expected[:, 0], abs=1e-12)
    assert bounds.highest == pytest.approx(expected[:, 1], abs=1e-12)
    assert bounds.exact.all()


def test_one_unread_of_four():
    block = blocks([OptionRow(item="a", selected_positions=(1, 2, 3, None))])[0]
    bounds = grade_bounds(block)
    assert (bounds.lowest.tolist(), bounds.highest.tolist()) == ([0.75], [1.0])


@pytest.mark.parametrize(("unread", "exact"), [(5, True), (6, False)])
def test_completions_are_tried_up_to_the_limit(unread: int, exact: bool):
    # 7 ** 5 = 16,807; 7 ** 6 = 117,649.
    assert (7**unread <= MOST_COMPLETIONS) is exact
    block = blocks([OptionRow(item="a", selected_positions=(*[None] * unread, *range(7 - unread)))])[0]
    bounds = grade_bounds(block)
    assert bool(bounds.exact[0]) is exact
    assert ((bounds.lowest[0], bounds.highest[0]) == (0, 1)) is not exact


def test_many_rows_at_once_are_each_bounded_by_themselves():
    rng = np.random.default_rng(1)
    chosen = rng.integers(-1, 4, (300, 4)).tolist()
    rows = [[None if place < 0 else place for place in row] for row in chosen]
    bounds = grade_bounds(blocks([OptionRow(item="a", selected_positions=tuple(row)) for row in rows])[0])
    for number in range(0, 300, 29):
        assert (bounds.lowest[number], bounds.highest[number]) == pytest.approx(tried_one_by_one(rows[number]))
