"""What an image is, told after checking it within limits: an image that passes can be shown to a model later."""

import hashlib
from dataclasses import dataclass

from evenhand.images.sniffing import DEFAULT_LIMITS, ImageLimits, sniff


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageInfo:
    """An image that was checked; width and height in pixels as seen upright, after EXIF rotation."""

    digest: str
    media_type: str
    width: int
    height: int
    frames: int
    bytes: int
    plain: bool
    """Whether every endpoint shows it alike, so that it is sent as it is: still, upright, opaque, 8 bits a channel."""

    def fits(self, max_edge: int | None) -> bool:
        return max_edge is None or max(self.width, self.height) <= max_edge


_MOST_KNOWN = 20_000
_known: dict[tuple[str, ImageLimits], ImageInfo] = {}
"""What was found of the images that this process has checked: the same bytes need not be checked again."""


def digest(data: bytes) -> str:
    """SHA-256 of the bytes, 64 hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


def inspect(data: bytes, *, limits: ImageLimits = DEFAULT_LIMITS) -> ImageInfo:
    """Sniff and check that all of it is there. Raises ImageError for what cannot be decoded or exceeds the limits.

    The pixels are decoded where the file's structure does not tell that they can be. Of an animation the first frame is
    decoded, the only one ever shown to a model; of the others it is checked that the file holds them.
    """
    name = digest(data), limits
    info = _known.get(name)
    if info is None:
        info = _inspected(data, name[0], limits)
        if len(_known) >= _MOST_KNOWN:
            _known.clear()
        _known[name] = info
    return info


def _inspected(data: bytes, name: str, limits: ImageLimits) -> ImageInfo:
    media_type = sniff(data)
    # Pillow with its readers takes 80 ms to import, and most commands never decode an image.
    from evenhand.images.decoding import first_frame, is_plain, upright_size

    frame = first_frame(data, media_type, limits, unseen=True)
    width, height = upright_size(frame)
    return ImageInfo(
        digest=name,
        media_type=media_type,
        width=width,
        height=height,
        frames=frame.frames,
        bytes=len(data),
        plain=is_plain(frame, data, media_type),
    )
