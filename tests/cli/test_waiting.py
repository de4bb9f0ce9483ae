"""What takes more than two seconds says so on a terminal, and leaves nothing behind; elsewhere it says nothing."""

import os
import pty
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

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


def on_a_terminal(*command: str, folder: Path) -> str:
    """All that a command writes to a terminal of 80 columns."""
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
