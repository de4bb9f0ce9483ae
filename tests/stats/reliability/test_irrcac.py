"""Kappa and AC1 beside what irrCAC 0.4.4 gives for the same verdicts.

It asks for one old version of scipy alone, so it cannot be installed beside Evenhand: its figures were written down.
"""

import math

import numpy as np
import pytest

from evenhand.domain.estimate import Estimate
from evenhand.stats.reliability.agreement.kappa import cohens_kappa, gwets_ac1


def verdicts(shares: list[float], agree: float) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(11)
    one = rng.choice(3, 600, p=shares)
    other = np.where(rng.random(600) < agree, one, rng.choice(3, 600, p=shares))
    return one.astype(np.float64), other.astype(np.float64)


def on_fishers_scale(found: Estimate) -> float:
    """The standard error that an interval on Fisher's z was made of; its upper bound may be Garwood's, and higher."""
    assert found.value is not None
    assert found.lower is not None
    assert found.upper is not None
    assert found.upper >= math.tanh(2 * math.atanh(found.value) - math.atanh(found.lower)) - 1e-12
    return (math.atanh(found.value) - math.atanh(found.lower)) / 1.96 * (1 - found.value**2)


@pytest.mark.parametrize(
    ("shares", "agree", "ac1", "kappa"),
    [
        ([0.95, 0.03, 0.02], 0.5, (0.94599, 0.00970), (0.40575, 0.08462)),
        ([0.40, 0.35, 0.25], 0.6, (0.64141, 0.02609), (0.62957, 0.02671)),
    ],
)
def test_coefficients_and_their_errors_are_those_of_irrcac(
    shares: list[float], agree: float, ac1: tuple[float, float], kappa: tuple[float, float]
):
    one, other = verdicts(shares, agree)
    item = np.arange(600)
    for found, (value, error) in (
        (gwets_ac1(one, other, item, classes=3), ac1),
        (cohens_kappa(one, other, item), kappa),
    ):
        assert found.value == pytest.approx(value, abs=6e-6)
        assert on_fishers_scale(found) == pytest.approx(error, rel=0.02)
