"""`--by-file` runs what pytest runs without it, and tells what cannot be imported."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
FILES = {
    "one/test_passing.py": "import pytest\n\n@pytest.mark.parametrize('n', range(3))\ndef test_n(n):\n    pass\n"
    + "#" * 500,
    "one/test_slow_alone.py": "import pytest\n\n@pytest.mark.slow\ndef test_a():\n    assert 0\n" + "#" * 400,
    "two/test_marked.py": (
        "import pytest\n\n@pytest.mark.slow\ndef test_a():\n    assert 0\n\ndef test_b():\n    pass\n" + "#" * 300
    ),
    "two/test_failing.py": "def test_wrong():\n    assert 1 == 2\n",
    "two/test_broken.py": "import nothing_of_this_name\n",
    "test_drawn.py": (
        "from hypothesis import given, strategies as st\n\n@given(st.none())\ndef test_any(n):\n    assert n is None\n"
    ),
}
"""The largest begin: after one with tests comes one of its folder without any, and then another folder."""


def told(folder: Path, *flags: str) -> tuple[int, list[str]]:
    """The exit code, and what the last line counts."""
    command = [sys.executable, "-m", "pytest", "-p", "tests.conftest", "-p", "no:cacheprovider", "-c", "pyproject.toml"]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run([*command, *flags, str(folder)], cwd=ROOT, env=environment, capture_output=True, text=True)
    return done.returncode, sorted(re.findall(r"\d+ (?:passed|failed|errors?)", done.stdout.splitlines()[-1]))


@pytest.mark.parametrize("processes", [[], ["-n", "2", "--maxschedchunk", "1"]])
def test_it_runs_and_counts_the_same_tests(tmp_path: Path, processes: list[str]) -> None:
    for name, text in FILES.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    plain = ["-m", "not slow", "--continue-on-collection-errors"]
    assert told(tmp_path, *plain) == (1, ["1 error", "1 failed", "5 passed"])
    assert told(tmp_path, "-m", "not slow", "--by-file", *processes) == told(tmp_path, *plain)
    (tmp_path / "two/test_failing.py").unlink()
    assert told(tmp_path, "-m", "not slow", "--by-file", *processes) == (1, ["1 error", "5 passed"])
    (tmp_path / "two/test_broken.py").unlink()
    assert told(tmp_path, "-m", "not slow", "--by-file", *processes) == (0, ["5 passed"])
