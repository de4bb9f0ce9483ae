"""What the tutorial and the how-to pages tell a reader to type works, in the order in which it is told."""

import os
import subprocess
import tomllib
from pathlib import Path

import pytest
from platformdirs import user_cache_path

from evenhand.models.local_weights import smollm2_path
from tests.docs.pages import ROOT, commands_of, run, shell_lines_of, text_of, write_files_of

TUTORIAL = "docs/tutorial/first-report.md"


def test_the_tutorial_ends_with_a_report_of_the_embedded_model_and_one_of_an_endpoint(tmp_path: Path) -> None:
    if not smollm2_path(user_cache_path("evenhand")).exists() and not os.environ.get("CI"):
        pytest.skip("the weights are not here; `evenhand models fetch local/smollm2` gets them")
    lines = shell_lines_of(text_of(TUTORIAL))
    assert [line for line in lines if not line.startswith("evenhand ")] == [
        "make demo",
        ". .venv/bin/activate",
        "export OPENAI_API_KEY=…",
    ]
    said = run(["evenhand demo --battles 1", *commands_of(text_of(TUTORIAL))], tmp_path)
    assert "Written: report.html" in said["evenhand report --out report.html"]
    assert "judged by openai/gpt-4o" in (tmp_path / "report.html").read_text(encoding="utf-8")
    (of_demo,) = [words for command, words in said.items() if command.startswith("evenhand report --store")]
    assert "Written: report.html" in of_demo


def test_make_demo_fetches_the_model_and_runs_the_demo() -> None:
    done = subprocess.run(["make", "--dry-run", "demo"], cwd=ROOT, capture_output=True, text=True, check=True)
    # Called from a make of its own it also says where it is.
    said = [line for line in done.stdout.splitlines() if not line.startswith("make[")]
    assert said[-2:] == [
        ".venv/bin/evenhand models fetch local/smollm2",
        ".venv/bin/evenhand demo",
    ]


@pytest.mark.parametrize(
    ("page", "made"),
    [
        ("docs/how-to/rank-my-models.md", "models.html"),
        ("docs/how-to/test-my-judge.md", "card.html"),
        ("docs/how-to/use-it-in-ci.md", "report.html"),
        ("docs/how-to/add-a-protocol.md", ".evenhand/ledger.db"),
        ("docs/how-to/add-a-provider.md", ".evenhand/ledger.db"),
    ],
)
def test_every_command_of_a_how_to_page_runs(tmp_path: Path, page: str, made: str) -> None:
    write_files_of(text_of(page), tmp_path)
    run(commands_of(text_of(page)), tmp_path)
    assert (tmp_path / made).stat().st_size > 0


def install(folder: Path) -> None:
    """What `pip install .` would leave of the package whose pyproject.toml lies in the folder."""
    project = tomllib.loads((folder / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    facts = folder / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    facts.mkdir()
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    groups = [
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
        for group, points in project["entry-points"].items()
    ]
    (facts / "entry_points.txt").write_text("\n".join(groups))


def test_the_package_of_the_page_on_benchmarks_is_found_and_judged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = text_of("docs/how-to/add-a-benchmark.md")
    write_files_of(page, tmp_path)
    (tmp_path / "drawings_bench/__init__.py").touch()
    install(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    said = run(commands_of(page), tmp_path)
    assert "What simple drawings show" in said["evenhand benchmarks show drawings"]
    assert "heron" in said["evenhand rank --benchmark drawings"]
