"""Where files lie under the SHA-256 of their bytes, and the notes beside them: what any such place does, and a folder
that does it."""

import itertools
import os
import re
from collections.abc import Collection, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from evenhand.domain.errors import EvenhandError
from evenhand.files.private_files import FILE, append_line, make_durable, make_folder, stay_within
from evenhand.files.whole import UNFINISHED, write_together
from evenhand.images.inspection import digest as digest_of

DIGEST = re.compile(r"[0-9a-f]{64}")
ADDRESSES, ORIGINALS = "addresses.jsonl", "originals.jsonl"
"""The notes beside images."""
_TOGETHER = 32
"""Files that are written before any of them is waited for."""


class PlaceError(EvenhandError):
    """The place where images lie cannot be used."""

    code = "EH-IMAGES-UNREACHABLE"

    lasting = False
    """No wait will help: there is no such bucket, or the key is not taken."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreProblem:
    """A file that is not as it should be; `reason` is a sentence."""

    path: Path | str
    reason: str


class Place(Protocol):
    """Files by their digests. Several processes may read and fill it at once."""

    @property
    def where(self) -> str:
        """For people, without any secret."""
        ...

    def get(self, digest: str) -> bytes | None:
        """As the place gives them: whoever relies on them compares the hash. None where there is no such file."""
        ...

    def put(self, digest: str, data: bytes) -> None:
        """In the place of what has that name."""
        ...

    def remove(self, digest: str) -> None:
        """Again is no change."""
        ...

    def sizes(self) -> Iterator[tuple[str, int]]:
        """Every digest in order, with how many bytes its file has."""
        ...

    def lacking(self, digests: Collection[str]) -> set[str]:
        """Those of them that are not there."""
        ...

    def wrong_files(self) -> Iterator[StoreProblem]:
        """What is wrong with the files, each of which is read whole."""
        ...


class Notes(Protocol):
    """Lines that are only ever added to."""

    def read(self, known: Hashable) -> tuple[Hashable, list[bytes]] | None:
        """All lines, with a mark to give the next time; None where they are those of the mark."""
        ...

    def add(self, lines: Sequence[bytes]) -> None:
        """On disk when it returns."""
        ...


class NotesFile:
    """A file that is made with the first line."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self, known: Hashable) -> tuple[Hashable, list[bytes]] | None:
        try:
            with self.path.open("rb") as file:
                found = os.fstat(file.fileno())
                # Lines are only ever added, so a file of the same size says the same.
                mark = found.st_size, found.st_mtime_ns
                return None if known == mark else (mark, file.read(found.st_size).split(b"\n"))
        except FileNotFoundError:
            return None, []

    def add(self, lines: Sequence[bytes]) -> None:
        append_line(self.path, b"\n".join(lines), within=self.path.parent.parent)


class Folder:
    """A folder, made with the first file put. `nested`: the first two digits of a name are a folder of their own."""

    def __init__(self, root: Path, *, nested: bool) -> None:
        self.root = root
        self._within = root.parent
        self._nested = nested

    @property
    def where(self) -> str:
        return str(self.root)

    def path(self, digest: str) -> Path:
        """Where the file is, or would be."""
        # Put together as a text, as pathlib takes half as long for one part.
        return Path(f"{self.root}/{digest[:2]}/{digest[2:]}" if self._nested else f"{self.root}/{digest}")

    def get(self, digest: str) -> bytes | None:
        """Raises WayOut."""
        path = self.path(digest)
        stay_within(path, self._within)
        return _bytes_at(path)

    def put(self, digest: str, data: bytes) -> None:
        """Again is no change. Raises WayOut."""
        self.put_all([(digest, data)])

    def put_all(self, files: Iterable[tuple[str, bytes]]) -> None:
        """As `put`; all of them are on disk when it returns."""
        changed = set[Path]()
        lacking = self._lacking(files, changed)
        while write_together(itertools.islice(lacking, _TOGETHER), rights=FILE):
            pass
        for folder in {*changed, self.root} if changed else ():  # which names those made now
            make_durable(folder)

    def _lacking(self, files: Iterable[tuple[str, bytes]], changed: set[Path]) -> Iterator[tuple[Path, bytes]]:
        """What is not there as it should be; the folders that it is to lie in are made, and put among the changed."""
        seen = set[Path]()
        for digest, data in files:
            path = self.path(digest)
            folder = path.parent
            if folder not in seen:
                stay_within(path, self._within)
                seen.add(folder)
            if _holds(path, data):
                continue
            if folder not in changed:
                make_folder(folder)
                changed.add(folder)
            yield path, data

    def remove(self, digest: str) -> None:
        path = self.path(digest)
        stay_within(path, self._within)
        path.unlink(missing_ok=True)

    def sizes(self) -> Iterator[tuple[str, int]]:
        for path in self._files():
            if (named := self._digest_named_by(path)) is not None:
                yield named, path.stat().st_size

    def lacking(self, digests: Collection[str]) -> set[str]:
        return {digest for digest in digests if not self.path(digest).exists()}

    def own_files(self) -> Iterator[Path]:
        """Those that were put here, and those that were being put here."""
        for path in self._files():
            if self._digest_named_by(path) is not None or path.name.endswith(UNFINISHED):
                yield path

    def wrong_files(self) -> Iterator[StoreProblem]:
        for path in self._files():
            if (reason := self._problem_with(path)) is not None:
                yield StoreProblem(path=path, reason=reason)

    def _files(self) -> Iterator[Path]:
        """All but the notes."""
        for one in sorted(self.root.iterdir()) if self.root.is_dir() else ():
            if one.is_dir():
                yield from sorted(one.iterdir())
            elif one.name not in (ADDRESSES, ORIGINALS):
                yield one

    def _digest_named_by(self, path: Path) -> str | None:
        named = path.parent.name + path.name if self._nested else path.name
        return named if DIGEST.fullmatch(named) and path == self.path(named) else None

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


def folder_of(place: Place) -> Folder:
    """Of files that lie in a folder."""
    assert isinstance(place, Folder), f"{place.where} is no folder"
    return place


def altered_in(place: Place) -> Iterator[StoreProblem]:
    """The files of a place that are not what their names say."""
    for digest, _ in place.sizes():
        data = place.get(digest)
        if data is not None and digest_of(data) != digest:
            reason = "Its bytes do not match its name; delete it there and import its original again."
            yield StoreProblem(path=f"{digest} in {place.where}", reason=reason)


def copied(digests: Iterable[str], source: Place, target: Place) -> "Copied":
    """Puts these files into another place and reads each back. Raises PlaceError for one that is not what its name says
    in either."""
    files = size = 0
    for digest in digests:
        data = source.get(digest)
        if data is None or digest_of(data) != digest:
            what = "is not there any more" if data is None else "was altered since it was stored"
            raise PlaceError(
                f"The file {digest} in {source.where} {what}; `evenhand ledger check` names all that are not as they "
                "should be.",
                code="EH-IMAGE-MISSING" if data is None else "EH-IMAGE-ALTERED",
            )
        target.put(digest, data)
        back = target.get(digest)
        if back != data:
            raise PlaceError(f"The file {digest} does not come back from {target.where} as it was put there.")
        files, size = files + 1, size + len(data)
    return Copied(files=files, size=size)


@dataclass(frozen=True, slots=True, kw_only=True)
class Copied:
    files: int
    size: int
    """Bytes of all of them."""


def _holds(path: Path, data: bytes) -> bool:
    return path.exists() and _bytes_at(path) == data


def _bytes_at(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
