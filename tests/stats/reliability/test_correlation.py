"""Claims about correlations of score columns."""

import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats

from evenhand.stats.reliability.correlation import Coefficient, coefficient_of, correlation, rank_coefficients
from evenhand.stats.reliability.score_columns import correlate
from tests.refusals import refused

columns = st.lists(st.tuples(st.integers(0, 6), st.integers(0, 6)), min_size=3, max_size=12)
Pairs = list[tuple[int, int]]


def arrays(pairs: Pairs) -> tuple[np.ndarray, np.ndarray]:
    one, other = np.array(pairs, dtype=np.float64).T
    return one, other


@pytest.mark.parametrize(
    ("coefficient", "oracle"),
    [("pearson", stats.pearsonr), ("spearman", stats.spearmanr), ("kendall", stats.kendalltau)],
)
@given(columns)
def test_scipy_finds_the_same(coefficient: Coefficient, oracle: Callable[..., Any], pairs: Pairs):
    one, other = arrays(pairs)
    assume(np.ptp(one) > 0 and np.ptp(other) > 0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = oracle(one, other)[0]
    assert correlation(one, other, coefficient).value == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("draws", "models"), [(1, 3), (40, 5), (3, 600)])
def test_of_many_rows_at_once_each_is_what_it_is_alone(draws: int, models: int):
    """Of 600 models the pairs of one row are more than are compared at once."""
    rng = np.random.default_rng(models)
    one, other = rng.integers(0, models, (2, draws, models)) / 3
    one[:, :2], other[:, :2] = (0, 1), (1, 0)  # so that both vary
    for coefficient, found in rank_coefficients(one, other).items():
        alone = [coefficient_of(a, b, coefficient) for a, b in zip(one, other, strict=True)]
        assert found.tolist() == alone


def test_five_models_by_hand():
    # Ranks 1 2 3 4 5 against 2 1 3 5 4: sum of squares 4, so 1 - 6*4/(5*24) = .8; two of ten pairs exchanged: .6.
    one, other = np.array([1.0, 2, 3, 4, 5]), np.array([20.0, 10, 30, 50, 40])
    spearman = correlation(one, other, "spearman")
    assert spearman.value == pytest.approx(0.8)
    assert correlation(one, other, "kendall").value == pytest.approx(0.6)
    # z = atanh .8 = 1.098612; se = sqrt(1.32/2) = .812404; tanh(1.098612 - 1.592283) and tanh(2.690895).
    assert (spearman.lower, spearman.upper) == pytest.approx((-0.45710, 0.99083), abs=1e-4)
    assert spearman.n == 5


def test_pearsons_interval_is_scipys():
    rng = np.random.default_rng(1)
    one = rng.normal(size=30)
    other = one + rng.normal(size=30)
    expected = stats.pearsonr(one, other).confidence_interval(0.95)
    found = correlation(one, other, "pearson")
    assert (found.lower, found.upper) == pytest.approx((expected.low, expected.high))


def test_kendalls_interval_uses_its_own_error():
    rng = np.random.default_rng(2)
    one = rng.normal(size=20)
    other = one + rng.normal(size=20)
    found = correlation(one, other, "kendall")
    assert found.value is not None
    half = 1.959964 * math.sqrt(0.437 / 16)
    assert found.lower == pytest.approx(math.tanh(math.atanh(found.value) - half))


@given(columns, st.sampled_from(["pearson", "spearman", "kendall"]))
def test_bounds_hold_the_value(pairs: Pairs, coefficient: Coefficient):
    found = correlation(*arrays(pairs), coefficient)
    if found.value is not None:
        assert found.lower is not None
        assert found.upper is not None
        assert -1 <= found.lower <= found.value + 1e-9
        assert found.value - 1e-9 <= found.upper <= 1


@given(columns)
def test_an_exchange_of_columns_changes_nothing_and_a_mirror_the_sign(pairs: Pairs):
    one, other = arrays(pairs)
    there = correlation(one, other, "spearman")
    assert there.value == pytest.approx(correlation(other, one, "spearman").value)
    if there.value is not None:
        assert correlation(one, -other, "spearman").value == pytest.approx(-there.value)
        assert correlation(one**3, other, "spearman").value == pytest.approx(there.value)


def test_a_perfect_order_of_few_models_proves_little():
    three = correlation(np.arange(3.0), np.arange(3.0), "spearman")
    assert (three.value, three.lower, three.upper) == (1, -1, 1)
    five = correlation(np.arange(5.0), np.arange(5.0) ** 2, "spearman")
    # As if one pair of neighbours were exchanged: r = .9, z = 1.472219, se = sqrt(1.405/2).
    assert five.upper == 1
    assert five.lower == pytest.approx(math.tanh(1.472219 - 1.959964 * math.sqrt(1.405 / 2)), abs=1e-6)
    mirrored = correlation(np.arange(5.0), -np.arange(5.0), "spearman")
    assert (mirrored.value, mirrored.lower) == (-1, -1)
    assert mirrored.upper == pytest.approx(-(five.lower or 0))


def test_every_pair_of_columns_over_the_models_they_share():
    found = correlate(
        {
            "A": [1.0, 2.0, 3.0, 4.0, None],
            "B": [2.0, 4.0, 6.0, 8.0, 1.0],
            "C": [7.0, 7.0, 7.0, 7.0, 8.0],
            "D": [None, None, 1.0, 2.0, 3.0],
        }
    )
    assert [(one.first, one.second) for one in found] == [
        ("A", "B"), ("A", "C"), ("A", "D"), ("B", "C"), ("B", "D"), ("C", "D"),
    ]  # fmt: skip
    by_name = {(one.first, one.second): one for one in found}
    assert by_name["A", "B"].spearman.value == 1
    assert by_name["A", "B"].r_squared.value == pytest.approx(1)
    assert by_name["A", "B"].spearman.n == 4
    assert by_name["A", "C"].spearman.reason == "one of the two has the same score throughout"
    assert by_name["A", "C"].r_squared.value is None
    assert by_name["A", "D"].spearman.reason == "2 in common; a correlation needs 3"
    assert by_name["B", "D"].spearman.n == 3
    assert by_name["B", "C"].as_json()["spearman"] == pytest.approx(-1 / math.sqrt(2))


def test_without_errors_nothing_is_said_of_what_columns_measure():
    (found,) = correlate({"A": [1.0, 2.0, 3.0, 4.0], "B": [1.0, 3.0, 2.0, 4.0]})
    assert (found.spearman.lower, found.latent.value, found.one_truth) == (None, None, None)
    assert "NAME_se" in (found.latent.reason or "")


def test_standard_errors_tell_of_what_columns_measure():
    rng = np.random.default_rng(2)
    truth = rng.normal(size=20)
    table = {name: (truth + rng.normal(0, 0.4, 20)).tolist() for name in "AB"}
    (found,) = correlate(table, {"A": [0.4] * 20, "B": [0.4] * 20})
    assert found.one_truth is not None
    expected, observed = found.one_truth[0], found.spearman.value
    assert expected.lower is not None
    assert expected.upper is not None
    assert observed is not None
    assert observed < 1
    assert expected.lower <= observed <= expected.upper
    assert found.latent.upper == 1
    reliable = math.prod(1 - 0.16 / float(np.var(table[name], ddof=1)) for name in "AB")
    r = float(np.corrcoef(table["A"], table["B"])[0, 1])
    assert found.latent.value == pytest.approx(min(r / math.sqrt(reliable), 1.0))
    (gap,) = correlate(table, {"A": [0.4] * 20, "B": [0.4] * 19 + [None]})
    assert gap.latent.value is None


def test_r_squared_that_may_be_nothing_starts_at_zero():
    rng = np.random.default_rng(3)
    one = rng.normal(size=40)
    weak, strong = one + rng.normal(size=40) * 20, -one + rng.normal(size=40) * 0.3
    found = correlate({"one": one.tolist(), "weak": weak.tolist(), "strong": strong.tolist()})
    assert found[0].r_squared.lower == 0
    expected = stats.pearsonr(one, strong).confidence_interval(0.95)
    assert (found[1].r_squared.lower, found[1].r_squared.upper) == pytest.approx((expected.high**2, expected.low**2))


def test_columns_of_different_lengths_are_refused():
    with refused(ValueError, "model"):
        correlate({"A": [1.0], "B": [1.0, 2.0]})
    with pytest.raises(ValueError, match="one length"):
        correlation(np.zeros(3), np.zeros(4), "pearson")
