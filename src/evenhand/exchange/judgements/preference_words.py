"""How files write a preference: +2 .. -2 in favour of model_a, symbols such as A>>B, or our own JSON."""

import json
import re
from dataclasses import dataclass
from typing import Any, cast

from evenhand.domain.verdict import CALL_FAILED, UNDECIDED, UNSAID, Levels, Preference, Reason, verdict_from_json

EXPECTED = (
    "+2, +1, 0, -1 or -2 in favour of model_a, or A>>B, A>B, A=B, B>A, B>>A, or Left>>Right, Left>Right, "
    "Left=Right, Left<Right, Left<<Right"
)

_NUMBER = re.compile(r"[+-]?\d+(\.0*)?")
_SIGNS = {">>": 2, ">": 1, "=": 0, "<": -1, "<<": -2}
_SYMBOLS = {
    f"{one}{sign}{other}": value if forward else -value
    for one, other, forward in (("a", "b", True), ("b", "a", False), ("left", "right", True), ("right", "left", False))
    for sign, value in _SIGNS.items()
}

REASONS: tuple[Reason, ...] = (*UNDECIDED, *CALL_FAILED, *UNSAID)
UNTOLD: Reason = "unreadable"
"""Why a row has no verdict where the file does not say."""
NO_VERDICTS = (
    "No row has a verdict: every cell of `{}` is empty. Fill in those that were decided; an empty cell is a "
    "judgement without a verdict."
)

_VOTES = {"model_a": 1, "tie": 0, "model_b": -1}


@dataclass(frozen=True, slots=True, kw_only=True)
class Stated:
    """A preference as the file states it: positive for model_a."""

    value: int
    levels: Levels | None = None
    """None where the file leaves it open, as bare numbers and symbols do."""


def read_preference(given: object) -> Stated | None:
    """None for anything that is not a preference: never a tie."""
    if isinstance(given, str):
        return _from_text(given)
    if isinstance(given, dict):
        return _from_json(cast("dict[str, Any]", given))
    if isinstance(given, bool) or not isinstance(given, int | float):
        return None
    return Stated(value=int(given)) if given in (-2, -1, 0, 1, 2) else None


def states_grades(given: object) -> bool:
    """Whether a verdict, as our own exports write it, is grades."""
    if isinstance(given, str) and given.lstrip().startswith("{"):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return False
    return isinstance(given, dict) and cast("dict[str, Any]", given).get("kind") == "grades"


def is_blank(cell: object) -> bool:
    return cell is None or cell != cell or (isinstance(cell, str) and not cell.strip())


def read_reason(given: object) -> Reason | None:
    """Why a row has no verdict; None for a word that is no reason."""
    if is_blank(given):
        return UNTOLD
    return next((one for one in REASONS if one == str(given).strip()), None)


def _from_text(text: str) -> Stated | None:
    # A word processor turns the minus of a number into U+2212.
    plain = "".join(text.split()).casefold().replace("\N{MINUS SIGN}", "-")
    if plain in _SYMBOLS:
        return Stated(value=_SYMBOLS[plain])
    if _NUMBER.fullmatch(plain):
        return read_preference(float(plain))
    if plain.startswith("{"):
        try:
            return read_preference(json.loads(text))
        except (ValueError, RecursionError):
            return None
    return None


def _from_json(document: dict[str, Any]) -> Stated | None:
    try:
        verdict = verdict_from_json(document)
    except (ValueError, KeyError, TypeError):
        return None
    if not isinstance(verdict, Preference) or type(verdict.value) is not int:
        return None
    return Stated(value=verdict.value, levels=verdict.levels)


def showings_in(votes: object, shown_first: object) -> list[tuple[bool, list[int | Reason]]] | None:
    """Of a battle's lists, as `export --battles` writes them: for each order what was said in it, in favour of the one
    shown first, and whether model_b was that one. None where the two lists do not tell."""
    said, shown = listed_in(votes), listed_in(shown_first)
    if not said or shown is None or len(said) != len(shown):
        return None
    found: dict[bool, list[int | Reason]] = {}
    for vote, side in zip(said, shown, strict=True):
        if side not in ("model_a", "model_b") or vote not in (None, *_VOTES):
            return None
        turned = side == "model_b"
        # Why a showing has no vote such a file does not say.
        value = "unreadable" if vote is None else -_VOTES[str(vote)] if turned else _VOTES[str(vote)]
        found.setdefault(turned, []).append(value)
    return list(found.items())


def listed_in(value: object) -> list[object] | None:
    """In a .csv file a list is JSON."""
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return None
    return cast("list[object]", value) if isinstance(value, list) else None
