"""Claims about sentences on standard error."""

import os
import pty
import subprocess
import sys
import threading

import pytest

from evenhand.cli.saying import still

PROGRAM = "from evenhand.cli.saying import say; say('Note: ' + 'seven ' * 12 + 'https://example.org/' + 'x' * 30)"


def said(columns: int | None) -> str:
    command = [sys.executable, "-c", PROGRAM]
    if columns is None:
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr
    leader, follower = pty.openpty()
    subprocess.run(command, stderr=follower, env={**os.environ, "COLUMNS": str(columns)}, check=True)
    os.close(follower)
    try:
        return os.read(leader, 10_000).decode().replace("\r\n", "\n")
    finally:
        os.close(leader)


def test_a_terminal_gets_lines_that_end_between_words():
    lines = said(52).rstrip("\n").split("\n")
    assert max(map(len, lines)) <= 52
    assert all(line.split()[0] in ("Note:", "seven") for line in lines[:-1])
    assert lines[-1] == "https://example.org/" + "x" * 30


def test_a_program_gets_the_sentence_in_one_line():
    assert said(None).count("\n") == 1


@pytest.mark.parametrize(("quiet", "told"), [(False, True), (True, False)])
def test_whoever_waits_is_told_what_takes_so_long(capsys: pytest.CaptureFixture[str], quiet: bool, told: bool):
    with still("Reading items", quiet=quiet, after=0.01):
        threading.Event().wait(0.3)
    assert ("Reading items … 0 s" in capsys.readouterr().err) is told


def test_what_is_done_at_once_is_not_spoken_of(capsys: pytest.CaptureFixture[str]):
    with still("Reading items"):
        pass
    assert capsys.readouterr().err == ""
