"""Claims about how far an interval reaches."""

import pytest
from scipy.stats import norm, t

from evenhand.stats.intervals import reach
from tests.refusals import refused


@pytest.mark.parametrize("level", [0.5, 0.9, 0.95, 0.99, 0.9999])
def test_few_clusters_take_students_t_and_many_the_normal(level: float):
    for clusters in range(2, 30):
        assert reach(clusters, level) == pytest.approx(t.ppf(0.5 + level / 2, clusters - 1), rel=1e-10)
    assert reach(30, level) == reach(10**9, level) == pytest.approx(norm.ppf(0.5 + level / 2))


def test_a_printed_table_of_t():
    # Fisher and Yates (1938), Table III: 1, 4, 15 and 28 degrees of freedom.
    assert [round(reach(clusters), 3) for clusters in (2, 5, 16, 29)] == [12.706, 2.776, 2.131, 2.048]


def test_one_cluster_never_looks_surer_than_two():
    assert reach(0) == reach(1) == reach(2)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_outside_nought_and_one_is_refused(level: float):
    with refused(ValueError, "level", level):
        reach(100, level)
