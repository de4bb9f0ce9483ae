"""Every protocol's collected replies are read as they should be: adding a folder adds its tests."""

import json
from pathlib import Path
from typing import Any

import pytest

from evenhand.domain.verdict import Choice, Grades, NoVerdict, Preference, Verdict
from evenhand.protocols import catalog
from evenhand.protocols.catalog import load_protocol

FOLDERS = sorted(file.parent for file in Path(catalog.__file__).parent.glob("*/protocol.toml"))


def cases() -> list[object]:
    found: list[object] = []
    for folder in FOLDERS:
        lines = (folder / "replies.jsonl").read_text(encoding="utf-8").splitlines()
        found += [
            pytest.param(folder.name, json.loads(row), id=f"{folder.name}:{at}") for at, row in enumerate(lines, 1)
        ]
    return found


def as_json(verdict: Verdict) -> dict[str, object]:
    match verdict:
        case Preference():
            return {"kind": "preference", "value": verdict.value, "levels": verdict.levels}
        case Grades():
            return {"kind": "grades", "values": list(verdict.values)}
        case Choice():
            return {"kind": "choice", "value": verdict.value}


@pytest.mark.parametrize(("protocol", "row"), cases())
def test_a_collected_reply_is_read_as_expected(protocol: str, row: dict[str, Any]):
    assert row.keys() <= {"reply", "shown", "options", "token", "verdict", "reason"}
    read = load_protocol(protocol).read(
        row["reply"], shown=row.get("shown", ()), options=row.get("options"), token=row.get("token")
    )
    if isinstance(read, NoVerdict):
        assert (row["verdict"], row["reason"]) == (None, read.reason)
    else:
        assert (row["verdict"], row["reason"]) == (as_json(read), None)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_protocol_has_replies_with_and_without_a_decision(folder: Path):
    rows = [json.loads(row) for row in (folder / "replies.jsonl").read_text(encoding="utf-8").splitlines()]
    assert len(rows) >= 10
    assert {row["verdict"] is None for row in rows} == {True, False}
