"""What the documents say is what the program does."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from PIL import Image

import evenhand
from evenhand.cli.reference import reference
from tests import warm
from tests.docs.pages import ROOT, commands_of, run, text_of, write_files_of
from tests.refusals import tells
from tests.scripted_server import server_process

README = text_of("README.md")


def test_the_command_reference_is_what_the_program_says() -> None:
    written = text_of("docs/reference/commands.md")
    assert written == reference(), "run: python -m evenhand.cli.reference docs/reference/commands.md"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("document", "made"),
    [
        ("README.md", "battles.jsonl"),
        ("docs/visit-bench.md", "battles.jsonl"),
        ("docs/creation-mmbench.md", "questions.jsonl"),
    ],
)
def test_every_command_of_a_document_runs(tmp_path: Path, document: str, made: str) -> None:
    text = text_of(document)
    commands = commands_of(text)
    assert len(commands) >= 6
    write_files_of(text, tmp_path)
    (tmp_path / "pictures").mkdir()
    Image.new("RGB", (60, 40), "red").save(tmp_path / "pictures" / "kitchen.jpg")
    run(commands, tmp_path)
    assert (tmp_path / made).stat().st_size > 0


def test_the_page_on_elo_of_2023_shows_the_median_of_resampled_battles(tmp_path: Path) -> None:
    text = text_of("docs/elo-2023.md")
    write_files_of(text, tmp_path)
    (command,) = commands_of(text)
    made = warm.run(*command.split()[1:], "--explain", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    assert "median" in made.stdout
    assert "percentiles of 1,000 resamples of battles" in made.stdout


@pytest.mark.slow
def test_the_python_of_the_readme_runs(tmp_path: Path) -> None:
    program = "".join(re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL))
    battles = ["model_a,model_b,winner,prompt,worker", "gpt-4o,Y,gpt-4o,1,ann", "gpt-4o,Y,tie,1,bo", "Y,gpt-4o,Y,2,ann"]
    (tmp_path / "battles.csv").write_text("\n".join(battles) + "\n")
    with server_process("--judge", "prefers-longer") as base_url:
        done = subprocess.run(
            [sys.executable, "-c", program],
            cwd=tmp_path,
            env={**os.environ, "OPENAI_BASE_URL": base_url, "OPENAI_API_KEY": "a-key-for-the-test"},
            capture_output=True,
            text=True,
            timeout=warm.LONG,
            check=False,
        )
    assert done.returncode == 0, done.stderr
    assert "1 sample-rambling" in done.stdout
    tells(done.stdout, "Bradley-Terry", "3 rows", "2 items", "2 models")


@pytest.mark.parametrize("name", evenhand.__all__)
def test_every_public_name_can_be_imported(name: str) -> None:
    assert getattr(evenhand, name) is not None


def test_the_names_the_readme_uses_are_public() -> None:
    used = set(re.findall(r"\beh\.(\w+)", README))
    assert used
    assert used <= set(evenhand.__all__)


def test_the_documents_name_files_that_exist() -> None:
    for document in ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"):
        text = (ROOT / document).read_text(encoding="utf-8")
        for target in re.findall(r"\]\(([^)#:]+)\)", text):
            assert (ROOT / target).exists(), f"{document} names {target}"


def pinned(lock: str) -> dict[tuple[str, str], set[str]]:
    """The hashes of each name and version."""
    found = re.findall(
        r"^([\w.-]+)==(\S+)([^\n]*(?:\n +--hash=\S+(?: \\)?)+)", text_of(f"requirements/{lock}.txt"), re.M
    )
    return {(name, version): set(re.findall(r"sha256:(\w+)", hashes)) for name, version, hashes in found}


def test_the_demo_installs_what_it_runs_as_the_tests_have_it_and_no_development_tool() -> None:
    demo, dev = pinned("demo"), pinned("dev")
    assert all(dev.get(one) == hashes for one, hashes in demo.items())
    project = tomllib.loads(text_of("pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    needed, tools = (
        {re.split(r"[<>=]", one)[0] for one in some}
        for some in ([*project["dependencies"], *extras["local"], *extras["report"]], extras["dev"])
    )
    names = {name for name, _ in demo}
    assert needed <= names
    # Those build what is installed; the prices come with an HTTP library.
    assert tools & names == {"editables", "hatchling", "httpx2"}
