"""The Python that docs/how-to/use-it-from-python.md shows runs, in its order, against a scripted endpoint."""

import re
from pathlib import Path
from typing import Any

import pytest

import evenhand as eh
from tests.docs.pages import text_of
from tests.scripted_server import server_process

PAGE = "docs/how-to/use-it-from-python.md"


@pytest.mark.slow
def test_the_page_on_python_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("EVENHAND_STORE", raising=False)
    known: dict[str, Any] = {}
    with server_process("--judge", "by-quality") as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
        for block in re.findall(r"```python\n(.*?)```", text_of(PAGE), flags=re.DOTALL):
            exec(block, known)
    assert known["run"].summary["verdicts"] == known["board"].votes == 432
    assert Path("report.html").stat().st_size > 100_000


def test_the_page_names_every_call_and_every_error() -> None:
    text = text_of(PAGE)
    for name in eh.__all__:
        if name.endswith("Error") or name in ("judge", "rank", "score", "align", "report", "audit", "grade"):
            assert name in text, name
