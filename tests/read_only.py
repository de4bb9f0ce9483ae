"""A folder that cannot be written: mounted so, which stops root too, or by its rights, for a process of nobody's."""

import os
import shutil
import subprocess
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted_read_only(folder: Path) -> Generator[None]:
    """Skips the test where nothing can be mounted."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        pytest.skip("Mounting a disk for reading needs root.")
    bound = _run("mount", "--bind", folder, folder)
    if bound.returncode:
        pytest.skip(f"Nothing can be mounted here: {bound.stderr.strip()}")
    try:
        again = _run("mount", "-o", "remount,bind,ro", folder)
        if again.returncode:
            pytest.skip(f"Nothing can be mounted for reading here: {again.stderr.strip()}")
        yield
    finally:
        # Lazily: commands that ran in this process may have files of it open still.
        assert not _run("umount", "--lazy", folder).returncode


def _run(*command: object) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([str(word) for word in command], capture_output=True, text=True)
