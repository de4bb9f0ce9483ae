"""In which orders options are shown, and what chance and an unmoved judge score in them."""

from itertools import permutations, product
from math import factorial, log2

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.errors import EvenhandError, Misuse
from evenhand.stats.reliability.grade_score.chance import chance_level, expected
from evenhand.stats.reliability.grade_score.chance_pattern import ChancePattern
from evenhand.stats.reliability.grade_score.highest_graded import GradedChoice, highest_graded
from evenhand.stats.reliability.grade_score.option_rows import OptionRow, Orders, rotations
from evenhand.stats.reliability.grade_score.orders import Showings, orders_of
from evenhand.stats.reliability.grade_score.score import grade_score, modal_agreement
from tests.refusals import refused


def chosen_in(orders: Orders, favourite: int, item: str = "a", *, unrelated: bool = False) -> OptionRow:
    places = tuple(order.index(favourite) for order in orders)
    return OptionRow(item=item, selected_positions=places, orders=orders, unrelated=unrelated)


def by_hand(orders: Orders, places: tuple[int, ...]) -> float:
    """Equations 1 to 6."""
    n, trials = len(orders[0]), len(orders)
    shares = [places.count(place) / trials for place in range(n)]
    llm = -sum(share * log2(share) for share in shares if share) / log2(n)
    options = [order[place] for order, place in zip(orders, places, strict=True)]
    choice = max(map(options.count, options)) / trials
    return 2 * llm * choice / (llm + choice)


@given(options=st.integers(2, 6), unrelated=st.booleans())
def test_all_orders_are_each_shown_once_and_begin_with_the_rotations(options: int, unrelated: bool):
    shown = orders_of(options, unrelated=unrelated, showings="all")
    assert set(shown) == set(permutations(range(options)))
    assert len(shown) == factorial(options)
    assert shown[:options] == rotations(options, unrelated=unrelated)


@given(options=st.integers(2, 9), drawn=st.integers(2, 60), seed=st.integers(0, 20), unrelated=st.booleans())
def test_drawn_orders_are_distinct_and_put_every_option_everywhere_as_evenly_as_can_be(
    options: int, drawn: int, seed: int, unrelated: bool
):
    shown = orders_of(options, unrelated=unrelated, showings=drawn, seed=seed)
    assert len(set(shown)) == len(shown) == min(drawn, factorial(options))
    for option, place in product(range(options), repeat=2):
        stands = sum(order[place] == option for order in shown)
        assert len(shown) // options <= stands <= -(-len(shown) // options)


def test_a_larger_number_only_adds_and_another_seed_draws_others():
    twelve, twenty = (orders_of(5, showings=number) for number in (12, 20))
    assert twenty[:12] == twelve
    assert set(twelve[:5]) == set(rotations(5))
    assert set(orders_of(5, showings=12, seed=1)) != set(twelve)


def test_rotations_stay_what_they_were():
    assert orders_of(4) == rotations(4) == ((3, 0, 1, 2), (2, 3, 0, 1), (1, 2, 3, 0), (0, 1, 2, 3))


@pytest.mark.parametrize("showings", ["all", 5040])
def test_too_many_orders_are_refused_with_what_to_do(showings: Showings):
    with refused(EvenhandError, "5,040", f"--showings {showings}", "--max-options 5", code="EH-ORDERS-TOO-MANY"):
        orders_of(7, unrelated=True, showings=showings)


def test_more_orders_than_all_of_six_options_have_are_drawn_of_none():
    assert len(orders_of(7, showings=720)) == 720
    with refused(EvenhandError, "720", "--showings 721", "7 options", code="EH-ORDERS-TOO-MANY"):
        orders_of(7, showings=721)


def test_one_order_alone_is_refused():
    with pytest.raises(Misuse, match="2 orders at least"):
        orders_of(3, showings=1)


@pytest.mark.parametrize("orders", [orders_of(3, showings="all"), orders_of(3, showings=4), orders_of(4, showings=5)])
def test_the_chance_level_is_the_mean_of_every_way_to_pick(orders: Orders):
    options = len(orders[0])
    ways = [by_hand(orders, way) if len(set(way)) > 1 else 0.0 for way in product(range(options), repeat=len(orders))]
    found = expected(ChancePattern.whole(options, orders))
    assert found.standard_error == 0
    assert found.expected.grade == pytest.approx(np.mean(ways), abs=1e-12)


def test_all_orders_of_two_options_are_their_rotations_and_have_the_table_level():
    assert orders_of(2, showings="all") == rotations(2)


def test_the_printed_levels_of_all_orders():
    levels = [chance_level({ChancePattern.whole(n, orders_of(n, showings="all")): 1.0}) for n in (3, 4, 5)]
    assert [round(one.grade, 2) for one in levels if one] == [0.64, 0.52, 0.40]
    assert all(one is not None and one.standard_error < 0.001 for one in levels)


def test_many_orders_are_simulated_close_to_drawing_them():
    orders = orders_of(4, showings="all")
    chance = chance_level({ChancePattern.whole(4, orders): 1.0}, seed=3)
    rng = np.random.default_rng(0)
    drawn = [by_hand(orders, tuple(rng.integers(0, 4, 24).tolist())) for _ in range(4_000)]
    assert chance is not None
    assert chance.grade == pytest.approx(np.mean(drawn), abs=5 * np.std(drawn) / 4_000**0.5)


@pytest.mark.parametrize("showings", ["all", 8, 7, 2])
def test_a_judge_who_is_never_moved_is_one_above_chance_and_one_who_follows_position_scores_zero(showings: Showings):
    orders = orders_of(4, showings=showings)
    unmoved = grade_score([chosen_in(orders, favourite, str(favourite)) for favourite in range(4)])
    assert unmoved.above_chance.value == pytest.approx(1)
    assert unmoved.grade_score.value == pytest.approx(unmoved.attainable)
    assert (unmoved.attainable == pytest.approx(1)) == (showings in ("all", 8))
    first = grade_score([OptionRow(item="a", selected_positions=(0,) * len(orders), orders=orders)])
    assert first.grade_score.value == 0


def test_seven_of_four_options_by_hand():
    # A favourite stands twice at three positions and once at the fourth.
    llm = -(3 * 2 / 7 * log2(2 / 7) + 1 / 7 * log2(1 / 7)) / 2
    orders = orders_of(4, showings=7)
    assert grade_score([chosen_in(orders, 2)]).grade_score.value == pytest.approx(2 * llm / (llm + 1))


def test_bounds_of_unread_showings_are_those_of_every_completion():
    orders = orders_of(3, showings=5)
    read = list(product(range(3), repeat=4))
    rows = [OptionRow(item=str(way), selected_positions=(*way, None), orders=orders) for way in read]
    score = grade_score(rows)
    assert score.incomplete == len(rows)
    for number, way in enumerate(read):
        ends = [by_hand(orders, (*way, last)) if len({*way, last}) > 1 else 0.0 for last in range(3)]
        found = (score.rows.lowest[number], score.rows.highest[number])
        assert found == pytest.approx((min(ends), max(ends))), way


@pytest.mark.parametrize("showings", ["all", 7])
def test_without_the_unrelated_option_an_unmoved_judge_is_one_above_chance(showings: Showings):
    orders = orders_of(4, showings=showings, unrelated=True)
    score = grade_score([chosen_in(orders, 1, unrelated=True)], remove_unrelated=True)
    assert score.above_chance.value == pytest.approx(1)
    assert score.chance is not None
    assert 0.4 < score.chance.grade < 0.8


def test_a_judge_who_picks_at_random_is_at_chance_in_drawn_orders():
    rng = np.random.default_rng(4)
    rows = [
        OptionRow(item=f"{n} {i}", selected_positions=tuple(rng.integers(0, n, 8).tolist()), orders=orders)
        for n in (4, 5)
        for orders in [orders_of(n, showings=8)]
        for i in range(400)
    ]
    score = grade_score(rows)
    assert score.chance is not None
    assert score.grade_score.lower is not None
    assert score.grade_score.upper is not None
    assert score.grade_score.lower < score.chance.grade < score.grade_score.upper


def test_a_decided_tie_counts_whole_where_it_shared_the_row_before():
    rows = [OptionRow(item="a", selected_positions=(0, 0)), OptionRow(item="b", selected_positions=(0, 1))]
    score = grade_score(rows)
    best = {"a": 0, "b": 1}
    assert rows[0].most_chosen == (0, 1)
    assert modal_agreement(score, best).value == pytest.approx(0.75)
    assert modal_agreement(score, best, decided={("a", 0): 0}).value == 1
    assert modal_agreement(score, best, decided={("a", 0): 1}).value == 0.5


def test_the_selection_is_the_highest_graded_by_hand():
    trials = [
        GradedChoice(item="a", place=1, grades=(3, 5, 2)),
        GradedChoice(item="a", place=0, grades=(4, 4, 1)),  # shared: either is the highest
        GradedChoice(item="b", place=2, grades=(5, 0, 4)),
        GradedChoice(item="c", place=0, grades=None),
    ]
    found = highest_graded(trials)
    assert found.share.value == pytest.approx(2 / 3)
    assert (found.share.n, found.share.clusters) == (3, 2)
    assert found.at_random == pytest.approx((1 / 3 + 2 / 3 + 1 / 3) / 3)
    assert (found.shared, found.ungraded) == (1, 1)
    assert highest_graded([]).share.value is None
