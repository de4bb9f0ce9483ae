"""A SQLite ledger that can be read and not written: on a disk mounted so, on a medium, in another's folder.

SQLite reads a ledger in WAL mode with two more files beside it, which it makes. Where it cannot make them there are
three ways: they are both there; there is nothing in the write-ahead log, so that the file is all; or the last commits
are in the log still, and a copy of both is read, in a folder of our own that goes when the program ends.
"""

import atexit
import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple
from urllib.parse import quote

from evenhand.files.private_files import copy, make_temporary_folder

Connect = Callable[[], sqlite3.Connection]


class _Uri(NamedTuple):
    path: Path
    query: str

    def __str__(self) -> str:
        return f"file:{quote(str(self.path.absolute()))}?{self.query}"


def only_readable(path: Path) -> bool:
    """Whether the ledger is there and cannot be written, by our rights or as the disk is mounted."""
    return path.is_file() and not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK))


def reader_of(path: Path, *, wait_seconds: float) -> Connect:
    """Connects to what is committed there. Raises OSError and sqlite3.Error."""
    with path.open("rb"):
        pass  # raises PermissionError, where SQLite would only say that it cannot open it
    uri = _Uri(path, "mode=ro")
    if not _can_be_read(uri):
        log = path.with_name(f"{path.name}-wal")
        whole = not log.exists() or not log.stat().st_size
        uri = _Uri(path if whole else _copied(path, log), "mode=ro&immutable=1")
    return lambda: sqlite3.connect(str(uri), uri=True, timeout=wait_seconds, check_same_thread=False)


def _can_be_read(uri: _Uri) -> bool:
    try:
        with closing(sqlite3.connect(str(uri), uri=True)) as connection:
            connection.execute("SELECT 1 FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        # One that is busy in this moment can be read in the next; a copy would stay as it is for good.
        return error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
    return True


def _copied(path: Path, log: Path) -> Path:
    folder = make_temporary_folder()
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    target = folder / path.name
    copy(path, target, within=folder)
    copy(log, folder / log.name, within=folder)
    with closing(sqlite3.connect(target)) as connection:
        connection.execute("PRAGMA journal_mode=DELETE")  # the log's commits go into the file
    return target
