"""Why and how fast a run should end early."""

import asyncio
from contextlib import suppress


class StopSign:
    """Why a run should end early; set from a signal, a wrong key, a full disk or a spent budget."""

    def __init__(self) -> None:
        self.error: Exception | None = None
        self._raised = asyncio.Event()
        self._interrupted = asyncio.Event()
        self._pressing = asyncio.Event()
        self._hurried = asyncio.Event()

    def interrupt(self) -> None:
        """The first time: begin nothing new. The second time: give up what is in flight."""
        if self.interrupted:
            self._hurried.set()
        self._interrupted.set()
        self._pressing.set()
        self._raised.set()

    def fail(self, error: Exception) -> None:
        self.error = self.error or error
        self._pressing.set()
        self._raised.set()

    def stop(self) -> None:
        self._raised.set()

    @property
    def interrupted(self) -> bool:
        return self._interrupted.is_set()

    @property
    def raised(self) -> bool:
        return self._raised.is_set()

    @property
    def pressing(self) -> bool:
        """An interrupt or an error: what has not been sent yet is not sent any more."""
        return self._pressing.is_set()

    async def wait(self) -> None:
        await self._raised.wait()

    async def wait_interrupted(self) -> None:
        await self._interrupted.wait()

    async def wait_pressing(self) -> None:
        """For an interrupt or an error."""
        await self._pressing.wait()

    async def wait_hurried(self) -> None:
        """For a second interrupt."""
        await self._hurried.wait()

    async def end_of_patience(self, grace_seconds: float) -> None:
        """Returns so long after an interrupt or an error, or at a second interrupt; a spent budget is no hurry."""
        await self._pressing.wait()
        with suppress(TimeoutError):
            await asyncio.wait_for(self._hurried.wait(), grace_seconds)
