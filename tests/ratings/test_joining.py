"""Claims about battles made of votes."""

import itertools
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.vote import Joining, Vote
from evenhand.ratings import Comparisons, battles
from evenhand.ratings.joining import joined

votes = st.lists(
    st.builds(
        lambda item, pair, value, rater: Vote(
            item=item, model_a=pair[0], model_b=pair[1], first=pair[0], value=value, levels=3, rater=rater
        ),
        st.sampled_from("123"),
        st.sampled_from(list(itertools.permutations("WXY", 2))),
        st.integers(-1, 1),
        st.sampled_from(["Ann", "Bob"]),
    ),
    max_size=30,
)


def rows(of: Comparisons) -> list[tuple[object, ...]]:
    """Item, models, sign, rater and weight of each row, by name where there is one."""
    item = np.zeros(len(of), dtype=np.int32) if of.item is None else of.item
    rater = np.zeros(len(of), dtype=np.int32) if of.rater is None else of.rater
    weight = np.ones(len(of)) if of.weight is None else of.weight
    columns = (item, of.model_a, of.model_b, of.sign, rater, weight)
    return list(zip(*(column.tolist() for column in columns), strict=True))


@given(votes, st.sampled_from(get_args(Joining)))
def test_columns_are_joined_as_votes_are(given_votes: list[Vote], rule: Joining):
    assert rows(joined(Comparisons.of_votes(given_votes), rule)) == rows(battles(given_votes, rule))


@pytest.mark.parametrize(
    ("signs", "visit", "strict"),
    [((1, 1), 1, 1), ((1, 0), 1, 0), ((1, -1), 0, 0), ((0, 0), 0, 0), ((-1, -1, 1), -1, 0)],
)
def test_two_rules_join_the_same_votes(signs: tuple[int, ...], visit: int, strict: int):
    shown = [
        Vote(item="1", model_a="X", model_b="Y", first="X", value=sign, levels=3, rater="Ann", weight=0.5)
        for sign in signs
    ]
    rules: list[tuple[Joining, int]] = [("visit", visit), ("mt-bench", strict)]
    for rule, expected in rules:
        battle = joined(Comparisons.of_votes(shown), rule)
        assert (battle.sign.tolist(), battle.weight) == ([expected], None)


def test_a_vote_without_weight_joins_nothing():
    shown = [
        Vote(item="1", model_a="X", model_b="Y", first="X", value=sign, levels=3, rater="Ann", weight=weight)
        for sign, weight in ((1, 1.0), (-1, 0.0))
    ]
    assert joined(Comparisons.of_votes(shown), "mt-bench").sign.tolist() == [1]


def test_rows_without_items_are_battles_already():
    table = Comparisons.of_columns(["X", "X"], ["Y", "Y"], np.array([1, 1], dtype=np.int8))
    assert joined(table, "visit") is table
