"""The demo with the real embedded model, on two pairs, and the tutorial, which goes on from there."""

import json
import os
import shutil
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from platformdirs import user_cache_path

from evenhand.models.local.weights import smollm2_path
from tests import warm
from tests.docs.pages import commands_of, run, shell_lines_of, text_of
from tests.warm import EVENHAND

pytestmark = pytest.mark.slow

TUTORIAL = "docs/tutorial/first-report.md"


def needs_weights() -> None:
    if not smollm2_path(user_cache_path("evenhand")).exists() and not os.environ.get("CI"):
        pytest.skip("the weights are not here; `evenhand models fetch local/smollm2` gets them")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("demo")


@pytest.fixture(scope="module")
def first(folder: Path) -> dict[str, Any]:
    """What `demo` says from its start."""
    needs_weights()
    done = warm.started("demo", "--battles", "2", "--json", "--quiet", cwd=folder, timeout=warm.LONG)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_tutorial_ends_with_a_report_of_the_embedded_model_and_one_of_an_endpoint(
    first: dict[str, Any], folder: Path, tmp_path: Path
) -> None:
    lines = shell_lines_of(text_of(TUTORIAL))
    assert [line for line in lines if not line.startswith("evenhand ")] == [
        "make demo",
        ". .venv/bin/activate",
        "export OPENAI_API_KEY=…",
    ]
    shutil.copytree(folder / ".evenhand", tmp_path / ".evenhand")
    said = run(commands_of(text_of(TUTORIAL)), tmp_path, started="once")
    assert "Written: report.html" in said["evenhand report --out report.html"]
    assert "judged by openai/gpt-4o" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (of_demo,) = [words for command, words in said.items() if command.startswith("evenhand report --store")]
    assert "Written: report.html" in of_demo


def test_the_demo_judges_once_and_then_uses_its_record(first: dict[str, Any], folder: Path) -> None:
    assert first["calls"] == 4
    assert first["board"]["coverage"] == {"wanted": 4, "with_verdict": 4, "reasons": {}}
    assert first["board"]["readout"] == "constrained"
    assert first["board"]["sample"] is True
    assert [path.name for path in (folder / ".evenhand").iterdir()] == ["demo"]
    second = warm.run("demo", cwd=folder, timeout=warm.LONG)  # without --battles the stored study stands
    assert second.returncode == 0, second.stderr
    words = second.stdout
    assert "No model call was made" in words
    on_record = warm.run("rank", "--store", "sqlite:///.evenhand/demo/ledger.db", "--json", cwd=folder)
    assert json.loads(on_record.stdout)["models"] == first["board"]["models"]
    assert "Can this judge be trusted?" in words
    assert (
        words.index("Whom to believe") < words.index("Can this judge be trusted?") < words.index("Side by side: gpt-4")
    )
    assert first["closing"] in words
    assert "local/smollm2" in first["closing"]
    assert "evenhand judge visit-bench-sample --judge openai/gpt-4o" in words
    page = folder / ".evenhand" / "demo" / "report.html"
    assert first["report"] == str(page)
    assert str(page) in words
    assert "judged by local/smollm2" in page.read_text(encoding="utf-8")


def test_ctrl_c_while_the_demo_looks_how_fast_it_is_ends_it(tmp_path: Path) -> None:
    needs_weights()
    ledger = tmp_path / ".evenhand" / "demo" / "ledger.db"
    process = subprocess.Popen([EVENHAND, "demo"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    until = time.monotonic() + warm.LONG
    while process.poll() is None and time.monotonic() < until and not _being_asked(ledger):
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=warm.LONG)
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
