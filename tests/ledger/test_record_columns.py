"""Claims about columns of what is read, and keys as numbers."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest

from evenhand.ledger.read.columns.record_columns import gathered
from evenhand.ledger.read.columns.trial_keys import Keys, numbered, places_in
from evenhand.ledger.store.columns import Interning, is_constant

NAN = float("nan")


def column(values: Sequence[float], *, constant: bool) -> npt.NDArray[np.float64]:
    return np.broadcast_to(np.float64(values[0]), len(values)) if constant else np.array(values, dtype=np.float64)


@pytest.mark.parametrize("likely", [0, 3, 5, 100])
@pytest.mark.parametrize(
    ("parts", "stays"),
    [
        ([], False),
        ([([1, 1], True), ([1, 1, 1], True)], True),
        ([([NAN, NAN], True), ([NAN], True)], True),
        ([([1, 1], True), ([2, 2, 2], True)], False),
        ([([1, 1], True), ([1, 3], False), ([1, 1], True)], False),
        ([([4, 5, 6], False), ([7, 7], True), ([8, 9, 10, 11], False)], False),
        ([([NAN, NAN], True), ([0.0], True), ([NAN], True)], False),
    ],
)
def test_parts_are_gathered_one_after_the_other(
    parts: list[tuple[list[float], bool]], stays: bool, likely: int
) -> None:
    values = [one for some, _ in parts for one in some]
    keys = np.arange(2 * len(values), dtype=np.uint64).reshape(-1, 2)
    ends = np.cumsum([0, *(len(some) for some, _ in parts)]).tolist()
    given = [
        {"at": column(some, constant=constant), "key": keys[begin : begin + len(some)]}
        for (some, constant), begin in zip(parts, ends, strict=False)
    ]
    found = gathered(given, likely, {"at": np.zeros(0), "key": np.zeros((0, 2), dtype=np.uint64)})
    assert np.array_equal(found["at"], np.array(values, dtype=np.float64), equal_nan=True)
    assert found["key"].tolist() == keys.tolist()
    assert is_constant(found["at"]) == stays, "what is the same in every row takes no more room than one number"


def keys_alike(number: int) -> Keys:
    """Of which two by two begin alike, and others end alike."""
    places = np.arange(number, dtype=np.uint64)
    return np.stack([places // np.uint64(2), places % np.uint64(5)], axis=1)


def test_keys_in_another_order_are_found_and_others_are_not() -> None:
    keys = keys_alike(200)
    order = np.random.default_rng(0).permutation(200)
    found = places_in(keys[order], keys)
    assert found is not None
    assert keys[order][found].tolist() == keys.tolist()
    assert places_in(keys[:-1], keys) is None
    other = keys.copy()
    other[7] = (9999, 1)
    assert places_in(other, keys) is None


@pytest.mark.parametrize("repeated", [0, 3])
def test_keys_are_numbered_as_they_come(repeated: int) -> None:
    keys = keys_alike(100)
    given = np.concatenate([keys, keys[:repeated]])
    code, first = numbered(np.zeros((0, 2), dtype=np.uint64), given)
    assert code.tolist() == [*range(100), *range(repeated)]
    assert first.tolist() == [*range(100)]


def test_learned_values_are_numbered_as_they_would_be_one_by_one() -> None:
    learned, told = Interning(), Interning()
    learned.learn(("b", "a", "c"))
    assert told.codes(("b", "a", "c")).tolist() == [0, 1, 2]
    assert learned.codes(("a", "d", "b")).tolist() == told.codes(("a", "d", "b")).tolist() == [1, 3, 0]
    assert learned.values == told.values
