"""Claims about what an image tells besides its pixels, and how it is taken out."""

import io
import random
import re
import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageChops, ImageCms, ImageFilter, ImageSequence, ImageStat
from PIL.PngImagePlugin import PngInfo

from evenhand.images import ImageError, ImageStore, digest, inspect
from evenhand.images.colour_profile import bare_profile
from evenhand.images.metadata import without_metadata
from tests.examples import examples
from tests.images.pictures import animation, decoded, encoded, photo, png_chunk, with_orientation
from tests.refusals import refused

SECRETS = (b"SECRET", b"Canon", b"Exif\0\0", b"GPS")
KINDS = ["JPEG", "PNG", "WEBP", "GIF", "TIFF", "BMP"]


def exif(orientation: int = 1) -> Image.Exif:
    """As a phone writes it: whose camera, where it stood, a comment."""
    made = Image.Exif()
    made[271], made[272], made[274], made[315] = "Canon", "SECRET model", orientation, "SECRET photographer"
    made.get_ifd(0x8825).update({1: "N", 2: (48.0, 12.0, 30.0), 3: "E", 4: (16.0, 22.0, 1.0), 29: "SECRET"})
    made.get_ifd(0x8769).update({0x9003: "2024:05:01 12:00:00", 0x9286: b"SECRET comment"})
    return made


def app(number: int, payload: bytes) -> bytes:
    return bytes([0xFF, 0xE0 + number]) + struct.pack(">H", len(payload) + 2) + payload


def phone_jpeg(*, orientation: int = 1, progressive: bool = False) -> bytes:
    """EXIF with a place and a preview, XMP, IPTC, a comment, several pictures in one file, a film appended."""
    options: dict[str, Any] = {"quality": 90, "progressive": progressive, "comment": b"SECRET comment"}
    plain = encoded(photo(), "JPEG", exif=exif(orientation), **options)
    more = b"".join(
        [
            app(0, b"JFXX\0\x10" + b"SECRET preview"),
            app(1, b"http://ns.adobe.com/xap/1.0/\0<x>SECRET</x>"),
            app(2, b"FPXR\0SECRET"),
            app(11, b"SECRET"),
            app(13, b"Photoshop 3.0\x008BIM SECRET"),
        ]
    )
    return plain[:20] + more + plain[20:] + encoded(photo(8, 8), "JPEG", comment=b"SECRET") + b"ftypmp42 SECRET film"


def told(data: bytes) -> list[bytes]:
    return [secret for secret in SECRETS if secret in data]


def frames(data: bytes) -> list[tuple[bytes, Any]]:
    """The pixels and the time of each frame."""
    with Image.open(io.BytesIO(data)) as image:
        return [(one.convert("RGBA").tobytes(), one.info.get("duration")) for one in ImageSequence.Iterator(image)]


@pytest.mark.parametrize("progressive", [False, True])
def test_a_phones_jpeg_keeps_its_pixels_alone(progressive: bool):
    data = phone_jpeg(progressive=progressive)
    assert told(data) == list(SECRETS[:3])
    bare = without_metadata(data)
    assert told(bare) == []
    assert decoded(bare).tobytes() == decoded(data).tobytes()
    assert bare.endswith(b"\xff\xd9")
    assert not decoded(bare).getexif()


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_the_only_thing_left_of_exif_is_which_way_is_up(kind: str, orientation: int):
    data = encoded(photo(), kind, exif=exif(orientation))
    bare = without_metadata(data)
    assert told(bare.replace(b"Exif\0\0", b"")) == []
    assert dict(decoded(bare).getexif()) == ({} if orientation == 1 else {274: orientation})
    assert decoded(bare).tobytes() == decoded(data).tobytes()
    before, after = inspect(data), inspect(bare)
    assert (after.width, after.height, after.plain) == (before.width, before.height, before.plain)


@pytest.mark.parametrize("orientation", range(1, 9))
def test_a_tiff_is_encoded_anew_upright(orientation: int):
    bare = without_metadata(with_orientation(photo(), orientation, "TIFF"))
    assert decoded(bare).tobytes() == photo().tobytes()
    assert inspect(bare).media_type == "image/png"


def text_in_png() -> bytes:
    words = PngInfo()
    words.add_text("Author", "SECRET author")
    words.add_text("Comment", "SECRET comment", zip=True)
    words.add_itxt("XML:com.adobe.xmp", "<x>SECRET</x>")
    data = encoded(photo(), "PNG", pnginfo=words, exif=exif(), dpi=(72, 72))
    private = png_chunk(b"tIME", b"\x07\xe8\x05\x01\x0c\0\0") + png_chunk(b"caNv", b"SECRET") + png_chunk(b"dSIG", b"x")
    return data[:33] + private + data[33:] + b"SECRET after the end"


def test_a_png_keeps_no_words_times_and_private_chunks():
    data = text_in_png()
    bare = without_metadata(data)
    assert told(data)
    assert told(bare) == []
    assert [name for name in (b"tIME", b"tEXt", b"zTXt", b"iTXt", b"eXIf", b"dSIG", b"caNv") if name in bare] == []
    assert decoded(bare).tobytes() == decoded(data).tobytes()
    assert bare.endswith(b"IEND\xaeB`\x82")


def test_what_a_webp_tells_goes_and_its_flags_with_it():
    data = encoded(photo(), "WEBP", lossless=True, exif=exif(), xmp=b"<x>SECRET</x>") + b"SECRET after the end"
    bare = without_metadata(data)
    assert told(bare) == []
    assert bare[20] & 0x0C == 0
    assert len(bare) == 8 + int.from_bytes(bare[4:8], "little")
    assert decoded(bare).tobytes() == decoded(data).tobytes()


def test_an_animations_frames_and_times_stay():
    for kind in ("GIF", "PNG", "WEBP"):
        secrets: dict[str, Any] = {"comment": b"SECRET"} if kind == "GIF" else {"exif": exif()}
        data = animation(kind, loop=0, **secrets)
        bare = without_metadata(data)
        assert told(bare) == []
        assert len(frames(bare)) == 3
        assert frames(bare) == frames(data)
        assert decoded(bare).info.get("loop") == decoded(data).info.get("loop")


def test_a_gif_keeps_no_comments_and_no_xmp():
    data = animation("GIF", comment=b"SECRET comment")
    xmp = b"\x21\xff\x0bXMP DataXMP\x06SECRET\0"
    inside = data[:-1] + xmp + b"\x3b" + b"SECRET after the end"
    assert told(without_metadata(inside)) == []
    assert frames(without_metadata(inside)) == frames(data)


def screens_profile(*, long: bool = False) -> bytes:
    """As a screen's: with its serial number, and how it was set on a day."""
    plain = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    (count,) = struct.unpack_from(">I", plain, 128)
    told = b"mmod\0\0\0\0SECRET serial number" + b"SECRET" * (30_000 if long else 0)
    entries = [struct.unpack_from(">4sII", plain, 132 + 12 * place) for place in range(count)]
    moved = [(name, at + 12, size) for name, at, size in entries] + [(b"mmod", len(plain) + 12, len(told))]
    table = struct.pack(">I", count + 1) + b"".join(struct.pack(">4sII", *entry) for entry in moved)
    header = bytearray(plain[:128])
    header[:4], header[48:56] = struct.pack(">I", len(plain) + 12 + len(told)), b"SECRETSE"
    return bytes(header) + table + plain[132 + 12 * count :] + told


def shown_on_srgb(data: bytes) -> bytes:
    image = decoded(data)
    profile = ImageCms.ImageCmsProfile(io.BytesIO(image.info["icc_profile"]))
    turned = ImageCms.profileToProfile(image, profile, ImageCms.createProfile("LAB"), outputMode="LAB")
    assert turned is not None
    return turned.tobytes()


@pytest.mark.parametrize("long", [False, True])
@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "TIFF"])
def test_the_colours_profile_stays_without_what_it_tells_of_a_screen(kind: str, long: bool):
    """A long one is cut into several segments of a JPEG."""
    data = encoded(photo(), kind, icc_profile=screens_profile(long=long), exif=exif())
    assert b"SECRET" in decoded(data).info["icc_profile"]
    bare = without_metadata(data)
    profile = decoded(bare).info["icc_profile"]
    assert b"SECRET" not in bare + profile
    assert profile[24:36] == bytes(12), "when it was made"
    assert shown_on_srgb(bare) == shown_on_srgb(data)
    assert without_metadata(bare) == bare


def test_tags_that_share_what_they_hold_make_no_more_of_it():
    """Each of a hundred tags nearly the whole profile, a byte further on: it would become a hundred times as long."""
    tags = [struct.pack(">4sII", b"rXYZ", place, 9_000) for place in range(100)]
    names = [struct.pack(">4sII", name, place, 9_000) for place, name in enumerate((b"gXYZ", b"bXYZ", b"wtpt"))]
    head = bytes(36) + b"acsp" + bytes(88)
    for entries in (tags, names):
        profile = head + struct.pack(">I", len(entries)) + b"".join(entries)
        profile += bytes(10_000 - len(profile))
        assert len(bare_profile(profile)) <= len(profile)


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP"])
@pytest.mark.parametrize("profile", [b"SECRET", b"\0" * 128 + b"\0\0\0\x01SECRET", b"SECRET" * 50], ids=len)
def test_what_is_no_profile_of_colours_goes(kind: str, profile: bytes):
    bare = without_metadata(encoded(photo(), kind, icc_profile=profile))
    assert b"SECRET" not in bare
    assert decoded(bare).info.get("icc_profile", b"") == b""


@pytest.mark.parametrize("image", [photo().convert("CMYK"), photo().convert("L"), photo()], ids=lambda one: one.mode)
def test_how_the_colours_of_a_jpeg_are_to_be_read_stays(image: Image.Image):
    data = encoded(image, "JPEG", exif=exif())
    assert decoded(without_metadata(data)).tobytes() == decoded(data).tobytes()


def test_transparency_stays():
    data = encoded(photo().convert("P"), "PNG", transparency=3)
    assert decoded(without_metadata(data)).convert("RGBA").tobytes() == decoded(data).convert("RGBA").tobytes()


@pytest.mark.parametrize("quality", [30, 75, 95, 100])
@pytest.mark.parametrize("how", [{}, {"progressive": True}, {"optimize": True}, {"subsampling": 0}], ids=str)
def test_a_jpeg_of_which_all_is_shown_is_not_encoded_anew(quality: int, how: dict[str, Any]):
    for seed, blur in ((1, 0), (2, 3)):
        noise = Image.effect_noise((97, 61), 40 + seed).convert("RGB").filter(ImageFilter.GaussianBlur(blur))
        data = encoded(noise, "JPEG", quality=quality, **how)
        assert without_metadata(data) == data


@pytest.mark.parametrize("kind", ["JPEG", "PNG", "WEBP", "GIF"])
def test_what_tells_nothing_stays_byte_for_byte(kind: str):
    data = encoded(photo(), kind)
    assert without_metadata(data) == data


@pytest.mark.parametrize("kind", KINDS)
def test_again_is_no_change(kind: str):
    bare = without_metadata(encoded(photo(), kind))
    assert without_metadata(bare) == bare


def test_a_jpeg_that_is_put_together_oddly_is_encoded_anew():
    data = phone_jpeg()
    odd = data[:20] + b"\0SECRET\0" + data[20:]  # Pillow passes over what stands between two segments
    assert decoded(odd).size == (60, 40)
    bare = without_metadata(odd)
    assert told(bare) == []
    assert inspect(bare).media_type == "image/jpeg"


def hidden_in_jpeg() -> dict[str, bytes]:
    """Where a decoder does not look."""
    plain, words = encoded(photo(), "JPEG"), b"51.5074N"
    progressive, commented = encoded(photo(), "JPEG", progressive=True), encoded(photo(8, 8), "JPEG", comment=words)
    tables, end = plain.index(b"\xff\xdb"), plain.rindex(b"\xff\xd9")
    segment = struct.pack(">H", len(words) + 2) + words
    adobe = b"Adobe\0d\0\0\0\0\x01" + words
    return {
        "DNL": plain[:tables] + b"\xff\xdc" + segment + plain[tables:],
        "no end": plain[:end] + words,
        "APP14": plain[:tables] + app(14, adobe) + plain[tables:],
        "before the end": plain[:end] + words + plain[end:],
        "after a restart": plain[:end] + b"\xff\xd0" + words + plain[end:],
        "before the end, progressive": progressive[:-2] + words + progressive[-2:],
        "after the end": plain + words,
        "a second picture": plain + commented,
    }


def hidden_in_png() -> dict[str, bytes]:
    plain, words = encoded(photo(), "PNG"), b"51.5074N"
    end, pixels = plain.rindex(b"IEND") - 4, plain.index(b"IDAT") - 4
    (length,) = struct.unpack_from(">I", plain, pixels)
    whole = plain[pixels + 8 : pixels + 8 + length]
    return {
        "another IDAT": plain[:end] + png_chunk(b"IDAT", words) + plain[end:],
        "long IDAT": plain[:pixels] + png_chunk(b"IDAT", whole + words) + plain[pixels + 12 + length :],
        "pHYs": plain[:33] + png_chunk(b"pHYs", struct.pack(">IIB", 1, 1, 1) + words) + plain[33:],
        "iCCP": plain[:33] + png_chunk(b"iCCP", b"x\0\0" + zlib.compress(b"\0" * 128) + words) + plain[33:],
    }


def hidden_in_animations() -> dict[str, bytes]:
    words = b"51.5074N"
    gif, png, block = animation("GIF", loop=0), animation("PNG", loop=0), bytes([len(words)]) + words
    loops, control, frame = gif.index(b"NETSCAPE2.0") + 15, gif.index(b"\x21\xf9\x04") + 7, png.index(b"fdAT") - 4
    (length,) = struct.unpack_from(">I", png, frame)
    longer = png_chunk(b"fdAT", png[frame + 8 : frame + 8 + length] + words)
    return {
        "with how often a GIF is shown": gif[:loops] + block + gif[loops:],
        "with how long a frame is shown": gif[:control] + block + gif[control:],
        "long fdAT": png[:frame] + longer + png[frame + 12 + length :],
    }


HIDDEN = {**hidden_in_jpeg(), **hidden_in_png(), **hidden_in_animations()}


@pytest.mark.parametrize("where", HIDDEN)
def test_words_where_no_decoder_looks_are_not_kept(where: str):
    data = HIDDEN[where]
    assert b"51.5074N" in data
    bare = without_metadata(data)
    assert b"51.5074N" not in bare
    with Image.open(io.BytesIO(bare)) as one, Image.open(io.BytesIO(data)) as other:
        assert one.size == other.size


def test_what_is_no_image_is_refused_as_ever():
    with refused(ImageError, code="EH-IMAGE-KIND"):
        without_metadata(b"hello, hello")


WHOLE = {
    "JPEG": phone_jpeg(),
    "PNG": text_in_png(),
    "WEBP": encoded(photo(), "WEBP", lossless=True, exif=exif()),
    "GIF": animation("GIF", comment=b"SECRET"),
    "TIFF": encoded(photo(), "TIFF"),
    "BMP": encoded(photo(), "BMP"),
}


def refusal(work: Callable[[bytes], object], data: bytes) -> str | None:
    try:
        work(data)
    except ImageError as error:
        return str(error)
    return None


@pytest.mark.filterwarnings("ignore::UserWarning:PIL")  # where the test itself decodes what is damaged
@pytest.mark.parametrize("kind", KINDS)
@settings(max_examples=examples(100))
@given(lot=st.randoms(use_true_random=False))
def test_a_damaged_file_is_refused_with_a_sentence_or_shows_what_it_showed(kind: str, lot: random.Random):
    damaged = bytearray(WHOLE[kind])
    # Half of the time at the front, where a file says how it is put together.
    damaged[lot.randrange(len(damaged) // lot.choice((1, 8)))] = lot.randrange(256)
    data = bytes(damaged)
    words = refusal(without_metadata, data)
    assert words == refusal(inspect, data), "what is stored is what is taken anywhere else"
    if words is not None:
        assert re.fullmatch(r"[A-Z].*\.", words, re.DOTALL), words
        return
    bare = without_metadata(data)
    before, after = decoded(data).convert("RGBA"), decoded(bare).convert("RGBA")
    assert after.size == before.size
    # A JPEG that nobody could take apart is encoded anew, which moves a pixel by a shade.
    most = 2 if kind == "JPEG" else 0
    assert max(ImageStat.Stat(ImageChops.difference(before, after)).mean) <= most
    assert without_metadata(bare) == bare


def test_the_store_notes_of_which_file_an_image_was_made(tmp_path: Path):
    store = ImageStore(tmp_path / "images")
    data = phone_jpeg(orientation=6)
    info = store.put_without_metadata(data)
    assert (info.width, info.height) == (40, 60)
    assert store.originals.of(info.digest) == {digest(data)}
    assert told(store.get(info.digest).replace(b"Exif\0\0", b"")) == []
    assert info == store.put_without_metadata(data)
    assert (tmp_path / "images" / "originals.jsonl").read_text().count("original") == 1
    assert store.check() == []
    assert list(store.digests()) == [info.digest]


def test_a_file_that_tells_nothing_has_no_other_original(tmp_path: Path):
    store = ImageStore(tmp_path / "images")
    info = store.put_without_metadata(encoded(photo(), "PNG"))
    assert info.digest == digest(encoded(photo(), "PNG"))
    assert store.originals.of(info.digest) == set()
    assert not (tmp_path / "images" / "originals.jsonl").exists()
