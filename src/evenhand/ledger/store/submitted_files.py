"""Files that teams submitted, kept byte for byte under the SHA-256 of their bytes, where the ledger's images lie."""

import hashlib
from pathlib import Path

from evenhand.images.places import DIGEST, Folder, Place, folder_of


class SubmittedFiles:
    """A place that several processes may read and fill at once."""

    def __init__(self, place: Place | Path) -> None:
        """`place`: a folder by its path."""
        self.place: Place = Folder(place, nested=False) if isinstance(place, Path) else place

    @property
    def where(self) -> str:
        return self.place.where

    @property
    def root(self) -> Path:
        """The folder, of files that lie in one."""
        return folder_of(self.place).root

    def add(self, data: bytes) -> str:
        """The file's SHA-256; again is no change, but mends a file that was altered since."""
        digest = hashlib.sha256(data).hexdigest()
        if not self.holds(digest):
            self.place.put(digest, data)
        return digest

    def get(self, digest: str) -> bytes:
        """As they lie there, altered or not: whoever relies on them compares the hash. Raises KeyError when absent."""
        found = self.place.get(digest) if DIGEST.fullmatch(digest) else None
        if found is None:
            raise KeyError(digest)
        return found

    def holds(self, digest: str) -> bool:
        """Whether the file is there and is what its name says."""
        try:
            return hashlib.sha256(self.get(digest)).hexdigest() == digest
        except KeyError:
            return False

    def remove(self, digest: str) -> None:
        """Again is no change."""
        if not DIGEST.fullmatch(digest):
            raise KeyError(digest)
        self.place.remove(digest)
