import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.images import image_rule, most_image_tokens, openai_image_tokens
from evenhand.images.tokens import claude_image_tokens, gemini_image_tokens


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


@pytest.mark.parametrize(
    ("tokens", "names"),
    [
        # 1024 x 1024: 4 tiles, or 1024 patches of 32 pixels, or 74 * 74 of 14 pixels.
        (
            765,
            "gpt-4o openai/gpt-4o openrouter/openai/gpt-4o my-gpt-4o GPT-4o-2024-08-06 azure/eu_gpt-4o",
        ),
        (765, "chatgpt-4o-latest gpt-4.1 gpt-4-turbo gpt-4 gpt-5 o1 o3-2025 openai/o1 azure-o3"),
        (25501, "gpt-4o-mini azure-gpt-4o-mini openrouter/openai/gpt-4o-mini:free team_gpt-4o-mini-2024-07-18"),
        (1659, "gpt-4.1-mini azure-gpt-4.1-mini gpt-5-mini"),
        (1762, "my-o4-mini o4-mini"),
        (5476, "llava llava-o1 marco-o3 o10 gpt-4oo xgpt-4o gpt-4.9 gpt-9 gpt4o another"),
    ],
)
def test_a_model_is_known_by_its_family_wherever_it_stands_in_the_name(tokens: int, names: str) -> None:
    assert {name: most_image_tokens(1024, 1024, "high", name) for name in names.split()} == dict.fromkeys(
        names.split(), tokens
    )


def test_sizes_and_details_that_do_not_exist_are_refused() -> None:
    with pytest.raises(ValueError, match="0 x 5"):
        openai_image_tokens(0, 5, "high")
    with pytest.raises(ValueError, match="original"):
        openai_image_tokens(5, 5, "original")  # pyright: ignore[reportArgumentType]


@pytest.mark.parametrize(
    ("width", "height", "tokens"), [(200, 200, 54), (1000, 1000, 1334), (1092, 1092, 1590), (4000, 3000, 1600)]
)
def test_claude_counts_a_token_for_750_pixels(width: int, height: int, tokens: int) -> None:
    assert claude_image_tokens(width, height) == tokens


@pytest.mark.parametrize(
    ("width", "height", "tokens"),
    [(384, 384, 258), (960, 540, 6 * 258), (1000, 1000, 4 * 258), (385, 10, 65 * 2 * 258)],
)
def test_gemini_counts_258_for_a_tile(width: int, height: int, tokens: int) -> None:
    assert gemini_image_tokens(width, height) == tokens


@pytest.mark.parametrize(
    ("model", "rule"),
    [
        ("gpt-4o", "OpenAI's rule"),
        ("claude-3", "Anthropic's rule"),
        ("claude-sonnet-4-20250514", "Anthropic's rule"),
        ("anthropic/claude-haiku-4.5", "Anthropic's rule"),
        ("claude-opus-4-7", None),
        ("claude-opus-5", None),
        ("gemini-2.5-pro", "Google's rule"),
        ("google/gemini-3-pro", None),
        ("gpt-6", None),
        ("llava-1.5", None),
    ],
)
def test_the_rule_goes_by_the_model_and_is_unknown_of_one_whose_maker_counts_otherwise(
    model: str, rule: str | None
) -> None:
    found = image_rule(model)
    assert (found and found.name) == rule
