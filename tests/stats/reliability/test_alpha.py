"""Claims about Krippendorff's alpha."""

import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.stats.reliability.agreement.alpha import krippendorff_alpha
from tests.refusals import refused
from tests.stats.reliability.said import cases_of, opinions

lines = st.lists(st.lists(st.none() | st.integers(-2, 2), min_size=3, max_size=3), min_size=1, max_size=15)
Lines = list[list[float | None]]

# Krippendorff 2011, Computing Krippendorff's Alpha-Reliability, section C: four observers, twelve units.
PUBLISHED = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
    [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
]


def test_the_published_example():
    units = [[None if one is None else one - 3 for one in unit] for unit in zip(*PUBLISHED, strict=True)]
    found = krippendorff_alpha(opinions(units))
    assert found.value == pytest.approx(0.815, abs=5e-4)
    # The last unit has one verdict, so 40 of 41 can be paired.
    assert (found.n, found.clusters) == (40, 11)


@given(lines)
def test_the_krippendorff_package_finds_the_same(said: Lines):
    found = krippendorff_alpha(opinions(said))
    met = [one for line in said for one in line if one is not None and sum(x is not None for x in line) > 1]
    if len(set(met)) < 2:
        assert found.value is None
        return
    table = np.array([[np.nan if one is None else one for one in line] for line in said], dtype=np.float64).T
    expected = krippendorff.alpha(table, level_of_measurement="ordinal", value_domain=[-2, -1, 0, 1, 2])
    assert found.value == pytest.approx(expected, abs=1e-9)


@given(lines, st.permutations(range(3)))
def test_the_names_of_raters_do_not_matter(said: Lines, names: list[int]):
    renamed = [[line[name] for name in names] for line in said]
    one, other = krippendorff_alpha(opinions(said)), krippendorff_alpha(opinions(renamed))
    assert (one.value, one.lower, one.upper) == pytest.approx((other.value, other.lower, other.upper))


@given(lines)
def test_turning_every_verdict_round_changes_nothing(said: Lines):
    turned = [[None if one is None else -one for one in line] for line in said]
    one, other = krippendorff_alpha(opinions(said)), krippendorff_alpha(opinions(turned))
    assert (one.value, one.lower, one.upper) == pytest.approx((other.value, other.lower, other.upper), abs=1e-6)


@given(lines)
def test_bounds_hold_the_value(said: Lines):
    alpha = krippendorff_alpha(opinions(said))
    if alpha.value is not None:
        assert alpha.lower is not None
        assert alpha.upper is not None
        assert alpha.lower <= alpha.value + 1e-12
        assert alpha.value - 1e-12 <= alpha.upper <= 1


def test_perfect_agreement_on_few_items_proves_little():
    alpha = krippendorff_alpha(opinions([[1, 1], [0, 0], [1, 1], [-1, -1]]))
    assert (alpha.value, alpha.upper) == (1, 1)
    # Of pairs of such verdicts 5 in 8 differ by chance.
    assert alpha.lower == pytest.approx(1 - (1 - 0.28313) / 0.625, abs=1e-4)


def test_cases_of_one_item_are_one_cluster():
    said = [[1, 1], [0, 1], [-1, 0], [2, 1], [1, 1], [-2, -2]]
    alone = krippendorff_alpha(opinions(said))
    paired = krippendorff_alpha(opinions(said, cases=cases_of(6, items=[0, 0, 1, 1, 2, 2])))
    assert paired.value == alone.value
    assert (alone.clusters, paired.clusters) == (6, 3)


def test_the_interval_is_that_of_resampled_items():
    rng = np.random.default_rng(14)
    truth = rng.integers(-2, 3, 150)
    said = np.clip(truth[:, None] + rng.integers(-1, 2, (150, 3)), -2, 2).astype(float)
    alpha = krippendorff_alpha(opinions(said.tolist()))
    drawn = [
        krippendorff.alpha(
            said[rng.integers(0, 150, 150)].T, level_of_measurement="ordinal", value_domain=[-2, -1, 0, 1, 2]
        )
        for _ in range(800)
    ]
    assert (alpha.lower, alpha.upper) == pytest.approx(np.quantile(drawn, [0.025, 0.975]), abs=0.015)


def test_nothing_to_pair_has_a_reason():
    assert krippendorff_alpha(opinions([[1, None], [None, 0]])).reason == "no case was judged twice"
    same = krippendorff_alpha(opinions([[1, 1], [1, 1], [0, None]]))
    assert same.reason == "all raters gave one and the same verdict throughout"


def test_too_many_values_are_refused():
    said: Lines = [[i / 100, i / 100] for i in range(101)]
    with refused(ValueError, "Alpha", 100, 101):
        krippendorff_alpha(opinions(said))
