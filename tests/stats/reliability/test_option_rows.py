"""Claims about the orders in which options are shown, and how choices are turned into option ids."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.reliability.grade_score.option_rows import OptionRow, blocks, rotations, without_unrelated
from tests.refusals import refused


def paper_rotations(options: list[int]) -> list[list[int]]:
    """Section 3.2 of the paper, as printed."""
    shown: list[list[int]] = []
    for _ in range(len(options)):
        options = [options[-1], *options[:-1]]
        shown.append(options)
    return shown


def test_the_orders_are_the_authors():
    assert rotations(4) == ((3, 0, 1, 2), (2, 3, 0, 1), (1, 2, 3, 0), (0, 1, 2, 3))
    assert rotations(1) == ((0,),)


def test_the_unrelated_option_has_the_last_id_and_stands_first_at_the_base():
    assert rotations(4, unrelated=True)[-1] == (3, 0, 1, 2)


@given(st.integers(1, 30), st.booleans())
def test_every_option_takes_every_place_once(options: int, unrelated: bool):
    shown = rotations(options, unrelated=unrelated)
    assert len(shown) == options
    for place in range(options):
        assert sorted(order[place] for order in shown) == list(range(options))
    for order in shown:
        assert sorted(order) == list(range(options))


@given(st.integers(1, 12))
def test_the_orders_are_those_of_the_papers_algorithm(options: int):
    assert [list(order) for order in rotations(options)] == paper_rotations(list(range(options)))
    base = [options - 1, *range(options - 1)]
    assert [list(order) for order in rotations(options, unrelated=True)] == paper_rotations(base)


def test_a_place_is_mapped_to_the_option_that_stood_there():
    row = OptionRow(item="a", selected_positions=(0, 0, None, 0))
    assert row.options == 4
    assert row.selected_options == (3, 2, None, 0)


def test_with_an_unrelated_option_the_others_keep_their_ids():
    # Base order 2 0 1; trials 1 2 0, 0 1 2, 2 0 1.
    row = OptionRow(item="a", selected_positions=(0, 0, 0), unrelated=True)
    assert row.selected_options == (1, 0, 2)


def test_no_option_is_no_choice():
    with refused(ValueError, "option", 0):
        rotations(0)


def test_a_place_that_was_not_offered_is_refused():
    with refused(ValueError, "Item b", "position 4", "trial 2", "0 to 3"):
        blocks(
            [
                OptionRow(item="a", selected_positions=(0, 1, 2, 3)),
                OptionRow(item="b", selected_positions=(0, 4, 2, 3)),
            ]
        )
    with pytest.raises(ValueError, match="position -1"):
        blocks([OptionRow(item="b", selected_positions=(0, -1))])


def test_rows_are_grouped_by_what_they_were_shown():
    rows = [
        OptionRow(item="a", selected_positions=(0, 1)),
        OptionRow(item="b", selected_positions=(0,)),
        OptionRow(item="c", selected_positions=(1, None), unrelated=True),
        OptionRow(item="d", selected_positions=(1, 1)),
    ]
    found = blocks(rows)
    assert [one.rows.tolist() for one in found] == [[0, 3], [2]]


def test_removing_the_unrelated_option_closes_the_gap_it_leaves():
    # Orders 2 3 0 1 ... with id 3 unrelated and base 3 0 1 2: 2301, 1230, 0123, 3012.
    row = OptionRow(item="a", selected_positions=(2, 1, 3, 2), unrelated=True)
    assert row.selected_options == (0, 2, 3, 1)
    for removed in without_unrelated(blocks([row])[0]):
        assert removed.options == 3
        assert removed.orders.tolist() == [[2, 0, 1], [1, 2, 0], [0, 1, 2]]
        # Unrelated last and unrelated first: the same order of the others. The third trial does not count, so the
        # fourth stands for both.
        assert removed.place.tolist() == [[1, 1, 1]]
        assert removed.option.tolist() == [[0, 2, 1]]


@given(st.integers(3, 8).flatmap(lambda n: st.lists(st.none() | st.integers(0, n - 1), min_size=n, max_size=n)))
def test_without_the_unrelated_option_every_choice_is_where_it_stands_in_a_rotation_of_the_others(
    places: list[int | None],
):
    row = OptionRow(item="a", selected_positions=tuple(places), unrelated=True)
    own = row.options - 1
    chosen = [option if option is not None and option < own else -1 for option in row.selected_options]
    one, other = without_unrelated(blocks([row])[0])
    shown = rotations(own)
    for block in (one, other):
        assert block.option[0, :-1].tolist() == chosen[: own - 1]
        for place, option, order in zip(block.place[0].tolist(), block.option[0].tolist(), shown, strict=True):
            assert option == -1 == place or order[place] == option
    first, second = chosen[own - 1], chosen[own]
    assert one.option[0, -1] == (second if first < 0 else first)
    assert other.option[0, -1] == (first if second < 0 else second)
