"""Claims about a newcomer on a frozen board, against what small changes of an item's weight do to the estimate."""

import importlib
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.placing import FrozenBoard, Meetings, NoBoard

ITEMS, MODELS = 30, 5
# Typed stubs of scipy leave this half unknown.
optimize: Any = importlib.import_module("scipy.optimize")


def board_rows(seed: int = 0, order: float = 0.6) -> Comparisons:
    """Round robin in both orders, with items that like one model more than another."""
    rng = np.random.default_rng(seed)
    a, b = np.triu_indices(MODELS, 1)
    item = np.repeat(np.arange(ITEMS), 2 * len(a))
    one, other = (np.tile(np.repeat(side, 2), ITEMS) for side in (a, b))
    first = np.tile([1, -1], ITEMS * len(a))
    likes = rng.normal(0, 1, (ITEMS, MODELS)) + np.linspace(-1, 1, MODELS)
    felt = likes[item, one] - likes[item, other] + order * first + rng.logistic(0, 1, len(item))
    return Comparisons(
        models=tuple("abcde"),
        model_a=one.astype(np.int32),
        model_b=other.astype(np.int32),
        sign=np.where(np.abs(felt) < 0.2, 0, np.sign(felt)).astype(np.int8),
        item=item.astype(np.int32),
        first=first.astype(np.int8),
    )


def newcomers(seed: int = 1, rows: int = 28) -> Meetings:
    rng = np.random.default_rng(seed)
    return Meetings(
        item=np.append(np.arange(rows - 3), [0, 1, 2]).astype(np.int32),
        opponent=rng.integers(0, MODELS, rows).astype(np.int32),
        first=rng.choice([1, -1], rows).astype(np.int8),
        score=rng.choice([0, 0.5, 1], rows),
    )


def strength_with(rows: Comparisons, met: Meetings, control: float, *, board: np.ndarray, own: np.ndarray) -> float:
    """The estimate where each item weighs so much in the board's fit, and so much in the newcomer's."""
    assert rows.item is not None
    frozen = FrozenBoard.of(replace(rows, weight=board[rows.item]), items=ITEMS)
    offset = met.first * frozen.order - frozen.strength[met.opponent]
    off = met.score - control * frozen.residual[met.item, met.opponent]

    def gap(strength: float) -> float:
        return float(own[met.item] @ (off - 1 / (1 + np.exp(-strength - offset))))

    return float(optimize.brentq(gap, -20, 20, xtol=1e-13))


def test_what_an_item_moves_is_what_its_weight_moves_in_the_board_and_in_the_newcomers_verdicts() -> None:
    rows, met = board_rows(), newcomers()
    placed = FrozenBoard.of(rows, items=ITEMS).place(met)
    assert placed is not None
    assert -3 < placed.control < 0, "or the control would not be tried"
    even, step = np.ones(ITEMS), 1e-5
    few = np.sqrt(25 / 24)  # 28 verdicts on 25 items
    for item in (0, 1, 7, 29):
        more, less = (even + sign * step * (np.arange(ITEMS) == item) for sign in (1, -1))
        by_board, by_own = (
            (strength_with(rows, met, placed.control, **high) - strength_with(rows, met, placed.control, **low))
            / (2 * step)
            for high, low in (
                ({"board": more, "own": even}, {"board": less, "own": even}),
                ({"board": even, "own": more}, {"board": even, "own": less}),
            )
        )
        assert placed.influence[item] == pytest.approx(by_board + few * by_own, abs=2e-6)
    assert placed.strength == pytest.approx(strength_with(rows, met, placed.control, board=even, own=even), abs=1e-9)
    assert placed.error == pytest.approx(np.sqrt((placed.influence**2).sum()))


def test_the_control_makes_the_error_smaller_where_items_treat_opponents_unlike() -> None:
    rows = board_rows()
    board = FrozenBoard.of(rows, items=ITEMS)
    met = newcomers()
    luck = np.random.default_rng(5).random(len(met))
    met = replace(met, score=(luck < 0.5 - board.residual[met.item, met.opponent]).astype(np.float64))
    unaware = replace(board, residual=np.zeros((ITEMS, MODELS)), _verdicts=np.zeros((ITEMS, MODELS)))
    placed, plain = board.place(met), unaware.place(met)
    assert placed is not None
    assert plain is not None
    assert plain.control == 0
    assert placed.control < -0.5
    assert placed.error < plain.error


def test_names_of_models_change_nothing() -> None:
    rows, met = board_rows(), newcomers()
    turn = np.array([3, 0, 4, 1, 2], dtype=np.int32)
    turned = replace(rows, models=tuple(rows.models[code] for code in np.argsort(turn)),
                     model_a=turn[rows.model_a], model_b=turn[rows.model_b])  # fmt: skip
    one = FrozenBoard.of(rows, items=ITEMS).place(met)
    other = FrozenBoard.of(turned, items=ITEMS).place(replace(met, opponent=turn[met.opponent]))
    assert one is not None
    assert other is not None
    assert (other.strength, other.error) == (pytest.approx(one.strength), pytest.approx(one.error))
    assert other.apart_error[turn] == pytest.approx(one.apart_error)


def test_claims_need_the_difference_to_lie_beyond_its_reach() -> None:
    placed = FrozenBoard.of(board_rows(), items=ITEMS).place(newcomers())
    assert placed is not None
    far = np.abs(placed.apart) / placed.apart_error
    told = placed.told(float(np.sort(far)[2]))
    assert (told != 0).sum() == 2
    assert (np.sign(placed.apart)[told != 0] == told[told != 0]).all()


def test_a_newcomer_that_wins_everything_has_no_place_yet_but_a_guess_for_its_opponents() -> None:
    board = FrozenBoard.of(board_rows(), items=ITEMS)
    met = replace(newcomers(), score=np.ones(28))
    assert board.place(met) is None
    assert board.guess(met) > board.strength.max()
    nobody = met.rows(slice(0))
    assert board.guess(nobody) == pytest.approx(0)
    by_strength = dict(zip(board.models, board.strength, strict=True))
    assert board.nearest(10.0) == sorted(board.models, key=lambda model: -round(by_strength[model], 9))


def test_strengths_are_told_on_the_scale_of_the_board_that_knows_no_order() -> None:
    board = FrozenBoard.of(board_rows(order=1.5), items=ITEMS)
    assert board.order > 0.5
    assert np.ptp(board.plain) < np.ptp(board.strength)
    for place in (0, MODELS - 1):
        assert board.printed(board.strength[place]) == pytest.approx(board.plain[place], abs=0.05)
    unmoved = replace(board, order=0.0, plain=board.strength)
    assert unmoved.printed(0.7) == pytest.approx(0.7)


def test_a_board_in_one_order_has_no_order_effect_and_places_all_the_same() -> None:
    rows = board_rows()
    assert rows.first is not None
    board = FrozenBoard.of(rows.rows(rows.first == 1), items=ITEMS)
    assert board.dispersion is None
    placed = board.place(newcomers())
    assert placed is not None
    assert board.calls_at_random(placed) is None


def test_a_board_on_which_one_lost_everything_is_none() -> None:
    rows = board_rows()
    lost = replace(rows, sign=np.where(rows.model_a == 0, -1, rows.sign).astype(np.int8))
    with pytest.raises(NoBoard, match="won or lost everything"):
        FrozenBoard.of(lost, items=ITEMS)


def test_a_smaller_error_would_take_more_calls_at_random() -> None:
    board = FrozenBoard.of(board_rows(), items=ITEMS)
    placed = board.place(newcomers())
    assert placed is not None
    calls = board.calls_at_random(placed)
    assert calls is not None
    more = board.calls_at_random(replace(placed, error=placed.error * 0.9))
    assert more is not None
    assert more > calls / 0.81, "for what the board does not know takes a part of it"
