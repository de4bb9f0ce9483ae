"""An audit's document on record: under which command it lies, and the words in which its numbers are told."""

from typing import Literal, TypeAlias

from evenhand.domain.identity import Json
from evenhand.domain.trial import Condition
from evenhand.format.words import per_cent

REPORT_COMMAND = "audit report"
"""The command of the run whose outcome keeps a report."""
AUDIT_COMMAND = "audit"

PROBLEMS_FOUND = "Problems found"
"""How the finding begins that says what is wrong with a judge."""
PROBLEMS_FOUND_BEFORE = "Found wanting"
"""How it begins in reports that older versions put on record."""

Unit: TypeAlias = Literal["share", "effect"]
"""How a measure is told: in per cent, or as a number with a sign that is 0 for a judge without that fault."""

ASKED_OTHERWISE = {
    "protocol": "other protocol",
    "prompt_hash": "other prompt text",
    "readout": "other readout",
    "see": "shown other than the board's judge",
    "fenced": "other fence",
    "image_detail": "other image detail",
    "max_image_edge": "other image size",
    "extractor": "other extractor",
}


def condition_json(condition: Condition) -> dict[str, Json]:
    return {name: getattr(condition, name) for name in ASKED_OTHERWISE}


def told(value: float | None, unit: Unit) -> str:
    if value is None:
        return "–"
    return per_cent(value) if unit == "share" else f"{value:+.3f}"
