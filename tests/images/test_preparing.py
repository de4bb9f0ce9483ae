import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageCms, JpegImagePlugin

from evenhand.images import ImageError, ImageLimits, inspect, prepared
from tests.examples import examples
from tests.images.pictures import (
    animation,
    decoded,
    encoded,
    photo,
    png_bomb,
    sixteen_bit_rgb_png,
    with_orientation,
)
from tests.refusals import refused


def seen(data: bytes, *, max_edge: int | None = None) -> Image.Image:
    ready = prepared(data, max_edge=max_edge)
    image = decoded(ready.data)
    assert inspect(ready.data).media_type == ready.media_type
    return image


def farthest(one: Image.Image, other: Image.Image) -> int:
    """The greatest difference between two images' samples, 0 to 255."""
    assert one.size == other.size
    extrema = ImageChops.difference(one.convert("RGB"), other.convert("RGB")).getextrema()
    return max(high for _, high in extrema)  # pyright: ignore[reportGeneralTypeIssues]


@pytest.mark.parametrize(
    "data",
    [
        encoded(photo(), "PNG"),
        encoded(photo(), "JPEG"),
        encoded(photo(), "JPEG", progressive=True),
        encoded(photo(), "WEBP"),
        encoded(photo(), "WEBP", lossless=True),
        encoded(photo(), "GIF"),
        encoded(photo().convert("L"), "PNG"),
        encoded(photo().convert("L"), "JPEG"),
        encoded(photo().convert("1"), "PNG"),
        encoded(photo().convert("P"), "PNG"),
        encoded(photo().convert("RGBA"), "PNG"),
        encoded(photo().convert("LA"), "PNG"),
        with_orientation(photo(), 1, "JPEG"),
    ],
)
@pytest.mark.parametrize("max_edge", [None, 60, 1000])
def test_a_plain_upright_still_that_fits_goes_byte_for_byte(data: bytes, max_edge: int | None) -> None:
    ready = prepared(data, max_edge=max_edge)
    assert ready.data == data
    assert ready.media_type == inspect(data).media_type
    assert inspect(data).plain


@pytest.mark.parametrize(
    "data",
    [
        encoded(photo(), "BMP"),
        encoded(photo().convert("CMYK"), "JPEG"),
        encoded(Image.new("RGBA", (5, 4), (9, 9, 9, 254)), "PNG"),
        animation("GIF", 2),
        sixteen_bit_rgb_png(),
        with_orientation(photo(), 6, "JPEG"),
    ],
)
def test_what_endpoints_may_show_differently_is_not_plain_and_is_sent_as_other_bytes(data: bytes) -> None:
    assert not inspect(data).plain
    assert prepared(data, max_edge=None).data != data


@pytest.mark.parametrize("kind", ["PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_all_eight_orientations_show_the_same_pixels(kind: str, orientation: int) -> None:
    lossless = {"lossless": True} if kind == "WEBP" else {}
    data = with_orientation(photo(), orientation, kind, **lossless)
    assert farthest(seen(data), photo()) == 0


@pytest.mark.parametrize("orientation", range(2, 9))
def test_a_turned_jpeg_comes_upright_as_jpeg_without_its_mark(orientation: int) -> None:
    data = with_orientation(photo(), orientation, "JPEG", quality=95, subsampling=0)
    ready = prepared(data, max_edge=None)
    assert ready.media_type == "image/jpeg"
    assert decoded(ready.data).getexif().get(274) is None
    assert farthest(decoded(ready.data), photo()) <= 8


def test_cmyk_becomes_rgb() -> None:
    image = seen(encoded(photo().convert("CMYK"), "JPEG", quality=95))
    assert (image.mode, image.format) == ("RGB", "JPEG")
    assert farthest(image, photo()) <= 12


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_of_an_animation_the_first_frame_is_sent(kind: str) -> None:
    options = {"lossless": True} if kind == "WEBP" else {}
    data = animation(kind, **options)
    image = seen(data)
    assert inspect(prepared(data, max_edge=None).data).frames == 1
    assert (image.mode, image.getpixel((5, 5))) == ("RGB", (255, 0, 0))


@pytest.mark.parametrize("kind", ["BMP", "TIFF"])
def test_kinds_that_endpoints_do_not_take_become_png(kind: str) -> None:
    image = seen(encoded(photo(), kind))
    assert image.format == "PNG"
    assert farthest(image, photo()) == 0


def test_16_bit_grey_is_scaled_not_clipped() -> None:
    deep = Image.new("I;16", (256, 1))
    deep.putdata([257 * level for level in range(256)])
    image = seen(encoded(deep, "PNG"))
    assert image.mode == "RGB"
    assert [image.getpixel((level, 0)) for level in range(256)] == [(level,) * 3 for level in range(256)]


def test_16_bit_grey_is_seen_although_the_clear_level_looks_alike_in_8_bits() -> None:
    deep = Image.new("I;16", (4, 4), 32_896)
    assert seen(encoded(deep, "PNG", transparency=128)).getpixel((0, 0)) == (128, 128, 128)


def test_16_bit_colour_becomes_8_bit() -> None:
    data = sixteen_bit_rgb_png()
    assert prepared(data, max_edge=None).data != data
    image = seen(data)
    assert [image.getpixel((x, 0)) for x in (0, 1)] == [(255, 0, 128), (1, 1, 1)]


def half_clear() -> Image.Image:
    """Left a red of half opacity, right a black that is fully clear."""
    image = Image.new("RGBA", (10, 4), (0, 0, 0, 0))
    image.paste((255, 0, 0, 128), (0, 0, 5, 4))
    return image


@pytest.mark.parametrize(
    "data",
    [encoded(half_clear(), "PNG"), encoded(half_clear(), "WEBP", lossless=True), encoded(half_clear(), "TIFF")],
)
def test_what_is_transparent_is_seen_on_white(data: bytes) -> None:
    image = seen(data)
    assert image.mode == "RGB"
    assert image.getpixel((7, 2)) == (255, 255, 255)
    assert image.getpixel((2, 2)) == (255, 127, 127)


def palette_picture() -> Image.Image:
    image = Image.new("P", (10, 4), 1)
    image.putpalette([0, 0, 0, 0, 0, 255])
    image.paste(0, (0, 0, 5, 4))
    return image


@pytest.mark.parametrize(
    "data",
    [
        encoded(palette_picture(), "PNG", transparency=0),
        encoded(palette_picture(), "PNG", transparency=b"\0\xff"),
        encoded(palette_picture(), "GIF", transparency=0),
    ],
)
def test_a_palette_with_a_transparent_colour_is_seen_on_white(data: bytes) -> None:
    image = seen(data)
    assert (image.getpixel((2, 2)), image.getpixel((7, 2))) == ((255, 255, 255), (0, 0, 255))


def test_a_transparent_colour_that_no_pixel_has_changes_nothing() -> None:
    data = encoded(palette_picture(), "PNG", transparency=b"\xff\xff\0")
    assert prepared(data, max_edge=None).data == data


@pytest.mark.parametrize("level", [(0, 0, 0), (9, 9, 9)])
def test_one_transparent_colour_of_an_rgb_png_is_seen_on_white(level: tuple[int, int, int]) -> None:
    data = encoded(Image.new("RGB", (4, 4), level), "PNG", transparency=level)
    assert seen(data).getpixel((0, 0)) == (255, 255, 255)


def test_a_larger_image_is_scaled_to_the_edge_and_keeps_its_kind() -> None:
    jpeg, png = encoded(photo(600, 400), "JPEG"), encoded(photo(600, 400), "PNG")
    assert (seen(jpeg, max_edge=300).size, seen(jpeg, max_edge=300).format) == ((300, 200), "JPEG")
    assert (seen(png, max_edge=300).size, seen(png, max_edge=300).format) == ((300, 200), "PNG")
    assert farthest(seen(png, max_edge=300), photo(600, 400).resize((300, 200), Image.Resampling.LANCZOS)) == 0


def test_a_scaled_jpeg_keeps_colour_at_full_resolution() -> None:
    image = seen(encoded(photo(), "JPEG"), max_edge=30)
    assert isinstance(image, JpegImagePlugin.JpegImageFile)
    assert JpegImagePlugin.get_sampling(image) == 0


def test_the_edge_is_measured_upright() -> None:
    data = with_orientation(photo(600, 400), 6, "JPEG")
    assert seen(data, max_edge=300).size == (300, 200)


@given(width=st.integers(1, 300), height=st.integers(1, 300), max_edge=st.integers(1, 300))
@settings(max_examples=examples(60), deadline=None)
def test_no_edge_is_longer_than_asked_nor_the_shape_changed(width: int, height: int, max_edge: int) -> None:
    image = seen(encoded(Image.new("L", (width, height), 90), "PNG"), max_edge=max_edge)
    scale = min(1, max_edge / max(width, height))
    assert max(image.size) == min(max_edge, max(width, height))
    assert abs(image.width - width * scale) <= 1
    assert abs(image.height - height * scale) <= 1


def test_preparing_again_gives_the_same_bytes() -> None:
    data = encoded(photo(600, 400), "JPEG")
    assert prepared(data, max_edge=200) == prepared(data, max_edge=200)
    once = prepared(data, max_edge=200)
    assert prepared(once.data, max_edge=200) == once


def test_a_colour_profile_is_kept_where_it_still_holds() -> None:
    srgb = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    kept = seen(encoded(photo(), "JPEG", icc_profile=srgb), max_edge=30)
    assert kept.info["icc_profile"] == srgb
    of_ink = srgb[:16] + b"CMYK" + srgb[20:]
    dropped = seen(encoded(photo().convert("CMYK"), "JPEG", icc_profile=of_ink))
    assert "icc_profile" not in dropped.info


def test_what_cannot_be_decoded_is_not_prepared() -> None:
    for data in (b"<svg/>", encoded(photo(), "JPEG")[:-200], png_bomb(50_000, 50_000)):
        with pytest.raises(ImageError):
            prepared(data, max_edge=None)
    with pytest.raises(ImageError, match="at most 100"):
        prepared(encoded(photo(), "PNG"), max_edge=None, limits=ImageLimits(pixels=100))


def test_an_edge_of_nothing_is_refused() -> None:
    with refused(ValueError, "0 pixels"):
        prepared(encoded(photo(), "PNG"), max_edge=0)
