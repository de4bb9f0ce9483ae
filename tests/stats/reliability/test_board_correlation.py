"""Claims about two boards made from judgements of the same cases."""

import math

import numpy as np
import pytest

from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix
from evenhand.stats.reliability.board_correlation import BoardCorrelation, board_correlation
from evenhand.stats.reliability.latent_correlation import TwoBoards
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


def test_observed_correlations_have_no_interval_and_say_why():
    found = board_correlation(*boards(60, 1.5))
    for figure in (found.spearman, found.kendall):
        assert figure.value is not None
        assert (figure.lower, figure.upper) == (None, None)
    document = found.as_json()
    assert document["spearman_lower"] is None
    assert "latent is without them" in str(document["spearman_reason"])


def test_a_seed_repeats_what_boards_of_one_truth_would_show():
    one, other = boards(60, 1.5)
    assert board_correlation(one, other, seed=4) == board_correlation(one, other, seed=4)
    assert board_correlation(one, other, seed=4).one_truth != board_correlation(one, other, seed=5).one_truth
    assert (
        "1000 pairs of boards of one truth with the errors of these, seed 4"
        in board_correlation(one, other, seed=4).note
    )


@pytest.mark.slow
def test_boards_of_one_truth_show_what_they_are_told_to_show():
    """Over many pairs of boards of one truth the observed correlation lies in the range that was told beforehand."""
    inside = 0
    for seed in range(100):
        found = board_correlation(*boards(40, 2.0, seed=seed), draws=200, seed=seed)
        assert found.one_truth is not None
        expected, value = found.one_truth[0], found.spearman.value
        assert value is not None
        assert expected.lower is not None
        assert expected.upper is not None
        inside += expected.lower <= value <= expected.upper
    assert inside >= 90


def test_where_two_boards_measure_one_thing_the_latent_interval_holds_1():
    """Resampled items never did for 20 models: they add errors to boards that have them already."""
    held = 0
    for seed in range(60):
        found = board_correlation(*boards(30, 2.0, seed=seed, models=20), draws=2).latent
        assert found.lower is not None
        assert found.upper is not None
        held += found.lower <= 1 <= found.upper
    assert held >= 57


def test_more_items_make_a_narrower_interval_and_reliable_boards():
    few, many = board_correlation(*boards(15, 2.0)), board_correlation(*boards(400, 2.0))

    def width(found: BoardCorrelation) -> float:
        assert found.latent.lower is not None
        assert found.latent.upper is not None
        return found.latent.upper - found.latent.lower

    assert width(many) < width(few)
    assert many.reliability is not None
    assert few.reliability is not None
    assert min(many.reliability) > max(few.reliability)


def test_what_an_item_does_to_both_boards_is_no_agreement_of_theirs():
    """Two boards of nothing but the same items' luck: their means agree, and what they measure is not known to."""
    rng = np.random.default_rng(1)
    cases = Cases(item=np.repeat(np.arange(30), 8), model=np.tile(np.arange(8), 30), models=tuple("abcdefgh"))
    luck = [[float(value)] for value in rng.integers(-2, 3, 240)]
    found = board_correlation(opinions(luck, cases=cases), opinions(luck, cases=cases))
    assert found.spearman.value == pytest.approx(1)
    assert found.latent.lower is not None
    assert found.latent.lower < 0


def test_the_conclusion_says_whether_errors_explain_the_difference():
    same = board_correlation(*boards(60, 1.5))
    assert same.sentence.startswith("The boards differ by no more than their errors explain")
    one, _ = boards(200, 0.5)
    other = opinions([[float(-value)] for value in one.value], cases=one.cases)
    assert board_correlation(one, other).sentence.startswith("The boards differ by more than their errors explain")


def test_the_latent_correlation_by_hand():
    # r = .9; the variance of 0, .5 .. 2 is .625.
    one = np.array([0.0, 0.5, 1.0, 1.5, 2.0])
    other = np.array([0.5, 0.0, 1.0, 1.5, 2.0])
    boards = TwoBoards.apart(one, np.full(5, 0.1), other, np.full(5, 0.2))
    assert boards.reliability == pytest.approx((1 - 0.01 / 0.625, 1 - 0.04 / 0.625))
    reliable = math.sqrt(math.prod(boards.reliability))
    found = boards.latent()
    assert found.value == pytest.approx(0.9 / reliable)
    half = 1.959964 / math.sqrt(2)
    assert found.lower == pytest.approx(math.tanh(math.atanh(0.9) - half) / reliable, abs=1e-6)
    assert found.upper == 1


def test_three_models_have_a_latent_correlation_without_an_interval_and_the_conclusion_says_so():
    """Fisher's z over 3 - 3 models has no error: with 1 in its place 80 to 83 % of the intervals held the truth."""
    three = board_correlation(*boards(60, 1.5, models=3))
    assert three.latent.value is not None
    assert (three.latent.lower, three.latent.upper, three.latent.n) == (None, None, 3)
    tells(three.latent.reason, "no interval", 3, 4)
    assert three.sentence.startswith("Whether the boards agree cannot be told from 3 models, 4 are needed")
    four = board_correlation(*boards(60, 1.5, models=4))
    assert four.latent.lower is not None
    assert four.sentence.startswith("The boards differ by no more than their errors explain")


def test_three_models_in_reverse_order_differ_by_more_than_errors_and_no_more_is_said():
    one, _ = boards(200, 0.5, models=3)
    other = opinions([[float(-value)] for value in one.value], cases=one.cases)
    sentence = board_correlation(one, other).sentence
    assert sentence.startswith("The boards differ by more than their errors explain")
    assert sentence.endswith("how far what they measure agrees cannot be told from 3 models, 4 are needed.")


@pytest.mark.parametrize(("models", "blurred", "truth"), [(20, 4, 0.9), (10, 1, 0.6), (10, 2, 1.0)])
def test_the_latent_interval_holds_where_a_few_models_have_large_errors(models: int, blurred: int, truth: float):
    rng = np.random.default_rng(2)
    error = np.where(np.arange(models) < blurred, 2.0, 0.1)
    held = 0
    for _ in range(300):
        one = rng.normal(0, 1, models)
        other = truth * one + math.sqrt(1 - truth**2) * rng.normal(0, 1, models)
        found = TwoBoards.apart(one + rng.normal(0, error), error, other + rng.normal(0, error), error).latent()
        assert found.lower is not None
        assert found.upper is not None
        held += found.lower - 1e-9 <= truth <= found.upper + 1e-9
    # Two simulation errors below 93 %.
    assert held / 300 >= 0.93 - 2 * math.sqrt(0.93 * 0.07 / 300)


def test_a_model_that_is_all_error_has_no_say_in_the_latent_correlation():
    rng = np.random.default_rng(5)
    one, other = rng.normal(0, 1, (2, 8))
    known = TwoBoards.apart(one, np.full(8, 0.1), other, np.full(8, 0.1)).latent()
    error = np.append(np.full(8, 0.1), 1e4)
    with_noise = TwoBoards.apart(np.append(one, 7e3), error, np.append(other, -9e3), error).latent()
    for seen, alone in (
        (with_noise.value, known.value),
        (with_noise.lower, known.lower),
        (with_noise.upper, known.upper),
    ):
        assert seen == pytest.approx(alone, abs=0.02)


def test_errors_too_uneven_leave_the_latent_correlation_without_an_interval():
    rng = np.random.default_rng(3)
    one, other = rng.normal(0, 1, (2, 10))
    error = np.where(np.arange(10) < 3, 0.05, 50.0)
    found = TwoBoards.apart(one + rng.normal(0, error), error, other + rng.normal(0, error), error).latent()
    assert (found.lower, found.upper, found.n) == (None, None, 10)
    tells(found.reason, "errors are so uneven", "10 models", "4 are needed")


def test_models_that_only_one_side_judged_are_left_out():
    cases = cases_of(8, items=[0, 0, 0, 0, 1, 1, 1, 1], models=[0, 1, 2, 3, 0, 1, 2, 3])
    one = opinions([[2], [1], [0], [-1], [2], [1], [0], [-1]], cases=cases)
    other = opinions([[2], [1], [0], [None], [2], [1], [0], [None]], cases=cases)
    assert board_correlation(one, other).models == ("model 0", "model 1", "model 2")


def test_a_model_on_one_item_leaves_its_error_unknown():
    cases = cases_of(4, items=[0, 1, 2, 3], models=[0, 1, 2, 3])
    one = opinions([[2], [1], [0], [-1]], cases=cases)
    found = board_correlation(one, one)
    assert (found.spearman.value, found.latent.value, found.one_truth) == (1, None, None)
    assert found.latent.reason == "a model on one item tells nothing of its error"


def test_two_models_have_no_correlation():
    cases = cases_of(4, items=[0, 0, 1, 1], models=[0, 1, 0, 1])
    one = opinions([[1], [0], [1], [0]], cases=cases)
    tells(board_correlation(one, one).spearman.reason, "2 in common", 3)


def test_boards_speak_of_the_same_cases():
    with refused(ValueError, "boards", "same"):
        board_correlation(opinions([[1]]), opinions([[1]]))
