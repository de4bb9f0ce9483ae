"""What a sheet's cell can only hold as text: lists, and true or false."""

import json
import re
from typing import Literal, TypeAlias, cast

from evenhand.benchmarks.files.literals import plain_literal

Truth: TypeAlias = bool | Literal["unclear"] | None

_TEXT = re.compile(r"""'[^'\\]*'|"[^"\\]*\"""")
_TEXTS = re.compile(rf"\[\s*(?:(?:{_TEXT.pattern})\s*(?:,\s*|(?=\])))*\]")
"""Lists of plain texts, however long: without escapes they are what stands between their quotation marks."""
_TRUTHS = {"true": True, "1": True, "1.0": True, "yes": True, "false": False, "0": False, "0.0": False, "no": False}


def is_nothing(value: object) -> bool:
    """True for a blank cell and for NaN; "None" is an answer that people and models give."""
    return value is None or (isinstance(value, str) and value.strip().casefold() in ("", "nan"))


def read_list(value: object) -> list[object] | None:
    """A list as it is, or written as JSON or as Python writes one; None for anything else.

    A bare NaN, which is not JSON and which other tools write for a missing text, is None in the list.
    """
    if isinstance(value, list):
        return cast("list[object]", value)
    if not isinstance(value, str) or not value.strip().startswith("["):
        return None
    found = _parsed(value.strip())
    return cast("list[object]", found) if isinstance(found, list) else None


def read_truth(value: object) -> Truth:
    """None where nothing is said."""
    if isinstance(value, bool):
        return value
    if is_nothing(value):
        return None
    return _TRUTHS.get(str(value).strip().casefold(), "unclear")


def _parsed(text: str) -> object:
    try:
        return json.loads(text, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        pass
    # A data frame's list column arrives in a CSV as Python prints it; lists of images are longer than what is parsed.
    if _TEXTS.fullmatch(text):
        return [one[1:-1] for one in _TEXT.findall(text)]
    return plain_literal(text)
