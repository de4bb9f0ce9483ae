"""What an image costs in prompt tokens, by the providers' published rules."""

import math
import re
from collections.abc import Iterable
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


def most_image_tokens(width: int, height: int, detail: ImageDetail, model: str) -> int:
    """What a budget sets aside for an image: by OpenAI's rule for its own models, by the dearer of two for others.

    The other is a token for each patch of 14 pixels, the smallest that open models see by, none of them joined.
    """
    by_rule = openai_image_tokens(width, height, detail, model)
    if _family(model) is not None:
        return by_rule
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
    if width < 1 or height < 1:
        raise ValueError(f"An image of {width} x {height} pixels does not exist; both sides must be at least 1.")
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
