"""What takes more than two seconds says so on a terminal, and leaves nothing behind; elsewhere it says nothing."""

import os
import pty
import sqlite3
import subprocess
import sys
import textwrap
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests import warm
from tests.scripted_server import server_process

SLOW = textwrap.dedent(
    """
    import sys, time
    from evenhand.cli.waiting import waiting
    with waiting("Fetching") as shown:
        shown.count(1, 4, "images")
        time.sleep(float(sys.argv[1]))
    sys.stderr.write("done")
    """
)


def on_a_terminal(*command: str, folder: Path, heard: Callable[[str], None] | None = None) -> str:
    """All that a command writes to a terminal of 80 columns; `heard` is told what there is of it so far."""
    master, slave = pty.openpty()
    env = {**os.environ, "COLUMNS": "80", "TERM": "xterm"}
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=slave, stderr=slave, cwd=folder, env=env)
    os.close(slave)
    said = b""
    while True:
        try:
            part = os.read(master, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        said += part
        if heard is not None:
            heard(said.decode(errors="replace"))
    os.close(master)
    assert process.wait(timeout=60) == 0, said
    return said.decode()


@pytest.mark.slow
def test_a_line_stands_on_a_terminal_from_the_second_second_and_is_wiped(tmp_path: Path):
    said = on_a_terminal(sys.executable, "-c", SLOW, "2.6", folder=tmp_path)
    assert "Fetching: 1/4 images, 2 s" in said
    assert said.endswith("\r\x1b[2Kdone")
    assert "images" not in on_a_terminal(sys.executable, "-c", SLOW, "0.2", folder=tmp_path)


@pytest.mark.slow
def test_nothing_is_said_where_no_terminal_is(tmp_path: Path):
    done = subprocess.run([sys.executable, "-c", SLOW, "2.6"], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert (done.stdout, done.stderr) == ("", "done")


def once_it_waits(words: str, *command: str, folder: Path, release: Callable[[], None]) -> str:
    """What a command writes to a terminal that is released once it says that it works."""
    released = False

    def heard(said: str) -> None:
        nonlocal released
        if not released and f"{words}, 2 s" in said:
            released = True
            release()

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
    program = SLOW.replace("time.sleep", 'time.sleep(2.6); print("Note.", file=sys.stderr); time.sleep')
    said = on_a_terminal(sys.executable, "-c", program, "0.6", folder=tmp_path)
    assert "\r\x1b[2KNote.\r\n" in said
    assert said.endswith("\r\x1b[2Kdone")


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
