"""How image files are put together, walked without decoding: how many frames a GIF holds, whether a JPEG or PNG is all
there.

Pillow counts a GIF's frames by parsing each one, and takes a file that ends early for a shorter animation. To decode a
JPEG takes fifteen times as long as to walk through it, and tells nothing more: what is altered within its pixels no
decoder notices.
"""

import struct
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol, cast

import re2

from evenhand.images.sniffing import ImageError

_EXTENSION = 0x21
_IMAGE = 0x2C
_TRAILER = 0x3B

_SOF, _SOF_PROGRESSIVE = (0xC0, 0xC1, 0xC2), 0xC2
_DHT, _EOI, _SOS, _DQT, _DRI, _COMMENT = 0xC4, 0xD9, 0xDA, 0xDB, 0xDD, 0xFE
_APPLICATION = range(0xE0, 0xF0)


class _Place(Protocol):
    def start(self) -> int: ...


class _Pattern(Protocol):
    def search(self, data: bytes, start: int) -> _Place | None: ...


def _compiled(pattern: bytes) -> _Pattern:
    options: Any = re2.Options()  # which carries no types
    options.encoding = options.Encoding.LATIN1  # bytes as they are
    return cast("Callable[[bytes, re2.Options], _Pattern]", re2.compile)(pattern, options)


_AFTER_SCAN = _compiled(rb"\xff[^\x00\xd0-\xd7]")
"""A marker; what a scan holds itself are stuffed bytes and restarts. Python's own expressions take eight times as long
to come to its end."""
_RGB = 2
"""The kind of a PNG's colours."""
_MOST_DEFLATED = 1032
"""Bytes of which deflate can make one."""
_MOST_SCANS = 64
"""A usual progressive file has ten."""
_MOST_EDGE = 65_500
_MOST_BLOCKS = 10
"""In one unit of a scan of several components."""


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


def plain_png_is_whole(data: bytes) -> bool:
    """Whether all of its chunks are there as their checksums say, its pixels may be as many as its header says, and
    nothing stands behind them. What is otherwise may be whole too."""
    at, pixels = 8, list[memoryview]()
    while at + 12 <= len(data):
        end = at + 8 + int.from_bytes(data[at : at + 4], "big")
        kind = data[at + 4 : at + 8]
        if data[end : end + 4] != zlib.crc32(memoryview(data)[at + 4 : end]).to_bytes(4, "big"):
            return False
        if kind == b"IEND":
            return _may_hold(data[16:29], pixels)
        if (kind == b"IHDR") is not (at == 8) or (pixels and kind != b"IDAT"):
            return False
        if kind == b"IDAT":
            pixels.append(memoryview(data)[at + 8 : end])
        at = end + 4
    return False


def _may_hold(header: bytes, pixels: Sequence[memoryview]) -> bool:
    """Whether what is compressed so can be as many pixels as the header says."""
    width, height, depth, colours, compression, filtering, interlaced = struct.unpack(">IIBBBBB", header)
    begins = bytes(pixels[0][:2]) if pixels else b""
    if len(begins) < 2 or begins[0] & 0x0F != zlib.DEFLATED or int.from_bytes(begins, "big") % 31:
        return False
    unpacked = width * height * depth * (3 if colours == _RGB else 1) // 8
    usual = compression == filtering == 0 and interlaced in (0, 1)
    return usual and unpacked <= _MOST_DEFLATED * sum(map(len, pixels))


def plain_jpeg_is_whole(data: bytes) -> bool:
    """Whether it has all that a decoder asks of it, up to the end mark, and nothing out of the ordinary. What is
    otherwise may be whole too."""
    walk, at = _JpegWalk(), 2
    try:
        while data[at] == 0xFF:
            marker = data[at + 1]
            if marker == _EOI:
                return walk.is_decodable
            length = int.from_bytes(data[at + 2 : at + 4], "big")
            segment = data[at + 4 : at + 2 + length]
            if length < 2 or len(segment) != length - 2 or not walk.takes(marker, segment):
                return False
            at += 2 + length
            if marker == _SOS:
                following = _AFTER_SCAN.search(data, at)
                if following is None:
                    return False
                at = following.start()
    except IndexError:
        pass
    return False


@dataclass(slots=True)
class _JpegWalk:
    """What the segments have said so far."""

    progressive: bool = False
    components: dict[int, tuple[int, int]] = field(default_factory=dict[int, tuple[int, int]])
    """By their names, the blocks in a unit and the quantization table."""
    begun: set[int] = field(default_factory=set[int])
    """Components of which a scan has told the lowest frequency."""
    quantizing: set[int] = field(default_factory=set[int])
    coding: set[int] = field(default_factory=set[int])
    """Huffman tables; those of higher frequencies with 16 added."""
    scans: int = 0

    @property
    def is_decodable(self) -> bool:
        return bool(self.components) and self.begun == self.components.keys()

    def takes(self, marker: int, segment: bytes) -> bool:
        """False where a decoder may refuse the segment, or where it is seldom met."""
        if marker in _APPLICATION or marker == _COMMENT:
            return True
        if marker == _DQT:
            return self._takes_quantization(segment)
        if marker == _DHT:
            return self._takes_coding(segment)
        if marker == _DRI:
            return len(segment) == 2
        if marker in _SOF:
            return self._takes_frame(marker, segment)
        return marker == _SOS and self._takes_scan(segment)

    def _takes_quantization(self, segment: bytes) -> bool:
        at = 0
        while at < len(segment):
            wide, name = divmod(segment[at], 16)
            at += 1 + 64 * (1 + wide)
            if wide > 1 or name > 3 or at > len(segment):
                return False
            self.quantizing.add(name)
        return True

    def _takes_coding(self, segment: bytes) -> bool:
        at = 0
        while at < len(segment):
            name, counts = segment[at], segment[at + 1 : at + 17]
            values = segment[at + 17 : at + 17 + sum(counts)]
            at += 17 + sum(counts)
            if name & 0xEC or at > len(segment) or not _is_code(counts):
                return False
            if not name & 0x10 and max(values, default=0) > 15:
                return False
            self.coding.add(name)
        return True

    def _takes_frame(self, marker: int, segment: bytes) -> bool:
        number = segment[5]
        if self.components or len(segment) != 6 + 3 * number or number not in (1, 3) or segment[0] != 8:
            return False
        if not all(0 < int.from_bytes(segment[place : place + 2], "big") <= _MOST_EDGE for place in (1, 3)):
            return False
        self.progressive = marker == _SOF_PROGRESSIVE
        for place in range(6, len(segment), 3):
            name, sampling, table = segment[place : place + 3]
            across, down = divmod(sampling, 16)
            if across not in (1, 2, 4) or down not in (1, 2, 4) or name in self.components:
                return False
            self.components[name] = (across * down, table)
        return True

    def _takes_scan(self, segment: bytes) -> bool:
        number = segment[0]
        if len(segment) != 4 + 2 * number or not 1 <= number <= len(self.components):
            return False
        names, tables = segment[1:-3:2], segment[2:-3:2]
        if len(set(names)) != number or not self.components.keys() >= set(names):
            return False
        if number > 1 and sum(self.components[name][0] for name in names) > _MOST_BLOCKS:
            return False
        if not self.quantizing >= {self.components[name][1] for name in names}:
            return False
        first, last, (before, now) = segment[-3], segment[-2], divmod(segment[-1], 16)
        self.scans += 1
        if not first and not before:
            self.begun.update(names)
        if not self.progressive:
            whole = (first, last, before, now) == (0, 63, 0, 0) and number == len(self.components)
            return whole and self.scans == 1 and self._have(tables, low=True, high=True)
        if self.scans > _MOST_SCANS or now > 13 or (before and now != before - 1):
            return False
        if not first:
            return last == 0 and (before > 0 or self._have(tables, low=True, high=False))
        return first <= last <= 63 and number == 1 and self._have(tables, low=False, high=True)

    def _have(self, tables: bytes, *, low: bool, high: bool) -> bool:
        lower = {table >> 4 for table in tables} if low else set[int]()
        higher = {16 + (table & 15) for table in tables} if high else set[int]()
        return self.coding >= lower | higher


def _is_code(counts: bytes) -> bool:
    """Whether there are as many words of each length as fit behind the shorter ones."""
    room = 1
    for count in counts:
        room = 2 * room - count
        if room < 0:
            return False
    return len(counts) == 16 and sum(counts) <= 256
