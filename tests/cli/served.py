"""A scripted server in a thread of its own, so that the command line can run in the main one and be told of signals."""

import asyncio
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from tests.batch_server import Batching, BatchServer
from tests.scripted_server import Body, Canned, Script, ScriptedServer
from tests.warm import LONG

S = TypeVar("S", bound=ScriptedServer)


@contextmanager
def served(script: Script, *canned: Canned) -> Generator[ScriptedServer]:
    with serving(lambda: ScriptedServer(script).then(*canned)) as server:
        yield server


@contextmanager
def serving(made: Callable[[], S]) -> Generator[S]:
    """What is made in that thread."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def there(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(timeout=LONG)

    async def begun() -> S:
        return await made().__aenter__()

    server: S = there(begun())
    try:
        yield server
    finally:
        there(server.__aexit__())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


@contextmanager
def taking_batches(script: Script | None = None, **batching: Any) -> Generator[BatchServer]:
    with serving(lambda: BatchServer(script, batching=Batching(**batching))) as server:
        yield server


def words(body: Body) -> str:
    """The text of the one user turn."""
    (message,) = body["messages"]
    content = message["content"]
    return content if isinstance(content, str) else "".join(part.get("text", "") for part in content)


def pictures(body: Body) -> list[str]:
    """The images of the one user turn, in order, as data URLs; they stand before the words."""
    (message,) = body["messages"]
    if isinstance(message["content"], str):
        return []
    *images, last = message["content"]
    assert last["type"] == "text"
    return [part["image_url"]["url"] for part in images]
