"""A folder that a command makes again and again, among files of other people."""

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path

import pytest

from evenhand.files.kept_folder import LIST, Content, KeptFiles, check_folder, keep_folder
from evenhand.files.outputs import OutputRefused, Target
from tests.refusals import refused

EXISTS = "EH-OUTPUT-EXISTS"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "site"


def target(folder: Path, *, force: bool = False) -> Target:
    return Target(path=folder, command="publish", force=force)


def contents(files: Mapping[str, str]) -> dict[str, Content]:
    return {name: text.encode for name, text in files.items()}


def keep(folder: Path, files: Mapping[str, str], *, force: bool = False) -> KeptFiles:
    return keep_folder(target(folder, force=force), contents(files))


def held(folder: Path) -> dict[str, str]:
    found = [path for path in folder.rglob("*") if path.is_file() and path.name != LIST]
    return {str(path.relative_to(folder)): path.read_text() for path in found}


def test_only_what_changed_is_written_and_what_is_gone_is_removed_with_its_folder(folder: Path):
    first = {"index.html": "one", "boards/a/index.html": "two", "boards/b/index.html": "three"}
    assert keep(folder, first).written == tuple(sorted(first))
    before = (folder / "boards/a/index.html").stat().st_ino
    second = {"index.html": "changed", "boards/a/index.html": "two", "images/c.png": "four"}
    kept = keep(folder, second)
    assert (kept.written, kept.removed, kept.unchanged) == (
        ("images/c.png", "index.html"),
        ("boards/b/index.html",),
        1,
    )
    assert held(folder) == second
    assert not (folder / "boards/b").exists()
    assert (folder / "boards/a/index.html").stat().st_ino == before
    again = keep(folder, second)
    assert (again.written, again.removed, again.unchanged) == ((), (), 3)


def test_a_folder_with_files_of_others_is_refused_and_stays_as_it_is(folder: Path):
    folder.mkdir()
    (folder / "thesis.tex").write_text("mine")
    with refused(OutputRefused, folder, "--force", code=EXISTS):
        check_folder(target(folder))
    with refused(OutputRefused, folder, code=EXISTS):
        keep(folder, {"index.html": "one"})
    assert held(folder) == {"thesis.tex": "mine"}
    assert keep(folder, {"index.html": "one"}, force=True).removed == ()
    assert held(folder) == {"thesis.tex": "mine", "index.html": "one"}


def test_an_empty_folder_is_taken_and_so_is_the_root_of_a_repository_without_files(folder: Path):
    (folder / ".git").mkdir(parents=True)
    assert keep(folder, {"index.html": "one"}).written == ("index.html",)


def test_what_others_put_into_it_later_stays(folder: Path):
    keep(folder, {"index.html": "one", "old.html": "two"})
    (folder / "CNAME").write_text("board.example.org")
    keep(folder, {"index.html": "three"})
    assert held(folder) == {"CNAME": "board.example.org", "index.html": "three"}


def test_a_file_that_somebody_changed_is_neither_written_over_nor_removed(folder: Path):
    keep(folder, {"index.html": "one", "old.html": "two"})
    (folder / "old.html").write_text("by hand")
    assert keep(folder, {"index.html": "one"}).changed_by_others == ("old.html",)
    (folder / "index.html").write_text("by hand")
    with refused(OutputRefused, folder / "index.html", code=EXISTS):
        keep(folder, {"index.html": "three"})
    assert held(folder) == {"old.html": "by hand", "index.html": "by hand"}
    keep(folder, {"index.html": "three"}, force=True)
    assert held(folder)["index.html"] == "three"


def test_a_list_that_came_with_somebody_elses_folder_removes_nothing(folder: Path, tmp_path: Path):
    keep(tmp_path / "theirs", {"index.html": "one", "old.html": "two"})
    shutil.copytree(tmp_path / "theirs", folder)
    with refused(OutputRefused, folder / LIST, "--force", code=EXISTS):
        keep(folder, {"index.html": "one"})
    assert (folder / "old.html").exists()
    assert keep(folder, {"index.html": "one"}, force=True).removed == ("old.html",)


@pytest.mark.parametrize("name", ["../victim.txt", "/etc/passwd", "a/../../victim.txt", ".git/config"])
def test_a_list_cannot_lead_out_of_its_folder(folder: Path, name: str):
    keep(folder, {"index.html": "one"})
    victim = folder.parent / "victim.txt"
    victim.write_text("precious")
    (folder / LIST).write_text(json.dumps({"schema": 1, "files": {name: ["x"]}}))
    with refused(OutputRefused, folder / LIST, "outside"):
        keep(folder, {"index.html": "one"}, force=True)
    assert victim.read_text() == "precious"


def test_nothing_is_written_through_a_link(folder: Path, tmp_path: Path):
    (tmp_path / "elsewhere").mkdir()
    keep(folder, {"index.html": "one"})
    (folder / "boards").symlink_to(tmp_path / "elsewhere")
    with refused(OutputRefused, folder / "boards"):
        keep(folder, {"index.html": "one", "boards/a.html": "two"}, force=True)
    assert list((tmp_path / "elsewhere").iterdir()) == []
    (tmp_path / "link").symlink_to(folder)
    with refused(OutputRefused, "a link"):
        check_folder(target(tmp_path / "link"))


def test_a_run_that_was_cut_off_is_finished_by_the_next(folder: Path):
    keep(folder, {"a.html": "one", "b.html": "one", "gone.html": "one"})

    class CutOff(Exception):
        pass

    times = 0

    def second() -> bytes:
        """Given when it is looked at, and not when it is to be written."""
        nonlocal times
        times += 1
        if times > 1:
            raise CutOff
        return b"two"

    with pytest.raises(CutOff):
        keep_folder(target(folder), {"a.html": b"two".__bytes__, "b.html": second})
    assert held(folder) == {"a.html": "two", "b.html": "one", "gone.html": "one"}
    kept = keep(folder, {"a.html": "three", "b.html": "two"})
    assert (kept.written, kept.removed) == (("a.html", "b.html"), ("gone.html",))
    assert held(folder) == {"a.html": "three", "b.html": "two"}


def test_what_a_killed_run_was_writing_is_removed_and_what_another_is_writing_stays(folder: Path):
    files = {"index.html": "one", "boards/a/index.html": "two"}
    keep(folder, files)
    left, busy = (folder / "boards/a" / f".evenhand-{sign * 16}.unfinished" for sign in "ab")
    for path in (left, busy):
        path.write_text("half")
    os.utime(left, (0, 0))
    keep(folder, files)
    assert (left.exists(), busy.exists()) == (False, True)


def test_what_a_killed_run_left_goes_with_the_folder_of_what_is_gone(folder: Path):
    keep(folder, {"index.html": "one", "boards/a/battles/b.html": "two"})
    left = folder / "boards/a/battles" / f".evenhand-{'c' * 16}.unfinished"
    left.write_text("half of what nobody may see any more")
    os.utime(left, (0, 0))
    keep(folder, {"index.html": "one"})
    assert not (folder / "boards").exists()


def test_how_many_files_it_holds_is_told_before_any_work_is_done(folder: Path):
    assert check_folder(target(folder)) == 0
    keep(folder, {"index.html": "one", "boards/a.html": "two"})
    (folder / "CNAME").write_text("board.example.org")
    assert check_folder(target(folder)) == 2


def test_a_folder_in_the_place_of_a_file_is_named(folder: Path):
    (folder / "boards" / "a.html").mkdir(parents=True)
    with refused(OutputRefused, folder / "boards" / "a.html", code="EH-OUTPUT-UNWRITTEN"):
        keep(folder, {"index.html": "one", "boards/a.html": "two"}, force=True)


def test_a_file_or_a_missing_parent_is_told_in_a_sentence(tmp_path: Path):
    (tmp_path / "file").write_text("x")
    with refused(OutputRefused, tmp_path / "file", "a file"):
        check_folder(target(tmp_path / "file"))
    with refused(OutputRefused, tmp_path / "none", "make it first"):
        check_folder(target(tmp_path / "none" / "site"))
