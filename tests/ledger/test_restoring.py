"""Claims about ledgers made of their backups."""

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.images.addresses import FetchedAddress
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Entries, Ledger
from evenhand.ledger.upkeep import check as upkeep
from evenhand.ledger.upkeep.restoring import restore
from tests.cli.shell import Shell
from tests.database import url_in
from tests.images.pictures import encoded, photo
from tests.images.test_metadata import phone_jpeg
from tests.ledger import scene
from tests.ledger.scene import TRIALS
from tests.ledger.test_upkeep import filled as filled
from tests.refusals import tells
from tests.warm import Code

pytestmark = pytest.mark.sqlite("`ledger restore` is of SQLite files")

PNG = encoded(photo(), "PNG")


@pytest.fixture
def backup(filled: Ledger, tmp_path: Path) -> Path:
    filled.submitted.add(b"item,response\n")
    image = filled.images.put_without_metadata(phone_jpeg())
    filled.images.addresses.add(FetchedAddress(url="https://e.org/a", digest=image.digest, at=1.0))
    return upkeep.backup(filled, tmp_path / "safe").parent


def held(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def facts(folder: Path) -> tuple[dict[str, int], list[str], dict[str, str]]:
    with closing(Ledger(url_in(folder), create=False)) as ledger:
        assert upkeep.check(ledger) == []
        return upkeep.info(ledger).counts, list(ledger.images.digests()), ledger.images.addresses.digests()


def refused(backup: Path, folder: Path, *facts: object, force: bool = False) -> str:
    """Its code; the sentence tells the facts."""
    with pytest.raises(LedgerError) as error:
        restore(backup, url_in(folder), force=force)
    assert "/.evenhand-" not in str(error.value)
    tells(error.value, *facts)
    return error.value.code


def test_a_backup_becomes_the_ledger_it_was_made_of(backup: Path, filled: Ledger, tmp_path: Path):
    for number, source in enumerate((backup, backup / "ledger.db")):
        folder = tmp_path / f"new{number}" / "deep"
        told = restore(source, url_in(folder), force=False)
        assert (told.where, told.images) == (f"{folder}/ledger.db", 2)
        assert sorted(held(folder)) == sorted(held(backup))
        assert facts(folder) == facts(tmp_path)
        with closing(Ledger(url_in(folder))) as again:
            assert again.fence_secret() == filled.fence_secret()
            image = next(digest for digest in again.images.digests() if again.images.originals.of(digest))
            assert again.images.originals.of(image) == filled.images.originals.of(image)


def test_a_ledger_that_is_there_stays_without_force(backup: Path, filled: Ledger, tmp_path: Path):
    before = facts(tmp_path)
    assert refused(backup, tmp_path, tmp_path / "ledger.db", "--force") == "EH-LEDGER-EXISTS"
    assert facts(tmp_path) == before


def test_with_force_the_backup_takes_its_place_and_files_that_came_since_stay(
    backup: Path, filled: Ledger, tmp_path: Path
):
    then = facts(tmp_path)
    filled.commit(Entries(study=scene.STUDY.key, trials=TRIALS[2:3]))
    later = filled.images.put(encoded(photo(8, 8), "PNG")).digest
    filled.images.addresses.add(FetchedAddress(url="https://e.org/a", digest=later, at=2.0))
    filled.images.addresses.add(FetchedAddress(url="https://e.org/b", digest=later, at=2.0))
    filled.close()
    restore(backup, url_in(tmp_path), force=True)
    counts, digests, addresses = facts(tmp_path)
    assert counts == then[0]
    assert sorted(digests) == sorted([*then[1], later])
    assert addresses == {**then[2], "https://e.org/b": later}


def test_a_log_left_by_a_kill_is_not_taken_for_the_restored_ledgers(backup: Path, tmp_path: Path):
    """The commits of a killed writer lie in a log that fits the old ledger only."""
    folder = tmp_path / "place"
    code = f"""
import os
from pathlib import Path
from evenhand.ledger.store.record import Ledger
from tests.ledger import scene
ledger = Ledger({url_in(folder)!r})
scene.set_up(ledger)
os._exit(1)
"""
    Code(code).communicate()
    assert (folder / "ledger.db-wal").stat().st_size > 0
    restore(backup, url_in(folder), force=True)
    assert facts(folder) == facts(tmp_path)


def test_a_ledger_that_somebody_uses_is_not_replaced(backup: Path, filled: Ledger, tmp_path: Path):
    with filled.reading() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM trials").scalar() == 2
        assert refused(backup, tmp_path, force=True) == "EH-LEDGER-BUSY"
    assert facts(tmp_path)[0]["trials"] == 2


def test_a_damaged_ledger_is_replaced(backup: Path, filled: Ledger, tmp_path: Path):
    filled.close()
    expected = facts(tmp_path)
    (tmp_path / "ledger.db").write_bytes(b"no ledger any more" * 1000)
    restore(backup, url_in(tmp_path), force=True)
    assert facts(tmp_path) == expected


def cut_short(backup: Path) -> None:
    os.truncate(backup / "ledger.db", 20_000)


def another_answer(backup: Path) -> None:
    with closing(sqlite3.connect(backup / "ledger.db")) as connection:
        connection.execute("UPDATE responses SET text = 'better' WHERE rowid = 1")
        connection.commit()


def image_changed(backup: Path) -> None:
    image, *_ = [path for path in (backup / "images").rglob("*") if path.is_file() and len(path.name) == 62]
    image.write_bytes(image.read_bytes() + b"x")


def trials_taken_out(backup: Path) -> None:
    with closing(sqlite3.connect(backup / "ledger.db")) as connection:
        connection.execute("DELETE FROM trials")
        connection.commit()


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (cut_short, "malformed"),
        (another_answer, "does not hold the content its name says"),
        (image_changed, "do not match its name"),
        (trials_taken_out, "judgements name no trial on record"),
    ],
)
@pytest.mark.parametrize("force", [False, True])
def test_a_backup_that_is_not_sound_changes_nothing(
    backup: Path, tmp_path: Path, damage: Callable[[Path], None], words: str, force: bool
):
    damage(backup)
    folder = tmp_path / "place"
    folder.mkdir()
    if force:
        Ledger(url_in(folder)).close()
    before = held(folder)
    assert refused(backup, folder, words, force=force) == "EH-BACKUP-UNSOUND"
    assert held(folder) == before


def test_a_folder_without_a_ledger_or_with_several_is_a_sentence(backup: Path, tmp_path: Path):
    (tmp_path / "empty").mkdir()
    assert refused(tmp_path / "empty", tmp_path / "new", tmp_path / "empty") == "EH-BACKUP-NONE"
    (backup / "other.db").write_bytes((backup / "ledger.db").read_bytes())
    assert refused(backup, tmp_path / "new", "ledger.db, other.db") == "EH-BACKUP-NONE"
    restore(backup / "other.db", url_in(tmp_path / "new"), force=False)
    assert facts(tmp_path / "new")[0]["trials"] == 2


def test_the_ledger_itself_is_no_backup_of_it(filled: Ledger, tmp_path: Path):
    assert refused(tmp_path / "ledger.db", tmp_path, force=True) == "EH-BACKUP-ITSELF"
    with pytest.raises(LedgerError, match="pg_restore"):
        restore(tmp_path, "postgresql://host/name", force=True)


def test_a_backup_of_an_older_version_is_brought_up_to_date_and_left_as_it_was(tmp_path: Path):
    (tmp_path / "old").mkdir()
    scene.make_older(tmp_path / "old", "0003")
    before = held(tmp_path / "old")
    restore(tmp_path / "old", url_in(tmp_path / "new"), force=False)
    assert facts(tmp_path / "new")[0]["trials"] == 0
    assert held(tmp_path / "old") == before


def test_the_command_tells_what_it_restored_and_refuses_with_exit_1(
    backup: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    (tmp_path / "desk").mkdir()
    shell = Shell(tmp_path / "desk", monkeypatch, capsys)
    _, said = shell.run("ledger", "restore", backup)
    assert " ".join(said.split()) == (
        "Restored to .evenhand/ledger.db: 2 judgements, 2 images; all of it is as the record names it."
    )
    _, said = shell.run("ledger", "restore", backup, expect=1)
    tells(said, ".evenhand/ledger.db", "--force")
    shell.run("ledger", "restore", backup, "--force")
    assert shell.document("ledger", "check")["sound"]
    assert "does not exist" in shell.refused("ledger", "restore", "nowhere")
