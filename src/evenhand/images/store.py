"""Images kept as files named by the SHA-256 of their bytes."""

import re
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

import pybase64

from evenhand.files.private_files import WayOut, stay_within, write_whole
from evenhand.files.whole import UNFINISHED
from evenhand.images import addresses, originals
from evenhand.images.inspection import ImageInfo, inspect
from evenhand.images.inspection import digest as digest_of
from evenhand.images.metadata import without_metadata
from evenhand.images.preparing import prepared
from evenhand.images.sniffing import DEFAULT_LIMITS, ImageError, ImageLimits


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


_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreProblem:
    """A file in the store that is not as it should be; `reason` is a sentence."""

    path: Path
    reason: str


class ImageStore:
    """A folder of images that several processes may read and fill at once; it is made with the first image put.

    Data URLs are kept in memory, the most recently used up to `cache_bytes`.
    """

    def __init__(self, root: Path, *, limits: ImageLimits = DEFAULT_LIMITS, cache_bytes: int = 64_000_000) -> None:
        self.root = root
        self.addresses = addresses.ImageAddresses(root)
        self.originals = originals.Originals(root)
        self._limits = limits
        self._urls = RecentBytes(max_bytes=cache_bytes)
        # What was found when an image was decoded: one that goes out as it is need not be decoded again.
        self._infos: dict[str, ImageInfo] = {}

    def path(self, digest: str) -> Path:
        """Where the image is, or would be."""
        if not _DIGEST.fullmatch(digest):
            raise ImageError(
                f"{digest!r} is not an image digest; one is 64 digits of 0-9 and a-f.", code="EH-IMAGE-NAME"
            )
        return self.root / digest[:2] / digest[2:]

    def put(self, data: bytes, *, limits: ImageLimits | None = None) -> ImageInfo:
        """Keep an image; again is no change, but mends a file altered since. Raises ImageError as `inspect` does.

        `limits`: others than the store's own.
        """
        info = self._inspected(data, limits or self._limits)
        path = self.path(info.digest)
        stay_within(path, self.root.parent)
        if _bytes_at(path) != data:
            write_whole(path, data, within=self.root.parent)
        return info

    def put_without_metadata(self, data: bytes, *, limits: ImageLimits | None = None) -> ImageInfo:
        """Keep what an image shows and not what else its file tells, and note of which file it was made."""
        bare = without_metadata(data, limits=limits or self._limits)
        info = self.put(bare, limits=limits)
        if bare != data:
            self.originals.add(info.digest, digest_of(data))
        return info

    def get(self, digest: str) -> bytes:
        """The bytes as they were put. Raises ImageError when absent, altered on disk, or where a link leads away."""
        path = self.path(digest)
        try:
            stay_within(path, self.root.parent)
        except WayOut as error:
            raise ImageError(str(error)) from error
        data = _bytes_at(path)
        if data is None:
            raise ImageError(
                f"There is no image {digest} in {self.root}; import the files it came with again.",
                code="EH-IMAGE-MISSING",
            )
        if digest_of(data) != digest:
            raise ImageError(
                f"The image file {path} was altered since it was stored; import its original again.",
                code="EH-IMAGE-ALTERED",
            )
        return data

    def data_url(self, digest: str, *, max_edge: int | None = None) -> bytes:
        """`data:image/…;base64,…` of the image as `prepared` sends it; ASCII that JSON need not escape."""
        key = (digest, max_edge)
        url = self._urls.get(key)
        if url is None:
            url = self._made_url(digest, max_edge)
            self._urls.put(key, url)
        return url

    def digests(self) -> Iterator[str]:
        """The digests of all images, in order."""
        for path in self._files():
            if (named := self._digest_named_by(path)) is not None:
                yield named

    def missing(self, names: Iterable[str]) -> list[str]:
        """Of an item's names for images the digests that are not here, in order; the other names are addresses."""
        return sorted(name for name in names if _DIGEST.fullmatch(name) and not self.path(name).exists())

    def check(self) -> list[StoreProblem]:
        """What is wrong with the files, each read whole; empty when all is well."""
        problems = [(path, self._problem_with(path)) for path in self._files()]
        return [StoreProblem(path=path, reason=reason) for path, reason in problems if reason is not None]

    def _made_url(self, digest: str, max_edge: int | None) -> bytes:
        data = self.get(digest)
        info = self._infos.get(digest) or self._inspected(data, self._limits)
        media_type = info.media_type
        if not info.plain or not info.fits(max_edge):
            ready = prepared(data, max_edge=max_edge, limits=self._limits)
            media_type, data = ready.media_type, ready.data
        return b"data:%s;base64,%s" % (media_type.encode("ascii"), pybase64.b64encode(data))

    def _inspected(self, data: bytes, limits: ImageLimits) -> ImageInfo:
        info = inspect(data, limits=limits)
        self._infos[info.digest] = info
        return info

    def _files(self) -> Iterator[Path]:
        if not self.root.is_dir():
            return
        for folder in sorted(self.root.iterdir()):
            if folder.is_dir():
                yield from sorted(folder.iterdir())
            elif folder.name not in (addresses.FILE_NAME, originals.FILE_NAME):
                yield folder

    def _digest_named_by(self, path: Path) -> str | None:
        named = path.parent.name + path.name
        return named if _DIGEST.fullmatch(named) and path == self.path(named) else None

    def _problem_with(self, path: Path) -> str | None:
        if path.name.endswith(UNFINISHED):
            return "It is being written, or was left by a write that was cut off; delete it if nothing is running."
        named = self._digest_named_by(path)
        if named is None:
            return "It is not named by a digest, so nothing here put it there; move it away."
        if path.is_symlink() or path.parent.is_symlink():
            return "A link leads to it, through which nothing is backed up; put what it leads to in the link's place."
        try:
            altered = digest_of(path.read_bytes()) != named
        except OSError as error:
            return f"It cannot be read ({error.strerror}); restore it or import its original again."
        return "Its bytes do not match its name; import its original again." if altered else None


def _bytes_at(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
