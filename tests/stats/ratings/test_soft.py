"""Claims about soft verdicts: the fit is that of a fractional response, and a vote is one vote."""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenhand.stats.ratings.bradley_terry.covariance import spread
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.bradley_terry.solution import solve
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.shares.win_rate import win_rates
from evenhand.stats.ratings.soft import soft_gain, soft_rows
from evenhand.stats.ratings.sums import FloatArray
from tests.stats.ratings.test_statsmodels import APART, design, errors_of_differences

with warnings.catch_warnings():
    warnings.simplefilter("ignore")
    sm: Any = pytest.importorskip("statsmodels.api")


def sigma(x: FloatArray) -> FloatArray:
    return 1 / (1 + np.exp(-x))


def votes(*, items: int = 600, noise: float = 0.5, seed: int = 0) -> Comparisons:
    """Four models, six votes an item, each model with a strength of its own on each item."""
    rng = np.random.default_rng(seed)
    strength = np.array([0.9, 0.3, -0.2, -1.0]) + rng.normal(0, 0.8, (items, 4))
    pair = np.array([(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)])
    item = np.repeat(np.arange(items), 6).astype(np.int32)
    a, b = np.tile(pair, (items, 1)).T.astype(np.int32)
    latent = strength[item, a] - strength[item, b] + noise * rng.logistic(size=len(item))
    return Comparisons(
        models=("a", "b", "c", "d"),
        model_a=a,
        model_b=b,
        sign=np.sign(latent).astype(np.int8),
        item=item,
        soft=sigma(latent),
    )


def fractional(rows: Comparisons, weight: FloatArray | None = None) -> Any:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return sm.GLM(rows.soft, design(rows), family=sm.families.Binomial(), freq_weights=weight).fit(
            cov_type="cluster", cov_kwds={"groups": rows.item, "use_correction": False}
        )


def test_ratings_and_errors_are_those_of_a_clustered_logit_of_the_fraction():
    rows = votes()
    theirs, ours = fractional(rows), solve(soft_rows(rows))
    np.testing.assert_allclose(APART @ ours.fit.strength, APART[:, :3] @ theirs.params, atol=1e-6)
    expected = errors_of_differences(np.asarray(theirs.cov_params()))
    np.testing.assert_allclose(errors_of_differences(spread(ours).covariance), expected, rtol=0.01)


def test_an_unsure_judges_errors_are_its_own():
    """Its verdicts vary little, and that is no sign of rows that offset each other."""
    rows = votes()
    unsure = replace(rows, soft=0.5 + rows.sign / 25)
    expected = errors_of_differences(np.asarray(fractional(unsure).cov_params()))
    np.testing.assert_allclose(errors_of_differences(spread(solve(soft_rows(unsure))).covariance), expected, rtol=0.01)


@pytest.mark.parametrize(("steep", "mostly_ties"), [(0.4, False), (0.02, True)])
def test_an_unsure_judge_of_few_items_is_none_that_mostly_ties(steep: float, mostly_ties: bool):
    """Verdicts of .4 to .8 on six items tell how far they vary; those of .49 to .51 hide that a few would go far."""
    rows = votes(items=6)
    assert rows.soft is not None
    lead = np.log(rows.soft / (1 - rows.soft))
    assert spread(solve(soft_rows(replace(rows, soft=sigma(steep * lead))))).flat is mostly_ties


def test_weights_of_votes_are_kept():
    rows = votes(items=60)
    weight = np.random.default_rng(1).uniform(0.5, 3, len(rows))
    ours = solve(soft_rows(replace(rows, weight=weight))).fit.strength
    np.testing.assert_allclose(APART @ ours, APART[:, :3] @ fractional(rows, weight).params, atol=1e-6)


def test_certain_verdicts_are_the_hard_ones():
    rows = votes(items=40)
    certain = soft_rows(replace(rows, soft=(rows.sign + 1) / 2))
    assert len(certain) == len(rows)
    hard, soft = bradley_terry(replace(rows, soft=None)), bradley_terry(certain)
    for one, other in zip(hard.models, soft.models, strict=True):
        assert one.rating.value == pytest.approx(other.rating.value)
        assert one.rating.lower == pytest.approx(other.rating.lower)


def test_a_vote_counts_once_and_a_win_rate_is_the_mean_of_the_fractions():
    rows = votes(items=40)
    assert rows.soft is not None
    (first, *_) = win_rates(soft_rows(rows))
    mine = rows.model_a == 0
    assert first.win_rate.n == pytest.approx(mine.sum())
    assert first.win_rate.value == pytest.approx(rows.soft[mine].mean())
    assert first.wins + first.losses == pytest.approx(120)
    (rated, *_) = bradley_terry(soft_rows(rows)).models
    assert (rated.rating.n, rated.rating.clusters) == (pytest.approx(120), 40)


def test_the_two_rows_of_a_vote_are_never_taken_for_independent():
    """Without items each vote is a cluster; taken as two rows the errors would come out larger."""
    rows = replace(votes(items=100), item=None)
    apart = replace(soft_rows(rows), item=None)
    together = errors_of_differences(spread(solve(soft_rows(rows))).covariance)
    expected = errors_of_differences(
        np.asarray(fractional(replace(rows, item=np.arange(len(rows), dtype=np.int32))).cov_params())
    )
    np.testing.assert_allclose(together, expected, rtol=0.02)
    assert (errors_of_differences(spread(solve(apart)).covariance) > 1.2 * together).all()


def test_soft_verdicts_of_a_steady_judge_gain_and_their_scale_is_told():
    rows = votes(items=300, noise=1.0)
    gain = soft_gain(rows, rows)
    assert gain is not None
    assert gain.times > 1.05
    assert gain.scale < 0.95


def test_certain_verdicts_gain_nothing():
    rows = votes(items=60)
    gain = soft_gain(rows, replace(rows, soft=(rows.sign + 1) / 2))
    assert gain is not None
    assert gain.times == pytest.approx(1)
    assert gain.scale == pytest.approx(1)


def test_a_scale_alone_is_no_gain():
    """All but a coin: every difference is smaller, and not one verdict tells more."""
    rows = votes(items=400)
    gain = soft_gain(rows, replace(rows, soft=0.5 + rows.sign / 100))
    assert gain is not None
    assert gain.scale == pytest.approx(0.02)
    assert gain.times == pytest.approx(1)


def test_what_chance_alone_could_make_is_not_measured():
    rows = votes(items=40)
    coins = np.random.default_rng(0).choice([-1, 1], len(rows)).astype(np.int8)
    assert soft_gain(replace(rows, sign=coins), rows) is None


def test_of_few_items_nothing_is_measured():
    assert soft_gain(votes(items=29), votes(items=29)) is None
    assert soft_gain(votes(items=30), votes(items=30)) is not None


def test_the_gain_by_hand():
    """Two models, four items: hard shares .75 and .25, soft .7 and .3; per item 1 - .75 and so on, twice over."""
    rows = Comparisons(
        models=("a", "b"),
        model_a=np.zeros(40, np.int32),
        model_b=np.ones(40, np.int32),
        sign=np.tile(np.array([1, 1, 1, -1], np.int8), 10),
        item=np.arange(40, dtype=np.int32),
        soft=np.tile(np.array([0.9, 0.8, 0.8, 0.3]), 10),
    )
    hard, soft = np.array([0.25, 0.25, 0.25, -0.75]), np.array([0.2, 0.1, 0.1, -0.4])
    # Each item adds its deviation, over 40, to the one share and takes it from the other: differences are twice that.
    hh, hs, ss = (4 * 10 * float(x @ y) / 40**2 * 40 / 39 for x, y in ((hard, hard), (hard, soft), (soft, soft)))
    scale = (0.5 * 0.4 - hs) / (0.5**2 - hh)
    gain = soft_gain(rows, rows)
    assert gain is not None
    assert gain.scale == pytest.approx(scale)
    assert gain.times == pytest.approx(scale**2 * hh / ss)


def test_a_probability_beyond_one_is_refused():
    with pytest.raises(ValueError, match="between 0 and 1"):
        replace(votes(items=1), soft=np.full(6, 1.01))
