"""A provider's cache of prompts' beginnings, as OpenAI documents it: blocks of 128 tokens, from 1,024 on, evicted."""

import hashlib
from collections import OrderedDict
from collections.abc import Iterator

import orjson

BLOCK = 128
LEAST = 1024
CHARACTERS_OF_A_TOKEN = 4


class PrefixCache:
    """Finds the longest beginning that an answered prompt had too; forgets the blocks that were used longest ago."""

    def __init__(self, blocks: int) -> None:
        self._most = blocks
        self._kept: OrderedDict[bytes, None] = OrderedDict()

    def found(self, raw: bytes) -> int:
        """Tokens of a request's body that are in the cache."""
        if not self._most:
            return 0
        hits = 0
        for key in _blocks(raw):
            if key not in self._kept:
                break
            self._kept.move_to_end(key)
            hits += 1
        return hits * BLOCK if hits * BLOCK >= LEAST else 0

    def keep(self, raw: bytes) -> None:
        if not self._most:
            return
        for key in _blocks(raw):
            self._kept[key] = None
            self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)


def _blocks(raw: bytes) -> Iterator[bytes]:
    """Each whole block by all that stands before it."""
    said = b"".join(orjson.dumps([one["role"], one["content"]]) for one in orjson.loads(raw)["messages"])
    size = BLOCK * CHARACTERS_OF_A_TOKEN
    before = hashlib.sha256()
    for start in range(0, len(said) - size + 1, size):
        before.update(said[start : start + size])
        yield before.digest()
