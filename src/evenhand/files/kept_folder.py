"""A folder of files that a command makes again and again: what changed is written, what is gone removed, and nothing
touched that the command did not write.

What it wrote stands in a list in the folder, with the digest of each file. That the list is ours is remembered outside
(`outputs.py`): a folder that came from somebody else cannot name files to be removed.
"""

import json
import os
import re
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from hashlib import file_digest, sha256
from pathlib import Path
from typing import Any, TypeAlias, cast

from evenhand.files.outputs import OutputRefused, Target, refuse_way_out, write_whole
from evenhand.files.whole import appearing, sweep

Content: TypeAlias = Callable[[], bytes]
"""Of a file, made when it is needed: together they may be more than fits into memory."""

LIST = "published.json"
_NAME = re.compile(r"(?:[a-z0-9][a-z0-9-]*/){0,5}[a-z0-9][a-z0-9-]*\.[a-z0-9]+")
"""What a file of ours can be called, so that no list leads out of the folder."""


@dataclass(frozen=True, slots=True, kw_only=True)
class KeptFiles:
    """What came of it, as paths below the folder."""

    written: tuple[str, ...]
    removed: tuple[str, ...]
    unchanged: int
    bytes: int
    """Of all files."""
    changed_by_others: tuple[str, ...]
    """Files that are gone from what is kept and stay, as somebody changed them."""


_Known: TypeAlias = Mapping[str, frozenset[str]]
"""Digests that each file of ours may have: two where a run was cut off between them."""


def check_folder(folder: Target) -> int:
    """How many files of the command's it holds, before any work is done. Raises OutputRefused."""
    with _told(folder.path):
        return len(_checked(folder))


def keep_folder(folder: Target, files: Mapping[str, Content]) -> KeptFiles:
    """Makes the folder hold these files, each whole or as before. Raises OutputRefused, and then nothing is changed."""
    with _told(folder.path):
        known = _checked(folder)
        made = {name: _made(content) for name, content in files.items()}
        digests = {name: digest for name, (digest, _) in made.items()}
        there = {name: _digest_there(folder.path / name) for name in {*digests, *known}}
        _refuse_others(folder, digests, there, known)
        folder.path.mkdir(exist_ok=True)
        gone = sorted(set(known) - set(digests))
        # First both, so that whatever is cut off leaves nothing that the next run takes for somebody else's.
        both = {name: sorted({*known.get(name, ()), *filter(None, [digests.get(name)])}) for name in there}
        _write_list(folder, both)
        written = [name for name in sorted(digests) if there[name] != digests[name]]
        for name in written:
            _write(folder.path, name, files[name])
        sweep(folder.path)  # before folders are removed, which it would keep from being empty
        removed = [name for name in gone if there[name] in known[name]]
        for name in removed:
            _remove(folder.path, name)
        _write_list(folder, {name: [digest] for name, digest in digests.items()})
    return KeptFiles(
        written=tuple(written),
        removed=tuple(removed),
        unchanged=len(digests) - len(written),
        bytes=sum(size for _, size in made.values()),
        changed_by_others=tuple(name for name in gone if there[name] and there[name] not in known[name]),
    )


@contextmanager
def _told(folder: Path) -> Generator[None]:
    """Turns what the system refuses into a sentence."""
    try:
        yield
    except OSError as error:
        in_the_way = error.filename2 or folder  # a folder where a file is to be
        raise OutputRefused(
            f"{in_the_way} cannot be written: {error.strerror or error}.", code="EH-OUTPUT-UNWRITTEN"
        ) from error


def _checked(folder: Target) -> _Known:
    """What the list says. Raises OutputRefused where the folder is not the command's."""
    path = folder.path
    refuse_way_out(path)
    if path.is_symlink() or (path.exists() and not path.is_dir()):
        raise OutputRefused(f"{path} is {'a link' if path.is_symlink() else 'a file'}; name a folder to write into.")
    if not path.parent.is_dir():
        raise OutputRefused(f"{path}: there is no folder {path.parent}; make it first.")
    if not path.is_dir() or not any(not one.name.startswith(".") for one in path.iterdir()):
        return {}
    if not (path / LIST).is_file():
        if folder.force:
            return {}
        raise OutputRefused(
            f"{path} holds files that `evenhand {folder.command}` did not write; name an empty folder or a new one, or "
            "give --force to write among them (none is removed).",
            code="EH-OUTPUT-EXISTS",
        )
    folder.below(LIST).check()
    return _read_list(path / LIST)


def _read_list(path: Path) -> dict[str, frozenset[str]]:
    try:
        document: Any = json.loads(path.read_bytes())
        files = cast("dict[str, list[str]]", document["files"])
        found = {name: frozenset(digests) for name, digests in files.items()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise OutputRefused(f"{path} is no list of published files; remove it, or name another folder.") from error
    if any(not _NAME.fullmatch(name) for name in found):
        raise OutputRefused(f"{path} names files outside its folder; remove it, or name another folder.")
    return found


def _refuse_others(folder: Target, digests: Mapping[str, str], there: Mapping[str, str | None], known: _Known) -> None:
    home = folder.path.resolve()
    for name in there:
        assert _NAME.fullmatch(name), name
    for parent in {(folder.path / name).parent for name in there}:
        if parent.resolve() != home / parent.relative_to(folder.path):
            raise OutputRefused(
                f"{parent} is a link that leads to {parent.resolve()}; remove it, or name another folder."
            )
    if folder.force:
        return
    for name, digest in digests.items():
        if there[name] not in (None, digest) and there[name] not in known.get(name, ()):
            raise OutputRefused(
                f"{folder.path / name} is not as `evenhand {folder.command}` wrote it; give --force to write over it, "
                "or name another folder.",
                code="EH-OUTPUT-EXISTS",
            )


def _write_list(folder: Target, files: Mapping[str, list[str]]) -> None:
    document = {"schema": 1, "files": dict(sorted(files.items()))}
    write_whole(folder.below(LIST), (json.dumps(document, indent=0) + "\n").encode())


def _made(content: Content) -> tuple[str, int]:
    """Its digest and its size."""
    body = content()
    return sha256(body).hexdigest(), len(body)


def _write(folder: Path, name: str, content: Content) -> None:
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    with appearing(path) as file:
        file.write(content())


def _remove(folder: Path, name: str) -> None:
    """With the folders that it leaves empty."""
    path = folder / name
    path.unlink()
    with suppress(OSError):  # not empty
        for parent in path.parents:
            if parent == folder:
                break
            parent.rmdir()


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()


def _digest_there(path: Path) -> str | None:
    """None where there is nothing; a link or a folder is as no file of ours is."""
    if not os.path.lexists(path):
        return None
    return "" if path.is_symlink() or not path.is_file() else _digest(path)
