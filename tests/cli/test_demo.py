"""The demo with the real embedded model, on a few pairs."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from evenhand.models.local.weights import smollm2_path

pytestmark = pytest.mark.slow

EVENHAND = str(Path(sys.executable).with_name("evenhand"))


def demo(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    if not smollm2_path(user_cache_path("evenhand")).exists() and not os.environ.get("CI"):
        pytest.skip("the weights are not here; `evenhand models fetch local/smollm2` gets them")
    done = subprocess.run(
        [EVENHAND, "demo", *arguments], cwd=folder, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    return done


def document(folder: Path, *arguments: str) -> dict[str, Any]:
    return json.loads(demo(folder, *arguments, "--json", "--quiet").stdout)


def test_the_demo_judges_once_and_then_uses_its_record(tmp_path: Path) -> None:
    first = document(tmp_path, "--battles", "3")
    assert first["calls"] == 6
    assert first["board"]["coverage"] == {"wanted": 6, "with_verdict": 6, "reasons": {}}
    assert first["board"]["readout"] == "constrained"
    assert first["board"]["sample"] is True
    again = document(tmp_path)
    assert again["calls"] == 0  # without --battles the stored study stands
    assert again["board"]["models"] == first["board"]["models"]
    assert [path.name for path in (tmp_path / ".evenhand").iterdir()] == ["demo"]
    words = demo(tmp_path).stdout
    assert "No model call was made" in words
    assert "Can this judge be trusted?" in words
    assert (
        words.index("Whom to believe") < words.index("Can this judge be trusted?") < words.index("Side by side: gpt-4")
    )
    assert first["closing"] in words
    assert "local/smollm2" in first["closing"]
    assert "evenhand judge visit-bench-sample --judge openai/gpt-4o" in words
    page = tmp_path / ".evenhand" / "demo" / "report.html"
    assert first["report"] == str(page)
    assert str(page) in words
    assert "judged by local/smollm2" in page.read_text(encoding="utf-8")


def test_ctrl_c_while_the_demo_looks_how_fast_it_is_ends_it(tmp_path: Path) -> None:
    if not smollm2_path(user_cache_path("evenhand")).exists() and not os.environ.get("CI"):
        pytest.skip("the weights are not here; `evenhand models fetch local/smollm2` gets them")
    ledger = tmp_path / ".evenhand" / "demo" / "ledger.db"
    process = subprocess.Popen([EVENHAND, "demo"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + 120
    while process.poll() is None and time.monotonic() < until and not _being_asked(ledger):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=200)
    assert process.returncode == 130
    assert b"Whom to believe" in out
    assert b"Can this judge be trusted?" not in out


def _being_asked(ledger: Path) -> bool:
    if not ledger.exists():
        return False
    with closing(sqlite3.connect(f"file:{ledger}?mode=ro", uri=True)) as connection:
        try:
            return connection.execute("SELECT count(*) FROM claims").fetchone()[0] > 0
        except sqlite3.OperationalError:
            return False  # the tables are being made
