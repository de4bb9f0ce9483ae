"""Claims about one-sided bounds made from two-sided intervals."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import ONE_SIDED, Range, clustered_mean, clustered_share
from evenhand.stats.reliability.one_sided import ObservedShare

rows = st.lists(st.tuples(st.sampled_from([0.0, 1.0]), st.integers(0, 50)), min_size=1, max_size=60)


def one_sided(estimate: Estimate, within: Range | None = None) -> tuple[float, float]:
    seen = ObservedShare.of(estimate, within or Range())
    assert seen is not None
    return seen.one_sided


@pytest.mark.parametrize("n", [1, 2, 5, 29, 30, 200])
def test_cases_that_stand_alone_get_the_bounds_of_the_narrower_level(n: int):
    for hits in range(0, n + 1, max(n // 7, 1)):
        won = [1.0] * hits + [0.0] * (n - hits)
        narrow = clustered_share(won, [1.0] * n, range(n), level=ONE_SIDED)
        assert one_sided(clustered_share(won, [1.0] * n, range(n))) == pytest.approx((narrow.lower, narrow.upper))


@given(rows)
def test_clusters_too(cases: list[tuple[float, int]]):
    won, labels = [row[0] for row in cases], [row[1] for row in cases]
    narrow = clustered_share(won, [1.0] * len(won), labels, level=ONE_SIDED)
    found = one_sided(clustered_share(won, [1.0] * len(won), labels))
    assert narrow.lower is not None
    assert narrow.upper is not None
    assert found == pytest.approx((narrow.lower, narrow.upper), abs=1e-9)


def test_means_on_another_scale():
    values = [0.1, -0.2, 0.3, 0.0, 0.25, -0.1] * 6
    within = Range(low=-1, high=1)
    narrow = clustered_mean(values, range(36), within=within, level=ONE_SIDED)
    assert narrow.lower is not None
    assert narrow.upper is not None
    lower, upper = one_sided(clustered_mean(values, range(36), within=within), within)
    assert (2 * lower - 1, 2 * upper - 1) == pytest.approx((narrow.lower, narrow.upper))


def test_ends_stay_where_they_are():
    assert one_sided(Estimate(value=0.5, lower=0.0, upper=1.0, n=4, clusters=1)) == (0, 1)
    assert one_sided(Estimate(value=1.0, lower=0.5, upper=1.0, n=4, clusters=4))[1] == 1


def test_no_value_shows_nothing():
    assert ObservedShare.of(Estimate(value=None, reason="no cases"), Range()) is None
    assert ObservedShare.of(Estimate(value=0.5), Range()) is None


def test_a_bound_that_lies_on_the_value_tells_of_no_spread():
    """As the Grade Score of a judge that always picks the same place has it."""
    seen = ObservedShare(value=0.5, lower=0.5, upper=1.0, n=20, clusters=5, effective=5, one_sided=(0.5, 1.0))
    assert seen.like_cases == math.inf
    assert seen.cases_to_tell_from(0.25) == pytest.approx(20 * seen.clusters_to_tell_from(0.25) / 5)
