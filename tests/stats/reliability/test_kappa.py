"""Claims about Cohen's kappa and Gwet's AC1."""

import math
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import chi2
from sklearn.metrics import cohen_kappa_score

from evenhand.domain.estimate import Estimate
from evenhand.stats.intervals import Basis, reach, wilson
from evenhand.stats.reliability.agreement.alpha import krippendorff_alpha
from evenhand.stats.reliability.agreement.kappa import ItemSpread, Weighting, cohens_kappa, fisher_estimate, gwets_ac1
from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix
from tests.refusals import refused

verdicts = st.lists(st.tuples(st.integers(-2, 2), st.integers(-2, 2)), min_size=1, max_size=40)
Pairs = list[tuple[int, int]]
ALL_LEVELS = [-2, -1, 0, 1, 2]


def columns(pairs: Pairs) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    one, other = np.array(pairs, dtype=np.float64).reshape(-1, 2).T
    return one, other, np.arange(len(one))


def test_twenty_five_cases_by_hand():
    # 20 of 25 alike: margins 15/10 and 14/11 of 25 by chance 320/625 = .512; (.8 - .512)/(1 - .512) = .590164.
    pairs = [(1, 1)] * 12 + [(1, 0)] * 3 + [(0, 1)] * 2 + [(0, 0)] * 8
    kappa = cohens_kappa(*columns(pairs))
    assert kappa.value == pytest.approx(0.590164, abs=1e-6)
    assert (kappa.n, kappa.clusters) == (25, 25)


def _skew(moved: np.ndarray) -> float:
    """Of cases that each move the coefficient by so much over their number, as if each had had no say in it."""
    apart = (moved - moved.mean()) / (len(moved) - 1)
    return max(-float((apart**3).sum()) / float((apart**2).sum()), 0.0) if apart.any() else 0.0


def test_the_standard_error_is_the_published_one():
    # Fleiss, Cohen and Everitt 1969, Psychological Bulletin 72, 323, equation 13.
    pairs = [(1, 1)] * 24 + [(1, 0)] * 6 + [(0, 1)] * 4 + [(0, 0)] * 16
    kappa = cohens_kappa(*columns(pairs))
    table = np.array([[16, 4], [6, 24]]) / 50
    rows, cols = table.sum(axis=1), table.sum(axis=0)
    po, pe = np.trace(table), rows @ cols
    k = (po - pe) / (1 - pe)
    a = sum(table[i, i] * (1 - (rows[i] + cols[i]) * (1 - k)) ** 2 for i in range(2))
    b = (1 - k) ** 2 * sum(table[i, j] * (cols[i] + rows[j]) ** 2 for i in range(2) for j in range(2) if i != j)
    c = (k - pe * (1 - k)) ** 2
    error = math.sqrt((a + b - c) / 50 * 50 / 49) / (1 - pe)
    # The same equation's terms, of each case.
    moved = [((1 - pe) * (i == j) - (1 - po) * (cols[i] + rows[j]) - po * pe + 2 * pe - po) for i, j in pairs]
    spread = ItemSpread(error=error, basis=Basis.of(np.ones(50)), skew=_skew(np.array(moved) / (1 - pe) ** 2))
    expected = fisher_estimate(k, spread, n=50, throughout=1 - pe)
    assert (kappa.lower, kappa.upper) == pytest.approx((expected.lower, expected.upper), abs=1e-9)


@pytest.mark.parametrize("weighting", ["none", "quadratic"])
@given(verdicts)
def test_scikit_learn_finds_the_same(weighting: Weighting, pairs: Pairs):
    one, other, item = columns(pairs)
    found = cohens_kappa(one, other, item, weighting=weighting)
    if len({verdict for pair in pairs for verdict in pair}) == 1:
        assert found.value is None
        return
    weights = None if weighting == "none" else weighting
    assert found.value == pytest.approx(cohen_kappa_score(one, other, labels=ALL_LEVELS, weights=weights), abs=1e-9)


@given(verdicts)
def test_kappa_does_not_care_who_is_named_first(pairs: Pairs):
    one, other, item = columns(pairs)
    there, back = cohens_kappa(one, other, item), cohens_kappa(other, one, item)
    assert there.value == pytest.approx(back.value, abs=1e-9)
    assert (there.lower is None) == (back.lower is None)
    if there.lower is not None:
        assert (there.lower, there.upper) == pytest.approx((back.lower, back.upper), abs=1e-9)


@given(verdicts, st.sampled_from(["none", "quadratic"]))
def test_bounds_hold_the_value(pairs: Pairs, weighting: Weighting):
    kappa = cohens_kappa(*columns(pairs), weighting=weighting)
    if kappa.value is not None and kappa.lower is not None:
        assert kappa.upper is not None
        assert -1 <= kappa.lower <= kappa.value <= kappa.upper <= 1


def test_values_between_levels_are_taken_as_they_are():
    # Means of people: quadratic kappa is then Lin's concordance, 2 cov / (var + var + (difference of means)²).
    one = np.array([2.0, 1.0, -0.5, 0.0, -2.0])
    other = np.array([1.25, 0.75, -1.0, 0.25, -1.5])
    lin = 2 * np.cov(one, other, ddof=0)[0, 1] / (one.var() + other.var() + (one.mean() - other.mean()) ** 2)
    assert cohens_kappa(one, other, np.arange(5), weighting="quadratic").value == pytest.approx(lin)


def test_a_record_without_a_flaw_on_few_items_proves_little():
    pairs = [(1, 1), (-1, -1)] * 16
    item = np.arange(32) % 4
    one, other, _ = columns(pairs)
    kappa = cohens_kappa(one, other, item)
    # t(3) = 3.18245: up to 1 - 4 / (4 + 10.128) = 0.71687 of the cases may be disagreements, half differ by chance.
    assert (kappa.value, kappa.upper) == (1, 1)
    assert kappa.lower == pytest.approx(1 - 0.71687 / 0.5, abs=1e-4)
    opposite = cohens_kappa(one, -other, item)
    assert (opposite.value, opposite.lower) == (-1, -1)
    assert opposite.upper == pytest.approx(-(kappa.lower or 0.0), abs=1e-9)


@pytest.mark.parametrize("coefficient", ["kappa", "AC1", "alpha"])
@pytest.mark.parametrize("items", [20, 200])
def test_items_that_are_all_alike_do_not_make_agreement_certain(coefficient: str, items: int):
    """Six of each item's eight cases agree: items show no spread at all, single cases do."""
    one = np.tile([1.0, 1.0, -1.0, -1.0] * 2, items)
    other = np.tile([1.0, -1.0, -1.0, 1.0, 1.0, 1.0, -1.0, -1.0], items)
    found = _coefficient(coefficient, one, other, np.repeat(np.arange(items), 8))
    assert found.value == pytest.approx(0.5, abs=2e-3)
    assert found.lower is not None
    assert found.upper is not None
    cases = _coefficient(coefficient, one, other, np.arange(8 * items))
    assert cases.lower is not None
    assert cases.upper is not None
    # As if Wilson's bound of none seen in so many items had gone all one way, or as if cases had nothing in common.
    single = min(8 * 1.96**2 / (items + 1.96**2), 1.0) ** 0.5
    assert found.upper - 0.5 == pytest.approx(single * (cases.upper - 0.5), rel=0.1)
    # As many items may fail as a bound of one side leaves, half of them by chance and half throughout (at -1).
    assert found.lower < 0.5 - 1.645**2 / items * (0.5 + 0.5)


@pytest.mark.parametrize("items", [8, 30, 300])
def test_two_who_never_agree_may_agree_now_and_then(items: int):
    """AC1 of three classes is then -1/3 and no case differs from another: Wilson's bound of none seen is left."""
    one = np.array([1.0, -1.0] * (items // 2))
    found = gwets_ac1(one, -one, np.arange(items))
    seldom, _ = wilson(1.0, items, reach(items))
    assert (found.value, found.lower) == pytest.approx((-1 / 3, -1 / 3))
    assert found.upper == pytest.approx((1 - seldom - 1 / 4) / (1 - 1 / 4))


@pytest.mark.parametrize("coefficient", [cohens_kappa, gwets_ac1])
def test_where_nobody_disagreed_in_fifty_cases_one_in_fourteen_may(coefficient: Callable[..., Estimate]):
    """At 7 % disagreement 50 cases have none once in 38 times, a coefficient of .893 (AC1) or .886 (kappa)."""
    said = np.array([1.0] * 22 + [0.0] * 18 + [-1.0] * 10)
    found = coefficient(said, said, np.arange(50))
    assert found.lower is not None
    assert 0.87 < found.lower < 0.893


@pytest.mark.parametrize("disagree", [1, 2, 3])
def test_few_disagreements_may_be_by_chance_as_many_as_an_exact_bound_allows(disagree: int):
    said = np.array([1.0, -1.0] * 200)
    other = said.copy()
    other[:disagree] *= -1
    for found in (cohens_kappa(said, other, np.arange(400)), gwets_ac1(said, other, np.arange(400), classes=2)):
        # Half of such verdicts differ by chance, so 1 - coefficient is twice the share that disagrees.
        fewest = float(chi2.ppf(0.025, 2 * disagree)) / 2 / 400
        assert found.upper == pytest.approx(1 - 2 * fewest, abs=0.06 * fewest + 1e-9)


def test_one_item_says_nothing():
    one = np.array([1.0, 0.0] * 20)
    other = np.concatenate([one[:30], 1 - one[30:]])
    kappa = cohens_kappa(one, other, np.zeros(40, dtype=np.int64))
    assert (kappa.lower, kappa.upper, kappa.clusters) == (-1, 1, 1)


def test_the_same_cases_told_twice_are_not_twice_the_evidence():
    pairs = [(1, 1)] * 24 + [(1, 0)] * 6 + [(0, 1)] * 4 + [(0, 0)] * 16
    one, other, item = columns(pairs)
    twice = cohens_kappa(np.tile(one, 2), np.tile(other, 2), np.tile(item, 2))
    once = cohens_kappa(one, other, item)
    assert (twice.value, twice.lower, twice.upper) == pytest.approx((once.value, once.lower, once.upper))
    assert (twice.n, twice.clusters) == (100, 50)


def test_items_of_unequal_size_get_the_error_of_leaving_each_out():
    rng = np.random.default_rng(21)
    size = rng.integers(1, 12, 80)
    item = np.repeat(np.arange(80), size)
    one = rng.integers(0, 3, len(item)).astype(float)
    same = np.repeat(rng.random(80) < 0.5, size)
    other = np.where(same, one, rng.integers(0, 3, len(item)))
    kappa = cohens_kappa(one, other, item)
    left = np.array([cohen_kappa_score(one[item != g], other[item != g]) for g in range(80)])
    assert kappa.value is not None
    # CR3 is the jackknife around the value itself, less what items alike would add.
    basis = Basis.of(size.astype(float))
    error = math.sqrt((1 - 1 / basis.effective) * ((left - kappa.value) ** 2).sum())
    expected = fisher_estimate(kappa.value, ItemSpread(error=error, basis=basis), n=len(item))
    assert (kappa.lower, kappa.upper) == pytest.approx((expected.lower, expected.upper), abs=0.006)


@pytest.mark.slow
@pytest.mark.parametrize("weighting", ["none", "quadratic"])
def test_95_in_100_intervals_hold_the_truth(weighting: Weighting):
    rng = np.random.default_rng(9)
    levels = np.array([-1.0, 0.0, 1.0])
    large = [rng.integers(0, 3, 400_000), rng.integers(0, 3, 400_000)]
    alike = rng.random(400_000) < 0.6
    truth = cohens_kappa(
        levels[large[0]], levels[np.where(alike, large[0], large[1])], np.arange(400_000), weighting=weighting
    ).value
    assert truth is not None
    held = 0
    for _ in range(500):
        one, other = rng.integers(0, 3, 80), rng.integers(0, 3, 80)
        # Two cases of an item are alike or unlike together.
        same = np.repeat(rng.random(40) < 0.6, 2)
        kappa = cohens_kappa(
            levels[one], levels[np.where(same, one, other)], np.repeat(np.arange(40), 2), weighting=weighting
        )
        assert kappa.lower is not None
        assert kappa.upper is not None
        held += kappa.lower <= truth <= kappa.upper
    assert 0.92 <= held / 500 <= 0.985


@pytest.mark.parametrize("coefficient", ["kappa", "AC1", "alpha"])
def test_95_in_100_intervals_hold_the_truth_where_one_item_has_two_fifths_of_the_cases(coefficient: str):
    rng = np.random.default_rng(4)
    item = np.repeat(np.arange(40), [28] + [1] * 39)
    held: list[bool] = []
    for _ in range(500):
        one = rng.choice([-1.0, 1.0], len(item))
        # How often the two agree is the item's: 2/3 on average, 1/3 beyond chance.
        alike = rng.random(len(item)) < rng.beta(2, 1, 40)[item]
        found = _coefficient(coefficient, one, np.where(alike, one, -one), item)
        if found.lower is not None and found.upper is not None:
            held.append(found.lower <= 1 / 3 <= found.upper)
    assert len(held) > 400
    # 95 % less two simulation errors; G/(G-1) and t on 40 items hold 83 %.
    assert np.mean(held) > 0.93


def _coefficient(name: str, one: np.ndarray, other: np.ndarray, item: np.ndarray) -> Estimate:
    match name:
        case "kappa":
            return cohens_kappa(one, other, item)
        case "AC1":
            return gwets_ac1(one, other, item, classes=2)
        case _:
            cases = Cases(item=item, model=np.zeros(len(item), dtype=np.int64), models=("a",))
            return krippendorff_alpha(
                RaterMatrix(
                    cases=cases,
                    raters=("one", "other"),
                    case=np.tile(np.arange(len(item)), 2),
                    rater=np.repeat([0, 1], len(item)),
                    value=np.concatenate([one, other]),
                    levels=2,
                )
            )


def test_a_heavy_item_counts_as_few_items():
    one = np.array([1.0, -1.0] * 50)
    even = cohens_kappa(one, one, np.arange(100) // 10)
    heavy = cohens_kappa(one, one, np.maximum(np.arange(100) // 10 - 4, 0))
    assert even.lower is not None
    assert heavy.lower is not None
    # Ten items against one of 50 cases and five of 10: 100² / (50² + 5 * 10²) = 3.33.
    assert (even.effective, heavy.effective) == pytest.approx((10, 10 / 3))
    assert heavy.lower < even.lower


def test_no_cases_and_constant_raters_have_a_reason():
    assert cohens_kappa(*columns([])).reason == "no cases"
    constant = cohens_kappa(*columns([(1, 1), (1, 1)]))
    assert (constant.value, constant.reason) == (None, "both raters gave one and the same verdict throughout")


def test_bad_columns_are_refused_with_a_sentence():
    with pytest.raises(ValueError, match="one length"):
        cohens_kappa(np.zeros(2), np.zeros(3), np.zeros(2, dtype=np.int64))
    with refused(ValueError, "Kappa", 2000, 2001):
        cohens_kappa(np.arange(2_001.0), np.zeros(2_001), np.arange(2_001))


@pytest.mark.parametrize("weighting", ["none", "quadratic"])
def test_a_rater_who_always_says_the_same_leaves_kappa_unknown(weighting: Weighting):
    always, varies = np.array([1.0, 1.0, 1.0]), np.array([1.0, -1.0, 1.0])
    for one, other in ((always, varies), (varies, always)):
        found = cohens_kappa(one, other, np.arange(3), weighting=weighting)
        assert (found.value, found.lower, found.upper) == (0.0, None, None)
        assert math.copysign(1, found.value or 0.0) == 1


@pytest.mark.parametrize(("outside", "printed"), [(14, False), (15, True)])
def test_kappa_has_an_interval_from_15_cases_outside_the_largest_class_of_either_side(outside: int, *, printed: bool):
    one = np.array([1.0] * 20 + [0.0] * 200)
    other = np.array([1.0] * outside + [0.0] * (220 - outside))
    for pair in ((one, other), (other, one)):
        kappa = cohens_kappa(*pair, np.arange(220))
        assert kappa.value is not None
        assert (kappa.lower is not None) == printed
        assert (kappa.reason is None) == printed
        if not printed:
            assert "only 14 of 220 cases outside its largest class" in str(kappa.as_json("kappa")["kappa_reason"])


def test_rare_cases_heaped_on_few_items_give_kappa_no_interval():
    one = np.array([1.0] * 20 + [0.0] * 180)
    assert cohens_kappa(one, one, np.arange(200)).lower is not None
    assert cohens_kappa(one, one, np.arange(200) // 10).reason is not None


def test_ac1_by_hand():
    # 90 of 100 alike; shares of both .93, .04, .03: pe = (.0651 + .0384 + .0291) / 2 = .0663; (.9 - .0663) / .9337.
    pairs = [(1, 1)] * 88 + [(0, 0), (-1, -1)] + [(1, 0)] * 4 + [(0, 1)] * 2 + [(-1, 1)] * 3 + [(1, -1)]
    assert gwets_ac1(*columns(pairs)).value == pytest.approx(0.892899, abs=1e-6)


def _ac1_by_gwets_formulas(pairs: Pairs, classes: list[int]) -> tuple[float, float, float]:
    """Value, variance and skew, case by case as in his book (Handbook of Inter-Rater Reliability, 4th ed., 5.3.2)."""
    n, q = len(pairs), len(classes)
    pi = {k: sum(((a == k) + (b == k)) / 2 for a, b in pairs) / n for k in classes}
    pe = sum(pi[k] * (1 - pi[k]) for k in classes) / (q - 1)
    pa = sum(a == b for a, b in pairs) / n
    ac1 = (pa - pe) / (1 - pe)
    starred: list[float] = []
    for a, b in pairs:
        pe_of = sum(((a == k) + (b == k)) / 2 * (1 - pi[k]) for k in classes) / (q - 1)
        of_case = (float(a == b) - pe) / (1 - pe)
        starred.append(of_case - 2 * (1 - ac1) * (pe_of - pe) / (1 - pe))
    return ac1, sum((one - ac1) ** 2 for one in starred) / (n * (n - 1)), _skew(np.array(starred))


@given(st.lists(st.tuples(st.integers(-1, 1), st.integers(-1, 1)), min_size=2, max_size=60))
def test_gwets_own_formulas_find_the_same_ac1_and_the_same_error(pairs: Pairs):
    one, other, item = columns(pairs)
    found = gwets_ac1(one, other, item)
    value, variance, skew = _ac1_by_gwets_formulas(pairs, [-1, 0, 1])
    assert found.value == pytest.approx(value, abs=1e-9)
    share = np.bincount(np.array(pairs).ravel() + 1, minlength=3) / (2 * len(pairs))
    faults = sum(one != other for one, other in pairs)
    # Verdicts that were not met differ by chance less often than they did, by the items that have met such.
    differ = 1 - float(share @ (1 - share)) / 2
    apart = 1 / (1 + (1 / differ - 1) * (1 - faults / len(pairs)))
    spread = ItemSpread(error=math.sqrt(variance), basis=Basis.of(np.ones(len(pairs))), skew=skew)
    expected = fisher_estimate(value, spread, n=len(pairs), apart=apart, throughout=differ, differ=differ)
    assert (found.lower, found.upper) == pytest.approx((expected.lower, expected.upper), abs=1e-6)


def test_ac1_does_not_fall_with_one_class_as_kappa_does():
    pairs = [(1, 1)] * 96 + [(1, 0)] * 2 + [(0, 1)] * 2
    kappa, ac1 = cohens_kappa(*columns(pairs)), gwets_ac1(*columns(pairs))
    assert kappa.value == pytest.approx(-0.0204, abs=1e-4)
    assert kappa.lower is None
    assert ac1.value == pytest.approx(0.959, abs=1e-3)
    assert ac1.lower is not None
    assert ac1.lower > 0.85


def test_items_told_twice_are_not_twice_the_evidence_for_ac1():
    pairs = [(1, 1)] * 40 + [(1, 0)] * 6 + [(0, -1)] * 4
    one, other, item = columns(pairs)
    once, twice = gwets_ac1(one, other, item), gwets_ac1(np.tile(one, 2), np.tile(other, 2), np.tile(item, 2))
    assert (twice.lower, twice.upper) == pytest.approx((once.lower, once.upper))


def test_ac1_refuses_more_classes_than_it_was_told():
    with pytest.raises(ValueError, match="AC1 takes two classes at least"):
        gwets_ac1(*columns([(2, 1), (0, -1)]))
    assert gwets_ac1(*columns([])).reason == "no cases"


def test_few_items_with_a_verdict_of_their_own_do_not_make_kappa_look_sure():
    """10 items of 40 cases: where by luck no item of a rare class was met, all items look alike."""
    rng = np.random.default_rng(4)
    item = np.repeat(np.arange(10), 40)

    def classes(count: int) -> npt.NDArray[np.float64]:
        return rng.choice(3, count, p=(0.8, 0.1, 0.1)).astype(np.float64)

    missed = 0
    for _ in range(400):
        one = np.where(rng.random(400) < 0.7, classes(10)[item], classes(400))
        other = np.where(rng.random(400) < 0.4, one, classes(400))
        found = cohens_kappa(one, other, item)
        if found.lower is None or found.upper is None:
            assert found.reason is not None
            assert found.value is not None
        else:
            missed += not found.lower <= 0.4 <= found.upper
    assert missed <= 20


def test_kappa_says_how_many_items_the_cases_outside_the_largest_class_are_worth():
    one = np.tile([1.0, 1.0, 1.0, 1.0, 0.0], 40)
    found = cohens_kappa(one, one, np.repeat(np.arange(10), 20))
    assert (found.value, found.lower) == (1, None)
    assert found.reason is not None
    assert "40 of 200 cases outside its largest class, worth 2.0 of 10 items; 3 are needed" in found.reason
    assert cohens_kappa(one, one, np.repeat(np.arange(20), 10)).lower is not None


@pytest.mark.parametrize("weighting", ["none", "quadratic"])
def test_either_way_round_a_case_counts_half_each_way(weighting: Weighting):
    rng = np.random.default_rng(3)
    one, other = rng.choice([-2.0, -1.0, 0.0, 1.0, 2.0], (2, 300), p=[0.05, 0.1, 0.15, 0.3, 0.4])
    other = np.where(rng.random(300) < 0.6, one, other)
    item = np.arange(300) // 3
    found = cohens_kappa(one, other, item, weighting=weighting, either_way=True)
    mine, theirs = (np.concatenate([each, -each]) for each in (one, other))
    twice = cohens_kappa(mine, theirs, np.tile(item, 2), weighting=weighting)
    assert found.value == pytest.approx(twice.value)
    assert found.n == 300
    assert (found.lower, found.upper) == pytest.approx((twice.lower, twice.upper), abs=1e-6)


def test_no_turning_of_cases_changes_what_is_told_either_way_round():
    """Which model of a pair is named first is the alphabet's doing."""
    rng = np.random.default_rng(4)
    one, other = rng.choice([-1.0, 0.0, 1.0], (2, 200), p=[0.1, 0.2, 0.7])
    other = np.where(rng.random(200) < 0.5, one, other)
    item = np.arange(200) // 2
    turned = np.where(rng.random(200) < 0.5, -1.0, 1.0)
    for rate in (cohens_kappa, gwets_ac1):
        as_named = rate(one, other, item, either_way=True)
        renamed = rate(turned * one, turned * other, item, either_way=True)
        assert (renamed.value, renamed.lower, renamed.upper) == pytest.approx(
            (as_named.value, as_named.lower, as_named.upper)
        )
        # Taken as they are named, they depend on it.
        assert rate(turned * one, turned * other, item).value != pytest.approx(rate(one, other, item).value, abs=1e-3)


def test_of_forced_choices_either_way_round_chance_is_one_half():
    one = np.array([1.0] * 30 + [-1.0] * 10)
    other = np.array([1.0] * 28 + [-1.0] * 12)
    # 38 of 40 alike: 2 * 0.95 - 1, however many are of one side.
    assert cohens_kappa(one, other, np.arange(40), either_way=True).value == pytest.approx(0.9)


def _lower(failing: int, *, items: int = 40, weighting: Weighting = "quadratic") -> float:
    """Of a judge that says what people do, but for the opposite on so many items, and one small slip in each."""
    person = np.tile([2.0, 1.0, 0.0, -1.0, -2.0] * 2, items)
    item = np.repeat(np.arange(items), 10)
    judge = np.where(item < failing, -person, person)
    judge[np.arange(items) * 10 + np.arange(items) % 10] *= -1 if weighting == "none" else 0.5
    found = cohens_kappa(judge, person, item, weighting=weighting)
    assert found.lower is not None
    return found.lower


def test_where_no_item_failed_as_a_whole_some_may_among_those_not_seen():
    """One slip in each of 40 items: Fisher's z alone reaches 0.863, but by Wilson's bound 2.7 items may fail."""
    assert _lower(0, weighting="none") < 0.83


def test_an_item_that_failed_may_be_one_of_nearly_six():
    """Garwood's bound of one seen is 5.57, of two 7.22; an item that says the opposite is 2 below the others."""
    for failing, garwood in ((1, 1 - 2 * 5.57 / 40), (2, 1 - 2 * 7.22 / 40)):
        assert garwood - 0.015 < _lower(failing) < garwood


def test_a_weighted_kappa_without_a_flaw_leaves_room_for_items_that_say_the_opposite():
    person = np.tile([2.0, 1.0, 0.0, -1.0, -2.0] * 2, 40)
    found = cohens_kappa(person, person, np.repeat(np.arange(40), 10), weighting="quadratic")
    # Wilson's bound of none in 40 with Student's t is 4.09 / 44.09; such items are 2 below the others.
    assert found.lower == pytest.approx(1 - 2 * 4.09 / 44.09, abs=1e-3)


def test_items_that_all_disagree_alike_leave_room_for_some_that_fail():
    """In each of 40 items two of ten verdicts are exchanged: kappa is 0.75, and single cases alone reach 0.06 down."""
    person = np.tile([2.0, 1.0, 0.0, -1.0, -2.0] * 2, 40)
    judge = person.reshape(40, 10).copy()
    for number, row in enumerate(judge):
        places = [number % 10, (number + 1) % 10]
        row[places] = row[places[::-1]]
    found = cohens_kappa(judge.ravel(), person, np.repeat(np.arange(40), 10))
    assert found.value == pytest.approx(0.75)
    assert found.lower == pytest.approx(0.66, abs=0.008)


def test_where_few_cases_lie_outside_the_largest_class_fewer_items_are_taken_to_tell():
    """24 of 60 cases on 30 items are worth 12 items where 15 are needed."""
    person = np.array([1.0] * 36 + [-1.0] * 24)
    judge = np.where(np.arange(60) % 7 == 0, -person, person)
    judge[np.flatnonzero(person == 1)[:2]] *= -1
    found = cohens_kappa(judge, person, np.arange(60) % 30)
    fewest = min(float((person == -1).mean()), float((judge == -1).mean()))
    assert found.effective == pytest.approx(30 * (2 * fewest) ** (1 - 30 * fewest / 15))
    assert found.effective is not None
    assert found.effective < 29
