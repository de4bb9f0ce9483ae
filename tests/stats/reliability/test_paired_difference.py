"""Two ways on the same cases: the difference, its interval, and a test that counts items and not cases."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import permutation_test

from evenhand.stats.intervals import Range
from evenhand.stats.reliability.agreement.paired import paired_alignment, read_at_once
from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix
from evenhand.stats.reliability.paired_difference import paired_difference, together
from tests.examples import examples

BOTH_WAYS = Range(low=-4, high=4)


def test_three_items_by_hand():
    """Sums of the items 3, 2 and -1: of their eight signs 4 or more come out at 6, 4, -4 and -6."""
    found = paired_difference([1, 2, 2, -1], ["a", "a", "b", "c"], within=BOTH_WAYS)
    assert found.difference.value == 1
    assert found.difference.n == 4
    assert found.p_value == found.p_adjusted == 4 / 8
    assert found.finding == "undecided"


def test_three_averages_by_hand():
    """0.17, 0.27 and 0.5: their mean 0.94 / 3, t of two degrees 4.3027 times 0.1692 over the root of three."""
    found = paired_difference([0.17, 0.27, 0.5], np.arange(3), within=None)
    assert found.difference.value == pytest.approx(0.94 / 3)
    assert (found.difference.lower, found.difference.upper) == pytest.approx((-0.1070, 0.7337), abs=1e-4)
    assert found.p_value == 2 / 8
    alone = paired_difference([0.5], ["a"], within=None)
    assert (alone.difference.value, alone.difference.lower, alone.p_value) == (0.5, None, 1.0)
    assert alone.difference.reason


def test_no_case_is_no_difference():
    found = paired_difference([], [], within=BOTH_WAYS)
    assert (found.difference.value, found.p_value, found.finding) == (None, None, "undecided")
    assert found.as_json("mae")["mae_difference_reason"] == "no case has both"


def test_forty_items_that_all_speak_for_one_settle_it_and_as_many_cases_of_two_do_not():
    gaps = np.tile([0.5, 1.0], 20)
    assert paired_difference(gaps, np.arange(40), within=BOTH_WAYS).finding == "higher"
    assert paired_difference(-gaps, np.arange(40), within=BOTH_WAYS).finding == "lower"
    two = paired_difference(gaps, np.arange(40) % 2, within=BOTH_WAYS)
    assert (two.p_value, two.finding) == (0.5, "undecided")


def test_cases_said_five_times_over_make_no_interval_narrower():
    gaps = np.linspace(-1, 2, 20)
    once = paired_difference(gaps, np.arange(20), within=BOTH_WAYS)
    often = paired_difference(np.repeat(gaps, 5), np.repeat(np.arange(20), 5), within=BOTH_WAYS)
    assert often.p_value == once.p_value
    assert (often.difference.lower, often.difference.upper) == pytest.approx(
        (once.difference.lower, once.difference.upper), abs=0.05
    )


@settings(deadline=None, max_examples=examples(40))
@given(st.lists(st.tuples(st.integers(0, 5), st.integers(-4, 4)), min_size=2, max_size=14))
def test_p_is_that_of_another_package_and_turning_the_two_round_turns_the_sign(rows: list[tuple[int, int]]):
    items, gaps = np.array([item for item, _ in rows]), np.array([gap for _, gap in rows], dtype=np.float64)
    found = paired_difference(gaps, items, within=BOTH_WAYS)
    turned = paired_difference(-gaps, items, within=BOTH_WAYS)
    assert found.difference.value is not None
    assert found.difference.lower is not None
    assert turned.difference.value == pytest.approx(-found.difference.value)
    assert turned.difference.upper == pytest.approx(-found.difference.lower)
    assert turned.p_value == found.p_value
    sums = np.bincount(items, weights=gaps)[np.unique(items)]
    if len(sums) < 2:
        return
    other = permutation_test(
        (sums,), lambda one, axis=-1: np.abs(np.sum(one, axis=axis)), permutation_type="samples", alternative="greater",
        n_resamples=2**10,
    )  # fmt: skip
    assert found.p_value == pytest.approx(other.pvalue)


def test_tests_read_at_once_are_adjusted_together():
    sure = paired_difference(np.ones(12), np.arange(12), within=BOTH_WAYS)
    vague = paired_difference([1.0, -1.0], ["a", "b"], within=BOTH_WAYS)
    none = paired_difference([], [], within=BOTH_WAYS)
    one, other, missing = together([sure, vague, none])
    assert (one.p_value, one.p_adjusted) == (sure.p_value, 2 * 2 / 2**12)
    assert (other.p_adjusted, missing.p_adjusted) == (1.0, None)


CASES = Cases(item=np.arange(24) // 2, model=np.arange(24) % 2, models=("X", "Y"))


def said(name: str, values: list[float], cases: list[int] | None = None, *, levels: int = 5) -> RaterMatrix:
    case = np.array(range(len(values)) if cases is None else cases)
    return RaterMatrix(
        cases=CASES, raters=(name,), case=case, rater=np.zeros(len(case), dtype=np.int64),
        value=np.array(values, dtype=np.float64), levels=levels,  # pyright: ignore[reportArgumentType]
    )  # fmt: skip


def test_the_judge_who_says_what_people_say_is_nearer_than_one_who_is_two_levels_off():
    people = said("ann", [1.0] * 24)
    near, far = said("near", [1.0] * 24), said("far", [-1.0] * 22, list(range(2, 24)))
    found = paired_alignment(near, far, people)
    assert (found.mae.difference.value, found.mae.difference.n) == (-2, 22), "on the cases that both judged"
    assert (found.mae.finding, found.consistency.difference.value) == ("lower", 1)
    assert paired_alignment(near, near, people).mae.p_value == 1
    turned = paired_alignment(far, near, people)
    assert (turned.mae.finding, turned.consistency.finding) == ("higher", "lower")
    together_now = read_at_once([found, turned])
    assert [one.mae.p_adjusted for one in together_now] == [2 * (found.mae.p_value or 0)] * 2


def test_cases_are_matched_and_not_taken_by_their_place():
    drawn = np.random.default_rng(3).integers(-2, 3, size=(3, 24)).astype(float)
    ours, theirs = list(range(0, 24, 2)), list(range(23, 3, -1))
    people = said("ann", drawn[0].tolist())
    one, other = said("one", drawn[1][ours].tolist(), ours), said("other", drawn[2][theirs].tolist(), theirs)
    both = [case for case in ours if case in theirs]
    gaps = np.abs(drawn[1] - drawn[0])[both] - np.abs(drawn[2] - drawn[0])[both]
    near = (np.abs(drawn[1] - drawn[0]) <= 1)[both].astype(float) - (np.abs(drawn[2] - drawn[0]) <= 1)[both]
    found = paired_alignment(one, other, people)
    assert (found.mae.difference.value, found.mae.difference.n) == (pytest.approx(gaps.mean()), len(both))
    assert found.consistency.difference.value == pytest.approx(near.mean())


def test_other_scales_have_no_paired_figures():
    people, judge = said("ann", [1.0] * 4), said("gpt", [1.0] * 4, levels=3)
    found = paired_alignment(judge, judge, people)
    assert found.mae.difference.value is found.consistency.difference.value is None
    three = paired_alignment(judge, judge, said("bo", [1.0] * 4, levels=3))
    assert (three.mae.difference.value, three.consistency.difference.value) == (0, None)
