"""What a batch client asks of whoever keeps the record: a batch is there before anything is waited for."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from evenhand.domain.errors import EvenhandError
from evenhand.domain.identity import Json


class BatchPending(Exception):
    """The call waits in a batch that is on record, and is not waited for here any longer."""

    def __init__(self, message: str, *, error: EvenhandError | None = None) -> None:
        super().__init__(message)
        self.error = error
        """Why not, where something went wrong."""


class NotSent(Exception):
    """The batch that the call was in when this run began was never sent, or is lost: it may be sent anew."""


class TakenOver(Exception):
    """Another run sees to a batch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchPauses:
    """Seconds."""

    quiet: float = 1.0
    """After which nobody is taken to have anything to add to a batch."""
    first_poll: float = 1.0
    longest_poll: float = 60.0
    unsure: float = 60.0
    """In which a creation that nobody heard the end of may still show up in the provider's list."""


@dataclass(slots=True, kw_only=True, eq=False)
class OpenBatch:
    """A batch whose calls are waited for."""

    id: str
    """Our own mark on it."""
    state: str
    """uploading, uploaded, creating, created, dropped."""
    calls: set[str] = field(default_factory=set[str])
    """Keys of those whose reply has not come yet."""
    file: str | None = None
    name: str | None = None
    """What the provider calls the uploaded requests, and the batch."""
    entries: int = 0
    at: float = 0.0
    done: int = 0
    """Answered, when the provider was asked last."""
    missed: bool = False
    """The provider did not know of it when it was asked last."""


class BatchRecord(Protocol):
    async def open(self) -> Sequence[OpenBatch]:
        """All of this endpoint, whoever sent them."""
        ...

    async def take(self, batch: OpenBatch) -> set[str]:
        """From here on this run sees to the batch, which is as it is on record now; returns the keys of those whose
        reply or failure is not. Raises TakenOver where another live run sees to it."""
        ...

    async def begin(self, batch: OpenBatch) -> set[str]:
        """On disk when it returns; calls that were in a dropped batch are in this one only. Or the keys of those that
        are answered by now, or wait in another batch: then nothing is on disk, and it is not to be sent."""
        ...

    async def change(self, batch: str, **values: Json) -> None:
        """Raises TakenOver, and changes nothing, where another run has seen to it since this one did."""
        ...

    async def close(self, batch: str, note: str) -> None:
        """It was refused: nothing of it is waited for, and nothing was paid. Raises as `change`."""
        ...

    async def names(self) -> set[str]:
        """What the provider calls its batches that are on record."""
        ...

    async def room(self, batch: str, call: str) -> None:
        """Returns when so few of the replies that were handed out are not on record yet that this one, of a call of the
        batch, may follow."""
        ...
