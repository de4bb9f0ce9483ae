"""The most recently used byte strings, up to a total length; safe to share between threads."""

from collections import OrderedDict
from collections.abc import Hashable
from threading import Lock


class RecentBytes:
    """Forgets the least recently used when the values together exceed `max_bytes`."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, bytes] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    @property
    def total_bytes(self) -> int:
        return self._total

    def get(self, key: Hashable) -> bytes | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Hashable, value: bytes) -> None:
        """A value longer than everything that may be kept is not kept."""
        with self._lock:
            self._total -= len(self._values.pop(key, b""))
            if len(value) > self._max_bytes:
                return
            self._values[key] = value
            self._total += len(value)
            while self._total > self._max_bytes:
                _, forgotten = self._values.popitem(last=False)
                self._total -= len(forgotten)
