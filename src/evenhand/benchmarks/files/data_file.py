"""A benchmark's official data file: where it is, and how it comes here whole."""

import asyncio
import hashlib
import os
import shutil
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from evenhand.benchmarks.benchmark import BenchmarkInfo
from evenhand.benchmarks.data_error import BenchmarkError, DownloadError
from evenhand.files.whole import continued

if TYPE_CHECKING:
    from aiohttp import ClientResponse

Told: TypeAlias = Callable[[int, int | None], None]
"""Hears the bytes that are here and, where the server says it, how many there will be."""

_CHUNK_BYTES = 1 << 20
_SILENT_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class DataFile:
    name: str
    url: str
    md5: str
    """As the benchmark's authors publish it."""
    elsewhere: str | None = None
    """A sentence: where else the data can be had, and in what form."""

    @property
    def by_hand(self) -> str:
        bring = f"bring {self.name} yourself and give it with --data."
        return f"{bring} {self.elsewhere}" if self.elsewhere else bring


@dataclass(frozen=True, slots=True, kw_only=True)
class Downloaded:
    path: Path
    bytes: int
    came: int
    """Bytes that came now: 0 where the file was here, fewer than `bytes` where a part of it was."""


def data_files(info: BenchmarkInfo) -> tuple[DataFile, ...]:
    """The [[file]] tables of its benchmark.toml; none where a benchmark is bundled or its files have no address."""
    source = import_module(info.package).__file__
    assert source is not None
    document: dict[str, Any] = tomllib.loads((Path(source).parent / "benchmark.toml").read_text(encoding="utf-8"))
    return tuple(
        DataFile(name=row["name"], url=row["url"], md5=row["md5"], elsewhere=row.get("elsewhere"))
        for row in document.get("file", [])
        if row["benchmark"] == info.name
    )


def download(file: DataFile, folder: Path, *, told: Told = lambda _came, _of: None) -> Downloaded:
    """The file in the folder, its MD5 checked. What came before an interruption is kept, and the rest is asked for.

    It runs an event loop of its own. Raises BenchmarkError; DownloadError where the network does not give it.
    """
    target = folder / file.name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        if target.exists():
            _refuse_other(file, target)
            return Downloaded(path=target, bytes=target.stat().st_size, came=0)
        with continued(target) as part:
            came = asyncio.run(_fetch(file, part, told))
            part.flush()
            if md5_of(Path(part.name)) != file.md5:
                part.truncate(0)
                raise DownloadError(
                    f"What came from {file.url} has not the MD5 {file.md5}: it was damaged on the way or has changed. "
                    f"It was deleted; run the same command again, or {file.by_hand}"
                )
    except OSError as error:
        raise BenchmarkError(f"{folder}: {file.name} cannot be kept here ({error.strerror or error}).") from error
    return Downloaded(path=target, bytes=target.stat().st_size, came=came)


async def _fetch(file: DataFile, part: BinaryIO, told: Told) -> int:
    """Bytes that came into the part. Raises DownloadError where the network does not give it."""
    from aiohttp import ClientError, ClientSession, ClientTimeout

    timeout = ClientTimeout(total=None, sock_connect=_SILENT_SECONDS, sock_read=_SILENT_SECONDS)
    try:
        async with ClientSession(timeout=timeout, trust_env=True, auto_decompress=False) as session:
            here = _length(part)
            headers = {"Accept-Encoding": "identity"} | ({"Range": f"bytes={here}-"} if here else {})
            async with session.get(file.url, headers=headers) as response:
                return await _keep(response, file, part, told)
    except (ClientError, TimeoutError) as error:
        kept = " What came is kept and will be continued." if _length(part) else ""
        raise DownloadError(
            f"{file.url} could not be fetched ({type(error).__name__}: {error}).{kept} "
            f"Run the same command again, or {file.by_hand}"
        ) from error


async def _keep(response: "ClientResponse", file: DataFile, part: BinaryIO, told: Told) -> int:
    here = _length(part)
    if response.status == 416 and here:
        # All of it is here already, or more than there is; the MD5 tells which.
        return 0
    if response.status not in (200, 206):
        raise DownloadError(f"{file.url} could not be fetched (the server answered {response.status}); {file.by_hand}")
    start = here if response.status == 206 else 0
    rest = response.content_length
    whole = None if rest is None else start + rest
    folder = Path(part.name).parent
    free = shutil.disk_usage(folder).free
    if rest is not None and rest > free:
        raise BenchmarkError(f"{folder} has {free} bytes free and {file.name} needs {rest} more; make room.")
    part.truncate(start)
    came = 0
    async for piece in response.content.iter_chunked(_CHUNK_BYTES):
        await asyncio.to_thread(part.write, piece)
        came += len(piece)
        told(start + came, whole)
    return came


def _length(part: BinaryIO) -> int:
    part.flush()
    return os.fstat(part.fileno()).st_size


def _refuse_other(file: DataFile, target: Path) -> None:
    found = md5_of(target)
    if found != file.md5:
        raise BenchmarkError(
            f"{target} is there already and is another file (MD5 {found}, expected {file.md5}); move it away first."
        )


def md5_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()
