"""An image without what it tells besides its pixels: place, time, camera, comments, previews, whatever is appended.

Parts of the file are left out and nothing is encoded anew, so that every pixel stays as it is. Only what the look hangs
on is kept: which way is up, transparency, the frames of an animation, the colours' profile without its words.

What cameras and programs write is meant, not what somebody hides on purpose: that may lie in tables that no pixel uses,
or in the pixels.
"""

import struct
import zlib
from collections.abc import Callable, Iterable, Iterator

from evenhand.images.colour_profile import bare_profile
from evenhand.images.preparing import encoded_anew
from evenhand.images.sniffing import DEFAULT_LIMITS, ImageError, ImageLimits, sniff
from evenhand.images.structure import after_sub_blocks, palette_bytes

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
_LONGEST_PROFILE = 1 << 24
_GIF_LOOPS = frozenset({b"NETSCAPE2.0", b"ANIMEXTS1.0"})
_JPEG_EMPTY = frozenset({0x01, *range(0xD0, 0xD8)})
_JPEG_KEPT = _JPEG_EMPTY | frozenset(range(0xC0, 0xE0))
"""What a picture is decoded by: frames, scans, tables."""
_JPEG_ODD = frozenset({0xC8, 0xDC, 0xDE, 0xDF})
"""Such too, but seldom met, and decoders pass over what stands in them."""
_JPEG_TAIL = 4
"""Bytes at the end of the last scan on which some pixel hangs, whatever the picture; the last few bits are padding."""
_ICC, _ICC_PIECE = b"ICC_PROFILE\0", 65_519
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
    parts = list(_jpeg_parts(data))
    profile = _jpeg_profile(part for marker, part in parts if marker == _APP2)
    for marker, part in parts:
        if exif and marker != _APP0:
            payload = b"Exif\0\0" + exif
            kept.append(b"\xff\xe1" + struct.pack(">H", len(payload) + 2) + payload)
            exif = b""
        if marker == _APP2:
            kept.append(profile)
            profile = b""
        kept.append(_jpeg_kept(marker, part))
    return b"".join(kept)


def _jpeg_profile(parts: Iterable[bytes]) -> bytes:
    """The segments of the colours' profile, which is cut into several where it is long."""
    found = sorted(part[16:] for part in parts if part[4:16] == _ICC)
    bare = bare_profile(b"".join(part[2:] for part in found))
    pieces = [bare[start : start + _ICC_PIECE] for start in range(0, len(bare), _ICC_PIECE)]
    return b"".join(
        b"\xff\xe2" + struct.pack(">H", len(piece) + 16) + _ICC + bytes([number, len(pieces)]) + piece
        for number, piece in enumerate(pieces, start=1)
    )


def _jpeg_kept(marker: int, part: bytes) -> bytes:
    if marker == _APP0:
        # Its last bytes are a small picture; JFXX is another one.
        return b"\xff\xe0\0\x10" + part[4:16] + b"\0\0" if part[4:9] == b"JFIF\0" and len(part) >= 18 else b""
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
    kept = [data[:8]]
    exif = _only_orientation(turned)
    pixels, frames = list[bytes](), list[list[bytes]]()
    for kind, content in _png_parts(data):
        if kind == b"IDAT":
            pixels.append(content)
            kept.append(_png_chunk(b"eXIf", exif) if exif else b"")
            exif = b""
        elif kind == b"fcTL":
            frames.append([])
        elif kind == b"fdAT":
            frames[-1].append(content[4:])
        if kind == b"iCCP":
            kept.append(_png_profile(content))
        elif kind in _PNG_KEPT:
            kept.append(_png_chunk(kind, content))
    for stream in (pixels, *frames):
        _one_stream(stream)
    return b"".join(kept)


def _png_parts(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """The kind of each chunk and what it says, up to the end of the picture."""
    at, kind = 8, b""
    while at < len(data) and kind != b"IEND":
        length, kind = struct.unpack_from(">I4s", data, at)
        if at + 12 + length > len(data):
            raise ValueError("a chunk is cut short")
        if length > _PNG_LONGEST.get(kind, length):
            raise ValueError("a chunk is longer than what it says")
        yield kind, data[at + 8 : at + 8 + length]
        at += 12 + length


def _png_profile(content: bytes) -> bytes:
    _, _, profile = content.partition(b"\0")
    _one_stream([profile[1:]])
    whole = zlib.decompressobj().decompress(profile[1:], _LONGEST_PROFILE)
    if (bare := bare_profile(whole)) != whole:
        profile = b"\0" + zlib.compress(bare, 0)  # as it is: compressors differ between machines
    return _png_chunk(b"iCCP", b"ICC Profile\0" + profile) if bare else b""


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
            kept.append(_gif_extension(data[begun:at]))
        elif block == 0x2C:
            at = after_sub_blocks(data, at + 11 + palette_bytes(data[at + 9]))
            kept.append(data[begun:at])
        else:
            at += 1  # padding
    return b"".join((*kept, b"\x3b"))


def _gif_extension(block: bytes) -> bytes:
    """Of what belongs to a frame or says how often all are shown the one block that says it."""
    control = block[1:3] == b"\xf9\x04"
    loops = block[1] == 0xFF and block[3:14] in _GIF_LOOPS and block[14] == 3
    return block[:7] + b"\0" if control else block[:18] + b"\0" if loops else b""


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
            content = bytes([flags]) + content[1:10]
        elif kind == b"ANIM":
            content = content[:6]
        elif kind == b"ICCP":
            content = bare_profile(content)
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
