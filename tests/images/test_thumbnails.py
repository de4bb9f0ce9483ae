"""A thumbnail shows the image as it should be seen, and no larger than it is."""

import io

import pytest
from PIL import Image

from evenhand.images import ImageError
from evenhand.images.preparing import thumbnail


def encoded(image: Image.Image, form: str = "PNG", **how: object) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **how)
    return out.getvalue()


def opened(data: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(data))
    assert image.format == "WEBP"
    return image.convert("RGB")


def test_the_longer_edge_is_brought_to_the_one_asked_for():
    assert opened(thumbnail(encoded(Image.new("RGB", (400, 100), "red")), edge=64)).size == (64, 16)


def test_a_small_image_is_not_blown_up():
    assert opened(thumbnail(encoded(Image.new("RGB", (30, 20), "red")), edge=64)).size == (30, 20)


def test_what_is_transparent_is_white_and_what_lies_on_its_side_is_turned():
    clear = opened(thumbnail(encoded(Image.new("RGBA", (40, 40), (0, 0, 0, 0))), edge=64))
    assert clear.getpixel((20, 20)) == (255, 255, 255)
    exif = Image.Exif()
    exif[274] = 6
    lying = encoded(Image.new("RGB", (60, 20), "blue"), "JPEG", exif=exif)
    assert opened(thumbnail(lying, edge=64)).size == (20, 60)


def test_bytes_that_are_no_image_are_refused():
    with pytest.raises(ImageError):
        thumbnail(b"no image at all", edge=64)
