"""Which protocols there are, and how one is found: by name, by the path of a folder, or from an installed package."""

import tomllib
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from evenhand.domain.rubric import Rubric
from evenhand.format.near_names import hint
from evenhand.installed import points_of
from evenhand.protocols.criteria import read_criteria
from evenhand.protocols.folder import FILE, protocol_from_folder
from evenhand.protocols.protocol import Protocol, ProtocolError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "evenhand.protocols"
"""Entry points of installed packages: a Protocol, or a function without arguments that makes one."""


def protocol_names() -> tuple[str, ...]:
    """Built-in and installed protocols, sorted; nothing is loaded."""
    return tuple(sorted(_built_in().keys() | _installed().keys()))


def prompt_names(name: str) -> tuple[str, ...]:
    """`NAME_1`, `NAME_2` and so on of a built-in protocol with several prompts; of another its own name."""
    folder = _built_in().get(name)
    found: dict[str, Any] = {} if folder is None else tomllib.loads((folder / FILE).read_text(encoding="utf-8"))
    turns: list[dict[str, dict[str, str]]] = found.get("turns", [])
    prompts = dict.fromkeys(key for turn in turns for key in turn.get("files", {}))
    return tuple(f"{name}_{key}" for key in prompts) or (name,)


def load_protocol(name_or_path: str | Path, *, criteria: Rubric | Path | str | None = None) -> Protocol:
    """A protocol by name (hyphens and underscores alike) or by the path of its folder, which is data and runs no code.

    Of a protocol with several prompts, `NAME_2` names the second, and `NAME` the first. `criteria`: what answers are
    graded by, or the file that says so, in place of the protocol's own.
    Raises ProtocolError, a sentence, where there is none or its files do not fit.

    >>> eh.load_protocol("visit_pairwise").kind
    'preference'
    """
    name = str(name_or_path).replace("-", "_").lower()
    rubric = read_criteria(Path(criteria)) if isinstance(criteria, str | Path) else criteria
    if isinstance(name_or_path, str):
        if folder := _built_in().get(name):
            return _from_own(folder, None, rubric)
        family, _, prompt = name.rpartition("_")
        if prompt.isdecimal() and (folder := _built_in().get(family)):
            prompts = prompt_names(family)
            if name in prompts or prompts == (family,):
                return _from_own(folder, prompt, rubric)
            raise ProtocolError(
                f"There is no protocol {name_or_path!r}; of {family} there is {', '.join(prompts)}.",
                code="EH-PROTOCOL-UNKNOWN",
            )
        if rubric is None and (entry := _installed().get(name)):
            return _from_entry_point(entry)
    path = Path(name_or_path)
    if path.name == FILE:
        path = path.parent
    if path.is_dir():
        return protocol_from_folder(path, rubric=rubric)
    raise ProtocolError(
        f"There is no protocol {str(name_or_path)!r} and no folder of that name; {hint(name, protocol_names())}",
        code="EH-PROTOCOL-UNKNOWN",
    )


@cache
def _from_own(folder: Path, prompt: str | None, rubric: Rubric | None) -> Protocol:
    """Once in a process: what comes with the program does not change while it runs."""
    return protocol_from_folder(folder, prompt=prompt, rubric=rubric)


@cache
def _built_in() -> Mapping[str, Path]:
    return {file.parent.name: file.parent for file in Path(__file__).parent.glob(f"*/{FILE}")}


def _installed() -> "dict[str, EntryPoint]":
    return {entry.name.replace("-", "_").lower(): entry for entry in points_of(GROUP)}


def _from_entry_point(entry: "EntryPoint") -> Protocol:
    loaded: object = entry.load()
    if callable(loaded):
        loaded = cast("Callable[[], object]", loaded)()
    if not isinstance(loaded, Protocol):
        raise ProtocolError(
            f"Entry point {entry.value} of group {GROUP} gives no Protocol but {type(loaded).__name__}."
        )
    return loaded
