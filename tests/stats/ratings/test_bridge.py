"""Claims about the line from one judge's board to another's, and about a newcomer placed by it."""

import numpy as np
import pytest
from scipy.special import stdtrit

from evenhand.domain.estimate import Estimate
from evenhand.stats.ratings.bridge import Bridge, NoBridge, RatedByBoth, bridge, expected_half, spread_out

OLD = [-1.0, -0.5, 0.0, 0.5, 1.0]


def rated(
    new: list[float], *, old: list[float] | None = None, error: float = 0.05, new_error: float = 0.08
) -> RatedByBoth:
    before = OLD if old is None else old
    return RatedByBoth(old=before, old_error=[error] * len(before), new=new, new_error=[new_error] * len(before))


def half(found: Estimate) -> float:
    assert found.lower is not None
    assert found.upper is not None
    return (found.upper - found.lower) / 2


def test_the_worked_values():
    line = bridge(rated([-1.3, -0.55, 0.05, 0.6, 1.2]))
    where = line.placed(0.8, 0.1)
    assert line.slope == pytest.approx(1.2349, abs=5e-5)
    assert line.tau == 0
    assert where.value == pytest.approx(0.6478, abs=5e-5)


def test_a_newcomer_known_within_less_than_by_students_t_of_all():
    """The worked half-width with t for all variances is .3023; docs/performance.md says why it is not used."""
    new = np.array([-1.3, -0.55, 0.05, 0.6, 1.2])
    line = bridge(rated(new.tolist()))
    where = line.placed(0.8, 0.1)
    off = new - line.shift - line.slope * np.array(OLD)
    scatter, errors = float(off @ off) / 3, 0.08**2 + line.slope**2 * 0.05**2
    share = 1 / 5 + 0.6478**2 / 2.5
    of_all = stdtrit(3, 0.975) * np.sqrt(line.tau**2 + 0.1**2 + max(scatter, errors) * share) / line.slope
    assert of_all == pytest.approx(0.3023, abs=5e-5)
    # t² 10.13 times the scatter is less than the errors' share of it, so the judges add nothing.
    assert (scatter, errors) == (pytest.approx(0.00427, abs=5e-6), pytest.approx(0.01021, abs=5e-6))
    assert half(where) == pytest.approx(1.96 * np.sqrt(0.1**2 + 0.01021 * share) / 1.2349, abs=5e-5)
    assert half(where) == pytest.approx(0.1861, abs=5e-5)


def test_the_boards_errors_count_as_known_and_the_judges_scatter_by_students_t():
    new = [-1.3, -0.1, 0.05, 0.1, 1.2]
    line = bridge(rated(new))
    off = np.array(new) - line.shift - line.slope * np.array(OLD)
    scatter, errors = float(off @ off) / 3, 0.08**2 + line.slope**2 * 0.05**2
    where = line.placed(0.3, 0.1)
    share = 1 / 5 + (where.value or 0) ** 2 / 2.5
    t, z = 3.18245, 1.95996
    judges = t**2 * scatter - (0.75 * z**2 + 0.25 * t**2) * errors
    assert judges > 0
    assert half(where) * line.slope == pytest.approx(
        np.sqrt(z**2 * (0.1**2 + errors * share) + judges * (1 + share)), rel=1e-4
    )
    exact = bridge(rated(new, error=1e-9, new_error=1e-9)).placed(0.3, 1e-9)
    fit = np.polyfit(OLD, new, 1)
    about = np.sqrt(np.sum((np.array(new) - np.polyval(fit, OLD)) ** 2) / 3)
    share = 1 / 5 + (exact.value or 0) ** 2 / 2.5
    assert half(exact) * fit[0] == pytest.approx(t * about * np.sqrt(1 + share), rel=1e-4), "a line's own prediction"


def test_what_judges_differ_about_single_models_is_in_the_interval_and_no_error_takes_it_away():
    new = [-1.3, -0.1, 0.05, 0.1, 1.2]
    line = bridge(rated(new))
    off = np.array(new) - line.shift - line.slope * np.array(OLD)
    assert line.tau == pytest.approx(np.sqrt(off @ off / 3 - 0.08**2 - line.slope**2 * 0.05**2))
    assert line.tau > 0.2
    sure = line.placed(0.3, 1e-9)
    assert sure.upper is not None
    assert sure.value is not None
    assert sure.upper - sure.value > 3.18 * line.tau / line.slope
    assert line.tau_upper > line.tau


def test_without_a_difference_seen_one_may_be_there():
    line = bridge(rated([-1.0, -0.5, 0.0, 0.5, 1.0], error=1e-6, new_error=1e-6))
    assert (line.tau, line.tau_upper) == (0, 0)
    rough = bridge(rated([-1.1, -0.45, 0.05, 0.55, 0.95]))
    assert rough.tau == 0 < rough.tau_upper


def test_shift_and_scale_of_either_board_change_no_place():
    new = [-1.3, -0.1, 0.05, 0.1, 1.2]
    one = bridge(rated(new)).placed(0.3, 0.1)
    points = RatedByBoth(
        old=[1000 + 174 * each for each in OLD],
        old_error=[174 * 0.05] * 5,
        new=[500 + 60 * each for each in new],
        new_error=[60 * 0.08] * 5,
    )
    other = bridge(points).placed(500 + 60 * 0.3, 60 * 0.1)
    assert [other.value, other.lower, other.upper] == pytest.approx(
        [1000 + 174 * (each or 0) for each in (one.value, one.lower, one.upper)]
    )


@pytest.mark.parametrize(
    ("given", "why"),
    [
        (rated([], old=[]), "0 models were rated by both"),
        (rated([0.0, 0.5, 1.0], old=[-1.0, 0.0, 1.0]), "3 models were rated by both"),
        (rated([1.0, 0.5, 0.0, -0.5, -1.0]), "does not put the models that both rated in the old one's order"),
        (rated([0.0] * 5, old=[0.0, 0.01, 0.02, 0.03, 0.04]), "mostly error"),
    ],
)
def test_where_no_line_can_be_drawn_it_is_said_why(given: RatedByBoth, why: str):
    with pytest.raises(NoBridge, match=why):
        bridge(given)


def test_founders_are_spread_from_the_worst_to_the_best():
    ratings = [0.0, 0.1, 0.2, 5.0, 9.0, 10.0, 4.0]
    assert [ratings[one] for one in spread_out(ratings, 4)] == [0.0, 4.0, 5.0, 10.0]
    assert sorted(spread_out(ratings, 7)) == list(range(7))


def test_more_founders_and_a_smaller_difference_bring_a_newcomer_nearer():
    wide = [expected_half(OLD[:many], where=0.0, error=0.1) for many in (4, 5)]
    assert wide[0] > wide[1]
    assert expected_half(OLD, where=0.0, error=0.1, tau=0.3) > expected_half(OLD, where=0.0, error=0.1)
    assert expected_half(OLD, where=2.0, error=0.1) > expected_half(OLD, where=0.0, error=0.1)


def drawn(rng: np.random.Generator, truth: np.ndarray, tau: float, slope: float) -> tuple[Bridge, float]:
    """The line through all but the last model, and the new judge's rating of that one; errors of .1 everywhere."""
    models = len(truth)
    seen = slope * truth + 0.3 + tau * rng.normal(size=models) + 0.1 * rng.normal(size=models)
    old, errors = truth[:-1] + 0.1 * rng.normal(size=models - 1), [0.1] * (models - 1)
    line = bridge(RatedByBoth(old=old.tolist(), old_error=errors, new=seen[:-1].tolist(), new_error=errors))
    return line, float(seen[-1])


@pytest.mark.slow
@pytest.mark.parametrize("models", [5, 8, 20])
@pytest.mark.parametrize("tau", [0.0, 0.1, 0.2])
def test_93_to_98_in_100_intervals_hold_where_the_old_judge_would_have_put_the_newcomer(tau: float, models: int):
    rng = np.random.default_rng(8)
    held = []
    while len(held) < 3000:
        truth = rng.normal(0, 0.8, models + 1)
        try:
            line, rating = drawn(rng, truth, tau, 1.2)
        except NoBridge:
            continue
        found = line.placed(rating, 0.1)
        held.append(abs((found.value or 0) - truth[-1]) <= half(found))
    assert 0.93 <= np.mean(held) <= 0.98


@pytest.mark.parametrize(("models", "tau"), [(5, 0.0), (5, 0.3), (12, 0.1)])
def test_a_plan_foretells_how_far_intervals_reach(models: int, tau: float):
    rng = np.random.default_rng(3)
    founders = np.linspace(-1, 1, models)
    halves = []
    for _ in range(300):
        line, rating = drawn(rng, np.append(founders, 0.0), tau, 1.0)
        halves.append(half(line.placed(rating, 0.1)))
    assert expected_half(founders.tolist(), where=0.0, error=0.1, tau=tau) == pytest.approx(np.mean(halves), rel=0.15)
