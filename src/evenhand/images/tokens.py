"""What an image costs in prompt tokens, by the providers' published rules."""

import math
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Literal

ImageDetail = Literal["low", "high", "auto"]

_BASE_TOKENS = 85
_TILE_TOKENS = 170
_BASE_TOKENS_MINI = 2833
_TILE_TOKENS_MINI = 5667
_TILE_EDGE = 512
_LONGER_EDGE = 2048
_SHORTER_EDGE = 768
_PATCH_EDGE = 32
_MOST_PATCHES = 1536
_TOKENS_OF_A_PATCH = {
    "gpt-4.1-mini": 1.62,
    "gpt-4.1-nano": 2.46,
    "gpt-5-mini": 1.62,
    "gpt-5-nano": 2.46,
    "o4-mini": 1.72,
}
_MINI = "gpt-4o-mini"
_TILED = (_MINI, "gpt-4o", "chatgpt-4o", "gpt-4", "gpt-4-turbo", "gpt-4-vision", "gpt-4.1", "gpt-4.5", "gpt-5")
_SHORT = ("o1", "o3")
"""Models of others end so too (LLaVA-o1): of these only the beginning of a name counts, or OpenAI's before it."""
_SMALLEST_PATCH_EDGE = 14


_CLAUDE = re.compile(r"claude-(3\b|(opus|sonnet|haiku)-(3|4)([-.@:]|$)|instant)")
_CLAUDE_LATER = re.compile(r"claude-(opus|sonnet|haiku)-4[-.]([7-9]|\d\d(?!\d))")
_CLAUDE_LONGER_EDGE = 1568
_CLAUDE_PIXELS_OF_A_TOKEN = 750
_CLAUDE_MOST = 1600
_GEMINI = re.compile(r"gemini-(1\.5|2\.0|2\.5)\b")
_GEMINI_TILE_TOKENS = 258
_GEMINI_SMALL = 384
_GEMINI_CROP = 1.5


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageRule:
    """How a maker's models count an image, as it has published it."""

    name: str
    tokens: Callable[[int, int, ImageDetail], int]
    """Of width, height and detail."""


def image_rule(model: str) -> ImageRule | None:
    """The published rule of the model's family, whoever serves it; None where it is not known."""
    name = model.lower()
    if _CLAUDE.search(name) and not _CLAUDE_LATER.search(name):
        return ImageRule(name="Anthropic's rule", tokens=lambda width, height, _: claude_image_tokens(width, height))
    if _GEMINI.search(name):
        return ImageRule(name="Google's rule", tokens=lambda width, height, _: gemini_image_tokens(width, height))
    if _family(name) is not None:
        return ImageRule(
            name="OpenAI's rule", tokens=lambda width, height, detail: openai_image_tokens(width, height, detail, name)
        )
    return None


def claude_image_tokens(width: int, height: int) -> int:
    """Of Claude 3 and 4, up to 4.6: a token for 750 pixels, scaled down to 1568 pixels an edge and 1600 tokens.

    https://docs.anthropic.com/en/docs/build-with-claude/vision#evaluate-image-size: 200 x 200 costs about 54, 1000 x
    1000 about 1334, 1092 x 1092 about 1590.
    """
    _refuse_no_image(width, height)
    width, height = _shrunk(width, height, _CLAUDE_LONGER_EDGE, of=max(width, height))
    return min(math.ceil(width * height / _CLAUDE_PIXELS_OF_A_TOKEN), _CLAUDE_MOST)


def gemini_image_tokens(width: int, height: int) -> int:
    """Of Gemini 1.5 to 2.5: 258 for each tile; an image of up to 384 pixels an edge is one.

    https://ai.google.dev/gemini-api/docs/image-understanding#token-calculation: a larger one is cut into squares whose
    edge is the shorter side over 1.5, so that 960 x 540 has 3 x 2 tiles.
    """
    _refuse_no_image(width, height)
    if max(width, height) <= _GEMINI_SMALL:
        return _GEMINI_TILE_TOKENS
    edge = max(1, math.floor(min(width, height) / _GEMINI_CROP))
    return _GEMINI_TILE_TOKENS * -(-width // edge) * -(-height // edge)


def most_image_tokens(width: int, height: int, detail: ImageDetail, model: str) -> int:
    """What a budget sets aside for an image: by OpenAI's rule for its own models, by the dearer of two for others.

    The other is a token for each patch of 14 pixels, the smallest that open models see by, none of them joined.
    """
    by_rule = openai_image_tokens(width, height, detail, model)
    if _family(model) is not None:
        return by_rule
    if (published := image_rule(model)) is not None:
        by_rule = max(by_rule, published.tokens(width, height, detail))
    return max(by_rule, -(-width // _SMALLEST_PATCH_EDGE) * -(-height // _SMALLEST_PATCH_EDGE))


def openai_image_tokens(width: int, height: int, detail: ImageDetail, model: str = "") -> int:
    """Tokens that gpt-4o, gpt-4-turbo and the like bill for one image; "auto" is counted as "high".

    gpt-4o-mini bills 2833 + 5667 a tile instead. The small models since gpt-4.1 bill patches of 32 pixels, 1536 at
    most, times a factor of their own, whatever the detail.

    https://platform.openai.com/docs/guides/images-vision#calculating-costs: low detail costs 85. In high detail the
    image is scaled down to fit 2048 x 2048, then down until its shorter side is 768, and costs 85 + 170 for each
    512-pixel tile: 1024 x 1024 costs 765, 2048 x 4096 costs 1105. Sides are rounded to whole pixels at each step, as
    bills show (2049 x 513 has eight tiles, 2050 x 513 four:
    https://community.openai.com/t/vision-pricing-calculator-inaccurate-resizing-rounding-vs-api-costs/1281361).
    """
    _refuse_no_image(width, height)
    if detail not in ("low", "high", "auto"):
        raise ValueError(f"The image detail {detail!r} is not known; use low, high or auto.")
    family = _family(model)
    if (times := _TOKENS_OF_A_PATCH.get(family or "")) is not None:
        return math.ceil(min(-(-width // _PATCH_EDGE) * -(-height // _PATCH_EDGE), _MOST_PATCHES) * times)
    base, tile = (_BASE_TOKENS_MINI, _TILE_TOKENS_MINI) if family == _MINI else (_BASE_TOKENS, _TILE_TOKENS)
    if detail == "low":
        return base
    width, height = _shrunk(width, height, _LONGER_EDGE, of=max(width, height))
    width, height = _shrunk(width, height, _SHORTER_EDGE, of=min(width, height))
    tiles = -(-width // _TILE_EDGE) * -(-height // _TILE_EDGE)
    return base + tile * tiles


def _refuse_no_image(width: int, height: int) -> None:
    if width < 1 or height < 1:
        raise ValueError(f"An image of {width} x {height} pixels does not exist; both sides must be at least 1.")


def _any_of(names: Iterable[str]) -> str:
    """The longest first. Whole words: gpt-4 is neither gpt-4o nor gpt-4.1."""
    return rf"(?:{'|'.join(re.escape(name) for name in sorted(names, key=len, reverse=True))})(?![a-z0-9]|\.\d)"


_NAMED = re.compile(
    rf"(?<![a-z0-9])({_any_of((*_TILED, *_TOKENS_OF_A_PATCH))})|(?:^|/|(?:azure|openai)[-_.:/])({_any_of(_SHORT)})"
)


def _family(model: str) -> str | None:
    """Which of OpenAI's models a name means, whoever serves it and whatever stands around it: `azure-gpt-4o-mini`."""
    found = [named[1] or named[2] for named in _NAMED.finditer(model.lower())]
    return max(found, key=len, default=None)


def _shrunk(width: int, height: int, target: int, *, of: int) -> tuple[int, int]:
    """Both sides scaled by target/of where that is below 1, rounded to whole pixels, at least 1."""
    if of <= target:
        return width, height
    return max(1, (2 * width * target + of) // (2 * of)), max(1, (2 * height * target + of) // (2 * of))
