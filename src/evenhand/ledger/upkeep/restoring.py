"""A ledger from its backup: copied beside its place, looked through whole, and only then put there in one step."""

import shutil
import sqlite3
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from evenhand.files.private_files import (
    append_line,
    copy,
    make_durable,
    make_folder,
    make_temporary_folder,
    stay_within,
)
from evenhand.files.whole import UNFINISHED
from evenhand.images.places import ADDRESSES, ORIGINALS
from evenhand.ledger.store.opening import LedgerError, explained, sqlite_path
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep import chain
from evenhand.ledger.upkeep import check as upkeep

_BESIDE = ("images", "submitted")
_BUSY = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
_TOLD = 5


def restore(backup: Path, url: str, *, force: bool) -> upkeep.LedgerInfo:
    """Puts a backup, a folder or the ledger in it, in the place that the URL names; tells what it holds.

    Raises LedgerError, and leaves the place as it was, where a ledger is there and not `force`, or where the backup is
    not sound. Images and submitted files that are there stay beside those of the backup.
    """
    target = sqlite_path(url)
    if target is None:
        raise LedgerError(
            "`ledger restore` restores SQLite ledgers. For PostgreSQL, copy the backup into an empty database: "
            "`evenhand ledger copy sqlite:///FOLDER/ledger.db postgresql://…`; or use pg_restore on a pg_dump."
        )
    if target.exists() and not force:
        raise LedgerError(
            f"There is a ledger at {target} already; give --force to put the backup in its place, or another --store.",
            code="EH-LEDGER-EXISTS",
        )
    with explained(backup):
        source = _ledger_in(backup)
    if target.exists() and source.samefile(target):
        raise LedgerError(
            f"{source} is the ledger itself, not a backup of it; name the backup's folder.", code="EH-BACKUP-ITSELF"
        )
    with explained(target):
        make_folder(target.parent)
        # On the same disk, so that a rename puts it in its place.
        staged = make_temporary_folder(target.parent)
        try:
            return _through(staged, source, target)
        finally:
            shutil.rmtree(staged, ignore_errors=True)


def _ledger_in(backup: Path) -> Path:
    if backup.is_file():
        return backup
    found = [path for path in sorted(backup.iterdir()) if upkeep.is_sqlite(path) and not path.name.endswith(UNFINISHED)]
    if len(found) != 1:
        what = f"several ledgers ({', '.join(path.name for path in found)}); name one" if found else "no ledger"
        raise LedgerError(
            f"{backup} holds {what}. `evenhand ledger backup FOLDER` makes what can be restored.", code="EH-BACKUP-NONE"
        )
    return found[0]


def _through(staged: Path, source: Path, target: Path) -> upkeep.LedgerInfo:
    copied = staged / source.name
    copy(source, copied, within=staged)
    log = source.with_name(f"{source.name}-wal")
    if log.exists():
        copy(log, copied.with_name(f"{copied.name}-wal"), within=staged)
    for name in _BESIDE:
        upkeep.copy_files(source.parent / name, staged / name)
    found = _sound(copied, source)
    _into_one_file(copied)
    for name in _BESIDE:
        _move_files(staged / name, target.parent / name)
    if target.exists():
        _into_one_file(target)
    copied.replace(target)
    make_durable(target.parent)
    return replace(found, where=str(target))


def _sound(copied: Path, source: Path) -> upkeep.LedgerInfo:
    """What the copy holds, its tables as this version writes them; raises LedgerError where anything in it is wrong."""
    try:
        with closing(Ledger(f"sqlite:///{copied}", create=False)) as ledger:
            problems, found = _problems_of(ledger), upkeep.info(ledger)
    except LedgerError as error:
        problems, found = [str(error)], None
    if found is not None and not problems:
        return found
    more = f" And {len(problems) - _TOLD} more." if len(problems) > _TOLD else ""
    told = " ".join(problems[:_TOLD]).replace(str(copied.parent), str(source.parent))
    raise LedgerError(
        f"The backup {source} is not sound, so nothing was restored. {told}{more}", code="EH-BACKUP-UNSOUND"
    )


def _problems_of(ledger: Ledger) -> list[str]:
    """All that `ledger check` asks of a ledger."""
    return [*upkeep.check(ledger), *chain.check(ledger).problems]


def _into_one_file(path: Path) -> None:
    """Nothing of a ledger in its write-ahead log any more: the log would be taken for that of the ledger put there.

    Raises sqlite3.Error while another process has it open.
    """
    try:
        with closing(sqlite3.connect(path)) as connection:
            connection.execute("PRAGMA journal_mode=DELETE")
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in _BUSY:
            raise
        # Damaged, which is why it is replaced.
    for ending in ("-wal", "-shm"):
        path.with_name(path.name + ending).unlink(missing_ok=True)


def _move_files(source: Path, target: Path) -> None:
    for path in sorted(source.rglob("*")):
        there = target / path.relative_to(source)
        if path.is_dir():
            continue
        if path.name in (ADDRESSES, ORIGINALS) and there.exists():
            # What was noted since stays noted; of two that name the same the last counts, which is the backup's.
            for line in path.read_bytes().split(b"\n"):
                if line:
                    append_line(there, line, within=target.parent)
        else:
            stay_within(there, target.parent)
            make_folder(there.parent)
            path.replace(there)
