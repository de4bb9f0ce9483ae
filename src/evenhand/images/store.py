"""Images kept under the SHA-256 of their bytes, wherever that is."""

import weakref
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from pathlib import Path
from threading import Lock

import pybase64

from evenhand.files.private_files import WayOut
from evenhand.images.addresses import ImageAddresses
from evenhand.images.inspection import ImageInfo, inspect
from evenhand.images.inspection import digest as digest_of
from evenhand.images.metadata import without_metadata
from evenhand.images.originals import Originals
from evenhand.images.places import (
    ADDRESSES,
    DIGEST,
    ORIGINALS,
    Folder,
    Notes,
    NotesFile,
    Place,
    StoreProblem,
    folder_of,
)
from evenhand.images.preparing import prepared
from evenhand.images.sniffing import DEFAULT_LIMITS, ImageError, ImageLimits
from evenhand.images.unpacked import UnpackedPictures


class RecentBytes:
    """Forgets the least recently used when the values together exceed `max_bytes`."""

    def __init__(self, *, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._values: OrderedDict[Hashable, bytes] = OrderedDict()
        self._total = 0
        self._lock = Lock()

    @property
    def total_bytes(self) -> int:
        return self._total

    def get(self, key: Hashable) -> bytes | None:
        with self._lock:
            value = self._values.get(key)
            if value is not None:
                self._values.move_to_end(key)
            return value

    def put(self, key: Hashable, value: bytes) -> None:
        """A value longer than everything that may be kept is not kept."""
        with self._lock:
            self._total -= len(self._values.pop(key, b""))
            if len(value) > self._max_bytes:
                return
            self._values[key] = value
            self._total += len(value)
            while self._total > self._max_bytes:
                _, forgotten = self._values.popitem(last=False)
                self._total -= len(forgotten)


class ImageStore:
    """Images in a place that several processes may read and fill at once.

    Data URLs are kept in memory, the most recently used up to `cache_bytes`.
    """

    def __init__(
        self,
        place: Place | Path,
        *,
        notes: Mapping[str, Notes] | None = None,
        limits: ImageLimits = DEFAULT_LIMITS,
        cache_bytes: int = 64_000_000,
    ) -> None:
        """`place`: a folder by its path. `notes`: by their names, where they do not lie in that folder."""
        self.place: Place = Folder(place, nested=True) if isinstance(place, Path) else place
        beside = {name: NotesFile(self.root / name) for name in (ADDRESSES, ORIGINALS)} if notes is None else notes
        self.addresses = ImageAddresses(beside[ADDRESSES])
        self.originals = Originals(beside[ORIGINALS])
        self._limits = limits
        self._urls = RecentBytes(max_bytes=cache_bytes)
        # What was found when an image was decoded: one that goes out as it is need not be decoded again.
        self._infos: dict[str, ImageInfo] = {}
        self._put: weakref.ref[UnpackedPictures] | None = None
        """The last that were put, as long as whoever put them has them: nobody else can alter their bytes, and so they
        need not be read and compared again."""

    @property
    def where(self) -> str:
        return self.place.where

    @property
    def root(self) -> Path:
        """The folder, of images that lie in one."""
        return folder_of(self.place).root

    def path(self, digest: str) -> Path:
        """Where the image is, or would be, of images that lie in a folder."""
        return folder_of(self.place).path(_as_digest(digest))

    def put(self, data: bytes, *, limits: ImageLimits | None = None) -> ImageInfo:
        """Keep an image; again is no change, but mends a folder's file altered since. Raises ImageError as `inspect`
        does.

        `limits`: others than the store's own.
        """
        info = self._inspected(data, limits or self._limits)
        if isinstance(self.place, Folder) or self.place.lacking([info.digest]):
            self.place.put(info.digest, data)
        return info

    def put_all(self, images: Mapping[str, bytes]) -> None:
        """Keep what is not here yet of images by their digests. Raises ImageError as `inspect` does."""
        wanted = images if isinstance(self.place, Folder) else sorted(self.place.lacking(list(images)))
        named = (self._named(one, images) for one in wanted)
        if isinstance(self.place, Folder):
            self.place.put_all(named)
        else:
            for digest, data in named:
                self.place.put(digest, data)
        if isinstance(images, UnpackedPictures):
            self._put = weakref.ref(images)

    def put_without_metadata(self, data: bytes, *, limits: ImageLimits | None = None) -> ImageInfo:
        """Keep what an image shows and not what else its file tells, and note of which file it was made."""
        bare = without_metadata(data, limits=limits or self._limits)
        info = self.put(bare, limits=limits)
        if bare != data:
            self.originals.add(info.digest, digest_of(data))
        return info

    def get(self, digest: str) -> bytes:
        """The bytes as they were put. Raises ImageError when absent, altered since, or where a link leads away."""
        try:
            data = self.place.get(_as_digest(digest))
        except WayOut as error:
            raise ImageError(str(error)) from error
        if data is None:
            raise ImageError(
                f"There is no image {digest} in {self.where}; import the files it came with again.",
                code="EH-IMAGE-MISSING",
            )
        if digest_of(data) != digest:
            raise ImageError(self._altered(digest), code="EH-IMAGE-ALTERED")
        return data

    def data_url(self, digest: str, *, max_edge: int | None = None) -> bytes:
        """`data:image/…;base64,…` of the image as `prepared` sends it; ASCII that JSON need not escape."""
        key = (digest, max_edge)
        url = self._urls.get(key)
        if url is None:
            url = self._made_url(digest, max_edge)
            self._urls.put(key, url)
        return url

    def at_hand(self, digest: str, *, max_edge: int | None = None) -> bool:
        """Whether `data_url` gives it from memory, as it is."""
        if self._urls.get((digest, max_edge)) is not None:
            return True
        put, info = self._put and self._put(), self._infos.get(digest)
        return bool(put is not None and put.holds(digest) and info and info.plain and info.fits(max_edge))

    def digests(self) -> Iterator[str]:
        """The digests of all images, in order."""
        return (digest for digest, _ in self.place.sizes())

    def missing(self, names: Iterable[str]) -> list[str]:
        """Of an item's names for images the digests that are not here, in order; the other names are addresses."""
        return sorted(self.place.lacking([name for name in names if DIGEST.fullmatch(name)]))

    def check(self) -> list[StoreProblem]:
        """What is wrong with the files, each read whole; empty when all is well."""
        return list(self.place.wrong_files())

    def _altered(self, digest: str) -> str:
        if isinstance(self.place, Folder):
            return f"The image file {self.path(digest)} was altered since it was stored; import its original again."
        return (
            f"The image {digest} in {self.where} was altered since it was stored; delete it there and import its "
            "original again."
        )

    def _made_url(self, digest: str, max_edge: int | None) -> bytes:
        put = self._put and self._put()
        data = put[digest] if put is not None and digest in put else self.get(digest)
        info = self._infos.get(digest) or self._inspected(data, self._limits)
        media_type = info.media_type
        if not info.plain or not info.fits(max_edge):
            ready = prepared(data, max_edge=max_edge, limits=self._limits)
            media_type, data = ready.media_type, ready.data
        return b"".join((b"data:", media_type.encode("ascii"), b";base64,", pybase64.b64encode(data)))

    def _named(self, name: str, images: Mapping[str, bytes]) -> tuple[str, bytes]:
        """An image by its digest, which is taken at its word where the images were named by what was kept of them."""
        data = images[name]
        if isinstance(images, UnpackedPictures) and self._limits == DEFAULT_LIMITS:
            self._infos[name] = images.info(name)
            return name, data
        return self._inspected(data, self._limits).digest, data

    def _inspected(self, data: bytes, limits: ImageLimits) -> ImageInfo:
        info = inspect(data, limits=limits)
        self._infos[info.digest] = info
        return info


def _as_digest(digest: str) -> str:
    if not DIGEST.fullmatch(digest):
        raise ImageError(f"{digest!r} is not an image digest; one is 64 digits of 0-9 and a-f.", code="EH-IMAGE-NAME")
    return digest
