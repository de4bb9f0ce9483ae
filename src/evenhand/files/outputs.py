"""Files that a command writes for its user: whole or not at all, and never over what is not its own.

What a command wrote is remembered outside the folder it works in, in the user's own state folder: a folder that came
from somebody else cannot claim that a file was ours.
"""

import contextlib
import hashlib
import json
import os
import re
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, TypeAlias

from evenhand.domain.errors import EvenhandError
from evenhand.files.private_files import make_folder
from evenhand.files.whole import appearing

_STREAM = re.compile(r"/dev/(stdout|stderr|null|fd/\d+)|/proc/self/fd/\d+")
_REMEMBERED = 2000
"""Files that are remembered at most; beyond that the older half is forgotten, and asks for --force."""


class OutputRefused(EvenhandError):
    """A file that is not written: what is there stays as it is."""

    code = "EH-OUTPUT"


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A file that a command is to write, and what it may write over."""

    path: Path
    command: str
    """Who writes: what the same command wrote there, and nobody changed since, it may write over."""
    force: bool = False

    def __str__(self) -> str:
        return str(self.path)

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def suffix(self) -> str:
        return self.path.suffix

    @property
    def is_stream(self) -> bool:
        """Standard output under its name as a file, a pipe of the shell's, or nothing at all."""
        return _STREAM.fullmatch(str(self.path)) is not None

    def below(self, name: str) -> "Target":
        """A file in the folder that this one is."""
        return replace(self, path=self.path / name)

    def check(self) -> None:
        """Raises OutputRefused where nothing may be written there."""
        if self.is_stream:
            return
        try:
            self._check()
        except (OSError, ValueError, RuntimeError) as trouble:  # too long, not to be looked at, links in a circle
            raise OutputRefused(
                f"{self.path} cannot be written: {getattr(trouble, 'strerror', trouble)}.", code="EH-OUTPUT-UNWRITTEN"
            ) from trouble

    def _check(self) -> None:
        refuse_way_out(self.path)
        if not self.path.parent.is_dir():
            raise OutputRefused(f"{self.path}: there is no folder {self.path.parent}; make it first.")
        if self.path.is_symlink() and not self.force:
            raise OutputRefused(
                f"{self.path} is a link to {os.readlink(self.path)}, which is not written through; give that "
                "file's own name, or --force to put a file in the link's place."
            )
        if self.path.is_symlink() or not self.path.exists():
            return
        if not self.path.is_file():
            raise OutputRefused(f"{self.path} is not a file; name a file to write.")
        if not self.force and not _wrote(self.command, self.path):
            raise OutputRefused(
                f"{self.path} exists already and is not what `evenhand {self.command}` wrote there; give --force to "
                "write over it, or another name.",
                code="EH-OUTPUT-EXISTS",
            )


Place: TypeAlias = Path | Target
"""Where to write: a bare path is written over, for whoever calls from Python has decided."""


def path_of(place: Place) -> Path:
    return place.path if isinstance(place, Target) else place


def refuse_way_out(path: Path) -> None:
    """Raises OutputRefused for a path below the current folder whose folder is a link to somewhere else."""
    here = Path.cwd()
    really = path.parent.resolve()
    if Path(os.path.abspath(path)).is_relative_to(here) and not really.is_relative_to(here):
        raise OutputRefused(
            f"{path} looks as if it were in this folder, but a link leads to {really}; if you mean that, give "
            f"{really / path.name} itself."
        )


@contextmanager
def replacing(place: Place) -> Generator[BinaryIO]:
    """A new file that takes the old one's place at the end, in one step. Raises OutputRefused, OSError."""
    path = path_of(place)
    if isinstance(place, Target):
        place.check()
        if place.is_stream:
            with path.open("ab") as file:
                yield file
            return
    digest = ""
    with appearing(path) as file:
        yield file
        if isinstance(place, Target):
            place.check()  # something may have come there while we wrote
            file.flush()
            digest = _digest(Path(file.name))
    if isinstance(place, Target):
        _remember(place.command, path, digest)


def write_whole(place: Place, content: bytes) -> None:
    """Raises OutputRefused, OSError."""
    with replacing(place) as file:
        file.write(content)


def _wrote(command: str, path: Path) -> bool:
    try:
        noted: dict[str, Any] = json.loads(_note(path).read_bytes())
        return noted.get("command") == command and noted.get("sha256") == _digest(path)
    except (OSError, ValueError, AttributeError):
        return False


def _remember(command: str, path: Path, digest: str) -> None:
    note = _note(path)
    noted = {"command": command, "path": str(_real(path)), "sha256": digest}
    # Without a note the file is written all the same; to write over it then takes --force.
    with contextlib.suppress(OSError):
        make_folder(note.parent)
        with appearing(note) as file:
            file.write(json.dumps(noted).encode())
        _forget_oldest(note.parent)


def _forget_oldest(folder: Path) -> None:
    notes = list(folder.iterdir())
    if len(notes) > _REMEMBERED:
        for note in sorted(notes, key=lambda one: one.stat().st_mtime)[: len(notes) // 2]:
            note.unlink(missing_ok=True)


def _note(path: Path) -> Path:
    from platformdirs import user_state_path

    name = hashlib.sha256(os.fsencode(_real(path))).hexdigest()
    return user_state_path("evenhand") / "written" / f"{name}.json"


def _real(path: Path) -> Path:
    return path.parent.resolve() / path.name


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
