"""Content hashes: the same content has the same name on any machine."""

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from json.encoder import encode_basestring_ascii
from typing import TypeAlias

Json: TypeAlias = "bool | int | float | str | Sequence[Json] | Mapping[str, Json] | None"

# One encoder object: json.dumps with options builds a new one at every call.
_encode = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False).encode


_LONG = 200
_PLAIN = b"\n" + bytes(range(0x20, 0x7F))


def canonical_json(value: Json) -> str:
    """ASCII JSON with sorted keys and no spaces; raises ValueError on NaN and infinities."""
    if not isinstance(value, str):
        return _encode(value)
    if len(value) > _LONG and value.isascii() and not value.encode("ascii").translate(None, _PLAIN):
        # As the encoder does, which looks at every letter for itself and takes three times as long.
        escaped = value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
        return f'"{escaped}"'
    return encode_basestring_ascii(value)


def content_hash(kind: str, value: Json) -> str:
    """SHA-256 in hex of a kind's name and its content; two kinds never share a name by accident."""
    return canonical_hash(kind, _encode(value))


def canonical_hash(kind: str, canonical: str) -> str:
    """The content_hash of a content whose canonical JSON is at hand."""
    return hashlib.sha256(f"{kind}\n{canonical}".encode("ascii")).hexdigest()


def canonical_hash_after(kind: str, beginning: str) -> Callable[[str], str]:
    """The canonical_hash of `beginning` and the rest that it is given: what many contents begin with is hashed once."""
    begun = hashlib.sha256(f"{kind}\n{beginning}".encode("ascii"))

    def of(rest: str) -> str:
        whole = begun.copy()
        whole.update(rest.encode("ascii"))
        return whole.hexdigest()

    return of


def bytes_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def draw(seed: int, *names: str) -> int:
    """A number in [0, 2**64) that depends on nothing but the seed and the names, for draws that any machine repeats."""
    return int.from_bytes(canonical_draw(_encode([seed, *names])), "big")


def canonical_draw(canonical: str) -> bytes:
    """The draw, as eight bytes, whose list of seed and names is at hand as canonical JSON."""
    return canonical_draws([canonical.encode("ascii")])


def canonical_draws(canonical: Iterable[bytes]) -> bytes:
    """The draws of many such lists, one after the other."""
    return b"".join([hashlib.sha256(one).digest()[:8] for one in canonical])
