"""Durable batched writes: a record is acknowledged only when it is committed to disk."""

import asyncio
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from evenhand.ledger.store.entries import Entries, Settling, SettlingBatches
from evenhand.ledger.store.record import Ledger

BATCH = 100
PAUSE_SECONDS = 0.05
_TOGETHER = 16
"""People's writes in one commit: the last of them waits for the others."""

T = TypeVar("T")


class SharedCommits:
    """What people write who come at one moment, in one commit; each is answered when it is on disk."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._waiting: deque[tuple[Callable[[], Any], asyncio.Future[Any]]] = deque()
        self._writing: asyncio.Task[None] | None = None

    async def put(self, write: Callable[[], T]) -> T:
        """What `write` returns or raises, in another thread, with all that it writes in one `Ledger.writing`."""
        done: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._waiting.append((write, done))
        if self._writing is None:
            self._writing = asyncio.create_task(self._write())
        return await done

    async def _write(self) -> None:
        try:
            while self._waiting:
                some = [self._waiting.popleft() for _ in range(min(_TOGETHER, len(self._waiting)))]
                await self._write_some([(write, done) for write, done in some if not done.cancelled()])
        finally:
            self._writing = None

    async def _write_some(self, some: "list[tuple[Callable[[], Any], asyncio.Future[Any]]]") -> None:
        made: list[Any]
        try:
            made = await asyncio.to_thread(self._ledger.writing_together, [write for write, _ in some])
        except Exception as error:  # noqa: BLE001  each of them waits for an answer
            made = [error] * len(some)
        for (_, done), one in zip(some, made, strict=True):
            if done.cancelled():
                continue
            if isinstance(one, Exception):
                done.set_exception(one)
            else:
                done.set_result(one)


class Writer:
    """Commits at 100 records, after 50 ms, or as soon as every call in flight waits for it; in a thread of its own.

    What comes while one commit is under way goes into the next: where a commit takes long, each of them alone would
    queue up behind it. Where several processes share a run, each has few calls in flight, and the next is about to
    begin: then it waits for more as long as the commit before took.
    """

    def __init__(
        self,
        ledger: Ledger,
        *,
        study: str | None,
        holder: str,
        in_flight: Callable[[], int],
        shared: bool = False,
        purse: Settling | None = None,
        batches: SettlingBatches | None = None,
    ) -> None:
        """`study`: links every trial committed to it. `holder`: whose claims the commits end. `shared`: by several
        processes. `purse`: what is charged comes out of it. `batches`: what calls came through is settled there."""
        self._ledger = ledger
        self._study = study
        self._holder = holder
        self._purse = purse
        self._batches = batches
        self._in_flight = in_flight
        self._pending: list[tuple[Entries, asyncio.Future[set[str]]]] = []
        self._timer: asyncio.TimerHandle | None = None
        self._due = False
        """What is pending has waited long enough."""
        self._shared, self._last = shared, False
        """Of what is pending the last that is waited for has come."""
        self._took = 0.0
        """Seconds of the last commit."""
        self._thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="ledger")
        self._commits: set[asyncio.Task[None]] = set()
        self._committing = 0

    async def put(self, entries: Entries) -> set[str]:
        """Returns when the entries are on disk, with what `Ledger.commit` has left out of all that was put there with
        them; raises LedgerError where they could not be written."""
        loop = asyncio.get_running_loop()
        done: asyncio.Future[set[str]] = loop.create_future()
        self._pending.append((entries, done))
        if self._timer is None:
            self._wait(PAUSE_SECONDS)
        if not self._committing:
            self._flush_if_ready()
        return await done

    async def run(self, work: Callable[..., T], *args: Any) -> T:
        """Other ledger work, in the same thread and so in order with the commits."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, work, *args)

    async def close(self, *, last: Entries, then: Callable[[], None]) -> None:
        """Commits what is pending and `last`, then does one more thing, and ends the thread whatever happens."""
        try:
            self._flush()
            await asyncio.gather(*self._commits, return_exceptions=True)
            last.study, last.holder, last.purse = self._study, self._holder, self._purse
            last.batches = self._batches
            await self.run(self._ledger.commit, last)
            await self.run(then)
        finally:
            self._thread.shutdown(wait=True)

    def _waited(self) -> None:
        self._due = True
        if not self._committing:
            self._flush()

    def _flush_if_ready(self, acknowledged: int = 0) -> None:
        """`acknowledged`: so many of the calls in flight are on record and on their way out."""
        nobody_else = len(self._pending) + acknowledged >= self._in_flight()
        if self._due or len(self._pending) >= BATCH or (nobody_else and not self._shared):
            self._flush()
        elif nobody_else and not self._last:
            self._last = True
            self._wait(min(self._took, PAUSE_SECONDS))

    def _wait(self, seconds: float) -> None:
        """From now, and no longer than was said before."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        if self._timer is not None:
            until = min(until, self._timer.when())
            self._timer.cancel()
        self._timer = loop.call_at(until, self._waited)

    def _flush(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._due = self._last = False
        if not self._pending:
            return
        batch, self._pending = self._pending, []
        self._committing += len(batch)
        task = asyncio.get_running_loop().create_task(self._commit(batch))
        self._commits.add(task)
        task.add_done_callback(self._commits.discard)

    async def _commit(self, batch: list[tuple[Entries, "asyncio.Future[set[str]]"]]) -> None:
        together = Entries(study=self._study, holder=self._holder, purse=self._purse, batches=self._batches)
        for entries, _ in batch:
            together.extend(entries)
        fault: Exception | None = None
        lost: set[str] = set()
        begun = asyncio.get_running_loop().time()
        try:
            lost = await self.run(self._ledger.commit, together)
        except Exception as error:  # noqa: BLE001  every waiter must learn of it, whatever it was
            fault = error
        self._took = asyncio.get_running_loop().time() - begun
        self._committing -= len(batch)
        if self._pending and not self._committing:
            self._flush_if_ready(acknowledged=len(batch))
        for _, done in batch:
            if done.done():
                continue
            if fault is None:
                done.set_result(lost)
            else:
                done.set_exception(fault)
