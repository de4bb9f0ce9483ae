"""A case's criteria: the text of a Python dict whose keys tell taste from fact, or a plain text."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

from evenhand.benchmarks.files.literals import plain_literal

PLAIN = "subjective"
"""The name a plain text gets: the official code takes it for subjective criteria and nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Criteria:
    pairs: tuple[tuple[str, str], ...]
    """Name and text, in the data's order, as an Item holds them."""
    form: Literal["dict", "text", "damaged"]
    """`damaged`: it begins like a dict and is none of texts; then it is kept whole as a plain text."""


def read_criteria(value: str | Mapping[str, object]) -> Criteria:
    """Total: whatever the text is, it becomes criteria and no code."""
    if not isinstance(value, str):
        pairs = _pairs(value)
        return Criteria(pairs=pairs, form="dict") if pairs is not None else _plain(str(dict(value)), damaged=True)
    literal = plain_literal(value)
    if isinstance(literal, dict):
        pairs = _pairs(cast("dict[object, object]", literal))
        if pairs is not None:
            return Criteria(pairs=pairs, form="dict")
    if isinstance(literal, str):
        return _plain(literal)
    return _plain(value, damaged=value.lstrip().startswith("{"))


def has_letter(text: str) -> bool:
    return any(character.isalpha() for character in text)


def _plain(text: str, *, damaged: bool = False) -> Criteria:
    return Criteria(pairs=((PLAIN, text),), form="damaged" if damaged else "text")


def _pairs(entries: Mapping[str, object] | dict[object, object]) -> tuple[tuple[str, str], ...] | None:
    """None unless every name is a text and every value a text, a list of texts, or nothing."""
    pairs: list[tuple[str, str]] = []
    for name, value in entries.items():
        text = _text(value)
        if not isinstance(name, str) or text is None:
            return None
        pairs.append((name, text))
    return tuple(pairs)


def _text(value: object) -> str | None:
    if value is None:
        return ""
    if isinstance(value, list):
        lines = cast("list[object]", value)
        return "\n".join(cast("list[str]", lines)) if all(isinstance(line, str) for line in lines) else None
    return value if isinstance(value, str) else None
