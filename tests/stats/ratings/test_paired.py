"""Claims about paired tests of two models."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.paired import _sign_flips, _sign_test, paired, paired_through
from tests.refusals import refused
from tests.stats.ratings.made import Game, drawn, played


def met(*results: int) -> list[Game]:
    return [("A", "B", sign) for sign in results]


def test_both_orders_of_an_item_are_one_result():
    battles: list[Game] = [("A", "B", 1), ("B", "A", -1), ("A", "B", 1), ("B", "A", 1), ("A", "B", 1), ("B", "A", 0)]
    found = paired(played(battles, items=[1, 1, 2, 2, 3, 3]), "A", "B")
    # Item 1 is won twice, item 2 split, item 3 won and tied.
    assert (found.wins, found.losses, found.ties) == (2, 0, 1)
    assert found.difference.value == pytest.approx((1 + 0 + 0.5) / 3)
    assert (found.difference.n, found.difference.clusters) == (3, 3)
    assert found.p_value == 0.5
    assert found.test == "sign test, exact"


@given(st.integers(0, 60), st.integers(0, 60))
def test_the_sign_test_is_the_exact_binomial_one(wins: int, losses: int):
    expected = stats.binomtest(wins, wins + losses).pvalue if wins + losses else 1.0
    assert _sign_test(wins, losses) == pytest.approx(expected, rel=1e-9)


def test_a_million_items_do_not_overflow():
    assert _sign_test(499_000, 501_000) == pytest.approx(stats.binomtest(499_000, 1_000_000).pvalue, rel=1e-6)
    assert _sign_test(0, 1_000_000) == 0.0


def test_ties_leave_the_sign_test_and_stay_in_the_difference():
    found = paired(played(met(*[1] * 9, 0, 0, 0)), "A", "B")
    assert found.p_value == pytest.approx(2 / 2**9)
    assert found.difference.value == 0.75


def test_the_interval_of_the_difference_says_the_same_of_either_side():
    made = drawn(rows=300, models=2, items=40, seed=1)
    one, other = paired(made, "model 0", "model 1"), paired(made, "model 1", "model 0")
    assert one.difference.value == pytest.approx(-(other.difference.value or 0))
    assert one.difference.lower == pytest.approx(-(other.difference.upper or 0))
    assert (one.wins, one.losses, one.p_value) == (other.losses, other.wins, other.p_value)


def test_items_that_all_agree_do_not_prove_everything():
    found = paired(played(met(1, 1, 1)), "A", "B").difference
    assert found.value == 1
    assert found.lower is not None
    assert found.lower < 0
    assert found.upper == 1


def test_models_that_never_met_have_no_difference():
    found = paired(played([("A", "B", 1), ("B", "C", 1)]), "A", "C")
    assert found.difference.value is None
    assert found.difference.reason == "A and C never met"
    assert found.p_value is None


def test_without_items_every_row_is_one():
    found = paired(replace(played(met(1, 1, -1)), item=None), "A", "B")
    assert (found.wins, found.losses, found.difference.n) == (2, 1, 3)


def test_rows_without_weight_are_no_items():
    made = replace(played(met(1, 1, -1)), weight=np.array([1.0, 0.0, 1.0]))
    assert (paired(made, "A", "B").wins, paired(made, "A", "B").losses) == (1, 1)


def test_replicates_weigh_within_their_item():
    made = replace(played(met(1, -1, -1), items=[1, 1, 1]), weight=np.array([1.0, 0.25, 0.25]))
    assert paired(made, "A", "B").difference.value == pytest.approx(0.5 / 1.5)


def test_an_unknown_name_is_refused_with_the_names_there_are():
    with refused(ValueError, "'D'", "A, B"):
        paired(played(met(1)), "A", "D")


THROUGH: list[Game] = [
    ("A", "base", 1), ("B", "base", -1),
    ("A", "base", 0), ("base", "B", -1),
    ("base", "A", -1), ("base", "B", 1),
    ("A", "base", 1), ("B", "base", 0),
    ("A", "base", 1),
]  # fmt: skip
THROUGH_ITEMS = [1, 1, 2, 2, 3, 3, 4, 4, 5]


def test_two_models_are_compared_on_the_items_where_both_met_the_baseline():
    found = paired_through(played(THROUGH, items=THROUGH_ITEMS), "A", "B", "base")
    # A less B: 1 - 0, 0.5 - 1, 1 - 0, 1 - 0.5; item 5 has no B.
    assert found.difference.value == pytest.approx((1 - 0.5 + 1 + 0.5) / 4)
    assert (found.wins, found.losses, found.ties, found.difference.n) == (3, 1, 0, 4)
    # Of the 16 sign flips of (1, 0.5, 1, 0.5), a sum of at least 2: 3, and 2 twice; and as many below.
    assert found.p_value == pytest.approx(6 / 16)
    assert found.test == "sign flips, exact"
    assert found.baseline == "base"


def test_turned_sides_turn_the_difference():
    made = played(THROUGH, items=THROUGH_ITEMS)
    one, other = paired_through(made, "A", "B", "base"), paired_through(made, "B", "A", "base")
    assert one.difference.value == -(other.difference.value or 0)
    assert one.p_value == other.p_value


@given(st.lists(st.sampled_from([-1.0, -0.5, -0.25, 0.0, 0.25, 0.5, 1.0]), min_size=1, max_size=9))
def test_few_items_are_flipped_in_every_way(gaps: list[float]):
    sums = [sum(s * gap for s, gap in zip(signs, gaps, strict=True)) for signs in product((1, -1), repeat=len(gaps))]
    expected = sum(abs(one) >= abs(sum(gaps)) - 1e-12 for one in sums) / len(sums)
    assert _sign_flips(np.array(gaps), 0, exact=True) == pytest.approx(expected)


def test_drawn_flips_come_close_to_all_of_them():
    gaps = np.random.default_rng(4).choice([-1.0, -0.5, 0.5, 1.0], 14, p=[0.1, 0.1, 0.4, 0.4])
    exact = _sign_flips(gaps, 0, exact=True)
    assert 0.001 < exact < 0.5
    drawn_ones = _sign_flips(gaps, 0, exact=False)
    assert drawn_ones == pytest.approx(exact, abs=0.01)
    assert drawn_ones == _sign_flips(gaps, 0, exact=False)
    assert drawn_ones != _sign_flips(gaps, 1, exact=False)


def test_sums_of_the_same_parts_are_as_far():
    """0.3 + 0.7 + 0.3 is a rounding error more than 0.3 + 0.3 + 0.7, and 0.1 + 0.2 is not 0.3."""
    assert _sign_flips(np.array([0.3, 0.7, 0.3]), 0, exact=True) == 2 / 8
    assert _sign_flips(np.array([0.1, 0.2, -0.3]), 0, exact=True) == 1.0


def test_no_draw_as_far_still_is_no_certainty():
    assert _sign_flips(np.ones(60), 0, exact=False) == 1 / 10_000


def test_more_than_sixteen_differences_are_drawn_and_the_test_says_so():
    battles: list[Game] = [battle for _ in range(17) for battle in (("A", "base", 1), ("B", "base", -1))]
    items = [number // 2 for number in range(34)]
    assert paired_through(played(battles, items=items), "A", "B", "base", seed=3).test == (
        "sign flips, 9999 draws, seed 3"
    )
    fewer = paired_through(played(battles[:32], items=items[:32]), "A", "B", "base")
    assert (fewer.test, fewer.p_value) == ("sign flips, exact", 2 / 2**16)


def test_alike_models_are_not_apart():
    battles: list[Game] = [("A", "base", 1), ("B", "base", 1)]
    found = paired_through(played(battles, items=[1, 1]), "A", "B", "base")
    assert (found.ties, found.p_value, found.difference.value) == (1, 1.0, 0.0)


@pytest.mark.parametrize("items", [True, False])
def test_without_a_shared_item_there_is_no_comparison(items: bool):
    made = played([("A", "base", 1), ("B", "base", 1)])
    found = paired_through(made if items else replace(made, item=None), "A", "B", "base")
    assert found.difference.value is None
    assert found.p_value is None
    reason = "A and B met base on no item both" if items else "no items are named, so no two rows are of one"
    assert found.difference.reason == reason


def test_equal_models_come_out_apart_about_one_time_in_twenty():
    rng = np.random.default_rng(9)
    direct = through = 0
    for _ in range(200):
        sign = rng.choice([-1, 0, 1], (2, 40)).astype(np.int8)
        made = Comparisons(
            models=("A", "B", "base"),
            model_a=np.repeat([0, 1], 40).astype(np.int32),
            model_b=np.full(80, 2, dtype=np.int32),
            sign=sign.ravel(),
            item=np.tile(np.arange(40), 2).astype(np.int32),
        )
        direct += (paired(made, "A", "base").p_value or 0) < 0.05
        through += (paired_through(made, "A", "B", "base").p_value or 0) < 0.05
    assert 1 <= direct <= 18
    assert 1 <= through <= 18


def test_a_document_names_the_test():
    document = paired(played(met(1, 1, -1)), "A", "B").as_json()
    assert document["test"] == "sign test, exact"
    assert (document["model"], document["other"], document["baseline"]) == ("A", "B", None)
    assert (document["difference"], document["difference_n"]) == (pytest.approx(1 / 3), 3)
    assert (document["wins"], document["losses"], document["ties"], document["p_value"]) == (2, 1, 0, 1.0)


def before_raters(*won: int, of: int = 10) -> Comparisons:
    """A against B, each rater on items of its own, so many of them won by A."""
    rater = np.repeat(np.arange(len(won)), of).astype(np.int32)
    made = played(met(*(1 if row < wins else -1 for wins in won for row in range(of))))
    return replace(made, rater=rater, crossed=rater, raters=tuple(f"r{code}" for code in range(len(won))))


def test_raters_who_differ_are_as_few_as_they_are():
    seven = before_raters(10, 10, 10, 10, 10, 10, 3)
    found, by_item = paired(seven, "A", "B"), paired(replace(seven, crossed=None), "A", "B")
    leads = np.array([10, 10, 10, 10, 10, 10, -4])
    sums = [abs(float(np.dot(flips, leads))) for flips in product((1, -1), repeat=7)]
    assert found.p_value == pytest.approx(np.mean([one >= leads.sum() for one in sums]))
    assert found.test == "sign flips of raters, exact"
    assert (found.wins, found.losses) == (by_item.wins, by_item.losses) == (63, 7)
    assert found.difference.value == pytest.approx(by_item.difference.value)
    assert found.difference.lower < by_item.difference.lower - 0.1  # type: ignore[operator]
    few = paired(before_raters(10, 10, 3), "A", "B")
    assert (few.p_value, few.test) == (None, "none: fewer than 6 raters")


def test_raters_differ_through_a_baseline_too():
    seven = before_raters(10, 10, 10, 10, 10, 10, 3)
    assert seven.item is not None
    assert seven.rater is not None
    # The same of A and the baseline, and on every item B and the baseline are level.
    twice = Comparisons(
        models=("A", "B", "base"),
        model_a=np.repeat([0, 1], 70).astype(np.int32),
        model_b=np.full(140, 2, dtype=np.int32),
        sign=np.concatenate((seven.sign, np.zeros(70))).astype(np.int8),
        item=np.tile(seven.item, 2),
        rater=np.tile(seven.rater, 2),
        crossed=np.tile(seven.rater, 2),
        raters=seven.raters,
    )
    found, directly = paired_through(twice, "A", "B", "base"), paired(seven, "A", "B")
    assert found.p_value == pytest.approx(directly.p_value)
    assert found.difference.value == pytest.approx((directly.difference.value or 0) / 2)
    assert (found.wins, found.losses, found.test) == (63, 7, "sign flips of raters, exact")


@pytest.mark.slow
def test_equal_models_are_rarely_told_apart_before_raters_of_unequal_taste():
    rng = np.random.default_rng(5)
    wrong = 0
    for _ in range(200):
        chance = 1 / (1 + np.exp(-rng.normal(0, 1.5, 10)))
        found = paired(before_raters(*rng.binomial(10, chance)), "A", "B")
        wrong += found.p_value is not None and found.p_value <= 0.05
    # 5 % wanted, and three simulation errors; by items alone it is 40 %.
    assert wrong / 200 <= 0.1
