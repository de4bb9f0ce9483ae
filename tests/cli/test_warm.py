"""A fork of the program that waits says what the installed program says from its start."""

import json
import os
import re
import subprocess
from pathlib import Path

import pytest

from tests import warm
from tests.scripted_server import server_process

JUDGE = ("judge", "visit-bench-sample", "--judge", "openai/m", "--pairs", "random", "--battles", "2", "--json")


def environment(home: Path, **variables: str) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "PYTHONPATH": os.environ.get("PYTHONPATH", ""),
        "PYTHONWARNINGS": "error",
        **variables,
    }


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("--version",), 0),
        (("rank", "battles.csv"), 0),
        (("sample", "visit-bench-sample"), 0),
        ((*JUDGE, "--dry-run"), 0),
        (("ledger", "info"), 1),
        (("rank", "battles.csv", "--method", "none"), 2),
    ],
)
def test_it_says_the_same_and_leaves_the_same_files(tmp_path: Path, arguments: tuple[str, ...], code: int) -> None:
    said: list[tuple[object, ...]] = []
    for program in (warm.run, warm.started):
        folder = tmp_path / program.__name__
        folder.mkdir()
        (folder / "battles.csv").write_text("model_a,model_b,winner\na,b,model_a\nb,a,model_a\nä,b,tie\n")
        ran = program(*arguments, cwd=folder, env=environment(tmp_path, COLUMNS="100"))
        files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        told = re.sub(r".+ … \d+ s\n", "", ran.stderr)  # what takes long on a busy machine
        said.append((ran.returncode, ran.stdout, told, files))
    assert said[0] == said[1]
    assert said[0][0] == code


@pytest.mark.slow
def test_folder_environment_and_endpoint_are_those_that_it_is_given(tmp_path: Path) -> None:
    (tmp_path / "evenhand.toml").write_text("seed = 4\n")
    with server_process() as url:
        given = environment(tmp_path, OPENAI_BASE_URL=url, OPENAI_API_KEY="a-key-for-the-test")
        first = warm.run(*JUDGE, cwd=tmp_path, env=given)
        again = warm.started(*JUDGE, cwd=tmp_path, env=given)
    assert json.loads(first.stdout)["called"] == 4, first.stderr
    assert json.loads(again.stdout)["called"] == 0, again.stderr
    # Nothing of one command is left to the next.
    assert "OPENAI_API_KEY" in warm.run(*JUDGE, "--seed", "5", cwd=tmp_path, env=environment(tmp_path)).stderr


@pytest.mark.slow
def test_what_hangs_is_killed(tmp_path: Path) -> None:
    with server_process("--fault", "hang=1") as url:
        given = environment(tmp_path, OPENAI_API_KEY="a-key-for-the-test")
        with pytest.raises(subprocess.TimeoutExpired):
            warm.run(*JUDGE, "--judge-base-url", url, cwd=tmp_path, env=given, timeout=3)
