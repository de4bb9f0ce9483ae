"""What takes more than two seconds says so on a terminal, and leaves nothing behind; elsewhere it says nothing."""

import os
import pty
import re
import sqlite3
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests import warm
from tests.scripted_server import server_process

SLOW = textwrap.dedent(
    """
    import sys
    from itertools import chain, repeat
    from evenhand.cli.waiting import waiting
    seconds = chain([0.0], repeat(2.0))  # however long it is: the machine may be busy
    with waiting("Fetching", clock=lambda: next(seconds)) as shown:
        shown.count(1, 4, "images")
        sys.stdin.read()
    sys.stderr.write("done")
    """
)


WIPED = "\r\x1b[2K"


def on_a_terminal(*command: str, folder: Path, heard: Callable[[str], bool] = lambda said: True) -> str:
    """All that a command writes to a terminal of 80 columns. Its standard input is open until `heard`, which is told
    what there is of it so far, has heard enough."""
    master, slave = pty.openpty()
    env = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=slave, stderr=slave, cwd=folder, env=env)
    os.close(slave)
    assert process.stdin is not None
    if heard(""):
        process.stdin.close()
    said = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
        if heard(said.decode(errors="replace")):
            process.stdin.close()
    os.close(master)
    process.stdin.close()
    assert process.wait(timeout=warm.LONG) == 0, said
    return said.decode()


@pytest.mark.slow
def test_a_line_stands_on_a_terminal_from_the_second_second_and_is_wiped(tmp_path: Path):
    began = time.monotonic()
    said = on_a_terminal(sys.executable, "-c", SLOW, folder=tmp_path, heard=lambda said: "images" in said)
    assert time.monotonic() - began > 2
    assert said == f"{WIPED}Fetching: 1/4 images, 2 s" * said.count("Fetching") + f"{WIPED}done"
    soon_over = SLOW.replace("waiting(", f"waiting(after={warm.LONG}, words=")
    assert on_a_terminal(sys.executable, "-c", soon_over, folder=tmp_path) == "done"


@pytest.mark.slow
def test_nothing_is_said_where_no_terminal_is(tmp_path: Path):
    at_once = SLOW.replace("waiting(", "waiting(after=0.0, words=").replace("sys.stdin.read()", "time.sleep(0.6)")
    command = [sys.executable, "-c", f"import time{at_once}"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("", "done")


def once_it_waits(words: str, *command: str, folder: Path, release: Callable[[], None]) -> str:
    """What a command writes to a terminal that is released once it says that it works."""
    released = False

    def heard(said: str) -> bool:
        nonlocal released
        if not released and re.search(rf"{words}, \d+ s", said):
            released = True
            release()
        return released

    said = on_a_terminal(sys.executable, "-m", "evenhand", *command, folder=folder, heard=heard)
    assert released, said
    return said


@pytest.mark.slow
@pytest.mark.parametrize(
    ("words", "command"),
    [
        ("Ranking", ["rank"]),
        ("Scoring", ["score", "visit-bench-sample"]),
        ("Exporting", ["export", "--judgements", "--out", "out.jsonl"]),
        ("Importing", ["import", "out.csv", "--judgements", "--benchmark", "visit-bench-sample"]),
        ("Checking the ledger", ["ledger", "check"]),
        ("Copying the ledger", ["ledger", "backup", "copy"]),
    ],
)
def test_whoever_waits_for_the_ledger_says_so(tmp_path: Path, words: str, command: list[str]):
    (tmp_path / ".evenhand").mkdir()
    path = tmp_path / ".evenhand/ledger.db"
    with server_process("--judge", "prefers-longer") as url:
        asked = ("--judge", "vllm/x", "--judge-base-url", url, "--limit", "2", "--quiet")
        judged = warm.run("judge", "visit-bench-sample", *asked, cwd=tmp_path)
        assert judged.returncode == 0, judged.stderr
    rows = ["item,rater,model_a,model_b,verdict", "s01,ann,sample-brief,sample-rambling,1"]
    (tmp_path / "out.csv").write_text("\n".join(rows) + "\n")
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("PRAGMA locking_mode=EXCLUSIVE")
        other.execute("BEGIN EXCLUSIVE")
        said = once_it_waits(words, *command, folder=tmp_path, release=other.close)
    after = said.rsplit("\r\x1b[2K", 1)[1]
    assert words not in after
    assert after.strip()


@pytest.mark.slow
def test_a_sentence_said_meanwhile_has_a_line_of_its_own(tmp_path: Path):
    told = 'sys.stdin.read(); sys.stderr.write("Note."); time.sleep(0.6); sys.stderr.write("\\n")'
    program = f"import time{SLOW.replace('sys.stdin.read()', told)}"
    said = on_a_terminal(sys.executable, "-c", program, folder=tmp_path, heard=lambda said: "images" in said)
    assert f"{WIPED}Note.\r\n" in said
    assert said.endswith("done")


@pytest.mark.slow
def test_align_and_report_of_much_tell_that_they_work(tmp_path: Path):
    rows = ["item,rater,rater_kind,model_a,model_b,winner"]
    rows += [
        f"{item},{who},{kind},m{a},m{b},{'model_a' if (item + a * b) % 3 else 'model_b'}"
        for item in range(400)
        for a in range(6)
        for b in range(a)
        for who, kind in (("ann", "human"), ("bob", "human"), ("gpt", "model"))
    ]
    (tmp_path / "b.csv").write_text("\n".join(rows) + "\n")
    said = on_a_terminal(sys.executable, "-m", "evenhand", "align", "b.csv", "--plot", "a.html", folder=tmp_path)
    said += on_a_terminal(sys.executable, "-m", "evenhand", "report", "b.csv", folder=tmp_path)
    assert any(words in said for words in ("Comparing raters, ", "Reading the files, ", "Writing the report, "))
    assert "Written: report.html" in said.replace("\r\n", " ")
