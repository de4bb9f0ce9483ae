"""Claims about the wheel on the other versions of Python that pyproject names, where one is on this machine."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.release.installation import Installation, build_wheel, first_commands

pytestmark = pytest.mark.slow

RUNNING = f"{sys.version_info.major}.{sys.version_info.minor}"


OTHERS = [one for one in ("3.11", "3.12", "3.13") if one != RUNNING]


# In `make test-slow` the newest that is there, in `make soak` each of them.
@pytest.mark.parametrize("versions", [OTHERS, *(pytest.param([one], marks=pytest.mark.soak) for one in OTHERS)])
def test_the_first_commands_of_the_readme_run_on_another_python(tmp_path: Path, versions: list[str]) -> None:
    found = {version: python for version in versions if (python := interpreter(version))}
    if not found:
        pytest.skip(f"no Python {' or '.join(versions)} is on the path or among pyenv's")
    version, python = [*found.items()][-1]
    installed = Installation.made(tmp_path, build_wheel(tmp_path / "dist"), python=python)
    assert installed.python("import sys; print(*sys.version_info[:2], sep='.')").strip() == version
    installed.follow(first_commands())
    assert (tmp_path / "elsewhere" / "battles.jsonl").stat().st_size > 0
    assert "1 sample-rambling" in installed.python_of_the_readme()


def interpreter(version: str) -> str | None:
    on_path = shutil.which(f"python{version}")
    of_pyenv = sorted(Path.home().glob(f".pyenv/versions/{version}*/bin/python{version}"))
    for found in [*([on_path] if on_path else []), *map(str, of_pyenv)]:
        # A shim on the path may lead to no interpreter.
        if subprocess.run([found, "-c", "import venv"], capture_output=True, check=False).returncode == 0:
            return found
    return None
