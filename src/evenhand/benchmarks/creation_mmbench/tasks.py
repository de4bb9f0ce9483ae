"""The 51 tasks in their four categories, as benchmark.toml lists them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

OTHER = "other"
"""The category of tasks that the paper does not have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Category:
    key: str
    """The official code's name."""
    name: str
    """The paper's name."""
    short: str
    tasks: tuple[str, ...]


@cache
def categories() -> tuple[Category, ...]:
    """In the paper's order."""
    document: dict[str, Any] = tomllib.loads((Path(__file__).parent / "benchmark.toml").read_text(encoding="utf-8"))
    return tuple(
        Category(key=row["key"], name=row["name"], short=row["short"], tasks=tuple(row["tasks"]))
        for row in document["category"]
    )


def category_of(task: str | None) -> str:
    """The paper's name of the task's category; `other` for a task of one's own."""
    return next((category.name for category in categories() if task in category.tasks), OTHER)


def category_name(text: str) -> str:
    """The paper's name where the text is a category's key, name or short name; else the text itself."""
    folded = text.strip().casefold()
    for category in categories():
        if folded in (category.key.casefold(), category.name.casefold(), category.short.casefold()):
            return category.name
    return text.strip()
