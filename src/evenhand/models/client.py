"""The one seam between Evenhand and any model: a Request goes in, a Reply comes out."""

from typing import Protocol

from evenhand.domain.call import Reply, Request


class ModelClient(Protocol):
    async def complete(self, request: Request) -> Reply:
        """One answer to one request, in one go: retrying is the engine's business.

        Raises CallFailure where no reply came, and Misuse where asking again, or asking anything else, is pointless.
        """
        ...

    async def close(self) -> None: ...
