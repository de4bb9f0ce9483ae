"""Claims about columns of names as codes."""

import numpy as np
import polars as pl
import pytest

from evenhand.stats.ratings.codes import Column, coded_items, coded_names, dense, first_rows, winner_signs
from evenhand.stats.ratings.comparisons import Comparisons
from tests.refusals import refused


@pytest.mark.parametrize("kind", [list, np.array, pl.Series, lambda names: np.array(names, dtype=object)])
def test_names_get_their_places_in_the_sorted_list(kind: type):
    coded = coded_names(kind(["b", "a", "b"]), kind(["c", "c", "a"]))
    assert coded.names == ("a", "b", "c")
    assert [column.tolist() for column in coded.columns] == [[1, 0, 1], [2, 2, 0]]


@pytest.mark.parametrize(
    "column", [["q7", "q1", "q7"], [7, 1, 7], np.array([70_000_000_000, -5, 70_000_000_000]), pl.Series([7, 1, 7])]
)
def test_each_item_has_a_number_of_its_own_whatever_it_is(column: Column):
    first, second, again = coded_items(column).tolist()
    assert first == again != second
    assert 0 <= min(first, second) <= max(first, second) < 10
    assert sorted(dense(coded_items(column)).tolist()) in ([0, 0, 1], [0, 1, 1])


def test_numbers_without_gaps_keep_their_order():
    assert dense(np.array([40, 10, 30, 10])).tolist() == [2, 0, 1, 0]
    assert dense(np.array([4 * 10**12, -7, 0, -7])).tolist() == [2, 0, 1, 0]
    assert dense(np.array([], dtype=np.int64)).tolist() == []


@pytest.mark.parametrize("widest", [4, 300, 10**12])
def test_numbers_and_first_rows_are_those_of_the_sorted_different_ones(widest: int):
    drawn = np.random.default_rng(widest % 97).integers(-widest, widest, 500)
    _, first, place = np.unique(drawn, return_index=True, return_inverse=True)
    assert dense(drawn).tolist() == place.tolist()
    assert first_rows(dense(drawn)).tolist() == first.tolist()
    assert first_rows(dense(drawn[:0])).tolist() == []


def test_names_first_seen_in_late_rows_of_the_second_column_are_known():
    rows = 200_000
    second = ["b"] * rows
    second[-1] = "c"
    coded = coded_names(["a"] * rows, second)
    assert coded.names == ("a", "b", "c")
    assert coded.columns[1][[0, -1]].tolist() == [1, 2]


def test_items_read_after_other_text_still_start_at_nought():
    coded_items([f"noise {number}" for number in range(100)])
    assert sorted(coded_items(["late", "later"]).tolist()) == [0, 1]


def test_every_winner_word_has_its_sign():
    words = ["model_a", "model_b", "tie", "tie (bothbad)", "left", "right"]
    assert winner_signs(words).tolist() == [1, -1, 0, 0, 1, -1]


def test_an_unknown_winner_is_an_error_with_its_row_and_never_a_tie():
    with refused(ValueError, "Row 3", "'both'"):
        winner_signs(["model_a", "tie", "both", "model_b"])


@pytest.mark.parametrize(
    ("column", "says"),
    [
        (["a", None], "Row 2 has no model"),
        ([1, 2], "text, not Int64"),
        ([float("nan"), 1.0], "Row 1 has no model"),
        (["a", 1], "different types"),
        (["a", float("nan")], "different types"),
    ],
)
def test_names_that_are_missing_or_not_text_are_refused(column: Column, says: str):
    with pytest.raises(ValueError, match=says):
        coded_names(column, ["b", "b"])


def test_rows_of_a_model_against_itself_are_left_out_and_counted():
    table = Comparisons.of_columns(
        ["a", "b", "a"], ["b", "b", "c"], winner_signs(["model_a", "tie", "model_b"]), item=[5, 6, 7], weight=np.ones(3)
    )
    assert (len(table), table.self_battles, table.models) == (2, 1, ("a", "b", "c"))
    assert table.sign.tolist() == [1, -1]


def test_an_empty_table_has_no_models():
    empty = Comparisons.of_columns([], [], winner_signs([]), item=[])
    assert (len(empty), empty.models, empty.total) == (0, (), 0)


def test_items_in_one_byte_do_not_wrap():
    numbers = np.arange(-128, 128).astype(np.int8)
    assert sorted(coded_items(numbers).tolist()) == list(range(256))
