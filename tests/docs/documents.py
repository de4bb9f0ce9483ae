"""The JSON documents that commands print, found by running them: `python -m tests.docs.documents FILE` lists them."""

import json
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from textwrap import fill
from typing import Any, cast

from tests.docs.pages import run

HEAD = """\
# JSON documents

Made by `python -m tests.docs.documents docs/reference/json.md`, which runs the commands below against a scripted
endpoint and lists the fields found; do not edit. A test fails when a field comes, goes or is renamed.

Every reading command takes `--json` and then prints one document on standard output, progress and notes on standard
error. `schema` is 1; fields may be added, never renamed. Shares are from 0 to 1. What else writes documents: `submit`
and `verify` ([receipts](receipt.md)), `export` ([files](formats.md)).

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
    "reasons", "no_verdict", "failed", "answers_left_out", "coverage_by_protocol", "values", "computed", "published",
    "difference", "flagged", "described_by", "adapted", "asked_with", "outcome", "left_out", "asked",
    "not_applicable",
}  # fmt: skip
"""Objects whose fields are names from the data, in whatever document they stand."""

FILES = {
    "battles.csv": "item,model_a,model_b,verdict,rater,first_shown,length_a,length_b\n"
    + "".join(
        f"{item},{a},{b},{verdict},{rater},{a},{30 + item},40\n"
        for item in range(12)
        for rater in ("ann", "bo")
        for a, b, verdict in (
            ("X", "Y", (2, 1, -1)[item % 3]),
            ("Y", "X", (-1, 0, 1)[item % 3]),
            ("X", "Z", (1, -2)[item % 2]),
            ("Z", "Y", (1, -1, 0)[item % 3]),
        )
    ),
    "scores.csv": "model,one,two\nA,1,2\nB,2,3\nC,3,5\nD,4,4\nE,5,6\n",
    "people.csv": "item,rater,model_a,model_b,verdict\n"
    + "".join(
        f"s0{item},{rater},sample-careful,sample-rambling,{verdict}\n"
        for item, verdicts in enumerate(((2, 1), (-1, 0), (1, 1)), start=1)
        for rater, verdict in zip(("ann", "bo"), verdicts, strict=True)
    ),
    "replies.jsonl": '{"item": "1", "reply": "Overall, Response A is better."}\n{"item": "2", "reply": "Neither."}\n',
}
JUDGE = "--judge openai/gpt-4o"


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    name: str
    commands: tuple[str, ...]
    says: str
    judge: str = "by-quality"
    """The scripted one that answers."""
    opened: frozenset[str] = frozenset()
    """Further objects whose fields are names from the data, by their path."""
    same: Mapping[str, str] = field(default_factory=dict[str, str])
    """Parts that repeat what stands elsewhere, by their path, and where that is."""


DOCUMENTS = (
    Document(
        name="judge --dry-run",
        commands=(f"evenhand judge visit-bench-sample {JUDGE} --limit 3 --dry-run --json",),
        says="What would be asked: trials wanted, those already on record, the calls left (an unreadable reply may "
        "need a second one), tokens, dollars; `cost_usd` is null where no price is known. `answer`, `grade` "
        "and `audit` have the same.",
    ),
    Document(
        name="judge",
        commands=(
            f"evenhand judge visit-bench-sample {JUDGE} --limit 3 --json --quiet",
            f"evenhand judge creation-mmbench-sample {JUDGE} --limit 2 --json --quiet",
        ),
        says="What a run did, in trials: planned = known + called + not_reached; `elsewhere` are those that "
        "another run has claimed. `requests` are HTTP requests, retries and extraction included. `no_verdict` "
        "counts replies without a decision, `failed` calls without a reply, each by reason. `reread`: read "
        "anew without a call. `adapted`: what the endpoint made us leave out. `answer` and `describe-images` "
        "print the same.",
        same={"runs": "where several protocols were asked: each as above"},
    ),
    Document(
        name="rank",
        commands=(
            f"evenhand rank --benchmark visit-bench-sample {JUDGE} --json",
            "evenhand rank battles.csv --order-effect --length --ordinal --compare X,Y --baseline Z --json",
        ),
        says="A board: [what each field means](rank.md). `audit` is null, or the document of `audit`.",
    ),
    Document(
        name="score visit-bench",
        commands=(f"evenhand score visit-bench-sample {JUDGE} --json",),
        says="VisIT-Bench's table: [what each field means](score.md).",
        same={
            "parts": "`part`, `items`, `of_items`, and `models` as below",
            "models[].skills": "as `models[]`, with `skill` and `items`, without `bradley_terry`",
            "models[].sources": "as `models[]`, with `source` and `items`, without `bradley_terry`",
        },
    ),
    Document(
        name="score creation-mmbench",
        commands=("evenhand score creation-mmbench-sample --json",),
        says="Creation-MMBench's table: [what each field means](score.md).",
        same={
            "models[].categories": "as `models[]`, with `category`",
            "models[].tasks": "as `models[]`, with `category` and `task`",
        },
    ),
    Document(
        name="audit",
        commands=(f'evenhand audit {JUDGE} --budget 300 --require "coverage>=0.1" --json --quiet',),
        says="A judge's report card: [what each field means](audit.md). Every measure is an object of its own.",
        opened=frozenset({"settings", "pictures"}),
    ),
    Document(
        name="audit --dry-run",
        commands=(f'evenhand audit {JUDGE} --budget 300 --require "coverage>=0.1" --dry-run --json',),
        says="As `judge --dry-run`, with what each rule needs.",
    ),
    Document(
        name="grade",
        commands=(
            f"evenhand grade --benchmark visit-bench-sample {JUDGE} --limit 3 --unrelated --json --quiet",
            f"evenhand grade --benchmark visit-bench-sample {JUDGE} --limit 3 --prompts all --json --quiet",
        ),
        says="The Grade Score: [what each field means](grade.md). Several judges or prompts stand under `cells`.",
        judge="picks-longest",
        same={"cells": "each as the document of one"},
    ),
    Document(
        name="align",
        commands=("evenhand align --benchmark visit-bench-sample --json",),
        says="Raters against people: [what each field means](align.md).",
    ),
    Document(
        name="report",
        commands=(f"evenhand report --benchmark visit-bench-sample {JUDGE} --out report.html --json",),
        says="What was written: [report](report.md).",
        same={
            "board": "the document of `rank`",
            "scores": "documents of `score`",
            "audit": "the document of `audit`, or null",
        },
    ),
    Document(
        name="correlate",
        commands=("evenhand correlate scores.csv --json",),
        says="Every two benchmarks of a table of scores, over the models that have both.",
    ),
    Document(
        name="read",
        commands=("evenhand read visit_pairwise replies.jsonl --json",),
        says="Verdicts of raw replies; null beside a `reason`.",
    ),
    Document(
        name="reproduce",
        commands=("evenhand reproduce grade-score --json",),
        says="A paper's tables, row by row: what it printed, what its own figures give, the difference, and a note "
        "where it is wrong.",
    ),
    Document(
        name="describe",
        commands=("evenhand describe visit-bench-sample --json",),
        says="What benchmarks hold: [what each field means](describe.md).",
        same={
            "benchmarks[].lengths.reference": "as that of the instruction",
            "benchmarks[].lengths.caption": "as that of the instruction",
        },
    ),
    Document(
        name="runs",
        commands=("evenhand runs --json",),
        says="Every run on record: its command and flags (`settings`), version, times, and how it ended "
        "(`outcome`: as `judge` prints it, with `interrupted`, `over_budget`, `error` and `charged_usd`). "
        "`ended_at` is null while it runs, or where it was killed.",
        opened=frozenset({"runs[].settings"}),
    ),
    Document(
        name="show --item",
        commands=("evenhand show --benchmark visit-bench-sample --item s01 --json",),
        says="One item whole, every answer to it and every trial on it. `means` says the verdict in words, "
        "`detail` why there is none.",
    ),
    Document(
        name="benchmarks",
        commands=("evenhand benchmarks --json",),
        says="The benchmarks there are; counts are null where the data is not bundled.",
    ),
    Document(
        name="protocols",
        commands=("evenhand protocols --json",),
        says="The protocols there are: [what each field means](protocols.md).",
        opened=frozenset({"protocols[].settings", "protocols[].constrained.answers"}),
    ),
    Document(name="models", commands=("evenhand models --json",), says="The providers there are; no key is shown."),
    Document(
        name="ledger info",
        commands=("evenhand ledger info --json",),
        says="Size and counts. `cost_unknown` are the calls whose price is not known.",
    ),
    Document(
        name="doctor",
        commands=("evenhand doctor --json",),
        says="What was checked, each with a sentence; `state` is `ok`, `no` (it cannot, and need not) or `wrong`.",
    ),
)


def documents(folder: Path) -> dict[str, list[Any]]:
    """By the section's name, what its commands printed."""
    for name, content in FILES.items():
        (folder / name).write_text(content, encoding="utf-8")
    people = "evenhand import people.csv --judgements --benchmark visit-bench-sample"
    found: dict[str, list[Any]] = {}
    for judge, group in groupby(DOCUMENTS, key=lambda one: one.judge):
        sections = list(group)
        commands = [command for one in sections for command in one.commands]
        before = [people] if any(one.name == "align" for one in sections) else []
        said = run([*before, *commands], folder, judge=judge)
        found |= {one.name: [_printed(said[command]) for command in one.commands] for one in sections}
    return found


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
