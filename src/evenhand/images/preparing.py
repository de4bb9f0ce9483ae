"""An image as it is sent to a model endpoint: unchanged where every endpoint shows it alike, else plain RGB.

And small pictures of images, for pages that carry them along.
"""

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

from evenhand.images.colour_profile import bare_profile
from evenhand.images.sniffing import DEFAULT_LIMITS, ImageLimits, sniff

if TYPE_CHECKING:
    from PIL.Image import Image

_JPEG_QUALITY = 95
_THUMBNAIL_QUALITY = 62


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedImage:
    """The bytes to send and their media type."""

    data: bytes
    media_type: str


def prepared(data: bytes, *, max_edge: int | None, limits: ImageLimits = DEFAULT_LIMITS) -> PreparedImage:
    """The image with its longer edge at most max_edge pixels (None: any).

    A still, upright, opaque, 8-bit PNG, JPEG, WebP or GIF within max_edge comes back byte for byte. Anything else
    becomes its first frame, upright, RGB, on white where it was transparent, as JPEG if it was JPEG, else PNG.
    Raises ImageError as `inspect` does.
    """
    if max_edge is not None and max_edge < 1:
        raise ValueError(f"The longest edge of an image cannot be {max_edge} pixels; give 1 or more.")
    media_type = sniff(data)
    from evenhand.images import decoding

    frame = decoding.first_frame(data, media_type, limits)
    image = frame.image
    width, height = decoding.upright_size(frame)
    size = _fitted(width, height, max_edge)
    if size == (width, height) and decoding.is_plain(frame, data, media_type):
        return PreparedImage(data=data, media_type=media_type)
    picture = decoding.upright_rgb(image)
    if size != picture.size:
        from PIL.Image import Resampling

        picture = picture.resize(size, Resampling.LANCZOS)
    return _encoded(picture, as_jpeg=media_type == "image/jpeg", icc_profile=_rgb_profile(image))


def encoded_anew(data: bytes, *, limits: ImageLimits = DEFAULT_LIMITS) -> PreparedImage:
    """The first frame, upright, RGB, on white where it was transparent, as JPEG if it was JPEG, else PNG; of the colour
    profile no words."""
    media_type = sniff(data)
    from evenhand.images import decoding

    image = decoding.first_frame(data, media_type, limits).image
    profile = bare_profile(_rgb_profile(image) or b"") or None
    return _encoded(decoding.upright_rgb(image), as_jpeg=media_type == "image/jpeg", icc_profile=profile)


def _fitted(width: int, height: int, max_edge: int | None) -> tuple[int, int]:
    longer = max(width, height)
    if max_edge is None or longer <= max_edge:
        return width, height
    return max(1, round(width * max_edge / longer)), max(1, round(height * max_edge / longer))


def _rgb_profile(image: "Image") -> bytes | None:
    """The colour profile, where it still holds after conversion to RGB: bytes 16 to 20 name its colour space."""
    profile = image.info.get("icc_profile")
    return profile if isinstance(profile, bytes) and profile[16:20] == b"RGB " else None


def _encoded(picture: "Image", *, as_jpeg: bool, icc_profile: bytes | None) -> PreparedImage:
    out = io.BytesIO()
    picture.info = {}  # of which Pillow would write comments and more
    if as_jpeg:
        # No chroma subsampling: coloured text must stay legible to a judge.
        picture.save(out, "JPEG", quality=_JPEG_QUALITY, subsampling=0, icc_profile=icc_profile)
        return PreparedImage(data=out.getvalue(), media_type="image/jpeg")
    picture.save(out, "PNG", icc_profile=icc_profile)
    return PreparedImage(data=out.getvalue(), media_type="image/png")


def thumbnail(data: bytes, *, edge: int) -> bytes:
    """WebP of the first frame, upright, its longer edge at most so many pixels. Raises ImageError as `inspect` does."""
    from PIL.Image import Resampling

    from evenhand.images import decoding

    frame = decoding.first_frame(data, sniff(data), DEFAULT_LIMITS)
    picture = decoding.upright_rgb(frame.image)
    picture.thumbnail((edge, edge), Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=_THUMBNAIL_QUALITY, method=4)
    return out.getvalue()
