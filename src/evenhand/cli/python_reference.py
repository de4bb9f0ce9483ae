"""Writes the reference of the Python calls (`python -m evenhand.cli.python_reference FILE`) from their signatures and
docstrings; a test fails when the file is stale."""

import ast
import inspect
import re
import sys
import textwrap
from collections.abc import Iterator
from dataclasses import MISSING, Field, fields, is_dataclass
from pathlib import Path
from typing import Any

import evenhand as eh
from evenhand.files.outputs import write_whole
from evenhand.format.result import Result

_WIDE = 100
"""Characters from which on a signature has a line for each parameter."""


def python_reference() -> str:
    made = "Made by `python -m evenhand.cli.python_reference docs/reference/python.md`; do not edit."
    known = {name: getattr(eh, name) for name in eh.__all__}
    calls = {name: one for name, one in known.items() if inspect.isfunction(one)}
    errors = {name: one for name, one in known.items() if inspect.isclass(one) and issubclass(one, Exception)}
    others = {name: one for name, one in known.items() if name not in calls and name not in errors}
    results = {name: one for name, one in others.items() if issubclass(one, Result)}
    values = {name: one for name, one in others.items() if name not in results}
    parts = [
        f"# Python\n\n<!-- {made} -->\n",
        "Every name of `import evenhand as eh`. [Use it from Python](../how-to/use-it-from-python.md) has them in the "
        "order in which one needs them.\n",
        "## Calls\n",
        *(_call(name, one) for name, one in calls.items()),
        "## Results\n",
        *(_class(name, one) for name, one in results.items()),
        "## Settings and values\n",
        *(_class(name, one) for name, one in values.items()),
        "## Errors\n",
        *(_error(name, one) for name, one in errors.items()),
    ]
    return "\n".join(parts)


def _call(name: str, call: Any) -> str:
    return f"### eh.{name}\n\n```python\n{_signature(name, inspect.signature(call))}\n```\n\n{_words(call)}\n"


def _signature(name: str, found: inspect.Signature) -> str:
    given: list[str] = []
    for one in found.parameters.values():
        if one.kind is one.KEYWORD_ONLY and "*" not in given:
            given.append("*")
        usual = "" if one.default is one.empty else f" = {one.default!r}"
        given.append(f"{one.name}: {_type(one.annotation)}{usual}")
    gives = "" if found.return_annotation is found.empty else f" -> {_type(found.return_annotation)}"
    line = f"eh.{name}({', '.join(given)}){gives}"
    if len(line) <= _WIDE:
        return line
    return "\n".join([f"eh.{name}(", *(f"    {one}," for one in given), f"){gives}"])


def _type(annotation: object) -> str:
    """As one reads it: without where a type lives."""
    words = annotation if isinstance(annotation, str) else inspect.formatannotation(annotation)
    return re.sub(r"\b[a-z_]\w*\.(?=\w)", "", words)


def _words(of: object) -> str:
    """A docstring as Markdown: its examples are blocks of code."""
    parts: list[str] = []
    for paragraph in re.split(r"\n\s*\n", inspect.getdoc(of) or ""):
        lines = paragraph.splitlines()
        at = next((number for number, line in enumerate(lines) if line.startswith(">>>")), len(lines))
        if lines[:at]:
            parts.append("\n".join(lines[:at]))
        if lines[at:]:
            parts.append("\n".join(["```python", *lines[at:], "```"]))
    return "\n\n".join(parts)


def _class(name: str, found: type) -> str:
    parts = [f"### eh.{name}\n", f"{_words(found)}\n" if _written_here(found) else ""]
    rows = list(_fields(found))
    if rows:
        parts.append("| field | type | default | meaning |\n|---|---|---|---|\n" + "\n".join(rows) + "\n")
    methods = [
        f"`{member}`: {_first_line(one)}"
        for member, one in inspect.getmembers_static(found)
        if not member.startswith("_") and inspect.isroutine(one) and inspect.getdoc(one)
    ]
    if methods:
        parts.append("\n".join(f"- {one}" for one in methods) + "\n")
    return "\n".join(part for part in parts if part)


def _written_here(found: type) -> bool:
    """A dataclass without a docstring is given its signature for one."""
    return bool(found.__doc__) and not (is_dataclass(found) and found.__doc__.startswith(f"{found.__name__}("))


def _first_line(of: object) -> str:
    return " ".join(re.split(r"\n\s*\n", inspect.getdoc(of) or "")[0].split())


def _fields(found: type) -> Iterator[str]:
    if not is_dataclass(found):
        return
    told = _told(found)
    for one in fields(found):
        cells = (f"`{one.name}`", f"`{_type(one.type)}`", _usual(one), told.get(one.name, ""))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _usual(one: "Field[Any]") -> str:
    if one.default is not MISSING:
        return f"`{one.default!r}`"
    if one.default_factory is MISSING:
        return "required"
    made = one.default_factory()
    return f"`{made!r}`" if isinstance(made, dict | list | tuple | set | frozenset) else f"`{type(made).__name__}()`"


def _told(found: type) -> dict[str, str]:
    """By field, the docstring under it, which only the source has; those of its bases too."""
    words: dict[str, str] = {}
    for base in reversed(found.__mro__):
        if not is_dataclass(base):
            continue
        (tree,) = ast.parse(textwrap.dedent(inspect.getsource(base))).body
        assert isinstance(tree, ast.ClassDef)
        for one, after in zip(tree.body, tree.body[1:], strict=False):
            if not (isinstance(one, ast.AnnAssign) and isinstance(one.target, ast.Name)):
                continue
            if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
                words[one.target.id] = " ".join(str(after.value.value).split())
    return words


def _error(name: str, found: type[Exception]) -> str:
    base = found.__mro__[1]
    under = f" An `eh.{base.__name__}`." if base.__name__ in eh.__all__ else ""
    return f"### eh.{name}\n\n{_words(found) if '__doc__' in vars(found) and found.__doc__ else ''}{under}\n"


if __name__ == "__main__":
    write_whole(Path(sys.argv[1]), python_reference().encode())
