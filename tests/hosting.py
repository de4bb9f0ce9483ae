"""Servers in a thread of their own that end when they are told to: no test waits for one to look whether it should."""

import asyncio
import socket
import socketserver
import threading
from collections.abc import Generator
from concurrent.futures import Future
from contextlib import contextmanager

import uvicorn

LOOKS_EVERY = 0.01
"""Seconds. By themselves they look twice a second."""


@contextmanager
def hosting(server: socketserver.BaseServer) -> Generator[None]:
    thread = threading.Thread(target=server.serve_forever, args=(LOOKS_EVERY,))
    thread.start()
    try:
        yield
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class PromptServer(uvicorn.Server):
    """Ends at once: uvicorn's own looks ten times a second whether it should, and then waits a tenth for nothing."""

    def __init__(self, config: uvicorn.Config) -> None:
        super().__init__(config)
        self.told_to_end: Future[None] = Future()

    async def main_loop(self) -> None:
        await self.on_tick(0)
        await asyncio.wrap_future(self.told_to_end)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        for listening in (*self.servers, *(sockets or ())):
            listening.close()
        for connection in list(self.server_state.connections):
            connection.shutdown()
        while self.server_state.connections or self.server_state.tasks:  # noqa: ASYNC110  nobody is told of the last
            await asyncio.sleep(0.001)
        await self.lifespan.shutdown()


@contextmanager
def hosting_site(config: uvicorn.Config, bound: socket.socket) -> Generator[None]:
    server = PromptServer(config)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]})
    thread.start()
    try:
        yield
    finally:
        server.told_to_end.set_result(None)
        thread.join()
