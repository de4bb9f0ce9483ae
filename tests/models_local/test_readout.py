import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.models.errors import Misuse
from evenhand.models.local_readout import BATCH, STEADY_TAIL, common, fork, keep

tokens = st.lists(st.integers(0, 3), max_size=300)


def test_answers_part_at_their_first_token() -> None:
    parting = fork([5, 6], [[5, 6, 7, 9], [5, 6, 8]], answers=(" A it is", " B"))
    assert parting.prompt == (5, 6)
    assert parting.ways == (7, 8)


def test_a_space_that_belongs_to_the_answers_is_taken_back_from_the_begun_turn() -> None:
    parting = fork([5, 6], [[5, 7], [5, 8]], answers=("A", "B"))
    assert parting.prompt == (5,)
    assert parting.ways == (7, 8)


@pytest.mark.parametrize(
    "ended",
    [
        [[5, 7, 8], [5, 7, 9]],
        [[5, 7], [5, 7, 9]],
        [[5], [5, 7]],
        [[5, 7, 8], [5, 7, 9], [5, 8]],
    ],
)
def test_answers_alike_in_their_first_token_are_misuse(ended: list[list[int]]) -> None:
    with pytest.raises(Misuse, match="first token"):
        fork([5], ended, answers=[str(i) for i in range(len(ended))])


def test_one_answer_is_no_choice() -> None:
    with pytest.raises(Misuse, match="at least two"):
        fork([5], [[5, 7]], answers=("A",))


@given(prompt=tokens.filter(lambda t: len(t) > 2 * STEADY_TAIL), held=tokens)
def test_no_batch_ends_up_with_one_token(prompt: list[int], held: list[int]) -> None:
    fresh = len(prompt) - keep(prompt, held)
    assert fresh >= STEADY_TAIL
    assert fresh % BATCH != 1


@given(prompt=tokens, held=tokens)
def test_little_of_the_cache_is_given_away(prompt: list[int], held: list[int]) -> None:
    assert keep(prompt, held) >= min(common(prompt, held), len(prompt)) - 2 * STEADY_TAIL
