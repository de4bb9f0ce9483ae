"""Keeps images that people send: decoded off the event loop and a few at a time, as small files can decode large."""

import asyncio

from starlette.concurrency import run_in_threadpool

from evenhand.images import ImageError
from evenhand.images.inspection import PROPOSED_LIMITS
from evenhand.ledger.record import Ledger
from evenhand.web.refusal import Refusal
from evenhand.web.visitor import Visitor
from evenhand.web.watch import Watch

AT_ONCE = 2


class Uploads:
    def __init__(self, ledger: Ledger, watch: Watch) -> None:
        self._ledger = ledger
        self._watch = watch
        self._turn = asyncio.Semaphore(AT_ONCE)

    async def keep(self, data: bytes, *, visitor: Visitor) -> str:
        """The digest of an image that is in the store now. Raises Refusal."""
        await self._watch.admit_upload(visitor)
        async with self._turn:
            return await run_in_threadpool(self._kept, data)

    def _kept(self, data: bytes) -> str:
        try:
            return self._ledger.images.put(data, limits=PROPOSED_LIMITS).digest
        except ImageError as error:
            words = f"This file cannot be used. {error}"
            raise Refusal(422, words, attack="refused: upload", about=str(error)) from error
