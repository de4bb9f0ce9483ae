"""Claims about votes and battles as arrays."""

import numpy as np
import pytest

from evenhand.domain.vote import Joining, Vote
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.comparisons import Comparisons
from tests.refusals import refused


def vote(item: str, a: str, b: str, value: int, *, first: str | None = None, rater: str = "judge") -> Vote:
    return Vote(item=item, model_a=a, model_b=b, first=first or a, value=value, levels=5, rater=rater)


def rows(comparisons: Comparisons) -> list[tuple[str, str, int]]:
    names = comparisons.models
    return [
        (names[a], names[b], int(sign))
        for a, b, sign in zip(comparisons.model_a, comparisons.model_b, comparisons.sign, strict=True)
    ]


def test_votes_keep_their_order_and_their_sides():
    table = Comparisons.of_votes([vote("2", "Y", "X", -2), vote("1", "X", "Z", 0), vote("2", "X", "Y", 1)])
    assert table.models == ("X", "Y", "Z")
    assert rows(table) == [("Y", "X", -1), ("X", "Z", 0), ("X", "Y", 1)]
    assert table.item is not None
    assert table.item.tolist() == [0, 1, 0]


@pytest.mark.parametrize(
    ("rule", "signs", "sign"),
    # The README of VisIT-Bench and MT-bench's rule, as in spec/seed-systems.md B4.
    [
        ("visit", (1, 1), 1),
        ("visit", (1, 0), 1),
        ("visit", (1, -1), 0),
        ("visit", (0, 0), 0),
        ("visit", (0, -1), -1),
        ("mt-bench", (1, 1), 1),
        ("mt-bench", (1, 0), 0),
        ("mt-bench", (-1, -1), -1),
    ],
)
def test_two_orders_make_one_battle_by_the_named_rule(rule: Joining, signs: tuple[int, int], sign: int):
    one, other = signs
    same_sides = [vote("1", "X", "Y", one), vote("1", "X", "Y", other, first="Y")]
    other_sides = [vote("1", "X", "Y", one), vote("1", "Y", "X", -other)]
    for shown in (same_sides, other_sides):
        assert rows(joined(Comparisons.of_votes(shown), rule)) == [("X", "Y", sign)]


def test_items_raters_and_pairs_are_battles_apart_in_order_of_their_first_vote():
    votes = [
        vote("2", "X", "Y", 1),
        vote("1", "X", "Y", -1),
        vote("2", "X", "Y", 1, rater="person"),
        vote("2", "X", "Z", 0),
        vote("2", "X", "Y", 1, first="Y"),
    ]
    made = joined(Comparisons.of_votes(votes), "visit")
    assert rows(made) == [("X", "Y", 1), ("X", "Y", -1), ("X", "Y", 1), ("X", "Z", 0)]
    assert made.item is not None
    assert made.item.tolist() == [0, 1, 0, 0]
    assert made.weight is None


def test_a_model_against_itself_is_refused_with_its_row():
    with refused(ValueError, "Row 2", "itself"):
        Comparisons.of_votes([vote("1", "X", "Y", 1), vote("1", "X", "X", 1)])


@pytest.mark.parametrize(
    ("column", "value", "says"),
    [
        ("model_b", np.array([0, 2]), "between 0 and 1"),
        ("sign", np.array([1, 2]), "Row 2 has a sign"),
        ("weight", np.array([-1.0, 1.0]), "Row 1 has a weight"),
        ("item", np.array([0]), "one length"),
    ],
)
def test_bad_columns_are_refused(column: str, value: object, says: str):
    columns: dict[str, object] = {
        "model_a": np.array([0, 0]),
        "model_b": np.array([1, 1]),
        "sign": np.array([1, -1]),
        "weight": np.ones(2),
        "item": np.array([0, 1]),
        column: value,
    }
    with pytest.raises(ValueError, match=says):
        Comparisons(models=("X", "Y"), **columns)  # pyright: ignore[reportArgumentType]
