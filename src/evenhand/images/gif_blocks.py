"""The block structure of a GIF file, walked without decoding.

Pillow counts frames by parsing each one, and takes a file that ends early for a shorter animation.
"""

from evenhand.images.sniffing import ImageError

_EXTENSION = 0x21
_IMAGE = 0x2C
_TRAILER = 0x3B


def gif_frames(data: bytes, *, at_most: int) -> int:
    """How many frames a GIF file holds, counted up to at_most + 1. Raises ImageError where it ends too early."""
    frames = 0
    try:
        at = 13 + palette_bytes(data[10])
        while frames <= at_most and (block := data[at]) != _TRAILER:
            if block == _EXTENSION:
                at = after_sub_blocks(data, at + 2)
            elif block == _IMAGE:
                frames += 1
                at = after_sub_blocks(data, at + 11 + palette_bytes(data[at + 9]))
            else:
                # Some writers pad between blocks; readers skip what is no block.
                at += 1
    except IndexError:
        raise ImageError(
            f"The GIF file is cut short (no end mark in its {len(data)} bytes); fetch or export it again.",
            code="EH-IMAGE-DAMAGED",
        ) from None
    return frames


def palette_bytes(flags: int) -> int:
    return 3 << ((flags & 0x07) + 1) if flags & 0x80 else 0


def after_sub_blocks(data: bytes, at: int) -> int:
    while length := data[at]:
        at += length + 1
    return at + 1
