"""A colour profile without what it tells besides colours: when and by what it was made, whose screen it describes.

Screenshots carry the profile of the screen, which may name its maker, model and serial number.
"""

import struct

_HEADER, _ENTRY, _MOST_TAGS = 128, 12, 100
_COLOURS = frozenset(
    b"rXYZ gXYZ bXYZ rTRC gTRC bTRC kTRC wtpt bkpt chad lumi cicp gamt A2B0 A2B1 A2B2 B2A0 B2A1 B2A2 "
    b"D2B0 D2B1 D2B2 D2B3 B2D0 B2D1 B2D2 B2D3".split()
)
_TELLING = ((4, 8), (24, 36), (48, 56), (80, 128))
"""Of the header: the program, the time, maker and model of the device, who made it and the profile's own digest."""


def bare_profile(profile: bytes) -> bytes:
    """The tags by which colours are worked out; empty where it is no profile that has such."""
    try:
        tags = _tags(profile)
    except struct.error:
        return b""
    kept = [(name, at, size) for name, at, size in tags if name in _COLOURS and at + size <= len(profile)]
    # Tags may share what they hold, but not make more of it than there is.
    if not kept or sum(size for _, size in {(at, size) for _, at, size in kept}) > len(profile):
        return b""
    header = bytearray(profile[:_HEADER])
    for begin, end in _TELLING:
        header[begin:end] = bytes(end - begin)
    table, content, places = [struct.pack(">I", len(kept))], bytearray(), dict[tuple[int, int], int]()
    first = _HEADER + 4 + _ENTRY * len(kept)
    for name, at, size in kept:
        if (at, size) not in places:  # curves of several colours are often one
            places[at, size] = first + len(content)
            content += profile[at : at + size] + bytes(-size % 4)
        table.append(struct.pack(">4sII", name, places[at, size], size))
    header[:4] = struct.pack(">I", first + len(content))
    return b"".join((header, *table, content))


def _tags(profile: bytes) -> list[tuple[bytes, int, int]]:
    """The name of each, where it begins and its size."""
    (count,) = struct.unpack_from(">I", profile, _HEADER)
    if profile[36:40] != b"acsp" or count > _MOST_TAGS:
        return []
    return [struct.unpack_from(">4sII", profile, _HEADER + 4 + _ENTRY * place) for place in range(count)]
