"""Claims about how far an interval reaches."""

import numpy as np
import pytest
from scipy.stats import norm, t

from evenhand.stats.intervals import reach, reaches
from tests.refusals import refused


@pytest.mark.parametrize("level", [0.1, 0.5, 0.683, 0.9, 0.95, 0.99, 0.9999, 1 - 1e-9])
def test_it_is_students_t_for_any_number_of_clusters_whole_or_not(level: float):
    clusters = np.array([2, 2.001, 2.5, 3, 4.2, 10, 29, 29.5, 30, 31, 100, 1e4, 1e6, 1e9])
    expected = t.ppf(0.5 + level / 2, clusters - 1)
    assert reaches(clusters, level) == pytest.approx(expected, rel=1e-6)
    assert [reach(one, level) for one in clusters] == pytest.approx(expected.tolist(), rel=1e-6)
    assert reach(10**9, level) == pytest.approx(norm.ppf(0.5 + level / 2))


def test_a_printed_table_of_t():
    # Fisher and Yates (1938), Table III: 1, 4, 15 and 28 degrees of freedom.
    assert [round(reach(clusters), 3) for clusters in (2, 5, 16, 29)] == [12.706, 2.776, 2.131, 2.048]


def test_one_cluster_never_looks_surer_than_two():
    assert reach(0) == reach(1) == reach(2)


@pytest.mark.parametrize("level", [0, 1, -0.5, 95])
def test_a_level_outside_nought_and_one_is_refused(level: float):
    with refused(ValueError, "level", level):
        reach(100, level)
