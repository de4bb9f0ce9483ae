"""Votes put as opinions: one sign for every order, one list of cases for all raters."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.vote import Vote
from evenhand.stats.reliability.agreement.case_table import (
    CaseTable,
    RaterCases,
    as_boards,
    heard,
    in_any_order,
)
from evenhand.stats.reliability.agreement.vote_table import Showing


def vote(item: str, first: str, second: str, value: int, rater: str = "gpt", *, turned: bool = False) -> Vote:
    """`value` is positive for the one shown first; `turned` names the other one model_a."""
    a, b = (second, first) if turned else (first, second)
    return Vote(item=item, model_a=a, model_b=b, first=first, value=-value if turned else value, levels=5, rater=rater)


def test_the_model_in_every_pair_is_the_baseline():
    votes = [vote("1", "X", "base", 1), vote("1", "base", "Y", 1), vote("2", "Z", "base", 1)]
    case_table = CaseTable.of(votes)
    assert case_table.baseline == "base"
    assert case_table.cases.models == ("X", "Y", "Z")
    named = {case_table.named(case) for case in range(len(case_table.cases))}
    assert named == {("1", "X", "base"), ("1", "Y", "base"), ("2", "Z", "base")}


def test_of_two_models_the_reference_is_the_baseline_else_none_is():
    assert CaseTable.of([vote("1", "reference", "A", 1)]).baseline == "reference"
    assert CaseTable.of([vote("1", "B", "A", 1)]).baseline is None


def test_without_a_model_in_every_pair_the_pairs_are_the_models():
    case_table = CaseTable.of([vote("1", "X", "Y", 1), vote("1", "Y", "Z", 1), vote("1", "Z", "X", 1)])
    assert case_table.baseline is None
    assert case_table.cases.models == ("X / Y", "Y / Z", "X / Z")


def test_a_baseline_given_leaves_other_pairs_out():
    votes = [vote("1", "X", "Y", 1), vote("1", "Y", "Z", 1)]
    case_table = CaseTable.of(votes, baseline="X")
    assert len(case_table.cases) == 1
    assert case_table.named(0) == ("1", "Y", "X")
    assert len(case_table.showings(votes, ["gpt"], 5).case) == 1


@given(st.booleans(), st.integers(-2, 2))
def test_a_value_speaks_for_the_evaluated_model_however_the_row_names_the_two(turned: bool, value: int):
    votes = [vote("1", "reference", "X", value, turned=turned), vote("2", "X", "reference", value, turned=turned)]
    showings = CaseTable.of(votes).showings(votes, ["gpt"], 5)
    assert showings.value.tolist() == [-value, value]
    assert showings.reversed.tolist() == [False, True]


def of_one(votes: list[Vote], *unread: Showing) -> RaterCases:
    """What the rater gpt is taken to have said; `unread` was shown to it as well."""
    case_table = CaseTable.of(votes)
    shown = [(one.item, one.first, one.model_b if one.first == one.model_a else one.model_a) for one in votes]
    return heard(case_table.showings(votes, ["gpt"], 5), case_table.shown_twice([*shown, *unread]))


def test_the_mean_of_two_orders_and_the_published_one():
    votes = [vote("1", "reference", "X", -2), vote("1", "X", "reference", 1), vote("2", "X", "reference", 1)]
    both = of_one(votes)
    assert both.matrix.value.tolist() == [1.5]
    assert both.published.value.tolist() == [2]
    assert (both.one_order_only, both.models_in_one_order) == (1, ())


def test_what_was_shown_in_one_order_only_is_taken_as_it_is():
    votes = [vote("1", "X", "reference", 1), vote("2", "X", "reference", -2)]
    found = of_one(votes)
    assert found.matrix.value.tolist() == [1, -2]
    assert len(found.published) == 0
    assert (found.one_order_only, found.models_in_one_order) == (0, ("X",))


def test_a_model_shown_in_one_order_keeps_its_cases_beside_one_shown_in_both():
    votes = [
        vote("1", "reference", "X", -2), vote("1", "X", "reference", 1),
        vote("2", "X", "reference", 1),
        vote("1", "reference", "Y", 1), vote("2", "reference", "Y", 2),
    ]  # fmt: skip
    found = of_one(votes)
    assert found.matrix.value.tolist() == [1.5, -1, -2]
    assert found.published.value.tolist() == [2]
    assert (found.one_order_only, found.models_in_one_order) == (1, ("Y",))


def test_an_order_that_was_never_read_is_not_taken_for_one_that_was_never_shown():
    votes = [vote("1", "X", "reference", 1), vote("2", "X", "reference", -2)]
    found = of_one(votes, ("1", "reference", "X"), ("2", "reference", "X"))
    assert len(found.matrix) == 0
    assert (found.one_order_only, found.models_in_one_order) == (2, ())


def test_two_people_each_in_one_order_have_their_say():
    votes = [vote("1", "X", "reference", 1, "ann"), vote("1", "X", "reference", 1, "bob")]
    assert in_any_order(CaseTable.of(votes).showings(votes, ["ann", "bob"], 5)).value.tolist() == [1, 1]


def test_on_a_board_a_verdict_is_said_of_both_models():
    votes = [vote("1", "X", "Y", 2), vote("1", "Y", "Z", 1), vote("1", "X", "Z", 0)]
    case_table = CaseTable.of(votes)
    one, other = as_boards(case_table, *[in_any_order(case_table.showings(votes, ["gpt"], 5))] * 2)
    assert one.cases is other.cases
    total = {model: 0.0 for model in one.cases.models}
    for case, value in zip(one.case.tolist(), one.value.tolist(), strict=True):
        total[one.cases.models[one.cases.model[case]]] += value
    assert total == {"X": 2, "Y": -1, "Z": -1}


def test_with_a_baseline_opinions_are_boards_already():
    votes = [vote("1", "X", "reference", 2)]
    case_table = CaseTable.of(votes)
    opinions = in_any_order(case_table.showings(votes, ["gpt"], 5))
    assert as_boards(case_table, opinions) == (opinions,)


def test_a_rater_without_votes_has_no_opinions():
    votes = [vote("1", "X", "reference", 2)]
    assert len(in_any_order(CaseTable.of(votes).showings(votes, ["nobody"], 5))) == 0
    assert len(CaseTable.of([]).cases) == pytest.approx(0)
