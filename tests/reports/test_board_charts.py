"""Claims about the picture of a board."""

import math
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from evenhand.reports.board.board import Board
from evenhand.reports.board.ranking import rank
from evenhand.reports.board.shown.charts import marks, plot


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


def test_a_model_without_a_finite_rating_is_drawn_from_its_bound_on():
    board = rank(frame(("W", "X", "model_a"), ("X", "Y", "model_a"), ("Y", "X", "model_a")))
    unbounded = next(one for one in marks(board) if one.model == "W")
    assert (unbounded.value, unbounded.upper) == (None, math.inf)
    assert unbounded.lower == board.models[0].rating.lower


def svg(board: Board, folder: Path) -> str:
    plot(board, folder / "b.svg")
    return (folder / "b.svg").read_text(encoding="utf-8")


def test_a_model_without_even_a_bound_is_named(tmp_path: Path):
    # V met only W, and W has no finite rating either.
    board = rank(frame(("V", "W", "model_a"), ("W", "X", "model_a"), ("X", "Y", "model_a"), ("Y", "X", "model_a")))
    assert "V" not in {one.model for one in marks(board)}
    assert "not drawn, without a finite rating: V" in svg(board, tmp_path)


def test_models_of_several_components_carry_their_number(tmp_path: Path):
    board = rank(frame(*[("X", "Y", "model_a"), ("Y", "X", "tie"), ("P", "Q", "model_a"), ("Q", "P", "tie")] * 2))
    assert sorted(one.model for one in marks(board)) == ["[1] P", "[1] Q", "[2] X", "[2] Y"]
    assert "[1] to [2]: components that no battle joins" in svg(board, tmp_path)


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ({}, "95 % intervals, every row for itself; 40 rows<"),
        ({"bootstrap": 20}, "95 % intervals from resamples; 40 rows<"),
        ({"method": "elo"}, "no intervals: one pass of Elo has none, --bootstrap gives them; 40 rows<"),
    ],
)
def test_a_picture_says_what_its_intervals_are(how: dict[str, Any], words: str, tmp_path: Path):
    assert words in svg(rank(frame(*[("X", "Y", "model_a"), ("Y", "X", "model_a")] * 20), **how), tmp_path)


def test_intervals_of_items_and_the_want_of_them_are_said(tmp_path: Path):
    rows = frame(*[("X", "Y", "model_a"), ("Y", "X", "model_a"), ("X", "Y", "tie")] * 12)
    items = rows.with_columns(item=pl.int_range(pl.len()) // 3)
    assert "95 % intervals, clustered by 12 items; 36 rows on 12 items<" in svg(rank(items), tmp_path)
    alone = rows.with_columns(item=pl.lit("one"))
    assert "no intervals: too few items for so many models; 36 rows on 1 item<" in svg(rank(alone), tmp_path)


@pytest.mark.parametrize("name", ["bell\x07", "escape\x1b[31m", "nothing\x00", "\ufffe odd", "\x85 next"])
def test_a_control_character_in_a_name_ends_no_program(name: str, tmp_path: Path):
    plot(rank(frame((name, "Y", "model_a"), ("Y", name, "model_a"))), tmp_path / "b.png")
    assert (tmp_path / "b.png").read_bytes().startswith(b"\x89PNG")
