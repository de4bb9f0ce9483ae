"""An audit's document on record: under which command it lies, and the words in which its numbers are told."""

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.trial import Condition
from evenhand.format.supported import share_interval, share_words
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


def estimate_in(measure: Mapping[str, Any]) -> Estimate:
    """What a document keeps of a measure."""
    return Estimate(value=measure["value"], lower=measure["lower"], upper=measure["upper"])


def told(one: Estimate, unit: Unit) -> str:
    return share_words(one) if unit == "share" else bound_told(one.value, unit)


def interval_told(one: Estimate, unit: Unit) -> str:
    if unit == "share":
        return share_interval(one)
    return f"{bound_told(one.lower, unit)} to {bound_told(one.upper, unit)}"


def bound_told(value: float | None, unit: Unit) -> str:
    """Of a number that a rule is held against: a share in tenths, so that none looks as if it met what it misses."""
    if value is None:
        return "–"
    return per_cent(value) if unit == "share" else f"{value:+.3f}"
