"""Real image files made for the tests with Pillow."""

import io
import struct
import zlib
from typing import Any

from PIL import Image, ImageChops

EXIF_ORIENTATION = 274

# How a camera held otherwise stores the same scene: the turn that undoes each EXIF orientation.
STORED_FOR = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_90,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_270,
}


def photo(width: int = 60, height: int = 40) -> Image.Image:
    """No two corners alike, so that every turn shows."""
    across = Image.linear_gradient("L").rotate(90).resize((width, height))
    down = Image.linear_gradient("L").resize((width, height))
    return Image.merge("RGB", (across, down, ImageChops.multiply(across, down)))


def encoded(image: Image.Image, kind: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, kind, **options)
    return out.getvalue()


def decoded(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    image.load()
    return image


def with_orientation(image: Image.Image, orientation: int, kind: str, **options: Any) -> bytes:
    exif = Image.Exif()
    exif[EXIF_ORIENTATION] = orientation
    turn = STORED_FOR.get(orientation)
    stored = image if turn is None else image.transpose(turn)
    return encoded(stored, kind, exif=exif, **options)


def animation(kind: str, frames: int = 3, **options: Any) -> bytes:
    colours = ["red", "green", "blue", "yellow", "black"][:frames]
    first, *rest = [Image.new("RGB", (32, 24), colour) for colour in colours]
    return encoded(first, kind, save_all=True, append_images=rest, duration=50, **options)


def png_chunk(name: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + name + body + struct.pack(">I", zlib.crc32(name + body))


def png_bomb(width: int, height: int) -> bytes:
    """A few kilobytes that declare, and begin to hold, width x height black pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            png_chunk(b"IHDR", header),
            png_chunk(b"IDAT", zlib.compress(bytes(2_000_000), 9)),
            png_chunk(b"IEND", b""),
        )
    )


def sixteen_bit_rgb_png() -> bytes:
    """Two pixels of 16 bits a channel, which Pillow reads but cannot write."""
    row = b"\0" + struct.pack(">6H", 65535, 0, 32896, 257, 257, 257)
    header = struct.pack(">IIBBBBB", 2, 1, 16, 2, 0, 0, 0)
    return b"".join(
        (
            b"\x89PNG\r\n\x1a\n",
            png_chunk(b"IHDR", header),
            png_chunk(b"IDAT", zlib.compress(row)),
            png_chunk(b"IEND", b""),
        )
    )
