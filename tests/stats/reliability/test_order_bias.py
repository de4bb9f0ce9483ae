"""Claims about swap consistency and the first-position share."""

from dataclasses import replace
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.estimate import Estimate
from evenhand.domain.vote import Vote
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.reliability import OrderBias, order_bias
from tests.refusals import refused
from tests.stats.reliability.judges import both_orders, judged, showing

said = st.sampled_from([2, 1, 0, -1, -2])
some_votes = st.lists(
    st.builds(
        lambda item, models, verdict, rater, weight: showing(
            item, models[0], models[1], verdict, rater=rater, weight=weight
        ),
        st.sampled_from("123"),
        st.sampled_from([("X", "Y"), ("Y", "X"), ("X", "Z"), ("Z", "X")]),
        said,
        st.sampled_from(["judge", "person"]),
        st.sampled_from([0.5, 1.0]),
    )
)


def estimates(bias: OrderBias) -> list[Estimate]:
    return [
        bias.swap_consistency,
        bias.swap_consistency_without_ties,
        bias.first_position_share,
        bias.first_position_share_without_ties,
    ]


def numbers(bias: OrderBias) -> list[float]:
    return [number or 0.0 for e in estimates(bias) for number in (e.value, e.lower, e.upper, e.n, e.clusters)]


def test_four_pairs_counted_by_hand():
    bias = order_bias(
        [
            *both_orders("1", 1, -1),  # X both times: kept; first won 1 of 2
            *both_orders("2", 1, 1),  # the first place both times: not kept; 2 of 2
            *both_orders("3", 0, 0),  # a tie both times: kept; two halves
            *both_orders("4", 0, -1),  # a tie, then X: not kept; one half and none
        ]
    )
    assert [e.value for e in estimates(bias)] == [2 / 4, 1 / 2, 4.5 / 8, 3 / 5]
    assert [e.n for e in estimates(bias)] == [4, 2, 8, 5]
    assert [e.clusters for e in estimates(bias)] == [4, 2, 4, 3]


def test_a_judge_who_always_takes_the_first_is_never_consistent():
    bias = order_bias(judged(40, lambda _: (1, 1)))
    assert bias.swap_consistency.value == 0
    assert bias.first_position_share.value == 1


def test_a_perfectly_consistent_judge_is_even_and_still_uncertain():
    bias = order_bias(judged(40, lambda item: (1, -1) if item % 3 else (-1, 1)))
    assert bias.swap_consistency.value == 1
    assert bias.swap_consistency.upper == 1
    # 40 / (40 + 2.0227^2): Student's t with 39 degrees.
    assert bias.swap_consistency.lower == pytest.approx(0.9072, abs=1e-4)
    assert bias.first_position_share.value == 0.5


def test_a_coin_keeps_half():
    coin = Random(7)
    bias = order_bias(judged(2_000, lambda _: (coin.choice((1, -1)), coin.choice((1, -1)))))
    for share in estimates(bias):
        assert share.value == pytest.approx(0.5, abs=0.035)
        assert share.lower is not None
        assert share.upper is not None
        assert share.lower < 0.5 < share.upper


def test_strength_does_not_matter_only_the_sign():
    assert order_bias(both_orders("1", 2, -1)).swap_consistency.value == 1


def test_a_tie_is_its_own_value():
    assert order_bias(both_orders("1", 0, 0)).swap_consistency.value == 1
    assert order_bias(both_orders("1", 0, -1)).swap_consistency.value == 0


def test_a_judge_that_only_ties_has_no_share_without_ties():
    bias = order_bias(judged(5, lambda _: (0, 0)))
    assert bias.first_position_share.value == 0.5
    for share in (bias.swap_consistency_without_ties, bias.first_position_share_without_ties):
        assert (share.value, share.n, share.reason) == (None, 0, "no cases")


def test_a_missing_order_does_not_count():
    whole = judged(5, lambda item: (1, -1) if item else (1, 1))
    lone = [showing("9", "X", "Y", 1), showing("9", "X", "Z", 1), showing("9", "Y", "X", 1, rater="person")]
    assert order_bias([*whole, *lone]) == replace(order_bias(whole), one_order_only=3)


def test_the_orders_of_two_raters_are_not_one_pair():
    bias = order_bias([showing("1", "X", "Y", 1, rater="judge"), showing("1", "Y", "X", -1, rater="person")])
    assert bias.swap_consistency.value is None
    assert bias.one_order_only == 2


def test_nothing_gives_no_value():
    bias = order_bias([])
    assert [e.reason for e in estimates(bias)] == ["no cases"] * 4


def test_pairs_of_one_item_are_one_cluster():
    votes = [vote for pair in ("XY", "XZ", "YZ") for vote in both_orders("1", 1, -1, models=pair)]
    assert order_bias(votes).swap_consistency.n == 3
    assert order_bias(votes).swap_consistency.clusters == 1


def test_every_replicate_of_one_order_meets_every_one_of_the_other():
    # X first: X, X, tie. Y first: X, Y, tie. Of nine meetings X-X twice and tie-tie once agree; four have no tie.
    votes = [showing("1", "X", "Y", verdict, weight=1 / 3) for verdict in (1, 1, 0)]
    votes += [showing("1", "Y", "X", verdict, weight=1 / 3) for verdict in (-1, 1, 0)]
    bias = order_bias(votes)
    assert [e.value for e in estimates(bias)] == pytest.approx([3 / 9, 2 / 4, (2 + 0.5 + 1 + 0.5) / 6, 3 / 4])
    assert [e.n for e in estimates(bias)] == pytest.approx([1, 4 / 9, 2, 4 / 3])


def test_a_heavier_verdict_counts_more_within_its_order():
    votes = [showing("1", "X", "Y", 1, weight=3), showing("1", "X", "Y", -1), showing("1", "Y", "X", -1)]
    bias = order_bias(votes)
    assert (bias.swap_consistency.value, bias.first_position_share.value) == (3 / 4, 3 / 8)


def test_unequal_replicates_do_not_pass_for_a_bias():
    # X is better and the judge says so always; one replicate of X first was not read.
    votes = [showing("1", "X", "Y", 1, weight=0.5), *[showing("1", "Y", "X", -1, weight=0.5)] * 2]
    assert order_bias(votes).first_position_share.value == 0.5


@given(some_votes)
def test_shares_stay_within_their_bounds(votes: list[Vote]):
    for share in estimates(order_bias(votes)):
        if share.value is not None:
            assert share.lower is not None
            assert share.upper is not None
            assert 0 <= share.lower <= share.value <= share.upper <= 1


@given(some_votes, st.permutations(["X", "Y", "Z"]), st.randoms(use_true_random=False))
def test_names_of_models_and_the_order_of_votes_do_not_matter(votes: list[Vote], names: list[str], random: Random):
    named = dict(zip("XYZ", names, strict=True))
    renamed = [
        replace(vote, model_a=named[vote.model_a], model_b=named[vote.model_b], first=named[vote.first])
        for vote in votes
    ]
    random.shuffle(renamed)
    assert numbers(order_bias(renamed)) == pytest.approx(numbers(order_bias(votes)), abs=1e-9)


@given(some_votes)
def test_which_model_is_called_a_does_not_matter(votes: list[Vote]):
    turned = [replace(v, model_a=v.model_b, model_b=v.model_a, value=-v.value) for v in votes]
    assert numbers(order_bias(turned)) == pytest.approx(numbers(order_bias(votes)), abs=1e-9)


@given(st.lists(st.tuples(said, said), min_size=1))
def test_a_judge_turned_round_favours_the_other_place_and_is_as_consistent(verdicts: list[tuple[int, int]]):
    bias = order_bias(judged(len(verdicts), lambda item: verdicts[item]))
    turned = order_bias(judged(len(verdicts), lambda item: (-verdicts[item][0], -verdicts[item][1])))
    assert turned.swap_consistency == bias.swap_consistency
    assert bias.first_position_share.value is not None
    assert turned.first_position_share.value == pytest.approx(1 - bias.first_position_share.value)


def test_a_first_model_that_was_not_shown_is_refused():
    with refused(ValueError, "Q", "X and Y"):
        order_bias([Vote(item="1", model_a="X", model_b="Y", first="Q", value=1, levels=2, rater="judge")])


def test_json_has_each_estimate_with_bounds_and_n():
    document = order_bias(judged(3, lambda _: (1, -1))).as_json()
    assert document["swap_consistency"] == 1
    assert document["first_position_share_without_ties_n"] == 6
    assert document["one_order_only"] == 0


def test_rows_of_which_nobody_knows_the_order_count_nowhere():
    known = Comparisons.of_votes(both_orders("1", 1, -1))
    unknown = replace(known, first=np.zeros(2, dtype=np.int8))
    assert order_bias(known).swap_consistency.value == 1
    assert order_bias(unknown).swap_consistency.value is None
    assert order_bias(unknown).one_order_only == 0


def test_a_pair_without_weight_is_not_even_left_out():
    muted = [replace(vote, weight=0.0) for vote in both_orders("1", 1, -1)]
    assert order_bias(muted).one_order_only == 0
    assert order_bias(muted).swap_consistency.n == 0
