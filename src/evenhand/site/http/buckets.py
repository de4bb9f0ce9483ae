"""Token buckets: how often something may happen in the long run, and how much of it at once."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass


@dataclass(slots=True)
class _Bucket:
    left: float
    at: float
    told: bool = False
    turned_away: int = 0


class Buckets:
    """One bucket for each name, the most recently used kept. Not for several threads."""

    def __init__(
        self, *, per_second: float, burst: float, most: int = 20_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._per_second = per_second
        self._burst = burst
        self._most = most
        self._clock = clock
        self._buckets: OrderedDict[str, _Bucket] = OrderedDict()

    def take(self, name: str) -> bool:
        """Whether there was one left to take."""
        bucket = self._filled(name)
        if bucket.left < 1:
            return False
        bucket.left -= 1
        return True

    def left(self, name: str) -> float:
        return self._filled(name).left

    def empty(self, name: str) -> bool:
        return self._filled(name).left < 1

    def nearly_full(self, name: str) -> bool:
        """Whether little was taken of late."""
        return self._filled(name).left >= 0.75 * self._burst

    def first_refusal(self, name: str) -> bool:
        """True once until the bucket is half full again, so that a flood fills no log."""
        bucket = self._filled(name)
        first, bucket.told = not bucket.told, True
        return first

    def told(self, name: str) -> bool:
        """Whether a first refusal was told, and the bucket is not half full again."""
        return self._filled(name).told

    def turn_away(self, name: str) -> None:
        self._filled(name).turned_away += 1

    def turned_away(self, name: str) -> int:
        """How often since this was last asked."""
        bucket = self._filled(name)
        number, bucket.turned_away = bucket.turned_away, 0
        return number

    def wait(self, name: str) -> float:
        """Seconds until there is one to take."""
        return max(0.0, (1 - self._filled(name).left) / self._per_second)

    def _filled(self, name: str) -> _Bucket:
        now = self._clock()
        bucket = self._buckets.get(name)
        if bucket is None:
            bucket = self._buckets[name] = _Bucket(self._burst, now)
            if len(self._buckets) > self._most:
                self._buckets.popitem(last=False)
        self._buckets.move_to_end(name)
        bucket.left = min(self._burst, bucket.left + (now - bucket.at) * self._per_second)
        bucket.at = now
        if bucket.left >= self._burst / 2:
            bucket.told = False
        return bucket
