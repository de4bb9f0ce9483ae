"""Files that teams submitted, kept byte for byte under the SHA-256 of their bytes, beside the ledger."""

import hashlib
import re
from pathlib import Path

from evenhand.files.private_files import stay_within, write_whole

_DIGEST = re.compile("[0-9a-f]{64}")


class SubmittedFiles:
    """A folder that several processes may read and fill at once; it is made with the first file."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, data: bytes) -> str:
        """The file's SHA-256; again is no change, but mends a file that was altered since."""
        digest = hashlib.sha256(data).hexdigest()
        path = self._path(digest)
        if not path.exists() or path.read_bytes() != data:
            write_whole(path, data, within=self.root.parent)
        return digest

    def get(self, digest: str) -> bytes:
        """As they lie there, altered or not: whoever relies on them compares the hash. Raises KeyError when absent."""
        try:
            return self._path(digest).read_bytes()
        except FileNotFoundError:
            raise KeyError(digest) from None

    def holds(self, digest: str) -> bool:
        """Whether the file is there and is what its name says."""
        try:
            return hashlib.sha256(self.get(digest)).hexdigest() == digest
        except KeyError:
            return False

    def remove(self, digest: str) -> None:
        """Again is no change."""
        path = self._path(digest)
        stay_within(path, self.root.parent)
        path.unlink(missing_ok=True)

    def _path(self, digest: str) -> Path:
        if not _DIGEST.fullmatch(digest):
            raise KeyError(digest)
        return self.root / digest
