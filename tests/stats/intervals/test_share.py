"""Claims about shares whose cases come in clusters."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import clustered_share

rows = st.lists(
    st.tuples(st.sampled_from([0.0, 0.5, 1.0]), st.sampled_from([0.25, 0.5, 1.0]), st.integers(0, 9)), min_size=1
)


def share_of(cases: list[tuple[float, float, int]]) -> Estimate:
    return clustered_share([row[0] for row in cases], [row[1] for row in cases], [row[2] for row in cases])


def bounds(estimate: Estimate) -> tuple[float, float, float]:
    assert estimate.value is not None
    assert estimate.lower is not None
    assert estimate.upper is not None
    return estimate.lower, estimate.value, estimate.upper


def singles(wins: int, n: int) -> Estimate:
    return clustered_share([1.0] * wins + [0.0] * (n - wins), [1.0] * n, range(n))


@pytest.mark.parametrize(
    ("wins", "n", "lower", "upper"),
    # Newcombe 1998, Statistics in Medicine 17, 857, Table I, method 3 (Wilson's score without continuity correction).
    [(81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605)],
)
def test_cases_that_stand_alone_get_the_published_wilson_interval(wins: int, n: int, lower: float, upper: float):
    found = bounds(singles(wins, n))
    # Student's t for the normal quantile, on one case less: a hair wider.
    assert found == pytest.approx((lower, wins / n, upper), abs=1e-3)
    assert found[0] < lower < upper < found[2]


def test_four_pairs_worked_by_hand():
    # p = 5/8; cluster residuals .75 -.25 -1.25 .75, so V = 4/3 * 2.75/64 = .057292 and .234375/V = 4.0909 cases;
    # t(3) = 3.18245: lower = (.625 + 1.23786 - 1.45346) / 3.4757. The upper one is that of a record with a hit less.
    estimate = clustered_share([1, 1, 1, 0, 0, 0, 1, 1], [1.0] * 8, ["a", "a", "b", "b", "c", "c", "d", "d"])
    assert bounds(estimate) == pytest.approx((0.1178, 0.625, 0.9541), abs=5e-4)
    assert (estimate.n, estimate.clusters) == (8, 4)


def test_three_lucky_items_prove_nothing_however_often_each_is_asked():
    once = clustered_share([1.0] * 3, [1.0] * 3, [0, 1, 2])
    often = clustered_share([1.0] * 300, [1.0] * 300, [0, 1, 2] * 100)
    # t(2) = 4.30265: lower = 3 / (3 + 18.513).
    assert bounds(once) == pytest.approx((0.13945, 1, 1), abs=1e-4)
    assert bounds(often) == pytest.approx(bounds(once), rel=1e-12)


def test_clusters_that_all_split_are_as_unsure_as_those_that_might_not_have():
    # None of 40 pairs differs, so up to 1.96² / (40 + 1.96²) of them may: 456.5 cases, t(39) = 2.02269.
    pairs = clustered_share([1.0, 0.0] * 40, [1.0] * 80, [i // 2 for i in range(80)])
    assert bounds(pairs) == pytest.approx((0.45288, 0.5, 0.54712), abs=1e-5)


def test_clusters_that_are_all_alike_prove_little_however_often_each_is_asked():
    # t(3)² = 10.1280: no lower bound of four clusters is above 4 / 14.128, no upper one below the rest.
    often = clustered_share([1.0, 1.0, 1.0, 0.0] * 4_000, [1.0] * 16_000, [i // 4 % 4 for i in range(16_000)])
    lower, value, upper = bounds(often)
    assert (lower, value) == pytest.approx((0.28313, 0.75), abs=1e-5)
    # 1.95996² / 16 = .2401 of the way to 1 at the least.
    assert upper >= 0.75 + 0.25 * 0.2401
    # 1.95996² / (4 x 40) = .02401 of the way to either end.
    more = clustered_share([1.0, 0.0] * 400_000, [1.0] * 800_000, [i // 20_000 for i in range(800_000)])
    assert bounds(more) == pytest.approx((0.487995, 0.5, 0.512005), abs=1e-3)


def test_one_cluster_is_never_surer_than_two():
    lower_of = [
        bounds(clustered_share([1.0] * 12, [1.0] * 12, [i % groups for i in range(12)]))[0] for groups in (1, 2, 3, 12)
    ]
    assert lower_of == sorted(lower_of)
    assert lower_of[0] < 0.01


def test_one_cluster_is_one_case_however_many_rows_it_has():
    # t(1) = 12.7062: half = sqrt(161.447/4 + 161.447^2/4) / 162.447 = .49846.
    assert bounds(clustered_share([1.0, 0.0] * 6, [1.0] * 12, ["a"] * 12)) == pytest.approx(
        (0.00154, 0.5, 0.99846), abs=1e-5
    )


def test_no_cases_have_no_value():
    nothing = Estimate(value=None, reason="no cases")
    assert clustered_share([], [], []) == nothing
    assert clustered_share([1.0], [0.0], ["a"]) == nothing


def test_rows_without_weight_count_nowhere():
    assert clustered_share([1, 0, 1], [1, 1, 0], ["a", "b", "c"]) == clustered_share([1, 0], [1, 1], ["a", "b"])


def test_like_cases_in_one_cluster_widen_the_interval():
    outcomes = [1.0] * 60 + [0.0] * 40
    together = clustered_share(outcomes, [1.0] * 100, [i // 2 for i in range(100)])
    apart = clustered_share(outcomes, [1.0] * 100, range(100))
    lower, _, upper = bounds(together)
    assert lower < bounds(apart)[0]
    assert upper > bounds(apart)[2]


Record = list[list[bool]]
records = st.integers(1, 6).flatmap(
    lambda cases: st.lists(st.lists(st.sampled_from([True, True, False]), min_size=1, max_size=cases), min_size=1)
)


def of_record(record: Record) -> Estimate:
    """A list of good and faulty cases for each cluster."""
    flat = [(float(good), cluster) for cluster, cases in enumerate(record) for good in cases]
    return clustered_share([good for good, _ in flat], [1.0] * len(flat), [cluster for _, cluster in flat])


@given(records, st.data())
def test_a_fault_fewer_never_lowers_a_bound(record: Record, data: st.DataObject):
    faults = [(i, j) for i, cases in enumerate(record) for j, good in enumerate(cases) if not good]
    if not faults:
        return
    cluster, case = data.draw(st.sampled_from(faults))
    mended = [list(cases) for cases in record]
    mended[cluster][case] = True
    before, after = bounds(of_record(record)), bounds(of_record(mended))
    # Among clusters of unlike size a case made good may show more spread than it is worth: the bound falls a little,
    # of 60,000 records drawn at random by .042 at most.
    little = 1e-12 if len({*map(len, record)}) == 1 else 0.06
    assert after[0] >= before[0] - little
    assert after[2] >= before[2] - little


def test_faults_on_one_cluster_are_not_made_good_by_a_fault_on_another():
    # By the design effect alone, three faults on one of twenty items count 19 cases and a fourth on another 24.
    heaped = [[False] * 3, *[[True] * 3] * 19]
    one_more = [[False] * 3, [False, True, True], *[[True] * 3] * 18]
    assert bounds(of_record(one_more))[0] <= bounds(of_record(heaped))[0] + 1e-12


@given(st.integers(2, 60), st.integers(1, 4), st.floats(0, 1, width=16))
def test_the_bounds_pass_without_a_jump_from_no_spread_to_a_little(groups: int, cases: int, share: float):
    labels = [i // cases for i in range(groups * cases)]
    alike = [share] * (groups * cases)
    nearly = [share + (1e-9 if share < 0.5 else -1e-9), *alike[1:]]
    one, other = (clustered_share(each, [1.0] * len(labels), labels) for each in (alike, nearly))
    assert bounds(one) == pytest.approx(bounds(other), abs=1e-4)


def test_two_pairs_that_differ_among_forty_show_no_less_than_none():
    outcomes = [1.0, 1.0, 0.0, 0.0, *[1.0, 0.0] * 38]
    paired = clustered_share(outcomes, [1.0] * 80, [i // 2 for i in range(80)])
    alike = clustered_share([1.0, 0.0] * 40, [1.0] * 80, [i // 2 for i in range(80)])
    assert bounds(paired) == pytest.approx(bounds(alike))


def test_a_higher_level_is_wider():
    narrow, wide = (
        clustered_share([1.0] * 5 + [0.0] * 35, [1.0] * 40, range(40), level=level) for level in (0.9, 0.99)
    )
    assert bounds(wide)[0] < bounds(narrow)[0] < bounds(narrow)[2] < bounds(wide)[2]


@given(rows)
def test_bounds_hold_the_value_and_stay_within_0_and_1(cases: list[tuple[float, float, int]]):
    lower, value, upper = bounds(share_of(cases))
    assert 0 <= lower <= value <= upper <= 1
    assert lower < upper


@given(rows)
def test_failures_are_successes_seen_from_the_other_side(cases: list[tuple[float, float, int]]):
    lower, value, upper = bounds(share_of(cases))
    mirrored = share_of([(1 - won, weight, cluster) for won, weight, cluster in cases])
    assert bounds(mirrored) == pytest.approx((1 - upper, 1 - value, 1 - lower), abs=1e-9)


@given(rows, st.randoms(use_true_random=False), st.permutations(range(10)))
def test_the_names_of_clusters_and_the_order_of_rows_do_not_matter(
    cases: list[tuple[float, float, int]], random: Random, names: list[int]
):
    renamed = [(won, weight, names[cluster]) for won, weight, cluster in cases]
    random.shuffle(renamed)
    assert bounds(share_of(renamed)) == pytest.approx(bounds(share_of(cases)), abs=1e-9)


@given(rows)
def test_the_scale_of_the_weights_is_no_matter(cases: list[tuple[float, float, int]]):
    heavier = [(won, weight * 37.5, cluster) for won, weight, cluster in cases]
    assert bounds(share_of(heavier)) == pytest.approx(bounds(share_of(cases)), abs=1e-9)


@pytest.mark.parametrize("clusters", [16, pytest.param(40, marks=pytest.mark.slow)])
@pytest.mark.parametrize("p", [pytest.param(0.5, marks=pytest.mark.slow), 0.8])
def test_95_in_100_intervals_hold_the_truth_where_cases_of_a_cluster_agree(clusters: int, p: float):
    rng = np.random.default_rng(20_231)
    size, correlation, repetitions = 4, 0.4, 600
    a, b = p * (1 - correlation) / correlation, (1 - p) * (1 - correlation) / correlation
    labels = np.repeat(np.arange(clusters), size)
    weights = np.ones(clusters * size)
    clustered = alone = 0
    for _ in range(repetitions):
        won = rng.binomial(1, np.repeat(rng.beta(a, b, clusters), size)).astype(float)
        lower, _, upper = bounds(clustered_share(won, weights, labels))
        clustered += lower <= p <= upper
        lower, _, upper = bounds(clustered_share(won, weights, range(clusters * size)))
        alone += lower <= p <= upper
    assert 0.92 <= clustered / repetitions <= 0.99
    assert alone / repetitions < 0.9


@pytest.mark.parametrize(
    ("successes", "weights", "clusters", "says"),
    [
        ([1.0], [1.0, 1.0], [0, 1], "one length"),
        ([1.5], [1.0], [0], "from 0 to 1"),
        ([math.nan], [1.0], [0], "from 0 to 1"),
        ([1.0], [-1.0], [0], "at least 0"),
        ([1.0], [math.inf], [0], "finite"),
    ],
)
def test_bad_rows_are_refused_with_a_sentence(
    successes: list[float], weights: list[float], clusters: list[int], says: str
):
    with pytest.raises(ValueError, match=says):
        clustered_share(successes, weights, clusters)


def test_a_level_outside_0_and_1_is_refused():
    with pytest.raises(ValueError, match="confidence level"):
        clustered_share([1.0], [1.0], [0], level=95)
