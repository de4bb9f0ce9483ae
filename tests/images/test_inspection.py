import cProfile
import hashlib
import random
import re
import struct
import subprocess
import sys
import zlib
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from evenhand.images import ImageError, ImageInfo, ImageLimits, digest, inspect, prepared
from evenhand.images.decoding import first_frame, is_plain, upright_size
from evenhand.images.sniffing import DEFAULT_LIMITS, sniff
from evenhand.images.structure import plain_jpeg_is_whole, plain_png_is_whole
from tests.examples import examples
from tests.images.pictures import (
    animation,
    encoded,
    photo,
    png_bomb,
    png_chunk,
    sixteen_bit_rgb_png,
    with_orientation,
)
from tests.refusals import refused


def test_an_image_is_told_by_digest_type_size_frames_and_bytes() -> None:
    data = encoded(photo(60, 40), "PNG")
    assert inspect(data) == ImageInfo(
        digest=hashlib.sha256(data).hexdigest(),
        media_type="image/png",
        width=60,
        height=40,
        frames=1,
        bytes=len(data),
        plain=True,
    )


def test_the_digest_is_sha256_of_the_bytes() -> None:
    assert digest(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF"])
def test_every_known_kind_is_decoded(kind: str) -> None:
    info = inspect(encoded(photo(60, 40), kind))
    assert (info.width, info.height, info.frames) == (60, 40, 1)


@pytest.mark.parametrize("mode", ["1", "L", "LA", "P", "RGB", "RGBA", "I;16"])
def test_every_mode_of_png_is_decoded(mode: str) -> None:
    assert inspect(encoded(Image.new(mode, (5, 4)), "PNG")).width == 5


@pytest.mark.parametrize("mode", ["CMYK", "YCbCr", "LAB", "RGBX", "I;16", "I;16B", "PA"])
def test_odd_modes_of_tiff_are_decoded_and_prepared(mode: str) -> None:
    data = encoded(Image.new(mode, (5, 4)), "TIFF")
    assert inspect(data).height == 4
    assert prepared(data, max_edge=None).media_type == "image/png"


@pytest.mark.parametrize("mode", ["I", "F"])
def test_samples_without_a_white_are_refused(mode: str) -> None:
    with pytest.raises(ImageError, match=r"8-bit PNG\.$"):
        inspect(encoded(Image.new(mode, (5, 4)), "TIFF"))


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_width_and_height_are_those_of_the_upright_picture(kind: str, orientation: int) -> None:
    info = inspect(with_orientation(photo(60, 40), orientation, kind))
    assert (info.width, info.height) == (60, 40)


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_frames_of_an_animation_are_counted(kind: str) -> None:
    assert inspect(animation(kind, 3)).frames == 3


def test_pages_of_a_tiff_are_counted() -> None:
    assert inspect(animation("TIFF", 4)).frames == 4


def test_a_phone_s_jpeg_with_a_second_picture_appended_is_one_frame() -> None:
    data = encoded(photo(), "MPO", save_all=True, append_images=[photo(30, 20)])
    info = inspect(data)
    assert (info.media_type, info.frames, info.width) == ("image/jpeg", 1, 60)
    assert prepared(data, max_edge=None).data == data


@pytest.mark.parametrize("limits", [ImageLimits(), ImageLimits(pixels=2_400_000_000)])
def test_a_bomb_is_refused_by_what_it_declares_before_decoding(limits: ImageLimits) -> None:
    # Its pixels end early, so decoding would complain of that instead.
    bomb = png_bomb(50_000, 50_000)
    assert len(bomb) < 5_000
    with refused(ImageError, "50000 x 50000"):
        inspect(bomb, limits=limits)


def webp_bomb() -> bytes:
    body = b"WEBPVP8X" + struct.pack("<I", 10) + b"\0\0\0\0" + b"\x3f\x42\x0f"[:3] * 2
    return b"RIFF" + struct.pack("<I", len(body)) + body


def gif_bomb(screen: int, frame: int) -> bytes:
    first = b"\x2c" + struct.pack("<HHHHB", 0, 0, frame, frame, 0) + b"\x02\x02\x4c\x01\0"
    return b"GIF89a" + struct.pack("<HHBBB", screen, screen, 0, 0, 0) + first + b";"


def tiff_bomb() -> bytes:
    """Declares 60000 x 60000 in the second page only; the first is 1 x 1."""
    tags = {256: 1, 257: 1, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: 1, 279: 1}

    def page(changes: dict[int, int], following: int) -> bytes:
        entries = b"".join(struct.pack("<HHII", tag, 4, 1, value) for tag, value in (tags | changes).items())
        return struct.pack("<H", len(tags)) + entries + struct.pack("<I", following)

    first_at = 10
    second_at = first_at + len(page({}, 0))
    return b"II*\0" + struct.pack("<I", first_at) + b"\0\0" + page({}, second_at) + page({256: 60_000, 257: 60_000}, 0)


@pytest.mark.parametrize("data", [webp_bomb(), gif_bomb(60_000, 1), gif_bomb(1, 60_000)])
def test_bombs_of_other_kinds_are_refused(data: bytes) -> None:
    with pytest.raises(ImageError, match=r"declares .* pixels"):
        inspect(data)


def test_a_page_that_is_never_shown_is_never_decoded() -> None:
    info = inspect(tiff_bomb())
    assert (info.width, info.height, info.frames) == (1, 1, 2)


def test_pixels_up_to_the_limit_are_taken_and_one_more_is_not() -> None:
    data = encoded(photo(10, 10), "PNG")
    assert inspect(data, limits=ImageLimits(pixels=100)).width == 10
    with pytest.raises(ImageError, match="at most 99"):
        inspect(data, limits=ImageLimits(pixels=99))


def test_a_limit_above_pillow_s_own_neither_warns_nor_changes_it() -> None:
    before = Image.MAX_IMAGE_PIXELS
    data = encoded(Image.new("1", (10_000, 9_500)), "PNG")
    assert before is not None
    assert inspect(data).width * inspect(data).height > before
    assert before == Image.MAX_IMAGE_PIXELS


def test_bytes_and_frames_have_limits_too() -> None:
    data = animation("GIF", 3)
    assert inspect(data, limits=ImageLimits(bytes=len(data), frames=3)).frames == 3
    with refused(ImageError, f"{len(data)} bytes"):
        inspect(data, limits=ImageLimits(bytes=len(data) - 1))
    with refused(ImageError, "2 frames"):
        inspect(data, limits=ImageLimits(frames=2))
    with refused(ImageError, "2 frames"):
        inspect(animation("TIFF", 5), limits=ImageLimits(frames=2))


def test_frames_past_the_limit_are_not_looked_at() -> None:
    with refused(ImageError, "1 frames"):
        inspect(animation("GIF", 3)[:-1], limits=ImageLimits(frames=1))


def test_a_comment_in_a_gif_is_not_taken_for_its_end() -> None:
    assert inspect(encoded(photo(), "GIF", comment=b"\0;;;")).frames == 1


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "GIF", "WEBP", "BMP"])
def test_a_file_cut_short_anywhere_is_refused_with_a_sentence(kind: str) -> None:
    data = encoded(photo(24, 16), kind)
    # The last four bytes of a PNG are a checksum of nothing.
    for length in range(len(data) - 4 if kind == "PNG" else len(data)):
        with pytest.raises(ImageError) as refusal:
            inspect(data[:length])
        assert str(refusal.value).endswith("."), length


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG"])
def test_an_animation_cut_after_its_first_frame_is_refused(kind: str) -> None:
    data = animation(kind, 3)
    with refused(ImageError, code="EH-IMAGE-DAMAGED"):
        inspect(data[: len(data) - 20])


def test_the_sentence_for_a_cut_jpeg_says_what_to_do() -> None:
    data = encoded(photo(200, 200), "JPEG")
    with refused(ImageError, "image/jpeg", code="EH-IMAGE-DAMAGED"):
        inspect(data[: len(data) // 2])


WRITTEN: tuple[dict[str, Any], ...] = (
    {},
    {"progressive": True},
    {"restart_marker_blocks": 1},
    {"subsampling": 0, "optimize": True, "progressive": True},
    {"quality": 100, "keep_rgb": True, "comment": b"words", "icc_profile": b"colours"},
)
"""Ways in which a JPEG can be put together."""


def jpegs() -> Iterator[bytes]:
    for options in WRITTEN:
        yield encoded(photo(90, 70), "JPEG", **options)
    yield encoded(photo(90, 70).convert("L"), "JPEG")
    yield with_orientation(photo(60, 40), 6, "JPEG")


def damaged(data: bytes, *, edits: int) -> Iterator[bytes]:
    """Cut, holed, altered and with something put in, most of it where tables and sizes stand."""
    draw, scan = random.Random(len(data)), max(data.find(b"\xff\xda"), 0) + 14
    for number in range(edits):
        place = draw.randrange(3, scan if number % 4 else len(data) - 1)
        yield data[:place]
        yield data[:place] + data[place + draw.randint(1, 20) :]
        yield data[:place] + draw.randbytes(1) + data[place + 1 :]
        yield data[:place] + bytes([data[place] ^ 1 << draw.randrange(8)]) + data[place + 1 :]
        yield data[:place] + draw.randbytes(draw.randint(1, 6)) + data[place:]
        yield data[:place] + data[place + 1 : place + 2] + data[place : place + 1] + data[place + 2 :]


@pytest.mark.parametrize("data", list(jpegs()), ids=range(7))
def test_a_jpeg_whose_pixels_are_not_looked_at_is_refused_where_it_cannot_be_decoded(data: bytes) -> None:
    assert plain_jpeg_is_whole(data)
    edited = list(damaged(data, edits=60))
    refusals = {way: [_is_refused(one, unseen=way) for one in edited] for way in (True, False)}
    assert refusals[True] == refusals[False]
    assert len(set(refusals[True])) == 2
    taken = [plain_jpeg_is_whole(one) for one in edited]
    assert len(set(taken)) == 2, "some are told by their structure, others are decoded"


@pytest.mark.parametrize("options", [{}, {"progressive": True}], ids=str)
def test_a_jpeg_without_a_table_or_a_scan_that_it_needs_is_not_taken_for_whole(options: dict[str, Any]) -> None:
    data = encoded(photo(90, 70), "JPEG", **options)
    parts = list(jpeg_parts(data))
    needed = {0xC0, 0xC2, 0xC4, 0xDA, 0xDB, 0xD9}
    for place, (marker, part) in enumerate(parts):
        without = data[:2] + b"".join(one for number, (_, one) in enumerate(parts) if number != place)
        again = marker == 0xC4 and any((kind, one[4]) == (marker, part[4]) for kind, one in parts[:place])
        spare = marker not in needed or again or (marker == 0xDA and adds_detail(part))
        assert plain_jpeg_is_whole(without) is spare, (place, hex(marker))


def test_a_jpeg_with_more_blocks_in_a_unit_than_a_decoder_takes_is_refused() -> None:
    data = bytearray(encoded(photo(90, 70), "JPEG"))
    sampling = data.index(b"\xff\xc0") + 11
    data[sampling : sampling + 9 : 3] = b"\x44" * 3
    with refused(ImageError, code="EH-IMAGE-DAMAGED"):
        inspect(bytes(data))


def test_a_jpeg_whose_scan_adds_to_more_than_was_told_before_is_refused() -> None:
    data = encoded(photo(90, 70), "JPEG", progressive=True)
    ends = [3 + 2 * data[one.end()] + one.end() for one in re.finditer(rb"\xff\xda\0.", data)]
    adding = [end for end in ends if data[end] >= 16]
    assert adding
    for end in adding:
        with refused(ImageError, code="EH-IMAGE-DAMAGED"):
            inspect(data[:end] + bytes([data[end] + 16]) + data[end + 1 :])


def jpeg_parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Segments with their markers, of a file in which nothing is odd; each scan with its header."""
    at = 2
    while at < len(data):
        following = re.compile(rb"\xff[^\x00\xd0-\xd7]").search(
            data, at + 2 + int.from_bytes(data[at + 2 : at + 4], "big")
        )
        end = len(data) if data[at + 1] == 0xD9 or following is None else following.start()
        yield data[at + 1], data[at:end]
        at = end


def adds_detail(scan: bytes) -> bool:
    """Whether it tells of higher frequencies, or more of what an earlier one told."""
    end = 2 + int.from_bytes(scan[2:4], "big")
    return scan[end - 3] > 0 or scan[end - 1] >= 16


@pytest.mark.parametrize("mode", ["RGB", "L"])
def test_a_png_whose_pixels_are_not_looked_at_is_refused_where_a_chunk_was_altered(mode: str) -> None:
    data = encoded(photo(90, 70).convert(mode), "PNG")
    assert plain_png_is_whole(data)
    edited = list(damaged(data, edits=60))
    refusals = [_is_refused(one, unseen=True, media_type="image/png") for one in edited]
    assert refusals == [_is_refused(one, unseen=False, media_type="image/png") for one in edited]
    assert sum(refusals) > len(edited) * 0.9


@pytest.mark.parametrize(
    ("header", "pixels"),
    [
        ([], b"no pixels"),
        ([], b""),
        ([], zlib.compress(bytes(31 * 10))[:1]),
        ([(9000, 9000, 0)], zlib.compress(bytes(31 * 10))),
        ([(10, 10, 7)], zlib.compress(bytes(31 * 10))),
        ([(10, 10, 0), (5000, 5000, 0)], zlib.compress(bytes(31 * 10))),
    ],
    ids=["not deflated", "none", "one byte", "too few", "interlaced in no known way", "two headers"],
)
def test_a_png_whose_checksums_are_right_is_refused_where_its_pixels_cannot_be(
    header: list[tuple[int, int, int]], pixels: bytes
) -> None:
    headers = [
        png_chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, way))
        for width, height, way in header or [(10, 10, 0)]
    ]
    data = b"".join((b"\x89PNG\r\n\x1a\n", *headers, png_chunk(b"IDAT", pixels), png_chunk(b"IEND", b"")))
    with refused(ImageError, code="EH-IMAGE-DAMAGED"):
        inspect(data)


@pytest.mark.parametrize(
    "data",
    [
        *jpegs(),
        encoded(photo(), "JPEG", exif=b"Exif\0\0garbage"),
        encoded(photo().convert("CMYK"), "JPEG"),
        encoded(photo(), "MPO", save_all=True, append_images=[photo(30, 20)]),
        *(encoded(photo().convert(mode), "PNG") for mode in ("1", "L", "LA", "P", "RGB", "RGBA")),
        encoded(Image.new("RGBA", (5, 4), (1, 2, 3, 100)), "PNG"),
        encoded(photo().convert("RGB"), "PNG", transparency=(1, 2, 3)),
        with_orientation(photo(60, 40), 8, "PNG"),
        animation("PNG", 3),
        sixteen_bit_rgb_png(),
    ],
    ids=range(21),
)
def test_the_same_is_told_of_an_image_whether_its_pixels_are_looked_at_or_not(data: bytes) -> None:
    media_type = sniff(data)
    told = [
        (upright_size(frame), frame.frames, is_plain(frame, data, media_type))
        for frame in (first_frame(data, media_type, DEFAULT_LIMITS, unseen=unseen) for unseen in (True, False))
    ]
    assert told[0] == told[1]


def test_more_scans_than_any_picture_has_are_not_walked() -> None:
    data = encoded(photo(), "JPEG", progressive=True)
    last = data.rindex(b"\xff\xda")
    many = data[:last] + data[last:-2] * 80 + data[-2:]
    assert plain_jpeg_is_whole(data[:last] + data[last:-2] * 3 + data[-2:])
    assert not plain_jpeg_is_whole(many)
    assert inspect(many).width == 60


def _is_refused(data: bytes, *, unseen: bool, media_type: str = "image/jpeg") -> bool:
    try:
        first_frame(data, media_type, DEFAULT_LIMITS, unseen=unseen)
    except ImageError:
        return True
    return False


def test_an_image_is_decoded_once_in_a_process() -> None:
    data = encoded(photo(83, 41), "PNG")  # which no other test shows
    with cProfile.Profile() as profile:
        assert inspect(data) == inspect(bytes(bytearray(data)))
        with refused(ImageError, code="EH-IMAGE-TOO-LARGE"):
            inspect(data, limits=ImageLimits(pixels=100))
    decoded = [one.callcount for one in profile.getstats() if "first_frame" in str(one.code)]
    assert decoded == [2], "once within each limit"


def test_a_png_whose_pixels_were_altered_is_refused() -> None:
    data = bytearray(encoded(photo(), "PNG"))
    data[data.index(b"IDAT") + 40] ^= 0x10
    with refused(ImageError, code="EH-IMAGE-DAMAGED"):
        inspect(bytes(data))


def test_a_gif_padded_between_and_after_its_blocks_is_taken() -> None:
    data = encoded(photo(), "GIF")
    assert inspect(data[:-1] + b"\0\0;junk after the end").frames == 1


@pytest.mark.parametrize(
    "exif",
    [
        b"Exif\0\0",
        b"Exif\0\0garbage",
        b"Exif\0\0II*\0\xff\xff\xff\xff",
        b"Exif\0\0MM\0*\0\0\0\x08\xff\xff",
        b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x63\0\0\0",
    ],
)
def test_damaged_exif_leaves_the_picture_as_it_is(exif: bytes) -> None:
    data = encoded(photo(60, 40), "JPEG", exif=exif)
    assert inspect(data).width == 60
    assert prepared(data, max_edge=None).data == data


@pytest.mark.parametrize("order", ["<", ">"])
def test_an_orientation_written_as_long_is_read(order: str) -> None:
    mark = b"II*\0" if order == "<" else b"MM\0*"
    exif = b"Exif\0\0" + mark + struct.pack(f"{order}IHHHIII", 8, 1, 274, 4, 1, 6, 0)
    info = inspect(encoded(photo(60, 40), "JPEG", exif=exif))
    assert (info.width, info.height) == (40, 60)


def test_exif_after_the_pixels_of_a_png_counts() -> None:
    tiff = b"MM\0*" + struct.pack(">IHHHIHHI", 8, 1, 274, 3, 1, 6, 0, 0)
    data = encoded(photo(60, 40), "PNG")
    end = data.index(b"IEND") - 4
    info = inspect(data[:end] + png_chunk(b"eXIf", tiff) + data[end:])
    assert (info.width, info.height) == (40, 60)


@pytest.mark.slow
def test_a_compressed_text_in_a_png_cannot_fill_the_memory() -> None:
    data = encoded(photo(), "PNG")
    header_end = 8 + 25
    bomb = png_chunk(b"zTXt", b"k\0\0" + zlib.compress(bytes(200_000_000)))
    with pytest.raises(ImageError):
        inspect(data[:header_end] + bomb + data[header_end:])


def test_importing_the_package_does_not_import_pillow() -> None:
    script = "import sys, evenhand.images; print('PIL' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


REAL = (
    *(encoded(photo(24, 16), kind) for kind in ("PNG", "JPEG", "GIF", "WEBP", "BMP", "TIFF")),
    encoded(photo(24, 16).convert("CMYK"), "JPEG"),
    encoded(photo(24, 16).convert("P"), "PNG", transparency=3),
    encoded(photo(24, 16).convert("LA"), "PNG"),
    encoded(photo(24, 16), "TIFF", compression="tiff_lzw"),
    encoded(photo(24, 16), "JPEG", progressive=True),
    with_orientation(photo(24, 16), 6, "JPEG"),
    with_orientation(photo(24, 16), 6, "PNG"),
    animation("GIF"),
    animation("WEBP"),
    animation("PNG"),
    sixteen_bit_rgb_png(),
)


def inspected_or_refusal(data: bytes, limits: ImageLimits) -> ImageInfo | str:
    try:
        return inspect(data, limits=limits)
    except ImageError as refusal:
        return str(refusal)


@settings(max_examples=examples(400), deadline=None)
@given(data=st.data())
def test_a_mutated_image_is_taken_or_refused_and_nothing_else(data: st.DataObject) -> None:
    image = bytearray(data.draw(st.sampled_from(REAL)))
    for _ in range(data.draw(st.integers(1, 6))):
        at = data.draw(st.integers(0, len(image) - 1))
        match data.draw(st.sampled_from(["set", "delete", "insert"])):
            case "set":
                image[at] = data.draw(st.integers(0, 255))
            case "delete":
                del image[at : at + data.draw(st.integers(1, 9))]
            case _:
                image[at:at] = data.draw(st.binary(max_size=9))
        if not image:
            break
    limits = ImageLimits(pixels=100_000)
    info = inspected_or_refusal(bytes(image), limits)
    if isinstance(info, str):
        assert info.endswith(".")
        return
    assert info.width * info.height <= 100_000
    ready = prepared(bytes(image), max_edge=20, limits=limits)
    told = inspect(ready.data)
    assert (told.media_type, told.frames) == (ready.media_type, 1)
    assert max(told.width, told.height) <= 20
