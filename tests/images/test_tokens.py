import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.images import openai_image_tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [
        (1024, 1024, 765),  # OpenAI's own two examples
        (2048, 4096, 1105),
        (1, 1, 255),
        (512, 512, 255),
        (513, 512, 425),
        (1280, 720, 1105),
        (1920, 1080, 1105),
        (100_000, 1, 85 + 170 * 4),
        # Billed to a user of the API; see the docstring's second link.
        (2049, 513, 1445),
        (2050, 513, 765),
    ],
)
def test_high_detail_costs_85_and_170_a_tile(width: int, height: int, tokens: int) -> None:
    assert openai_image_tokens(width, height, "high") == tokens
    assert openai_image_tokens(width, height, "auto") == tokens


@given(width=st.integers(1, 10**6), height=st.integers(1, 10**6))
def test_low_detail_costs_85_whatever_the_size(width: int, height: int) -> None:
    assert openai_image_tokens(width, height, "low") == 85


@given(width=st.integers(1, 10**6), height=st.integers(1, 10**6))
def test_high_detail_never_needs_more_than_eight_tiles_and_turning_is_free(width: int, height: int) -> None:
    tokens = openai_image_tokens(width, height, "high")
    assert (tokens - 85) % 170 == 0
    assert 1 <= (tokens - 85) // 170 <= 8
    assert openai_image_tokens(height, width, "high") == tokens


def test_sizes_and_details_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="0 x 5"):
        openai_image_tokens(0, 5, "high")
    with pytest.raises(ValueError, match="original"):
        openai_image_tokens(5, 5, "original")  # pyright: ignore[reportArgumentType]
