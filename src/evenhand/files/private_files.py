"""Files and folders that are their owner's alone, whatever the umask. What is shared already is made narrower, never
wider, and only where it is ours."""

import errno
import os
import shutil
import stat
import tempfile
from contextlib import suppress
from pathlib import Path

from evenhand.domain.errors import EvenhandError
from evenhand.files.whole import appearing

FOLDER, FILE = 0o700, 0o600
_OTHERS = 0o077


class WayOut(EvenhandError, OSError):
    """A link leads out of the folder that a file is to lie in."""

    code = "EH-LINK"

    def __init__(self, path: Path, really: Path, within: Path) -> None:
        sentence = (
            f"{path} is to lie in {within}, but a link leads to {really}; put what it leads to in the link's place"
        )
        super().__init__(errno.ELOOP, sentence)

    def __str__(self) -> str:
        return f"{self.strerror}."


def stay_within(path: Path, within: Path) -> None:
    """Raises WayOut where a link above `path` leads out of the folder `within`."""
    if leads_by_folders(path.parent, within):
        return
    really = Path(os.path.realpath(path.parent))  # which takes links in a circle too
    if not really.is_relative_to(os.path.realpath(within)):
        raise WayOut(path, really / path.name, within)


def leads_by_folders(path: Path, within: Path) -> bool:
    """Whether no name from one to the other is a link or leads up: what lies above both need not be looked at."""
    start, whole = os.fspath(within), os.fspath(path)
    names = whole.removeprefix(start).split(os.sep)
    if names.pop(0) or not whole.startswith(start) or ".." in names:
        return False
    reached = start
    for name in names:
        reached += os.sep + name
        try:
            found = os.lstat(reached)
        except (OSError, ValueError):  # nothing is there, nor below it; the path may be a long text that is none
            return True
        if stat.S_ISLNK(found.st_mode):
            return False
    return True


def make_folder(path: Path) -> None:
    """With the folders above it that are missing; those that are there stay as they are."""
    if path.is_dir():
        return
    if path.parent != path:
        make_folder(path.parent)
    try:
        path.mkdir(FOLDER)
    except FileExistsError:
        if not path.is_dir():  # else another process was faster
            path.stat()  # which tells of links in a circle, and of one that leads nowhere
            raise
    else:
        path.chmod(FOLDER)  # a umask may have taken the owner's own rights


def make_temporary_folder(beside: Path | None = None) -> Path:
    """One that whoever asks for it takes away again: in this folder, or in the system's."""
    made = Path(tempfile.mkdtemp(prefix=".evenhand-", dir=beside))
    made.chmod(FOLDER)
    return made


def make_empty(path: Path) -> None:
    """A new file. Raises FileExistsError where something has that name."""
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE)
    os.close(file)
    path.chmod(FILE)


def name_new(made: Path, path: Path) -> None:
    """Gives a whole file its name, which nothing has, or has all of it, whenever this is killed. Raises FileExistsError
    where something has that name."""
    try:
        os.link(made, path)
    except FileExistsError:
        raise
    except OSError:  # a disk without links
        make_empty(path)
        made.replace(path)
    else:
        made.unlink()


def write_whole(path: Path, *data: bytes | memoryview, within: Path) -> None:
    """All of the file or none of it, even when the plug is pulled or another process writes the same. Raises WayOut."""
    stay_within(path, within)
    make_folder(path.parent)
    write_named(path, *data)
    make_durable(path.parent)


def write_named(path: Path, *data: bytes | memoryview) -> None:
    """All of the file or none of it, in a folder that is there and to which no link leads; its name is durable when its
    folder is made so."""
    with appearing(path, rights=FILE) as file:
        file.writelines(data)


def copy(source: Path, target: Path, *, within: Path) -> None:
    """The bytes, not the rights; in the place of what is there, all of it or none. Raises WayOut."""
    stay_within(target, within)
    make_folder(target.parent)
    with source.open("rb") as data, appearing(target, rights=FILE) as file:
        shutil.copyfileobj(data, file, 1 << 20)
    make_durable(target.parent)


def append_line(path: Path, line: bytes, *, within: Path) -> None:
    """On disk when it returns. The line end before it keeps it whole where the line before was cut off; one write keeps
    two writers apart. Raises WayOut."""
    stay_within(path, within)
    make_folder(path.parent)
    with suppress(FileExistsError):
        make_empty(path)
    file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_NOFOLLOW)
    try:
        os.write(file, b"\n" + line + b"\n")
        os.fsync(file)
    finally:
        os.close(file)


def make_durable(path: Path) -> None:
    """A file, or a folder: a new name is durable only when its folder is."""
    file = os.open(path, os.O_RDONLY)
    try:
        os.fsync(file)
    finally:
        os.close(file)


def tighten(path: Path) -> None:
    """Takes the rights of others from what is ours; what is not there, another's, or led to by a link stays as it
    is."""
    with suppress(OSError):  # a disk that cannot be written, or has no rights, is no reason not to read it
        found = path.lstat()
        if not stat.S_ISLNK(found.st_mode) and found.st_uid == os.geteuid() and found.st_mode & _OTHERS:
            path.chmod(found.st_mode & 0o7777 & ~_OTHERS)
