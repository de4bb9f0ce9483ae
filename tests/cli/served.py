"""A scripted server in a thread of its own, so that the command line can run in the main one and be told of signals."""

import asyncio
import threading
from collections.abc import Generator
from contextlib import contextmanager
from typing import Any

from tests.scripted_server import Body, Canned, Script, ScriptedServer


@contextmanager
def served(script: Script, *canned: Canned) -> Generator[ScriptedServer]:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def there(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(timeout=60)

    async def begun() -> ScriptedServer:
        return await ScriptedServer(script).then(*canned).__aenter__()

    server: ScriptedServer = there(begun())
    try:
        yield server
    finally:
        there(server.__aexit__())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


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
