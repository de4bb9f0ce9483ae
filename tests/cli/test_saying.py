"""Claims about sentences on standard error."""

import os
import pty
import re
import subprocess
import sys
import time
from contextlib import suppress

import pytest

from evenhand.cli.saying import still
from tests.warm import LONG

PROGRAM = "from evenhand.cli.saying import say; say('Note: ' + 'seven ' * 12 + 'https://example.org/' + 'x' * 30)"


def said(columns: int | None) -> str:
    command = [sys.executable, "-c", PROGRAM]
    if columns is None:
        return subprocess.run(command, capture_output=True, text=True, check=True).stderr
    leader, follower = pty.openpty()
    subprocess.run(command, stderr=follower, env={**os.environ, "COLUMNS": str(columns)}, check=True)
    os.close(follower)
    told = b""
    with suppress(OSError), open(leader, "rb", buffering=0) as terminal:  # that the other end is closed is an error
        while part := terminal.read(10_000):  # lines may come one by one
            told += part
    return told.decode().replace("\r\n", "\n")


def test_a_terminal_gets_lines_that_end_between_words():
    lines = said(52).rstrip("\n").split("\n")
    assert max(map(len, lines)) <= 52
    assert all(line.split()[0] in ("Note:", "seven") for line in lines[:-1])
    assert lines[-1] == "https://example.org/" + "x" * 30


def test_a_program_gets_the_sentence_in_one_line():
    assert said(None).count("\n") == 1


def test_whoever_waits_is_told_what_takes_so_long(capsys: pytest.CaptureFixture[str]):
    told, deadline = "", time.monotonic() + LONG
    with still("Reading items", after=0.01):
        while not told.endswith("\n"):
            assert time.monotonic() < deadline, "it was never told"
            time.sleep(0.01)
            told += capsys.readouterr().err
    assert re.fullmatch(r"Reading items … \d+ s", told.splitlines()[0])


def test_whoever_asked_for_quiet_is_told_nothing(capsys: pytest.CaptureFixture[str]):
    with still("Reading items", quiet=True, after=0.01):
        time.sleep(0.3)
    assert capsys.readouterr().err == ""


def test_what_is_done_at_once_is_not_spoken_of(capsys: pytest.CaptureFixture[str]):
    with still("Reading items", after=LONG):
        pass
    assert capsys.readouterr().err == ""
