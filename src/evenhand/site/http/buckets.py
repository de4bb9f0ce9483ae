"""Token buckets: how often something may happen in the long run, and how much of it at once."""

import time
from collections import OrderedDict
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from typing import Protocol

MOST = 20_000
"""Buckets of one kind."""


@dataclass(slots=True)
class Bucket:
    left: float
    at: float
    told: bool = False
    turned_away: int = 0


class BucketStore(Protocol):
    """Buckets by name, the most recently used kept."""

    def bucket(self, name: str, new: Bucket) -> AbstractContextManager[Bucket]:
        """The bucket of this name, `new` where there is none; what is changed of it meanwhile is kept."""
        ...


class OwnBuckets:
    """Of one process."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._buckets: OrderedDict[str, Bucket] = OrderedDict()

    @contextmanager
    def bucket(self, name: str, new: Bucket) -> Generator[Bucket]:
        found = self._buckets.setdefault(name, new)
        if len(self._buckets) > self._most:
            self._buckets.popitem(last=False)
        self._buckets.move_to_end(name)
        yield found


class Buckets:
    """One bucket for each name, the most recently used kept. Not for several threads."""

    def __init__(
        self,
        *,
        per_second: float,
        burst: float,
        most: int = MOST,
        clock: Callable[[], float] = time.monotonic,
        kept: BucketStore | None = None,
    ) -> None:
        """`kept`: where they are, if not in this process alone."""
        self._per_second = per_second
        self._burst = burst
        self._clock = clock
        self._kept = kept or OwnBuckets(most)

    def take(self, name: str) -> bool:
        """Whether there was one left to take."""
        with self._filled(name) as bucket:
            if bucket.left < 1:
                return False
            bucket.left -= 1
            return True

    def left(self, name: str) -> float:
        with self._filled(name) as bucket:
            return bucket.left

    def empty(self, name: str) -> bool:
        return self.left(name) < 1

    def nearly_full(self, name: str) -> bool:
        """Whether little was taken of late."""
        return self.left(name) >= 0.75 * self._burst

    def first_refusal(self, name: str) -> bool:
        """True once until the bucket is half full again, so that a flood fills no log."""
        with self._filled(name) as bucket:
            first, bucket.told = not bucket.told, True
            return first

    def told(self, name: str) -> bool:
        """Whether a first refusal was told, and the bucket is not half full again."""
        with self._filled(name) as bucket:
            return bucket.told

    def turn_away(self, name: str) -> None:
        with self._filled(name) as bucket:
            bucket.turned_away += 1

    def turned_away(self, name: str) -> int:
        """How often since this was last asked."""
        with self._filled(name) as bucket:
            number, bucket.turned_away = bucket.turned_away, 0
            return number

    def wait(self, name: str) -> float:
        """Seconds until there is one to take."""
        return max(0.0, (1 - self.left(name)) / self._per_second)

    @contextmanager
    def _filled(self, name: str) -> Generator[Bucket]:
        now = self._clock()
        with self._kept.bucket(name, Bucket(self._burst, now)) as bucket:
            # Another process may have looked a moment later and come first.
            bucket.left = min(self._burst, bucket.left + max(0.0, now - bucket.at) * self._per_second)
            bucket.at = max(now, bucket.at)
            if bucket.left >= self._burst / 2:
                bucket.told = False
            yield bucket
