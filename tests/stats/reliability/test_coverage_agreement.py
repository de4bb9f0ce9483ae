"""Claims about how often intervals of agreement, of boards and of a gate hold the truth, by simulation."""

import math
from collections.abc import Callable

import numpy as np
import pytest

from bench.coverage import covered
from bench.coverage_agreement import DESIGNS, MARGINS, drawn_verdicts, truth
from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import clustered_share
from evenhand.stats.reliability.agreement.kappa import cohens_kappa, gwets_ac1


@pytest.mark.slow
@pytest.mark.parametrize("design", list(DESIGNS)[::3])
def test_intervals_hold_the_truth(design: str):
    """Every third design; `python -m bench.coverage` runs all of them."""
    found = covered(design, repetitions=300, seed=1)
    often = 300 * found.printed
    if often >= 100:
        assert found.held >= 0.93 - 3 * math.sqrt(0.93 * 0.07 / often), found


@pytest.mark.parametrize("either_way", [False, True])
@pytest.mark.parametrize("margins", MARGINS)
@pytest.mark.parametrize(("figure", "rate"), [("kappa", cohens_kappa), ("AC1", gwets_ac1)])
def test_the_truth_is_what_very_many_cases_show(
    figure: str, rate: Callable[..., Estimate], margins: str, either_way: bool
):
    one, other = drawn_verdicts(np.random.default_rng(1), margins, 0.6, 100_000)
    shown = rate(one, other, np.arange(len(one)), either_way=either_way).value
    assert truth(figure, margins, 0.6, either_way=either_way) == pytest.approx(shown, abs=0.01)


def test_both_orders_of_a_pair_offset_each_other_in_the_first_positions_interval():
    """160 of 200 pairs keep their verdict: the pairs' own shares vary by .05, single verdicts by .25."""
    pairs = np.array([[1.0, 0.0]] * 160 + [[1.0, 1.0]] * 20 + [[0.0, 0.0]] * 20)
    found = clustered_share(pairs.ravel(), np.ones(400), np.repeat(np.arange(200), 2))
    assert found.lower is not None
    assert found.upper is not None
    by_pairs = 2 * 1.972 * math.sqrt(0.05 / 200)
    assert found.upper - found.lower == pytest.approx(by_pairs, rel=0.05)
