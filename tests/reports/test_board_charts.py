"""Claims about the picture of a board."""

import math

import polars as pl

from evenhand.reports.board_charts import marks
from evenhand.reports.ranking import rank


def frame(*rows: tuple[str, str, str]) -> pl.DataFrame:
    return pl.DataFrame(rows, schema=["model_a", "model_b", "winner"], orient="row")


def test_a_mark_is_a_models_rating_with_its_interval():
    board = rank(frame(*[("X", "Y", "model_a"), ("X", "Y", "model_b"), ("X", "Y", "model_a")] * 9))
    assert [(one.model, one.value, one.lower, one.upper) for one in marks(board)] == [
        (one.model, one.rating.value, one.rating.lower, one.rating.upper) for one in board.models
    ]


def test_a_bound_that_the_resamples_do_not_give_is_infinite():
    board = rank(frame(("X", "Y", "model_a"), ("X", "Y", "model_b"), ("X", "Y", "model_a")), bootstrap=60)
    assert {one.rating.unbounded for one in board.models} == {"both"}
    assert [(one.lower, one.upper) for one in marks(board)] == [(-math.inf, math.inf)] * 2


def test_a_model_without_a_finite_rating_has_no_mark():
    board = rank(frame(("W", "X", "model_a"), ("X", "Y", "model_a"), ("Y", "X", "model_a")))
    assert [one.model for one in marks(board)] == ["X", "Y"]
