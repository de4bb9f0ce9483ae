"""A file that takes its place whole or not at all: until then it has a name that no other writer has."""

import fcntl
import glob
import os
import secrets
import time
from collections.abc import Generator, Iterable
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

UNFINISHED = ".unfinished"
"""How the name of a file ends that is being written."""

_PART = ".part"
"""How the name of one ends that is continued when its writer was cut off."""
_LEFT_TO_UMASK = 0o666
_AT_WORK = 60.0
"""Seconds."""


@contextmanager
def appearing(path: Path, *, rights: int | None = None) -> Generator[BinaryIO]:
    """A new file that takes the place of what is there when the block ends well, in one step; nothing of it is left
    where the block fails. It has these rights, or those that the umask leaves. Raises OSError."""
    unfinished = _unfinished(path)
    try:
        with open(unfinished, "xb", opener=lambda name, flags: os.open(name, flags, rights or _LEFT_TO_UMASK)) as file:
            if rights is not None:
                os.fchmod(file.fileno(), rights)  # a umask may have taken the owner's own
            yield file
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)
    except BaseException:
        with suppress(OSError):
            unfinished.unlink()
        raise


def write_together(files: Iterable[tuple[Path, bytes]], *, rights: int) -> int:
    """The same of several files, which wait for the disk together: one after the other takes twice as long. Returns how
    many there were. Raises OSError; of those that have no place yet nothing is left then."""
    begun: list[tuple[int, Path, Path]] = []
    try:
        for path, data in files:
            unfinished = _unfinished(path)
            file = os.open(unfinished, os.O_WRONLY | os.O_CREAT | os.O_EXCL, rights)
            begun.append((file, unfinished, path))
            os.fchmod(file, rights)  # a umask may have taken the owner's own
            rest = memoryview(data)
            while rest:
                rest = rest[os.write(file, rest) :]
        for file, _, _ in begun:
            os.fsync(file)
        for _, unfinished, path in begun:
            unfinished.replace(path)
    except BaseException:
        for _, unfinished, _ in begun:
            with suppress(OSError):
                unfinished.unlink()
        raise
    finally:
        for file, _, _ in begun:
            os.close(file)
    return len(begun)


def _unfinished(path: Path) -> Path:
    # Without the file's own name, which may be as long as a name can be.
    return path.with_name(f".evenhand-{secrets.token_hex(8)}{UNFINISHED}")


def sweep(folder: Path) -> None:
    """Removes what writers left here and below that were cut off; one that is still at it has a file younger than a
    minute."""
    for left in folder.rglob(f".evenhand-{'[0-9a-f]' * 16}{UNFINISHED}"):
        with suppress(OSError):
            if time.time() - left.lstat().st_mtime > _AT_WORK:
                left.unlink()


@contextmanager
def continued(path: Path) -> Generator[BinaryIO]:
    """What an earlier writer of `path` left when it was cut off, to be added to; a new file where there is none, or
    where somebody is writing it now. It takes its place when the block ends well, and stays for the next where it
    fails, unless it is empty. Raises OSError."""
    with _left_by_another(path) or _new_part(path) as file:
        part = Path(file.name)
        # All under the lock: a part that somebody else may take up is not touched any more.
        try:
            yield file
            file.flush()
            os.fsync(file.fileno())
            part.replace(path)
        except BaseException:
            with suppress(OSError):
                file.flush()
                if os.fstat(file.fileno()).st_size == 0:
                    part.unlink()
            raise


def _left_by_another(path: Path) -> BinaryIO | None:
    ours = f"{glob.escape(path.name)}.{'[0-9a-f]' * 16}{_PART}"
    # The first is one that an older version left.
    for part in (path.with_name(path.name + _PART), *sorted(path.parent.glob(ours))):
        if os.path.lexists(part):
            with suppress(OSError):  # finished in this moment, a link, a folder
                file = _opened(part, os.O_NOFOLLOW)
                if _locked(file, part):
                    return file
                file.close()
    return None


def _new_part(path: Path) -> BinaryIO:
    while True:
        part = path.with_name(f"{path.name}.{secrets.token_hex(8)}{_PART}")
        file = _opened(part, os.O_CREAT | os.O_EXCL)
        if _locked(file, part):
            return file
        file.close()  # somebody took it for one that was left


def _opened(part: Path, flags: int) -> BinaryIO:
    # Never through a link: a folder of somebody else's could have one of that name.
    return open(part, "ab", opener=lambda name, _: os.open(name, os.O_RDWR | os.O_APPEND | flags, _LEFT_TO_UMASK))


def _locked(file: BinaryIO, part: Path) -> bool:
    """Whether it is this process's alone until it is closed; the lock of a process that was killed is gone with it."""
    try:
        fcntl.flock(file.fileno(), fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    # Whoever had the lock may have put the file into its place.
    return part.exists() and os.path.samestat(os.fstat(file.fileno()), part.stat())
