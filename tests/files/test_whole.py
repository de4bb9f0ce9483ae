"""A file is whole or not there, whoever else writes it at the same time."""

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

import pytest

from evenhand.files.outputs import write_whole
from evenhand.files.whole import UNFINISHED, appearing, continued, write_together

SRC = Path(__file__).parents[2] / "src" / "evenhand"

WRITES = """
import sys
from pathlib import Path
from evenhand.files import outputs, private_files
path, letter, ways = Path(sys.argv[1]), sys.argv[2].encode(), sys.argv[3]
sys.stdin.readline()
for _ in range(40):
    if ways == "outputs":
        outputs.write_whole(path, letter * 3_000_000)
    else:
        private_files.write_whole(path, letter * 3_000_000, within=path.parent)
"""

CONTINUES = """
import sys, time
from pathlib import Path
from evenhand.files.whole import continued
with continued(Path(sys.argv[1])) as file:
    file.write(b"half ")
    file.flush()
    print("begun", flush=True)
    time.sleep(600)
"""


@pytest.mark.parametrize("ways", ["outputs", "private_files"])
def test_of_two_processes_that_write_one_file_each_time_one_wrote_all_of_it(tmp_path: Path, ways: str) -> None:
    path = tmp_path / "board.csv"
    writers = [
        subprocess.Popen([sys.executable, "-P", "-c", WRITES, str(path), letter, ways], stdin=subprocess.PIPE)
        for letter in "ab"
    ]
    for one in writers:
        assert one.stdin is not None
        one.stdin.write(b"go\n")
        one.stdin.close()
    writing = True
    while writing:
        writing = any(one.poll() is None for one in writers)
        if path.exists() or not writing:
            assert path.read_bytes() in (b"a" * 3_000_000, b"b" * 3_000_000)
    assert [one.wait() for one in writers] == [0, 0]
    assert [one.name for one in tmp_path.iterdir()] == ["board.csv"]


def test_a_write_that_fails_leaves_what_was_there_and_nothing_else(tmp_path: Path) -> None:
    path = tmp_path / ("n" * 250)
    write_whole(path, b"old")
    with pytest.raises(RuntimeError, match="cut off"), appearing(path) as file:
        _write_half(file)
    assert [(one.name, one.read_bytes()) for one in tmp_path.iterdir()] == [(path.name, b"old")]


def test_of_files_written_together_none_is_named_before_all_are_on_disk_and_a_failure_leaves_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited = list[int]()
    fsync = os.fsync

    def wait(file: int) -> None:
        waited.append(len([one for one in tmp_path.iterdir() if not one.name.endswith(UNFINISHED)]))
        fsync(file)

    monkeypatch.setattr(os, "fsync", wait)
    old, new = tmp_path / "a", tmp_path / "b"
    assert write_together([(old, b"1"), (new, b"2")], rights=0o600) == 2
    assert waited == [0, 0]

    umask = os.umask(0o277)
    try:
        write_together([(new, b"2")], rights=0o600)
    finally:
        os.umask(umask)
    assert new.stat().st_mode & 0o777 == 0o600

    def cut_off() -> Iterator[tuple[Path, bytes]]:
        yield old, b"3"
        raise RuntimeError("cut off")

    with pytest.raises(RuntimeError, match="cut off"):
        write_together(cut_off(), rights=0o600)
    assert sorted((one.name, one.read_bytes()) for one in tmp_path.iterdir()) == [("a", b"1"), ("b", b"2")]


def test_what_a_killed_writer_left_is_continued_and_what_a_living_one_writes_is_not(tmp_path: Path) -> None:
    path = tmp_path / "data.tsv"
    with subprocess.Popen(
        [sys.executable, "-P", "-c", CONTINUES, str(path)], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        with continued(path) as file:
            file.write(b"whole")
        assert path.read_bytes() == b"whole"
        os.kill(process.pid, signal.SIGKILL)
    with continued(path) as file:
        file.write(b"and half")
    assert path.read_bytes() == b"half and half"
    assert [one.name for one in tmp_path.iterdir()] == ["data.tsv"]


def test_a_part_of_a_file_whose_name_begins_alike_is_not_taken_up(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="cut off"), continued(tmp_path / "data.tsv.gz") as file:
        _write_half(file)
    with continued(tmp_path / "data.tsv") as file:
        file.write(b"mine")
    assert (tmp_path / "data.tsv").read_bytes() == b"mine"


@pytest.mark.parametrize("what", ["link", "folder"])
def test_what_stands_in_the_place_of_an_older_part_is_left_alone(tmp_path: Path, what: str) -> None:
    in_the_way, precious = tmp_path / "data.tsv.part", tmp_path / "precious"
    precious.write_text("precious")
    if what == "link":
        in_the_way.symlink_to(precious)
    else:
        in_the_way.mkdir()
    with continued(tmp_path / "data.tsv") as file:
        file.write(b"mine")
    assert ((tmp_path / "data.tsv").read_bytes(), precious.read_text()) == (b"mine", "precious")


def _write_half(file: BinaryIO) -> None:
    file.write(b"half")
    raise RuntimeError("cut off")


_MAY_WRITE = re.compile(r"\b(?:write_text|write_bytes|mkstemp|open|fdopen)\s*\(")
"""To look whether it does takes long."""


def test_only_this_room_opens_files_to_write_them() -> None:
    found = [
        f"{path.relative_to(SRC)}:{node.lineno}"
        for path in SRC.rglob("*.py")
        if path.parent.name != "files" or path.parent.parent != SRC
        if _MAY_WRITE.search(text := path.read_text(encoding="utf-8"))
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.Call) and _writes(node)
    ]
    assert found == []


def _writes(call: ast.Call) -> bool:
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name in ("write_text", "write_bytes", "mkstemp"):
        return True
    modes = [one.value for one in call.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
    return name in ("open", "fdopen") and any(set(mode) <= set("rwaxbt+") and set(mode) & set("wax+") for mode in modes)
