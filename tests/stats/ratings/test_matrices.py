"""Claims about the win matrix."""

import math

import numpy as np
import pytest
from hypothesis import given

from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.shares.win_matrix import observed_wins, predicted_wins
from tests.stats.ratings.made import Game, drawn, games, played

PLAYED: list[Game] = [("A", "B", 1), ("B", "A", 1), ("A", "B", 0), ("A", "B", 1), ("C", "B", 1)]


def test_a_share_is_wins_and_half_the_ties_over_all():
    matrix = observed_wins(played(PLAYED))
    assert matrix.models == ("A", "B", "C")
    assert matrix.share[0, 1] == 2.5 / 4
    assert matrix.share[1, 0] == 1.5 / 4
    assert matrix.n[0, 1] == matrix.n[1, 0] == 4


def test_where_nothing_was_played_there_is_no_share():
    document = observed_wins(played(PLAYED)).as_json()
    assert document == {
        "models": ["A", "B", "C"],
        "share": [[None, 0.625, None], [0.375, None, 0.0], [None, 1.0, None]],
        "n": [[0, 4, 0], [4, 0, 1], [0, 1, 0]],
    }


@given(games)
def test_the_shares_of_two_models_add_up_to_one(battles: list[Game]):
    matrix = observed_wins(played(battles))
    for i, one in enumerate(matrix.models):
        for j, other in enumerate(matrix.models):
            met = [sign if a == one else -sign for a, b, sign in battles if {a, b} == {one, other} and i != j]
            assert matrix.n[i, j] == len(met)
            if met:
                assert matrix.share[i, j] == pytest.approx(sum((1 + sign) / 2 for sign in met) / len(met))
                assert matrix.share[i, j] + matrix.share[j, i] == pytest.approx(1)
            else:
                assert math.isnan(matrix.share[i, j])


def test_two_models_are_predicted_as_they_played():
    made = played([("A", "B", 1)] * 3 + [("A", "B", -1)])
    predicted = predicted_wins(bradley_terry(made))
    assert predicted.share[0, 1] == pytest.approx(0.75)
    assert predicted.n[0, 1] == 4


@pytest.mark.parametrize("ties", ["half", "davidson"])
def test_a_prediction_adds_up_to_the_points_each_model_took(ties: str):
    """The likelihood's own equations, for ties as halves; for Davidson's model they hold as well."""
    made = drawn(rows=400, models=5, items=100, seed=1)
    observed = observed_wins(made)
    predicted = predicted_wins(bradley_terry(made, ties="half" if ties == "half" else "davidson"))
    points = np.nansum(observed.share * observed.n, axis=1)
    assert np.nansum(predicted.share * observed.n, axis=1) == pytest.approx(points, rel=1e-6)
    assert np.nanmax(np.abs(predicted.share + predicted.share.T - 1)) < 1e-12


def test_pairs_that_never_met_are_predicted_and_those_without_a_finite_difference_not():
    made = played(
        [("A", "B", 1), ("A", "B", -1), ("B", "C", 1), ("B", "C", -1), ("X", "A", 1), ("Y", "Z", 1), ("Y", "Z", -1)],
        models=["idle"],
    )
    predicted = predicted_wins(bradley_terry(made))
    at = {name: code for code, name in enumerate(predicted.models)}
    assert predicted.share[at["A"], at["C"]] == pytest.approx(0.5)
    assert predicted.n[at["A"], at["C"]] == 0
    for one, other in (("X", "A"), ("A", "Y"), ("idle", "A"), ("A", "A")):
        assert math.isnan(predicted.share[at[one], at[other]])
