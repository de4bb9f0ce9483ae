"""Claims about what users install: the wheel, alone and with each extra, in an environment of its own."""

import json
import os
import re
import subprocess
import time
import tomllib
import zipfile
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from platformdirs import user_cache_path

from evenhand.models.local.weights import smollm2_path
from tests.docs.pages import ROOT
from tests.release.installation import Installation, build_wheel, extras_named_in_the_readme, first_commands
from tests.site.test_serve import free_port
from tests.warm import LONG

pytestmark = pytest.mark.slow

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
TRIED = {"report", "serve", "fast", "local", "describe", "postgres", "s3", "cluster"}
"""The extras that a test below installs one after the other; `all` is these, and `dev` is for this clone."""


JUDGED_BY_RAY = (
    *("judge", "visit-bench-sample", "--judge", "openai/gpt-4o", "--base-url", "http://127.0.0.1:9"),
    *("--max-retries", "0", "--limit", "1", "--runner", "ray"),
)


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_wheel(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation.made(tmp_path_factory.mktemp("installed"), wheel)


def test_the_wheel_holds_every_file_of_the_package_and_nothing_else(wheel: Path) -> None:
    package = ROOT / "src" / "evenhand"
    ours = {
        str(path.relative_to(package.parent))
        for path in package.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    with zipfile.ZipFile(wheel) as archive:
        held = set(archive.namelist())
    about = {name for name in held if name.startswith(f"evenhand-{PROJECT['version']}.dist-info/")}
    assert held - about == ours
    assert {Path(name).suffix for name in ours} >= {
        ".py",
        ".html",
        ".css",
        ".js",
        ".jsonl",
        ".md",
        ".png",
        ".toml",
        ".tsv",
    }
    assert {Path(name).name for name in about} >= {"METADATA", "entry_points.txt", "LICENSE"}


def test_every_extra_is_tried_here_and_named_in_the_readme() -> None:
    assert set(PROJECT["optional-dependencies"]) == TRIED | {"all", "dev"}
    assert PROJECT["optional-dependencies"]["all"] == [f"evenhand[{','.join(_in_order(TRIED))}]"]
    assert extras_named_in_the_readme() == TRIED


def _in_order(names: set[str]) -> list[str]:
    return [name for name in PROJECT["optional-dependencies"] if name in names]


# From here on in their order: the bare installation first, then each extra added to it.


def test_without_extras_the_first_commands_of_the_readme_run_in_another_folder(installed: Installation) -> None:
    assert installed.run("--version") == f"evenhand {PROJECT['version']}\n"
    where = installed.python("import evenhand; print(evenhand.__file__)")
    assert Path(where.strip()).is_relative_to(installed.bin.parent)
    assert len(first_commands()) >= 6
    installed.follow(first_commands())
    assert (installed.folder / "battles.jsonl").stat().st_size > 0
    said = installed.python_of_the_readme()
    assert "1 sample-rambling" in said
    assert "Bradley-Terry from 3 rows on 2 items, 2 models" in said


def test_without_extras_a_command_that_needs_one_says_which(installed: Installation) -> None:
    assert ".[serve]" in installed.run("serve", expect=2)
    assert ".[report]" in installed.run("rank", "battles.jsonl", "--plot", "board.svg", expect=2)
    assert ".[local]" in installed.run("demo", expect=2)
    assert ".[describe]" in installed.run("describe", "visit-bench-sample")
    said = installed.run("runs", "--store", "postgresql://ann:hunter2@127.0.0.1:9/none?sslpassword=hunter2", expect=1)
    assert ".[postgres]" in said
    assert "hunter2" not in said
    assert ".[s3]" in installed.run("runs", "--images", "s3://pictures/ours", expect=1)
    assert ".[cluster]" in installed.run(*JUDGED_BY_RAY, expect=2, RAY_ADDRESS="127.0.0.1:9", OPENAI_API_KEY="k")


def test_with_report_a_report_and_a_picture_are_written(installed: Installation) -> None:
    installed.add("report")
    installed.run("report", "--out", "report.html")
    assert "judged by openai/gpt-4o" in (installed.folder / "report.html").read_text(encoding="utf-8")
    installed.run("rank", "battles.jsonl", "--plot", "board.svg")
    assert "<svg" in (installed.folder / "board.svg").read_text(encoding="utf-8")


def come(visitor: httpx.Client, path: str) -> httpx.Response:
    """The page itself: who waits until it is worked out is told so for now."""
    deadline = time.monotonic() + LONG
    while (page := visitor.get(path)).status_code == 202:
        assert time.monotonic() < deadline, page.text
        time.sleep(0.2)
    return page


def test_with_serve_pages_and_their_styles_are_answered(installed: Installation) -> None:
    installed.add("serve")
    command = [str(installed.bin / "evenhand"), "serve", "--port", str(free_port())]
    with subprocess.Popen(
        command, cwd=installed.folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
        env={name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
    ) as process:  # fmt: skip
        try:
            assert process.stderr is not None
            line = process.stderr.readline()
            address = re.search(r"http\S+", line)
            assert address, line
            with httpx.Client(base_url=address[0], trust_env=False, timeout=LONG) as visitor:
                page = come(visitor, "/")
                assert (page.status_code, "visit-bench-sample" in page.text) == (200, True)
                for style in re.findall(r'href="(/static/[^"]+\.css[^"]*)"', page.text):
                    assert visitor.get(style).status_code == 200
                (board,) = visitor.get("/api/boards").json()["boards"]
                assert come(visitor, f"/boards/{board['board']}").status_code == 200
        finally:
            process.kill()


def test_with_fast_elo_gives_the_same_ratings(installed: Installation) -> None:
    resampled = ("rank", "battles.jsonl", "--method", "elo", "--bootstrap", "100", "--seed", "1", "--json")
    before = json.loads(installed.run(*resampled))
    installed.add("fast")
    installed.python("import numba")
    after = json.loads(installed.run(*resampled))
    for slow, fast in zip(before["models"], after["models"], strict=True):
        assert slow["model"] == fast["model"]
        assert fast["rating"] == pytest.approx(slow["rating"], abs=1e-6)


def test_with_local_the_demo_asks_the_embedded_model(installed: Installation) -> None:
    installed.add("local")
    if not smollm2_path(user_cache_path("evenhand")).exists() and not os.environ.get("CI"):
        pytest.skip("the weights are not here; `evenhand models fetch local/smollm2` gets them")
    assert "local/smollm2" in installed.run("demo", "--battles", "1")


def test_with_describe_verbs_and_nouns_are_read(installed: Installation) -> None:
    installed.add("describe")
    said = installed.run("describe", "visit-bench-sample")
    assert "Verbs and nouns were not read" not in said


def test_with_postgres_a_server_is_asked(installed: Installation) -> None:
    installed.add("postgres")
    said = installed.run("runs", "--store", "postgresql://ann:hunter2@127.0.0.1:9/none", expect=1)
    assert "127.0.0.1" in said
    assert "cannot be reached" in said
    assert "hunter2" not in said


def test_with_s3_a_server_of_images_is_asked(installed: Installation) -> None:
    installed.add("s3")
    place = ("--store", "sqlite:///s3/ledger.db", "--images", "s3://pictures/ours")
    given: dict[str, Any] = {
        "AWS_ENDPOINT_URL": "http://127.0.0.1:9",
        "AWS_ACCESS_KEY_ID": "ann",
        "AWS_SECRET_ACCESS_KEY": "hunter2",
    }
    installed.python("import evenhand as eh; eh.open_ledger('sqlite:///s3/ledger.db')")
    said = installed.run("ledger", "info", *place, expect=1, **given)
    assert "s3://pictures/ours" in said
    assert "hunter2" not in said


def test_with_cluster_a_ray_is_asked(installed: Installation) -> None:
    installed.add("cluster")
    installed.python("import ray, grpc")
    said = installed.run(*JUDGED_BY_RAY, expect=2, RAY_ADDRESS="127.0.0.1:9", OPENAI_API_KEY="k")
    assert "127.0.0.1:9" in said
    assert ".[cluster]" not in said
