"""What kind of image some bytes are, read from the bytes themselves: names and headers of files are often wrong."""

import re
from dataclasses import dataclass

from evenhand.domain.errors import EvenhandError


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageLimits:
    """The most that is decoded: bytes of the file, pixels of a frame, frames of an animation or pages."""

    bytes: int = 50_000_000
    pixels: int = 100_000_000
    frames: int = 10_000


DEFAULT_LIMITS = ImageLimits()
PROPOSED_LIMITS = ImageLimits(bytes=10_000_000, pixels=40_000_000, frames=200)
"""Of an image that a person proposes, by a file or by its address."""


_SIGNATURES = (
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"II*\0", "image/tiff"),
    (b"MM\0*", "image/tiff"),
    (b"II+\0", "image/tiff"),
    (b"MM\0+", "image/tiff"),
)

_REFUSED_SIGNATURES = (
    (b"%PDF-", "a PDF document; export the page that is meant as PNG"),
    (b"%!PS", "a PostScript document; export it as PNG"),
    (b"\x1f\x8b", "gzip-compressed (an SVGZ drawing perhaps); unpack it, and export a drawing as PNG"),
    (b"PK\x03\x04", "a ZIP archive; unpack it and give the images in it"),
    (b"\0\0\0\x0cjP  ", "a JPEG 2000 image; convert it to PNG"),
    (b"\xff\x4f\xff\x51", "a JPEG 2000 image; convert it to PNG"),
    (b"\0\0\0\x0cJXL ", "a JPEG XL image; convert it to PNG"),
    (b"\xff\x0a", "a JPEG XL image; convert it to PNG"),
    # What a clone without Git LFS leaves in place of each file of a dataset.
    (
        b"version https://git-lfs",
        "a Git LFS pointer, not the image it stands for; run `git lfs pull` in that repository",
    ),
)

_HEIC_BRANDS = frozenset({b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1"})
_AVIF_BRANDS = frozenset({b"avif", b"avis"})

# The sizes that the header after the file header can have; "BM" alone also begins ordinary text.
_BMP_HEADER_SIZES = frozenset({12, 16, 40, 52, 56, 64, 108, 124})

_MARKUP_HEAD_BYTES = 4096
_SVG_TAG = re.compile(rb"<(?:[\w.-]+:)?svg[\s/>]|<!doctype\s+svg")
_HTML_TAG = re.compile(rb"<!doctype\s+html|<(?:html|head|body|script|title|meta)[\s/>]")


class ImageError(EvenhandError, ValueError):
    """An image that cannot be used."""

    code = "EH-IMAGE"


class ImageTooLarge(ImageError):
    """An image larger than is decoded: in bytes, in the pixels that it declares, or in frames."""

    code = "EH-IMAGE-TOO-LARGE"


def sniff(data: bytes) -> str:
    """The media type: image/png, image/jpeg, image/gif, image/webp, image/bmp or image/tiff.

    Raises ImageError for anything else. Only the beginning is looked at: `inspect` tells whether the rest is there.
    """
    for signature, media_type in _SIGNATURES:
        if data.startswith(signature):
            return media_type
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    if data[:2] == b"BM" and int.from_bytes(data[14:18], "little") in _BMP_HEADER_SIZES:
        return "image/bmp"
    raise ImageError(f"The data is {_what_it_is_instead(data)}.", code="EH-IMAGE-KIND")


def _what_it_is_instead(data: bytes) -> str:
    if not data:
        return "empty; fetch or export the file again"
    for signature, what in _REFUSED_SIGNATURES:
        if data.startswith(signature):
            return what
    if data[4:8] == b"ftyp":
        return _what_container(data[8:12])
    # UTF-16 and UTF-32 markup is ASCII with zero bytes in between.
    text = data[:_MARKUP_HEAD_BYTES].replace(b"\0", b"").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n\f").lower()
    if text.startswith(b"%pdf-"):
        return "a PDF document; export the page that is meant as PNG"
    if text.startswith(b"<"):
        return _what_markup(text)
    return f"not an image of a known kind (it begins with {_start(data[:8])}); give a PNG, JPEG, WebP or GIF file"


def _what_container(brand: bytes) -> str:
    if brand in _AVIF_BRANDS:
        return "an AVIF image, which model endpoints do not take; convert it to JPEG or PNG"
    if brand in _HEIC_BRANDS:
        return "a HEIC image, which model endpoints do not take; convert it to JPEG or PNG"
    return "a video or another MP4-like container, not an image; give a still from it as PNG or JPEG"


def _what_markup(text: bytes) -> str:
    svg, html = _SVG_TAG.search(text), _HTML_TAG.search(text)
    if svg and (html is None or svg.start() < html.start()):
        return "an SVG drawing, which holds no pixels and may carry scripts; export it as PNG"
    if html:
        return "an HTML page, not an image (often a site's error or sign-in page); fetch the image itself"
    return "XML or HTML text, not an image; if it is a drawing, export it as PNG"


def _start(data: bytes) -> str:
    """As text where it is that, else as the values of its bytes."""
    if data.isascii() and data.decode("ascii").isprintable():
        return f'"{data.decode("ascii")}"'
    return f"the bytes {data.hex(' ')}"
