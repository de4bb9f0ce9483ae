"""Claims about lists of numbers in few characters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.format.number_ranges import as_ranges, from_ranges


@pytest.mark.parametrize(
    ("numbers", "written"),
    [
        ([], ""),
        ([0], "0"),
        ([7], "7"),
        ([1, 2], "1-2"),
        ([1, 2, 3, 5, 8, 9], "1-3,5,8-9"),
        ([*range(1, 1401), 1521], "1-1400,1521"),
    ],
)
def test_what_is_without_a_gap_is_written_by_its_ends(numbers: list[int], written: str):
    assert as_ranges(numbers) == written
    assert from_ranges(written, most=2000) == numbers


@given(st.sets(st.integers(0, 60)))
def test_they_come_back_as_they_were(numbers: set[int]):
    assert from_ranges(as_ranges(sorted(numbers)), most=60) == sorted(numbers)


@pytest.mark.parametrize(
    "written",
    [
        "x",
        "1-",
        "-1",
        "1,,2",
        "1,",
        ",1",
        "2,1",
        "1,1",
        "1-3,3",
        "1,2",
        "3-1",
        "1-1",
        "01",
        "1 ",
        "1-2-3",
        "11",
        "1-99999999999",
    ],
)
def test_what_is_written_otherwise_or_goes_too_far_is_refused_before_it_is_counted(written: str):
    with pytest.raises(ValueError, match=r"numbers"):
        from_ranges(written, most=10)
