"""How many calls may be in flight and how fast they may start: learned from the endpoint, capped by the user."""

import asyncio
from collections import deque
from dataclasses import dataclass
from typing import Protocol

CUT = 0.7
CUT_DEBOUNCE_SECONDS = 10.0
"""Calls sent before a cut come back throttled after it; they are not a reason for a second one."""
GROWTH_PAUSE_SECONDS = 5.0
"""After a cut or a 5xx. Shorter than the time between cuts, so that an endpoint which throttles now and then whatever
the load does not bring a run down to one call at a time."""


class Places(Protocol):
    """For calls in flight; those of one process where several share them."""

    @property
    def in_flight(self) -> int: ...

    @property
    def held(self) -> bool:
        """The endpoint asked for a pause that has not passed yet."""
        ...

    async def acquire(self) -> None: ...

    def release(self) -> None: ...

    def succeeded(self) -> None: ...

    def throttled(self, retry_after: float | None) -> None: ...

    def server_failed(self) -> None: ...

    async def pass_hold(self) -> None: ...


class Starts(Protocol):
    async def take(self, units: float = 1.0) -> None:
        """Returns when so much may be started."""
        ...


class Concurrency:
    """Places for calls in flight: grows slowly on success, is cut on 429, stops growing for a while on 5xx."""

    def __init__(self, most: int, *, start: int = 16) -> None:
        self.most = most
        self.allowed = min(most, start)
        self.in_flight: int = 0
        self.peak = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._successes = 0
        self._last_cut = float("-inf")
        self._growth_paused_until = float("-inf")
        self._held_until = float("-inf")

    async def acquire(self) -> None:
        while True:
            await self.pass_hold()
            if self.in_flight < self.allowed:
                break
            turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                if not turn.cancelled():
                    self._wake()  # the place that was meant for this one is another's
                raise
        self.in_flight += 1
        self.peak = max(self.peak, self.in_flight)

    def release(self) -> None:
        self.in_flight -= 1
        self._wake()

    def succeeded(self) -> None:
        self._successes += 1
        if self._successes >= self.allowed and _now() >= self._growth_paused_until:
            self._successes = 0
            self.allowed = min(self.most, self.allowed + max(1, self.allowed // 4))
            self._wake()

    def throttled(self, retry_after: float | None) -> None:
        now = _now()
        if retry_after is not None:
            self._held_until = max(self._held_until, now + retry_after)
        if now - self._last_cut >= CUT_DEBOUNCE_SECONDS:
            self._last_cut = now
            self._growth_paused_until = max(self._growth_paused_until, now + GROWTH_PAUSE_SECONDS)
            self._successes = 0
            self.allowed = max(1, int(self.allowed * CUT))

    def server_failed(self) -> None:
        self._growth_paused_until = max(self._growth_paused_until, _now() + GROWTH_PAUSE_SECONDS)

    @property
    def held(self) -> bool:
        """The endpoint asked for a pause that has not passed yet."""
        return _now() < self._held_until

    async def pass_hold(self) -> None:
        wait = self._held_until - _now()
        if wait > 0:
            await asyncio.sleep(wait)
            await self.pass_hold()  # somebody may have been told to wait longer meanwhile

    def _wake(self) -> None:
        free = self.allowed - self.in_flight
        while self._waiting and free > 0:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1


class Pace:
    """At most `per_minute` units started a minute, spread evenly, with one call or one second's worth in a burst."""

    def __init__(self, per_minute: float | None) -> None:
        # 61: the burst and the minute after it together hold no more than `per_minute`.
        self._per_second = None if per_minute is None else per_minute / 61
        self._free_at = float("-inf")

    async def take(self, units: float = 1.0) -> None:
        if self._per_second is None:
            return
        now = _now()
        start = max(self._free_at, now - max(1.0, units / self._per_second))
        self._free_at = start + units / self._per_second
        if self._free_at > now:
            await asyncio.sleep(self._free_at - now)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """How many calls to a model may be in flight, and how fast they may start."""

    places: Places
    requests: Starts
    tokens: Starts

    @classmethod
    def alone(cls, *, most: int, first: int, rpm: float | None, tpm: float | None) -> "Limits":
        """Of one process that shares them with nobody."""
        return cls(places=Concurrency(most, start=first), requests=Pace(rpm), tokens=Pace(tpm))


def _now() -> float:
    return asyncio.get_running_loop().time()
