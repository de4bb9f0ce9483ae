"""An image without what it tells besides its pixels: place, time, camera, comments, previews, whatever is appended.

Parts of the file are left out and nothing is encoded anew, so that every pixel stays as it is. Only what the look hangs
on is kept: which way is up, transparency, the frames of an animation, the colours' profile.
"""

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator

from evenhand.images.gif_blocks import after_sub_blocks, palette_bytes
from evenhand.images.preparing import encoded_anew
from evenhand.images.sniffing import DEFAULT_LIMITS, ImageError, ImageLimits, sniff

_PNG_KEPT = frozenset(
    b"IHDR PLTE IDAT IEND tRNS gAMA cHRM sRGB iCCP cICP sBIT mDCV cLLI bKGD pHYs acTL fcTL fdAT".split()
)
_PNG_LONGEST = {
    b"IHDR": 13, b"PLTE": 768, b"IEND": 0, b"tRNS": 256, b"gAMA": 4, b"cHRM": 32, b"sRGB": 1, b"cICP": 4, b"sBIT": 4,
    b"mDCV": 24, b"cLLI": 8, b"bKGD": 6, b"pHYs": 9, b"acTL": 8, b"fcTL": 26,
}  # fmt: skip
"""Bytes of what such a chunk says."""
_WEBP_KEPT = frozenset({b"VP8X", b"VP8 ", b"VP8L", b"ALPH", b"ANIM", b"ANMF", b"ICCP"})
_WEBP_EXIF, _WEBP_XMP = 0x08, 0x04
_GIF_LOOPS = frozenset({b"NETSCAPE2.0", b"ANIMEXTS1.0"})
_JPEG_EMPTY = frozenset({0x01, *range(0xD0, 0xD8)})
_JPEG_KEPT = _JPEG_EMPTY | frozenset(range(0xC0, 0xE0))
"""What a picture is decoded by: frames, scans, tables."""
_JPEG_ODD = frozenset({0xC8, 0xDC, 0xDE, 0xDF})
"""Such too, but seldom met, and decoders pass over what stands in them."""
_JPEG_TAIL = 4
"""Bytes at the end of the last scan on which some pixel hangs, whatever the picture; the last few bits are padding."""
_EOI, _SOS, _APP0, _APP2, _APP14 = 0xD9, 0xDA, 0xE0, 0xE2, 0xEE


def without_metadata(data: bytes, *, limits: ImageLimits = DEFAULT_LIMITS) -> bytes:
    """The same bytes where they tell nothing more than the picture. Raises ImageError as `inspect` does.

    TIFF and BMP, in which nothing can be left out, become their first frame as PNG; so does a file that is put together
    in an unexpected way, as JPEG if it was JPEG.
    """
    media_type = sniff(data)
    from evenhand.images.decoding import first_frame, orientation

    turned = orientation(first_frame(data, media_type, limits).image)
    strip = _STRIPPED.get(media_type)
    if strip is not None:
        try:
            bare = strip(data, turned)
            if media_type != "image/jpeg" or _all_is_read(bare, lambda one: _pixels(one, limits)):
                return bare
        except (IndexError, ValueError, struct.error):
            pass
    return encoded_anew(data, limits=limits).data


def _pixels(jpeg: bytes, limits: ImageLimits) -> bytes:
    from evenhand.images.decoding import first_frame

    return first_frame(jpeg, "image/jpeg", limits).image.tobytes()


def _only_orientation(turned: int) -> bytes:
    """EXIF with one entry, for pictures that are not upright; empty for those that are."""
    return b"" if turned == 1 else b"MM\0*\0\0\0\x08" + struct.pack(">HHHIHHI", 1, 274, 3, 1, turned, 0, 0)


def _jpeg(data: bytes, turned: int) -> bytes:
    kept = [b"\xff\xd8"]
    exif = _only_orientation(turned)
    for marker, part in _jpeg_parts(data):
        if exif and marker != _APP0:
            payload = b"Exif\0\0" + exif
            kept.append(b"\xff\xe1" + struct.pack(">H", len(payload) + 2) + payload)
            exif = b""
        kept.append(_jpeg_kept(marker, part))
    return b"".join(kept)


def _jpeg_kept(marker: int, part: bytes) -> bytes:
    if marker == _APP0:
        # Its last bytes are a small picture; JFXX is another one.
        return b"\xff\xe0\0\x10" + part[4:16] + b"\0\0" if part[4:9] == b"JFIF\0" and len(part) >= 18 else b""
    if marker == _APP2:
        return part if part[4:16] == b"ICC_PROFILE\0" else b""
    if marker == _APP14:
        # How the colours are to be turned to RGB.
        return b"\xff\xee\0\x0e" + part[4:16] if part[4:9] == b"Adobe" and len(part) >= 16 else b""
    if marker in _JPEG_ODD:
        raise ValueError("a marker whose bytes no decoder looks at")
    return part if marker in _JPEG_KEPT else b""


def _jpeg_parts(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Segments with their markers, a scan's data with its header, up to the end of the first picture."""
    at = 2
    while at < len(data):
        if data[at] != 0xFF:
            raise ValueError("no marker where one should be")
        while data[at + 1] == 0xFF:  # padding
            at += 1
        marker, begun = data[at + 1], at
        at += 2
        if marker not in _JPEG_EMPTY and marker != _EOI:
            at += int.from_bytes(data[at : at + 2], "big")
        if marker == _SOS:
            at = _after_scan(data, at)
        yield marker, data[begun:at]
        if marker == _EOI:
            return
    raise ValueError("it does not end")


def _after_scan(data: bytes, at: int) -> int:
    while (at := data.find(b"\xff", at)) >= 0 and at + 1 < len(data):
        following = data[at + 1]
        if following and following not in _JPEG_EMPTY and following != 0xFF:
            return at
        at += 1 if following == 0xFF else 2
    return len(data)


def _all_is_read(bare: bytes, pixels: Callable[[bytes], bytes]) -> bool:
    """Whether the last bytes before the end are part of the picture: with others in their place it is another one."""
    *_, (marker, scan), _ = _jpeg_parts(bare)
    if marker != _SOS:
        return False
    begun = 2 + int.from_bytes(scan[2:4], "big")
    tail = bare[-2 - min(_JPEG_TAIL, len(scan) - begun) : -2]
    before = pixels(bare)
    for mask in (0x55, 0xA6, 0x3B):
        other = bytes(min(byte ^ mask, 0xFE) for byte in tail)
        try:
            if pixels(bare[: -2 - len(tail)] + other + bare[-2:]) != before:
                return True
        except ImageError:
            return True
    return False


def _png(data: bytes, turned: int) -> bytes:
    kept, at, pixels = [data[:8]], 8, list[bytes]()
    exif = _only_orientation(turned)
    while at < len(data):
        length, kind = struct.unpack_from(">I4s", data, at)
        chunk = data[at : at + 12 + length]
        if len(chunk) != 12 + length:
            raise ValueError("a chunk is cut short")
        at += len(chunk)
        if length > _PNG_LONGEST.get(kind, length):
            raise ValueError("a chunk is longer than what it says")
        if kind == b"IDAT":
            pixels.append(chunk[8:-4])
        if kind == b"IDAT" and exif:
            kept.append(_png_chunk(b"eXIf", exif))
            exif = b""
        if kind == b"iCCP":
            _, named, profile = chunk[8:-4].partition(b"\0")
            _one_stream([profile[1:]])
            chunk = _png_chunk(kind, b"ICC profile" + named + profile)
        if kind in _PNG_KEPT:
            kept.append(chunk)
        if kind == b"IEND":
            break
    _one_stream(pixels)
    return b"".join(kept)


def _one_stream(parts: Iterable[bytes]) -> None:
    """Raises ValueError where there is something after what is compressed: no decoder looks at it."""
    reading = zlib.decompressobj()
    for part in parts:
        if reading.eof and part:
            raise ValueError("there is more than the picture")
        try:
            while part and not reading.eof:
                reading.decompress(part, 1 << 20)
                part = reading.unconsumed_tail
        except zlib.error as error:
            raise ValueError(str(error)) from error
    if reading.unused_data:
        raise ValueError("there is more than the picture")


def _png_chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def _gif(data: bytes, turned: int) -> bytes:  # noqa: ARG001  no GIF says which way is up
    at = 13 + palette_bytes(data[10])
    kept = [data[:at]]
    while (block := data[at]) != 0x3B:
        begun = at
        if block == 0x21:
            at = after_sub_blocks(data, at + 2)
            control = data[begun + 1] == 0xF9
            loops = data[begun + 1] == 0xFF and data[begun + 3 : begun + 14] in _GIF_LOOPS
            kept.append(data[begun:at] if control or loops else b"")
        elif block == 0x2C:
            at = after_sub_blocks(data, at + 11 + palette_bytes(data[at + 9]))
            kept.append(data[begun:at])
        else:
            at += 1  # padding
    return b"".join((*kept, b"\x3b"))


def _webp(data: bytes, turned: int) -> bytes:
    exif = _only_orientation(turned)
    end = 8 + int.from_bytes(data[4:8], "little")
    kept = b"".join(_webp_kept(data[12:end], exif))
    if exif:
        kept += _webp_chunk(b"EXIF", exif)
    return b"RIFF" + struct.pack("<I", len(kept) + 4) + b"WEBP" + kept


def _webp_kept(data: bytes, exif: bytes) -> Iterator[bytes]:
    at = 0
    while at < len(data):
        kind, length = struct.unpack_from("<4sI", data, at)
        content = data[at + 8 : at + 8 + length]
        if len(content) != length:
            raise ValueError("a chunk is cut short")
        at += 8 + length + length % 2
        if kind == b"VP8X":
            flags = content[0] & ~(_WEBP_EXIF | _WEBP_XMP) | (_WEBP_EXIF if exif else 0)
            content = bytes([flags]) + content[1:]
        elif kind == b"ANMF":
            content = content[:16] + b"".join(_webp_kept(content[16:], b""))
        if kind in _WEBP_KEPT:
            yield _webp_chunk(kind, content)


def _webp_chunk(kind: bytes, content: bytes) -> bytes:
    return kind + struct.pack("<I", len(content)) + content + b"\0" * (len(content) % 2)


_STRIPPED: dict[str, Callable[[bytes, int], bytes]] = {
    "image/jpeg": _jpeg,
    "image/png": _png,
    "image/gif": _gif,
    "image/webp": _webp,
}
