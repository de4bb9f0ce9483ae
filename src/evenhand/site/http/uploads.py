"""Takes images that people send or name: decoded off the event loop and a few at a time, as small files can decode
large; an address that is private by its looks is refused before anybody asks for it."""

from collections.abc import Callable
from urllib.parse import urlsplit

from anyio import CapacityLimiter, to_thread

from evenhand.benchmarks.files.items_file import address_fault
from evenhand.images import ImageError
from evenhand.images.guard import may_be_public
from evenhand.images.sniffing import PROPOSED_LIMITS
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.visitor import Visitor

AT_ONCE = 2


class Uploads:
    def __init__(self, ledger: Ledger, watch: RateLimits, *, allowed: Callable[[str], bool]) -> None:
        self._ledger = ledger
        self._watch = watch
        self._allowed = allowed
        self._threads = CapacityLimiter(AT_ONCE)

    def usable_address(self, url: str) -> str:
        """Raises Refusal for one at which no public image can be."""
        if ":" not in url:
            raise Refusal(422, "An image's address begins with https:// or http://.")
        fault = address_fault(url)
        if fault is None and not may_be_public(urlsplit(url).hostname or "", self._allowed):
            fault = (
                "This address is inside a private network or not an address at all; give one that everybody reaches."
            )
        if fault is not None:
            raise Refusal(422, fault, attack="refused: image address", about=url)
        return url

    async def keep(self, data: bytes, *, visitor: Visitor) -> str:
        """The digest of an image that is in the store now. Raises Refusal."""
        await self._watch.admit_upload(visitor)
        return await to_thread.run_sync(self._kept, data, limiter=self._threads)

    def _kept(self, data: bytes) -> str:
        try:
            return self._ledger.images.put_without_metadata(data, limits=PROPOSED_LIMITS).digest
        except ImageError as error:
            words = f"This file cannot be used. {error}"
            raise Refusal(422, words, attack="refused: upload", about=str(error)) from error
