"""`evenhand ledger` where something of the record is not as it should be."""

import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from evenhand.images import digest
from evenhand.ledger.store.record import Ledger
from tests.cli.shell import Shell
from tests.refusals import says, tells
from tests.reports.report_scene import numbered
from tests.reports.test_report_cases import amber_always
from tests.scripted_server import server_process


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """With a ledger of two items that have an image each."""
    (tmp_path / "home").mkdir()
    made = Shell(tmp_path / "home", monkeypatch, capsys)
    with server_process("--judge", "by-quality") as url:
        made.run("judge", "visit-bench-sample", "--judge", "openai/m", "--limit", "2", "--judge-base-url", url)
    return made


def images_of(shell: Shell) -> list[Path]:
    found = sorted(path for path in (shell.folder / ".evenhand" / "images").rglob("*") if path.is_file())
    assert len(found) > 2
    return found


def test_a_backup_tells_which_images_are_not_in_it_and_holds_the_rest(shell: Shell) -> None:
    out, said = shell.run("ledger", "backup", "whole")
    assert "Not in the backup" not in said
    assert out == ""  # nothing that a script would take for the copy
    assert re.search(r"^Head of the chain\W+\w{64}", said, re.M)
    gone, linked, *rest = images_of(shell)
    gone.unlink()
    (moved := shell.folder / "moved.png").write_bytes(linked.read_bytes())
    linked.unlink()
    linked.symlink_to(moved)
    said = shell.run("ledger", "backup", "safe", expect=3)[1]
    lacking = [line for line in said.splitlines() if line.startswith("Not in the backup")]
    assert lacking == [
        f"Not in the backup: {gone.relative_to(shell.folder)}, which is not there; import the file it came with again.",
        f"Not in the backup: {linked.relative_to(shell.folder)}, which is a link; put what it leads to in the link's "
        "place.",
    ]
    copied = [path for path in (shell.folder / "safe" / "images").rglob("*") if path.is_file()]
    assert {digest(path.read_bytes()) for path in copied} == {digest(path.read_bytes()) for path in rest}
    assert shell.document("rank", "--store", "sqlite:///safe/ledger.db") == shell.document("rank")
    assert "A link leads to it" in shell.run("ledger", "check", expect=1)[0]


def test_a_folder_of_images_on_another_disk_gets_one_sentence_from_what_reads_and_what_writes(shell: Shell) -> None:
    ledger, disk = shell.folder / ".evenhand", shell.folder.parent / "disk"
    shutil.copytree(ledger, disk)
    shutil.rmtree(ledger / "images")
    (ledger / "images").symlink_to(disk / "images")
    commands = (("rank",), ("ledger", "check"), ("judge", "visit-bench-sample", "--judge", "openai/m", "--limit", "3"))
    said = {shell.run(*words, expect=1)[1] for words in commands}
    assert len(said) == 1
    assert "no file is read or written through it. Put the files themselves in the link's place" in said.pop()
    assert shell.document("ledger", "check", "--store", f"sqlite:///{disk}/ledger.db")["sound"]


@pytest.mark.parametrize(
    "change",
    [
        "UPDATE runs SET at = 'abc'",
        "UPDATE runs SET at = 1e300",
        "UPDATE run_ends SET at = 'abc'",
        "UPDATE run_ends SET outcome = '{}'",
    ],
)
def test_a_run_that_was_altered_is_named_where_runs_are_listed_and_by_the_check(shell: Shell, change: str) -> None:
    run = shell.document("runs")["runs"][0]["run"]
    with closing(sqlite3.connect(shell.folder / ".evenhand" / "ledger.db")) as connection, connection:
        assert connection.execute(change).rowcount == 1
    said = shell.run("runs", expect=1)[1]
    assert f"The run '{run}' on record cannot be read: it is not as it was written." in said
    found = shell.run("ledger", "check", expect=1)[0]
    assert re.search(rf"run(s|_ends): 1 changed. On record and not as written: {run}", found)


def test_it_is_said_how_large_images_are_and_where_they_went(shell: Shell) -> None:
    held = shell.document("ledger", "info")
    assert 0 < held["image_bytes"] < 100_000, "from which on it is told in MB"
    files, size = f"{held['images']} images", f"{held['image_bytes']:,} bytes"
    assert f"{files}, {size}" in shell.run("ledger", "info")[0].splitlines()
    said = shell.run("ledger", "images", "moved")[1]
    tells(said, ".evenhand/images to", shell.folder / "moved" / "images", f"{files} ({size})")
    again = shell.run("ledger", "images", "moved", "--images", "moved")[1]
    assert again == f"The images lie in {shell.folder / 'moved' / 'images'} already.\n"


OLDER = "sqlite:///restored/ledger.db"


@pytest.fixture
def two_backups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Shell:
    """A ledger's, and the older of the two restored."""
    shell = Shell(tmp_path, monkeypatch, capsys)
    for items, backup in ((2, "one"), (3, "two")):
        with closing(Ledger("sqlite:///.evenhand/ledger.db")) as ledger:
            numbered(items).judged(ledger, amber_always)
        shell.run("ledger", "backup", backup)
    shell.run("ledger", "restore", "one", "--store", OLDER)
    return shell


def test_a_ledger_that_is_older_than_a_backup_is_told_so_and_is_not_called_changed(two_backups: Shell) -> None:
    shell = two_backups
    out, _ = shell.run("ledger", "check", "--store", OLDER, "--against", "one", "--against", "two", expect=1)
    assert out.startswith("The ledger ends before what it was compared with; until there it is sound.\n")
    tells(out, "It continues the ledger that one was made from.", "two is ahead of this ledger", "an older copy")
    assert "not sound" not in out
    document = shell.document("ledger", "check", "--store", OLDER, "--against", "two", expect=1)
    assert (document["sound"], len(document["problems"])) == (False, 1)
    shell.file("head.json", json.dumps(shell.document("ledger", "info", "--store", "sqlite:///two/ledger.db")))
    assert "an older copy, or" in shell.run("ledger", "check", "--store", OLDER, "--against", "head.json", expect=1)[0]


def test_a_ledger_that_went_another_way_than_a_backup_is_not_called_older(two_backups: Shell) -> None:
    shell = two_backups
    with closing(Ledger(OLDER)) as ledger:
        numbered(4).judged(ledger, amber_always)
    out, _ = shell.run("ledger", "check", "--store", OLDER, "--against", "two", expect=1)
    assert out.startswith("The ledger is not sound")
    assert "ahead" not in out


def test_a_backup_may_be_named_by_its_url_and_a_server_may_not(two_backups: Shell) -> None:
    shell = two_backups
    for url in ("sqlite:///one/ledger.db", f"sqlite:///{shell.folder}/one/ledger.db"):
        assert shell.document("ledger", "check", "--store", OLDER, "--against", url)["sound"]
    server = "postgresql://ann:secret@127.0.0.1:9/x"
    said = shell.refused("ledger", "check", "--store", OLDER, "--against", server)
    says(said, "EH-USAGE", "takes a file", "ledger backup")
    assert "secret" not in said
