"""Plain calls of what is asynchronous, also where a loop is running already, as in a notebook."""

import asyncio
import functools
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")


def run(work: Coroutine[Any, Any, R]) -> R:
    """As `asyncio.run`, in a loop that takes less to ask and to hear."""
    import uvloop

    return uvloop.run(work)


def plain(asynchronous: Callable[P, Coroutine[Any, Any, R]]) -> Callable[P, R]:
    """The same as a plain call."""

    @functools.wraps(asynchronous)
    def call(*given: P.args, **named: P.kwargs) -> R:
        return _finished(asynchronous(*given, **named))

    call.__name__ = call.__qualname__ = asynchronous.__name__.removesuffix("_async")
    return call


def _finished(work: Coroutine[Any, Any, R]) -> R:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return run(work)
    return _in_a_thread(work)


def _in_a_thread(work: Coroutine[Any, Any, R]) -> R:
    """In a loop of its own: the one that runs here cannot go on before this call returns."""
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[Any]]] = []

    async def watched() -> R:
        task = asyncio.current_task()
        assert task is not None
        running.append((asyncio.get_running_loop(), task))
        return await work

    with ThreadPoolExecutor(max_workers=1, thread_name_prefix="evenhand") as pool:
        done = pool.submit(run, watched())
        try:
            return done.result()
        except KeyboardInterrupt:
            # The notebook's stop button: what was answered is on record, and nothing more is asked.
            for loop, task in running:
                loop.call_soon_threadsafe(task.cancel)
            raise
