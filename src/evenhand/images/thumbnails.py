"""Small pictures of images, for pages that carry them along."""

import io

from evenhand.images.sniffing import DEFAULT_LIMITS, sniff

_QUALITY = 62


def thumbnail(data: bytes, *, edge: int) -> bytes:
    """WebP of the first frame, upright, its longer edge at most so many pixels. Raises ImageError as `inspect` does."""
    from PIL.Image import Resampling

    from evenhand.images import decoding

    frame = decoding.first_frame(data, sniff(data), DEFAULT_LIMITS)
    picture = decoding.upright_rgb(frame.image)
    picture.thumbnail((edge, edge), Resampling.LANCZOS)
    out = io.BytesIO()
    picture.save(out, "WEBP", quality=_QUALITY, method=4)
    return out.getvalue()
