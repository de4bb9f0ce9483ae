"""Claims about ledgers that can be read and not written: on a disk mounted so, or in a folder without rights."""

import json
import shutil
import sqlite3
import subprocess
from collections.abc import Generator
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.read_only import reader_of
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.store.tables import HEAD
from evenhand.ledger.upkeep import check as upkeep
from tests.database import url_in
from tests.images.pictures import encoded, photo
from tests.ledger import scene
from tests.ledger.scene import TRIALS
from tests.read_only import mounted_read_only
from tests.refusals import refused
from tests.warm import Code

pytestmark = pytest.mark.sqlite("of a file and its folder that cannot be written")


def put_on_record(folder: Path) -> Ledger:
    ledger = Ledger(url_in(folder))
    scene.set_up(ledger)
    ledger.images.put(encoded(photo(), "PNG"))
    ledger.commit(Entries(study=scene.STUDY.key, trials=TRIALS[:2]))
    return ledger


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "disk"
    made.mkdir()
    return made


def trials_read(folder: Path) -> int:
    before = sorted(path.name for path in folder.iterdir())
    with closing(Ledger(url_in(folder), create=False)) as ledger:
        assert ledger.read_only
        assert upkeep.check(ledger) == []
        found = upkeep.info(ledger).counts["trials"]
    assert sorted(path.name for path in folder.iterdir()) == before
    return found


def test_a_ledger_on_a_read_only_disk_is_read(folder: Path):
    put_on_record(folder).close()
    with mounted_read_only(folder):
        assert trials_read(folder) == 2


def test_what_is_in_the_log_only_is_read_too(folder: Path, tmp_path: Path):
    """As a disk image of a running machine has it: the last commits have not come to the ledger's file yet."""
    running = tmp_path / "running"
    running.mkdir()
    ledger = put_on_record(running)
    for name in ("ledger.db", "ledger.db-wal"):
        shutil.copy(running / name, folder / name)
    shutil.copytree(running / "images", folder / "images")
    ledger.close()
    assert (folder / "ledger.db-wal").stat().st_size > 0
    with closing(sqlite3.connect(f"file:{folder}/ledger.db?immutable=1", uri=True)) as alone:
        assert alone.execute("SELECT count(*) FROM sqlite_master").fetchone() == (0,)  # the file itself holds nothing
    with mounted_read_only(folder):
        assert trials_read(folder) == 2


def test_a_log_with_its_index_is_read_where_it_lies(folder: Path, tmp_path: Path):
    running = tmp_path / "running"
    running.mkdir()
    ledger = put_on_record(running)
    shutil.copytree(running, folder, dirs_exist_ok=True)
    ledger.close()
    assert (folder / "ledger.db-shm").exists()
    with mounted_read_only(folder):
        assert trials_read(folder) == 2


def test_a_backup_on_a_read_only_disk_is_read(folder: Path, tmp_path: Path):
    running = tmp_path / "running"
    running.mkdir()
    with closing(put_on_record(running)) as ledger:
        upkeep.backup(ledger, folder / "safe")
    with mounted_read_only(folder):
        assert trials_read(folder / "safe") == 2
        with closing(Ledger(url_in(folder / "safe"), create=False)) as read_only:
            again = upkeep.backup(read_only, tmp_path / "again")
    with closing(Ledger(f"sqlite:///{again}", create=False)) as copy:
        assert not copy.read_only
        assert upkeep.info(copy).counts["trials"] == 2


def test_what_would_write_there_is_a_sentence(folder: Path):
    put_on_record(folder).close()
    with mounted_read_only(folder):
        with refused(LedgerError, folder, code="EH-LEDGER-READ-ONLY"):
            Ledger(url_in(folder))
        with (
            closing(Ledger(url_in(folder), create=False)) as ledger,
            refused(LedgerError, folder, code="EH-LEDGER-READ-ONLY"),
        ):
            ledger.commit(Entries(study=scene.STUDY.key, trials=TRIALS[2:3]))
        assert trials_read(folder) == 2


def test_a_ledger_of_an_older_version_is_not_brought_up_to_date_there(folder: Path):
    put_on_record(folder).close()
    with closing(sqlite3.connect(folder / "ledger.db")) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '0009'")
        connection.commit()
    with (
        mounted_read_only(folder),
        refused(LedgerError, folder, "0009", HEAD, code="EH-LEDGER-OLDER"),
    ):
        Ledger(url_in(folder), create=False)


READS = """
import json, os, sys
import cryptography.hazmat.primitives.asymmetric.ed25519  # before the rights go: nobody may not read a private clone
from evenhand.ledger.upkeep import check as upkeep
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.read_only import reader_of
from evenhand.ledger.store.record import Ledger
if os.geteuid() == 0:
    os.setgroups([]); os.setgid(65534); os.setuid(65534)
try:
    ledger = Ledger(sys.argv[1], create=False)
    print(json.dumps([ledger.read_only, upkeep.check(ledger), upkeep.info(ledger).counts["trials"]]))
except LedgerError as error:
    print(json.dumps(str(error)))
"""


@pytest.fixture
def open_folder() -> Generator[Path]:
    """Not tmp_path: pytest keeps that from everybody but its owner."""
    made = Path(subprocess.run(["mktemp", "-d"], capture_output=True, text=True, check=True).stdout.strip())
    yield made
    for path in (made, *made.rglob("*")):
        path.chmod(0o700)
    shutil.rmtree(made)


def read_by_nobody(folder: Path) -> object:
    told, complained = Code(READS, url_in(folder)).communicate()
    assert complained == ""
    return json.loads(told)


def set_rights(folder: Path, *, of_folders: int, of_files: int) -> None:
    for path in (folder, *folder.rglob("*")):
        path.chmod(of_folders if path.is_dir() else of_files)


@pytest.mark.parametrize("of_files", [0o444, 0o666])
def test_a_ledger_in_a_folder_without_the_right_to_write_is_read(open_folder: Path, of_files: int):
    put_on_record(open_folder).close()
    set_rights(open_folder, of_folders=0o555, of_files=of_files)
    assert read_by_nobody(open_folder) == [True, [], 2]


def test_a_ledger_that_another_is_writing_is_read_as_it_stands(open_folder: Path):
    with closing(put_on_record(open_folder)) as ledger:
        set_rights(open_folder, of_folders=0o555, of_files=0o444)
        assert read_by_nobody(open_folder) == [True, [], 2]
        open_folder.chmod(0o755)
        ledger.commit(Entries(study=scene.STUDY.key, trials=TRIALS[2:3]))
        assert read_by_nobody(open_folder) == [True, [], 3]


def test_a_ledger_that_may_not_be_read_is_a_sentence(open_folder: Path):
    put_on_record(open_folder).close()
    set_rights(open_folder, of_folders=0o555, of_files=0o000)
    said = read_by_nobody(open_folder)
    assert said == (
        f"The ledger at {open_folder}/ledger.db cannot be read (Permission denied); check the file's rights."
    )


@pytest.mark.slow
def test_a_ledger_that_is_busy_when_it_is_opened_is_read_as_it_grows_and_not_as_it_was(folder: Path):
    ledger = put_on_record(folder)
    ledger.close()
    path = folder / "ledger.db"
    with closing(sqlite3.connect(path)) as alone:
        alone.execute("PRAGMA locking_mode=EXCLUSIVE")
        alone.execute("BEGIN EXCLUSIVE")
        connect = reader_of(path, wait_seconds=5)
    with closing(sqlite3.connect(path)) as writing:
        writing.execute("INSERT INTO meta (name, value) VALUES ('later', '1')")
        writing.commit()
        with closing(connect()) as reading:
            assert reading.execute("SELECT value FROM meta WHERE name = 'later'").fetchall() == [("1",)]
