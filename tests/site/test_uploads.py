"""Claims about images that people send: few are decoded at once, however many are sent."""

import asyncio
import threading
from pathlib import Path

from evenhand.images import ImageInfo, ImageLimits, ImageStore
from evenhand.images.guard import is_public
from evenhand.images.sniffing import PROPOSED_LIMITS
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.settings import VisitorLimits
from evenhand.site.http.uploads import AT_ONCE, Uploads
from evenhand.site.http.visitor import Visitor
from tests.site.house import PNG


class Crowded(ImageStore):
    """Each image waits a moment for one more than may be decoded at once."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.most = 0
        self.limits: set[ImageLimits | None] = set()
        self._now = 0
        self._turn = threading.Lock()
        self._too_many = threading.Event()

    def put(self, data: bytes, *, limits: ImageLimits | None = None) -> ImageInfo:
        with self._turn:
            self._now += 1
            self.most = max(self.most, self._now)
            self.limits.add(limits)
            if self._now > AT_ONCE:
                self._too_many.set()
        self._too_many.wait(0.2)
        try:
            return super().put(data, limits=limits)
        finally:
            with self._turn:
                self._now -= 1


async def test_of_many_images_sent_at_once_two_are_decoded_at_a_time(ledger: Ledger, tmp_path: Path):
    store = Crowded(tmp_path / "crowded")
    ledger.images = store
    uploads = Uploads(ledger, RateLimits(ledger, VisitorLimits()), allowed=is_public)
    kept = await asyncio.gather(*(uploads.keep(PNG, visitor=Visitor(address=f"{n}")) for n in range(6)))
    assert len(set(kept)) == 1
    assert 1 <= store.most <= AT_ONCE <= 2
    assert store.limits == {PROPOSED_LIMITS}
