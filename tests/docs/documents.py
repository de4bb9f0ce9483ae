"""The JSON documents that commands print, found by running them: `python -m tests.docs.documents FILE` lists them."""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any, cast

from tests.describe.detectors import write_detector, yolo_rows
from tests.docs.json_sections import DOCUMENTS, FILES, Document
from tests.docs.pages import run
from tests.images.web import serving

HEAD = """\
# JSON documents

<!-- Made by `python -m tests.docs.documents docs/reference/json.md`, which runs the commands below against a scripted
endpoint and lists the fields found; do not edit. A test fails when a field comes, goes or is renamed. -->

Every reading command takes `--json` and then prints one document on standard output, progress and notes on standard
error. `schema` is 1; fields may be added, never renamed. Shares are from 0 to 1. What else writes documents: `submit`
and `verify` ([receipts](receipt.md)), `export` ([files](formats.md)), `growing`, `growing take`,
`growing begin`, `growing fill`, `growing version`, `people`, `people add`, `submissions`, `submissions open`,
`submissions approve`, `submissions refuse` and `submissions close` ([growing](../growing.md#by-script)),
and `demo`: `calls`, `report`, `record` (what was bundled: its `board`, `judges`, `sentences`), `closing`, and the
documents of `judge` and `rank` as `judge` and `board`.

- **≈** marks an estimate: beside `x` stand `x_lower`, `x_upper` and `x_n`. No estimate is null, with `x_reason` where a
  reason is known. A bound that does not exist is null with `unbounded` (or `x_unbounded`): `upper` or `lower`.
- **†** marks a part whose fields stand under its name in [parts](#parts).
- **…** marks an object whose fields are names from the data: reasons, settings, models, protocols.
- `models[]` is each object in the list `models`.
"""

PARTS = {
    "coverage": (
        ("wanted", "with_verdict"),
        "how many of the showings wanted have a verdict, and why the others have none",
    ),
    "reliability": (("swap_consistency",), "what a board's own verdicts tell of the judge, the last two in words"),
    "verdict": (("kind", "value"), "positive for the response shown first; grades have `values`, a choice no `levels`"),
}
"""Shapes that several documents share: fields that tell them, and what they are."""

OPEN = {
    "reasons", "no_verdict", "known_no_verdict", "failed", "answers_left_out", "coverage_by_protocol", "values",
    "computed", "published",
    "difference", "flagged", "described_by", "adapted", "asked_with", "outcome", "left_out", "asked",
    "not_applicable", "service_tiers",
}  # fmt: skip
"""Objects whose fields are names from the data, in whatever document they stand."""


def documents(folder: Path) -> dict[str, list[Any]]:
    """By the section's name, what its commands printed."""
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
    write_detector(folder / "d.onnx", {"output0": yolo_rows(((9, 9, 9, 9), 16, 0.9))})
    found: dict[str, list[Any]] = {}
    with serving() as web:
        item = {"item": "1", "instruction": "What is it?", "images": [f"{web.base}/red.png"], "task": "naming"}
        (folder / "own.jsonl").write_text(json.dumps(item) + "\n", encoding="utf-8")
        for judge, group in groupby(DOCUMENTS, key=lambda one: one.judge):
            sections = list(group)
            known = _known(found)
            asked = {command: _named(command, known) for one in sections for command in (*one.before, *one.commands)}
            said = run(asked.values(), folder, judge=judge)
            found |= {one.name: [_printed(said[asked[command]]) for command in one.commands] for one in sections}
    return found


def _known(found: Mapping[str, list[Any]]) -> dict[str, str]:
    """What stands in the place of a name in capitals: a run that judged, an earlier one of the same, and a trial."""
    if "runs" not in found:
        return {}
    newest, *earlier = (one for one in found["runs"][0]["runs"] if one["command"] == "judge")
    alike = next(one for one in earlier if one["settings"]["benchmark"] == newest["settings"]["benchmark"])
    return {"RUN": newest["run"], "EARLIER": alike["run"], "TRIAL": found["show --item"][0]["trials"][0]["trial"]}


def _named(command: str, known: Mapping[str, str]) -> str:
    return " ".join(known.get(word, word) for word in command.split(" "))


def _printed(said: str) -> Any:
    return json.JSONDecoder().raw_decode(said[said.index("{") :])[0]


def page(found: Mapping[str, list[Any]]) -> str:
    sections = [HEAD]
    for one in DOCUMENTS:
        gathered = Gathered(one)
        for document in found[one.name]:
            gathered.take(document, "")
        shown = "\n".join(f"    {command}" for command in one.commands)
        sections.append(f"## {one.name}\n\n{fill(one.says, 120)}\n\n{shown}\n\n{gathered.table()}")
    return "\n".join([*sections, _parts(found)])


class Gathered:
    """The fields of some documents of one kind, by the path of the object they stand in."""

    def __init__(self, document: Document) -> None:
        self._document = document
        self._fields: dict[str, dict[str, str]] = {}

    def take(self, part: Any, at: str) -> None:
        if isinstance(part, list):
            for one in cast("list[Any]", part):
                self.take(one, f"{at}[]")
        elif isinstance(part, dict):
            self._take_object(cast("dict[str, Any]", part), at)

    def _take_object(self, whole: dict[str, Any], at: str) -> None:
        names = self._fields.setdefault(at, {})
        for name, inner in whole.items():
            if _belongs_to_an_estimate(name, whole):
                continue
            path = f"{at}.{name}" if at else name
            mark = "≈" if _estimated(name, whole) else self._mark(path, name, inner)
            names[name] = names.get(name) or mark
            if not mark:
                self.take(inner, path)

    def _mark(self, path: str, name: str, inner: Any) -> str:
        """Empty where the fields inside are to be listed too."""
        if path in self._document.same:
            return f" ({self._document.same[path]})"
        if not isinstance(inner, dict):
            return ""
        shape = next((part for part, (keys, _) in PARTS.items() if all(key in inner for key in keys)), None)
        if shape:
            return "†" if shape == name else f" ({shape}†)"
        return "…" if name in OPEN or path in self._document.opened else ""

    def table(self) -> str:
        rows = [
            f"| {f'`{at}`' if at else ''} | {', '.join(f'`{name}`{mark}' for name, mark in names.items())} |"
            for at, names in self._fields.items()
        ]
        return "| at | fields |\n|---|---|\n" + "\n".join(rows) + "\n"


def _estimated(name: str, whole: Mapping[str, Any]) -> bool:
    return all(f"{name}_{end}" in whole for end in ("lower", "upper", "n"))


def _belongs_to_an_estimate(name: str, whole: Mapping[str, Any]) -> bool:
    base, _, end = name.rpartition("_")
    return end in ("lower", "upper", "n", "reason", "unbounded") and _estimated(base, whole)


def _parts(found: Mapping[str, list[Any]]) -> str:
    rows: list[str] = []
    for name, (keys, says) in PARTS.items():
        names: dict[str, None] = {}
        for shape in (one for each in found.values() for one in _with(keys, each)):
            marked = {one: "≈" if _estimated(one, shape) else "…" if one in OPEN else "" for one in shape}
            names |= {
                f"`{inner}`{mark}": None for inner, mark in marked.items() if not _belongs_to_an_estimate(inner, shape)
            }
        rows.append(f"| {name} | {', '.join(names)} | {says} |")
    return "## Parts\n\n| part | fields | what it is |\n|---|---|---|\n" + "\n".join(rows) + "\n"


def _with(keys: tuple[str, ...], part: Any) -> Iterator[dict[str, Any]]:
    """Every object that has these fields."""
    if isinstance(part, list):
        for one in cast("list[Any]", part):
            yield from _with(keys, one)
    elif isinstance(part, dict):
        whole = cast("dict[str, Any]", part)
        if all(key in whole for key in keys):
            yield whole
        for inner in whole.values():
            yield from _with(keys, inner)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        Path(sys.argv[1]).write_text(page(documents(Path(scratch))), encoding="utf-8")
