"""Claims about two boards made from judgements of the same cases."""

import numpy as np
import pytest

from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix
from evenhand.stats.reliability.board_correlation import BoardCorrelation, board_correlation
from tests.refusals import refused, tells
from tests.stats.reliability.said import cases_of, opinions


def boards(items: int, noise: float, *, seed: int = 0, models: int = 8) -> tuple[RaterMatrix, RaterMatrix]:
    rng = np.random.default_rng(seed)
    item, model = (grid.ravel() for grid in np.meshgrid(np.arange(items), np.arange(models)))
    cases = Cases(item=item, model=model, models=tuple(f"m{code}" for code in range(models)))
    worth = np.linspace(-1, 1, models)[model]
    one, other = (np.clip(np.rint(worth + rng.normal(0, noise, len(item))), -2, 2) for _ in range(2))
    return (
        opinions([[float(value)] for value in one], cases=cases),
        opinions([[float(value)] for value in other], cases=cases),
    )


def test_boards_are_the_means_of_what_was_said_of_each_model():
    cases = cases_of(6, items=[0, 0, 0, 1, 1, 1], models=[0, 1, 2, 0, 1, 2])
    one = opinions([[2], [1], [0], [2], [1], [0]], cases=cases)
    # Means 0, .5, -1: the first two exchanged.
    other = opinions([[1], [1], [-2], [-1], [0], [0]], cases=cases)
    found = board_correlation(one, other)
    assert (found.spearman.value, found.kendall.value) == (pytest.approx(0.5), pytest.approx(1 / 3))
    assert (found.spearman.n, found.spearman.clusters) == (3, 2)
    assert found.models == ("model 0", "model 1", "model 2")


def test_the_interval_comes_from_resampled_items_and_a_seed_repeats_it():
    one, other = boards(60, 1.5)
    found = board_correlation(one, other, seed=4)
    tells(found.note, "1000 resamples", "seed 4")
    assert found == board_correlation(one, other, seed=4)
    for figure in (found.spearman, found.kendall):
        assert figure.value is not None
        assert figure.lower is not None
        assert figure.upper is not None
        assert figure.lower <= figure.value <= figure.upper


def test_more_items_make_a_narrower_interval():
    def width(found: BoardCorrelation) -> float:
        assert found.spearman.lower is not None
        assert found.spearman.upper is not None
        return found.spearman.upper - found.spearman.lower

    assert width(board_correlation(*boards(400, 2.0))) < width(board_correlation(*boards(15, 2.0)))


def test_a_board_is_in_the_order_of_itself_and_few_items_do_not_prove_it():
    one, _ = boards(10, 0.2)
    found = board_correlation(one, one)
    assert found.spearman.value == pytest.approx(1)
    # t(9) = 2.262157: 10 / (10 + 5.1174).
    assert found.spearman.lower == pytest.approx(0.66149, abs=1e-4)


def test_models_that_only_one_side_judged_are_left_out():
    cases = cases_of(8, items=[0, 0, 0, 0, 1, 1, 1, 1], models=[0, 1, 2, 3, 0, 1, 2, 3])
    one = opinions([[2], [1], [0], [-1], [2], [1], [0], [-1]], cases=cases)
    other = opinions([[2], [1], [0], [None], [2], [1], [0], [None]], cases=cases)
    assert board_correlation(one, other).models == ("model 0", "model 1", "model 2")


def test_resamples_that_lose_a_model_leave_no_bounds():
    # Each model stands on an item of its own, so most resamples lose one.
    cases = cases_of(4, items=[0, 1, 2, 3], models=[0, 1, 2, 3])
    one = opinions([[2], [1], [0], [-1]], cases=cases)
    found = board_correlation(one, one)
    assert (found.spearman.lower, found.spearman.upper) == (-1, 1)


def test_one_item_falls_back_on_the_models():
    cases = cases_of(5, items=[0] * 5, models=[0, 1, 2, 3, 4])
    one = opinions([[2], [1], [0], [-1], [-2]], cases=cases)
    found = board_correlation(one, one)
    assert found.note == "Intervals by Fisher's z over the models."
    assert found.spearman.value == 1


def test_two_models_have_no_correlation():
    cases = cases_of(4, items=[0, 0, 1, 1], models=[0, 1, 0, 1])
    one = opinions([[1], [0], [1], [0]], cases=cases)
    tells(board_correlation(one, one).spearman.reason, "2 in common", 3)


def test_boards_speak_of_the_same_cases():
    with refused(ValueError, "boards", "same"):
        board_correlation(opinions([[1]]), opinions([[1]]))
