"""How files write a preference: +2 .. -2 in favour of model_a, symbols such as A>>B, or our own JSON."""

import json
import re
from dataclasses import dataclass
from typing import Any, cast

from evenhand.domain.verdict import Levels, Preference, verdict_from_json

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
