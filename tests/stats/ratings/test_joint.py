"""Claims about how sure each of many differences must be."""

import numpy as np
import pytest
from scipy import stats

from evenhand.stats.ratings.differences.simultaneous import Joint, bonferroni, largest_of_models, of_draws, simulated


def equal_errors(models: int) -> np.ndarray:
    return np.where(np.eye(models) > 0, np.nan, np.sqrt(2))


@pytest.mark.parametrize("models", [3, 10, 40])
def test_independent_models_need_tukeys_studentised_range(models: int):
    joint = simulated(np.eye(models), equal_errors(models), models * (models - 1) // 2, level=0.95, seed=0)
    tukey = stats.studentized_range.ppf(0.95, models, np.inf) / np.sqrt(2)
    assert stats.norm.ppf(0.5 + joint.level / 2) == pytest.approx(tukey, abs=0.06)


def test_a_single_pair_keeps_its_level():
    assert bonferroni(1, 0.95).level == 0.95
    assert bonferroni(0, 0.95).level == 0.95
    assert simulated(np.eye(2), equal_errors(2), 1, level=0.95, seed=0).level == 0.95


def test_bonferroni_shares_the_doubt_among_the_pairs():
    assert bonferroni(10, 0.95).level == pytest.approx(0.995)


def test_draws_never_ask_for_more_than_bonferroni_nor_less_than_one_pair():
    wild = np.zeros((100, 3))
    wild[:10, 0] = 1e6
    assert of_draws(wild, equal_errors(3), 3, level=0.95, how="").level == bonferroni(3, 0.95).level
    assert of_draws(np.zeros((100, 3)), equal_errors(3), 3, level=0.95, how="").level == 0.95


def test_too_few_draws_for_the_quantile_leave_it_to_bonferroni():
    draws = np.random.default_rng(0).standard_normal((40, 3))
    assert of_draws(draws[:39], equal_errors(3), 3, level=0.95, how="drawn").how == "by Bonferroni's inequality"
    assert of_draws(draws, equal_errors(3), 3, level=0.95, how="drawn").how == "drawn"


def test_the_largest_gap_is_over_the_pairs_that_count():
    draws = np.array([[0.0, 3.0, -5.0], [1.0, np.nan, 2.0]])
    error = np.array([[np.nan, 1.0, np.nan], [1.0, np.nan, 2.0], [np.nan, 2.0, np.nan]])
    assert largest_of_models(draws, error).max(axis=0).tolist() == [4.0, 0.0]


@pytest.mark.parametrize("level", [0.95, 0.9999])
def test_reach_is_students_t_for_any_number_of_clusters(level: float):
    clusters = np.array([2, 5, 29, 30, 31, 100, 10_000])
    joint = Joint(level=level, pairs=1, how="")
    assert joint.reach(clusters) == pytest.approx(stats.t.ppf(0.5 + level / 2, clusters - 1), rel=1e-6)


def test_the_order_of_the_models_does_not_change_the_draws():
    made = np.random.default_rng(5).standard_normal((4, 4))
    covariance, turn = made @ made.T, np.array([2, 0, 3, 1])
    own = np.diagonal(covariance)
    error = np.sqrt(own[:, None] + own - 2 * covariance + np.diag([np.nan] * 4))
    one = simulated(covariance, error, 6, level=0.95, seed=3)
    other = simulated(covariance[np.ix_(turn, turn)], error[np.ix_(turn, turn)], 6, level=0.95, seed=3)
    assert one.level == pytest.approx(other.level, abs=1e-12)
    assert simulated(covariance, error, 6, level=0.95, seed=4).level != one.level
