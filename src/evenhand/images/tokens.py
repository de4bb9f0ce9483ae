"""What an image costs in prompt tokens, by the providers' published rules."""

from typing import Literal

ImageDetail = Literal["low", "high", "auto"]

_BASE_TOKENS = 85
_TILE_TOKENS = 170
_TILE_EDGE = 512
_LONGER_EDGE = 2048
_SHORTER_EDGE = 768


def openai_image_tokens(width: int, height: int, detail: ImageDetail) -> int:
    """Tokens that gpt-4o, gpt-4-turbo and the like bill for one image; "auto" is counted as "high".

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
    if detail == "low":
        return _BASE_TOKENS
    width, height = _shrunk(width, height, _LONGER_EDGE, of=max(width, height))
    width, height = _shrunk(width, height, _SHORTER_EDGE, of=min(width, height))
    tiles = -(-width // _TILE_EDGE) * -(-height // _TILE_EDGE)
    return _BASE_TOKENS + _TILE_TOKENS * tiles


def _shrunk(width: int, height: int, target: int, *, of: int) -> tuple[int, int]:
    """Both sides scaled by target/of where that is below 1, rounded to whole pixels, at least 1."""
    if of <= target:
        return width, height
    return max(1, (2 * width * target + of) // (2 * of)), max(1, (2 * height * target + of) // (2 * of))
