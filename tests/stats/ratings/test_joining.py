"""Claims about battles made of votes."""

import itertools
from fractions import Fraction
from typing import get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.vote import Joining, Vote
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.comparisons import Comparisons

votes = st.lists(
    st.builds(
        lambda item, pair, value, rater, replicates: Vote(
            item=item,
            model_a=pair[0],
            model_b=pair[1],
            first=pair[0],
            value=value,
            levels=3,
            rater=rater,
            weight=1 / replicates,
        ),
        st.sampled_from("123"),
        st.sampled_from(list(itertools.permutations("WXY", 2))),
        st.integers(-1, 1),
        st.sampled_from(["Ann", "Bob"]),
        st.integers(1, 7),
    ),
    max_size=30,
)


def by_hand(given_votes: list[Vote], rule: Joining) -> list[tuple[str, str, int]]:
    """Battle after battle in exact fractions."""
    of_battle: dict[tuple[str, str, str, str], list[tuple[int, Fraction]]] = {}
    for vote in given_votes:
        part = Fraction(vote.weight).limit_denominator(100)
        mirrored = (vote.item, vote.model_b, vote.model_a, vote.rater)
        if mirrored in of_battle:
            of_battle[mirrored].append((-vote.sign, part))
        else:
            of_battle.setdefault((vote.item, vote.model_a, vote.model_b, vote.rater), []).append((vote.sign, part))
    made: list[tuple[str, str, int]] = []
    for (_, a, b, _), cast in of_battle.items():
        lead = sum(sign * part for sign, part in cast)
        won = (lead > 0) - (lead < 0)
        agreed = len({sign for sign, _ in cast}) == 1
        made.append((a, b, won if rule == "visit" or agreed else 0))
    return made


@given(votes, st.sampled_from(get_args(Joining)))
def test_a_battle_is_the_weighted_sum_of_its_votes(given_votes: list[Vote], rule: Joining):
    table = joined(Comparisons.of_votes(given_votes), rule)
    named = [(table.models[a], table.models[b]) for a, b in zip(table.model_a, table.model_b, strict=True)]
    found = [(a, b, int(sign)) for (a, b), sign in zip(named, table.sign, strict=True)]
    assert found == by_hand(given_votes, rule)


def test_replicates_of_one_order_do_not_outvote_the_other():
    # The first order was asked ten times, the second once: two trials of weight 1, one each way.
    weights = [*[(1, 0.1)] * 10, (-1, 1.0)]
    cast = [
        Vote(item="1", model_a="X", model_b="Y", first="X", value=sign, levels=3, rater="Ann", weight=weight)
        for sign, weight in weights
    ]
    assert joined(Comparisons.of_votes(cast), "visit").sign.tolist() == [0]
    assert joined(Comparisons.of_votes(cast[:10]), "mt-bench").sign.tolist() == [1]


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
