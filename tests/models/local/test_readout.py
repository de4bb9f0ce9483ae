import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from evenhand.domain.errors import Misuse
from evenhand.models.local.readout import BATCH, STEADY_TAIL, common, fork, keep


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


@given(length=st.integers(2 * STEADY_TAIL + 1, 5 * BATCH), shared=st.integers(0, 5 * BATCH), more=st.integers(0, 9))
@example(length=BATCH + 1, shared=0, more=0)
@example(length=2 * BATCH + 1, shared=BATCH, more=1)
def test_no_batch_ends_up_with_one_token_and_little_of_the_cache_is_given_away(
    length: int, shared: int, more: int
) -> None:
    prompt = list(range(length))
    held = [*prompt[:shared], *[-1] * more]
    kept = keep(prompt, held)
    assert length - kept >= STEADY_TAIL
    assert (length - kept) % BATCH != 1
    assert common(prompt, held) - 2 * STEADY_TAIL <= kept <= max(common(prompt, held), STEADY_TAIL)
