"""The notebook of the tutorial runs from its first cell to its last, in a kernel, whose loop is running."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.docs.pages import ROOT
from tests.scripted_server import server_process
from tests.warm import LONG

nbformat: Any = pytest.importorskip("nbformat", reason="nbclient and ipykernel are not installed")
nbclient: Any = pytest.importorskip("nbclient", reason="nbclient and ipykernel are not installed")
pytest.importorskip("ipykernel", reason="nbclient and ipykernel are not installed")

NOTEBOOK = ROOT / "docs/tutorial/notebook.ipynb"
A_LOOP_RUNS = "import asyncio\nassert asyncio.get_running_loop().is_running()"


@pytest.fixture
def kernels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One kernel, of this very Python, whatever the tester has installed."""
    folder = tmp_path / "jupyter/kernels/python3"
    folder.mkdir(parents=True)
    launch = f'["{sys.executable}", "-P", "-m", "ipykernel_launcher", "-f", "{{connection_file}}"]'
    spec = f'{{"argv": {launch}, "display_name": "Python 3", "language": "python"}}'
    (folder / "kernel.json").write_text(spec, encoding="utf-8")
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    for variable, name in (("JUPYTER_RUNTIME_DIR", "runtime"), ("IPYTHONDIR", "ipython"), ("JUPYTER_CONFIG_DIR", "c")):
        monkeypatch.setenv(variable, str(tmp_path / name))


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
@pytest.mark.usefixtures("kernels")
def test_the_notebook_runs_inside_a_running_loop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    notebook.cells.insert(0, nbformat.v4.new_code_cell(A_LOOP_RUNS))
    monkeypatch.delenv("EVENHAND_STORE", raising=False)
    with server_process("--judge", "by-quality") as url:
        monkeypatch.setenv("OPENAI_BASE_URL", url)
        monkeypatch.setenv("OPENAI_API_KEY", "sk-for-the-test")
        done = nbclient.NotebookClient(
            notebook,
            timeout=int(LONG),
            startup_timeout=int(LONG),
            kernel_name="python3",
            resources={"metadata": {"path": str(tmp_path)}},
        ).execute()
    shown = {
        cell.source: [output.data for output in cell.outputs if "data" in output]
        for cell in done.cells
        if cell.cell_type == "code"
    }
    (run,), (board,) = (
        next(out for source, out in shown.items() if name in source) for name in ("eh.judge(", "eh.rank(")
    )
    assert run["text/plain"] == "Judged: 48 of 48 trials have a verdict, 48 asked now"
    assert board["text/html"].count("<tr>") == 6, "a heading, four models and the reference"
    (chart,) = next(out for source, out in shown.items() if "chart()" in source)
    assert "vega" in chart["text/html"]
    (card,) = next(out for source, out in shown.items() if "eh.audit(" in source)
    assert "swap_consistency" in card["text/html"]
    assert (tmp_path / "report.html").stat().st_size > 100_000
    assert (tmp_path / ".evenhand/ledger.db").exists()
