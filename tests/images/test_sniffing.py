import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.images import ImageError, sniff
from tests.images.pictures import encoded, photo
from tests.refusals import refused


@pytest.mark.parametrize(
    ("kind", "media_type"),
    [
        ("PNG", "image/png"),
        ("JPEG", "image/jpeg"),
        ("GIF", "image/gif"),
        ("WEBP", "image/webp"),
        ("BMP", "image/bmp"),
        ("TIFF", "image/tiff"),
    ],
)
def test_a_real_file_is_known_by_its_bytes(kind: str, media_type: str) -> None:
    assert sniff(encoded(photo(), kind)) == media_type


def test_big_tiff_is_tiff() -> None:
    assert sniff(encoded(photo(), "TIFF", big_tiff=True)) == "image/tiff"


SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>'


@pytest.mark.parametrize(
    "data",
    [
        SVG.encode(),
        b'<?xml version="1.0" encoding="UTF-8"?>\n' + SVG.encode(),
        b"\xef\xbb\xbf" + SVG.encode(),
        b" \r\n\t" + SVG.encode(),
        b"<!-- drawn by hand -->" + SVG.encode(),
        b'<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "svg11.dtd">' + SVG.encode(),
        SVG.upper().encode(),
        b'<ns0:svg xmlns:ns0="http://www.w3.org/2000/svg"/>',
        SVG.encode("utf-16"),
        SVG.encode("utf-16-be"),
        b"<svg><title>a title, as HTML has too</title></svg>",
    ],
)
def test_svg_is_refused_and_png_asked_for(data: bytes) -> None:
    with refused(ImageError, "SVG", "PNG", code="EH-IMAGE-KIND"):
        sniff(data)


@pytest.mark.parametrize(
    "data",
    [
        b"<!DOCTYPE html><html><body>Sign in</body></html>",
        b"\n<html lang=en>404",
        b"<!doctype html><title>x</title><svg></svg>",
        b"<head><script>1</script>",
    ],
)
def test_a_web_page_is_refused_as_one(data: bytes) -> None:
    with refused(ImageError, "HTML page", code="EH-IMAGE-KIND"):
        sniff(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "empty"),
        (b"%PDF-1.7\n", "PDF"),
        (b"\r\n%PDF-1.4", "PDF"),
        (b"%!PS-Adobe-3.0", "PostScript"),
        (b"\0\0\0\x18ftypheic\0\0\0\0mif1", "HEIC image.*convert"),
        (b"\0\0\0\x18ftypmif1\0\0\0\0heic", "HEIC image.*convert"),
        (b"\0\0\0\x1cftypavif\0\0\0\0", "AVIF image.*convert"),
        (b"\0\0\0\x18ftypisom\0\0\0\0", "video"),
        (b"\x1f\x8b\x08\0", "gzip"),
        (b"PK\x03\x04", "ZIP"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:00", "git lfs pull"),
        (b"<note>hello</note>", "XML"),
        (b'{"error": "not found"}', "not an image of a known kind"),
        (b"\x89PN", "not an image of a known kind"),
        (b"RIFF\0\0\0\0WAVEfmt ", "not an image of a known kind"),
        (b"BMW sells cars and motorcycles in Munich", "not an image of a known kind"),
    ],
)
def test_what_is_no_image_is_refused_with_a_sentence_that_names_it(data: bytes, words: str) -> None:
    with pytest.raises(ImageError, match=words) as refusal:
        sniff(data)
    assert str(refusal.value).startswith("The data is ")
    assert str(refusal.value).endswith(".")


def test_real_avif_is_refused() -> None:
    with pytest.raises(ImageError, match="AVIF"):
        sniff(encoded(photo(), "AVIF"))


BEGINNINGS = (
    b"",
    b"\x89PNG\r\n\x1a\n",
    b"RIFF",
    b"BM",
    b"\0\0\0\x18ftyp",
    b"<",
    b"<!--",
    b"<svg",
    b"\xff\xfe<\0",
    b"GIF8",
)


def sniffed_or_refusal(data: bytes) -> str:
    try:
        return sniff(data)
    except ImageError as refusal:
        return str(refusal)


@given(beginning=st.sampled_from(BEGINNINGS), rest=st.binary(max_size=200))
def test_any_bytes_are_either_known_or_refused(beginning: bytes, rest: bytes) -> None:
    told = sniffed_or_refusal(beginning + rest)
    assert told.startswith("image/") or (told.startswith("The data is ") and told.endswith("."))
