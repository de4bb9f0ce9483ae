"""The seam to a provider's batches: requests go up together, and come back line by line."""

import tempfile
from collections.abc import AsyncGenerator, Iterable, Sequence
from dataclasses import dataclass
from typing import IO, NamedTuple, Protocol

from evenhand.domain.call import Reply, Request
from evenhand.models.batch.record import OpenBatch

_PIECE = 2**18


class TooLarge(Exception):
    """The provider takes no batch of this size now; a smaller one it may."""

    def __init__(self, words: str, *, queue_full: bool) -> None:
        """`queue_full`: it may be for what waits there already, and it may take this one later."""
        super().__init__(words)
        self.queue_full = queue_full


class Gone(Exception):
    """The provider knows nothing any more of a batch, or of its results."""


class Undecided(Exception):
    """Whether a batch was made cannot be told yet."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchStatus:
    """A batch as its provider tells of it."""

    name: str
    ended: bool
    done: int = 0
    expires: float | None = None
    refused: str = ""
    """Why all of it was refused, in the provider's words."""
    too_large: bool = False
    """It was refused for its size, or for how much is waiting already."""
    how: str = ""
    """In one word: how it stands, or ended."""
    results: tuple[str, ...] = ()
    """What its files of results are called."""


class BatchLine(NamedTuple):
    """One result."""

    call: str
    content: dict[str, object]
    cut: bool = False
    """It is too long to be read: nothing but whose it is is known of it."""


class Spool:
    """The requests of a batch, written one after the other into a file that vanishes with it."""

    def __init__(self, between: bytes) -> None:
        self._file: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115  closed with the batch
        self._between = between
        self.size = 0
        self.count = 0

    def fits(self, pieces: Sequence[bytes], most_bytes: int) -> bool:
        """Whether it is in now; the first one always is, for nothing smaller can be sent."""
        size = sum(map(len, pieces)) + (len(self._between) if self.count else 0)
        if self.count and self.size + size > most_bytes:
            return False
        if self.count:
            self._file.write(self._between)
        for piece in pieces:
            self._file.write(piece)
        self.size += size
        self.count += 1
        return True

    def within(self, head: bytes, tail: bytes) -> "SpooledBody":
        return SpooledBody(self._file, self.size, head, tail)

    def close(self) -> None:
        self._file.close()


class SpooledBody:
    """A body that is read from a file as it is sent."""

    def __init__(self, file: IO[bytes], size: int, head: bytes, tail: bytes) -> None:
        self._file = file
        self._head, self._tail = head, tail
        self.size = size + len(head) + len(tail)

    @property
    def chunks(self) -> Iterable[bytes]:
        self._file.seek(0)
        yield self._head
        while piece := self._file.read(_PIECE):
            yield piece
        yield self._tail


class BatchWire(Protocol):
    """How one endpoint takes batches. Retries nothing: raises CallFailure, `transient` where a wait may cure it, Misuse
    where it never will, TooLarge and Gone, which are the client's to act on."""

    @property
    def who(self) -> str:
        """In words."""
        ...

    @property
    def most_requests(self) -> int: ...

    @property
    def most_bytes(self) -> int: ...

    @property
    def between(self) -> bytes:
        """What stands between two requests."""
        ...

    def mark(self) -> str:
        """A new one of ours for a batch, by which it is known with which key it was sent."""
        ...

    def is_marked(self, mark: str) -> bool:
        """Whether the batch of this mark was sent with the key that is used here."""
        ...

    def entry(self, request: Request) -> Sequence[bytes]:
        """A request as it stands in a batch, in pieces; its `custom_id` is the call's key."""
        ...

    async def upload(self, spool: Spool) -> str | None:
        """What the provider calls the file; None where requests go up with the creation."""
        ...

    async def create(self, batch: OpenBatch, spool: Spool) -> BatchStatus: ...

    async def poll(self, name: str) -> BatchStatus:
        """Raises Gone where there is none of that name."""
        ...

    async def find(self, batch: OpenBatch, others: set[str]) -> str | None:
        """What the provider calls this batch, whose creation may have gone through. `others`: names that are known to
        be others'."""
        ...

    async def withdraw(self, batch: OpenBatch) -> None:
        """So that a creation of it that comes from here on fails, where that can be done."""
        ...

    def results(self, status: BatchStatus) -> AsyncGenerator[BatchLine]:
        """As they come, in any order; what cannot be read is left out. Raises Gone where they are kept no longer."""
        ...

    def read(self, request: Request, line: BatchLine) -> Reply:
        """Raises as ModelClient's `complete` where the request failed."""
        ...

    async def close(self) -> None: ...
