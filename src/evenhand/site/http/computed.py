"""Values that take long to work out: made off the event loop, one at a time, kept while nothing newer is on record."""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable, Hashable
from concurrent.futures import Future
from dataclasses import dataclass
from queue import SimpleQueue
from threading import Thread
from typing import Any, Generic, TypeVar

T = TypeVar("T")

_REST = 5.0
"""Such a value is made again only after so many times as long as it took."""
_MOST_WAITING = 32
"""Values that are being made or wait for it; whoever wants another is told to come again."""


class StillWorking(Exception):
    """The value is being worked out for the first time and is not ready yet; says which, as the beginning of a
    sentence."""

    def __init__(self, what: str = "This page") -> None:
        super().__init__(f"{what} is being worked out")


@dataclass(slots=True)
class _Kept(Generic[T]):
    made_of_it: T | Exception
    """The value, or what was raised in its place and will be again."""
    state: Hashable
    cost: float
    """Seconds it took."""
    made: float
    takes_long: bool

    @property
    def value(self) -> T:
        """Raises what was raised when it was made."""
        if isinstance(self.made_of_it, Exception):
            raise self.made_of_it.with_traceback(None)  # which would grow with each who asks
        return self.made_of_it

    def may_be_made_again(self, now: float) -> bool:
        return not self.takes_long or now >= self.made + _REST * self.cost


class Computed:
    """The most recently used values. A value stands for a key and a state of the record; a later state replaces it."""

    def __init__(
        self,
        *,
        most: int = 64,
        long: float = 1.0,
        lasting: tuple[type[Exception], ...] = (),
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`long`: seconds; a value that takes longer is shown as it was while it is made again. `lasting`: errors that
        say something of the record, and not of this moment; they are kept as a value is."""
        self._most = most
        self._long = long
        self._lasting = lasting
        self._clock = clock
        self._kept: OrderedDict[Hashable, _Kept[Any]] = OrderedDict()
        self._making: dict[Hashable, asyncio.Task[Any]] = {}
        self._thread = _OneByOne()

    def close(self) -> None:
        """A value that is being made is given up: making one changes nothing."""
        self._thread.close()

    async def get(
        self, key: Hashable, make: Callable[[], T], *, state: Hashable, patience: float, moment: float = 1.0
    ) -> T:
        """The value at this state; an earlier one where a new one would take long; StillWorking where there is none.

        `patience`: seconds to wait where there is none; `moment`: where there is an earlier one. Raises whatever `make`
        raises.
        """
        kept: _Kept[T] | None = self._kept.get(key)
        if kept is not None:
            self._kept.move_to_end(key)
            if kept.state == state or not kept.may_be_made_again(self._clock()):
                return kept.value
        task = self._making.get(key)
        if task is None and len(self._making) >= _MOST_WAITING:
            if kept is None:
                raise StillWorking
            return kept.value
        if task is None:
            task = self._making[key] = asyncio.create_task(self._make(key, make, state))
        if kept is not None and kept.takes_long:
            return kept.value
        done, _ = await asyncio.wait({task}, timeout=patience if kept is None else min(patience, moment))
        if done:
            return task.result()
        if kept is None:
            raise StillWorking
        return kept.value

    async def _make(self, key: Hashable, make: Callable[[], T], state: Hashable) -> T:
        try:
            made, cost = await asyncio.wrap_future(self._thread.submit(lambda: self._timed(make)))
        finally:
            del self._making[key]
        kept: _Kept[T] = _Kept(made, state, cost, self._clock(), cost > self._long)
        self._kept[key] = kept
        self._kept.move_to_end(key)
        while len(self._kept) > self._most:
            self._kept.popitem(last=False)
        return kept.value

    def _timed(self, make: Callable[[], T]) -> tuple[T | Exception, float]:
        before = self._clock()
        made: T | Exception
        try:
            made = make()
        except self._lasting as error:
            made = error
        return made, self._clock() - before


class LastMade:
    """The last value of each kind, for a site that becomes files: whoever walks it asks for the same several times in
    turn, and nothing newer comes between."""

    def __init__(self) -> None:
        self._made: dict[str, tuple[Hashable, Any]] = {}

    def get(self, kind: str, key: Hashable, make: Callable[[], T]) -> T:
        if kind not in self._made or self._made[kind][0] != key:
            self._made.pop(kind, None)  # before the next is made: both may be large
            self._made[kind] = key, make()
        return self._made[kind][1]


class _OneByOne:
    """A thread that does one thing after the other. Unlike an executor's it does not hold up the program's end."""

    def __init__(self) -> None:
        self._jobs: SimpleQueue[tuple[Callable[[], Any], Future[Any]] | None] = SimpleQueue()
        Thread(target=self._work, name="boards", daemon=True).start()

    def submit(self, make: Callable[[], T]) -> "Future[T]":
        future: Future[T] = Future()
        self._jobs.put((make, future))
        return future

    def close(self) -> None:
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            make, future = job
            if future.set_running_or_notify_cancel():
                try:
                    future.set_result(make())
                except Exception as error:  # noqa: BLE001  whoever asked hears of it
                    future.set_exception(error)
