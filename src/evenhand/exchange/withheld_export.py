"""A benchmark's withheld fields for somebody whose request was accepted, every row marked as theirs.

Two marks stand in each row (VisIT-Bench, appendix A: no training on the data). `released_to`, `release` and `released`
say in plain words whose copy it is. `canary` is a sentence with a token that no other text holds: whoever gathers
training data can leave out every document with the word before it, and the token in a corpus or in a model's output
tells from which release it came. The token follows from the release's id alone, so that the log of releases is enough
to look it up. Marks trace carelessness: somebody who means to can take them out.
"""

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.exchange.tables import Shape, Table

COLUMNS: Mapping[str, Shape] = {
    "item": "text",
    "instruction": "text",
    "images": "texts",
    "caption": "text",
    "reference": "text",
    "ground_truth": "text",
    "criteria": "lists of texts",
    "task": "text",
    "category": "text",
    "brief": "lists of texts",
    "released_to": "text",
    "release": "text",
    "released": "text",
    "canary": "text",
}
"""`criteria` and `brief` are lists of a name and a text."""

CANARY = "evenhand-canary"
"""The word before every token: what a filter of training data looks for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipient:
    name: str
    release: str
    """The id under which the release was logged."""
    at: float
    """Seconds since the epoch."""


def withheld_rows(items: Iterable[Item], recipient: Recipient) -> list[dict[str, Json]]:
    """All that the items hold, with the recipient's marks."""
    marks: dict[str, Json] = {
        "released_to": recipient.name,
        "release": recipient.release,
        "released": datetime.fromtimestamp(recipient.at, UTC).date().isoformat(),
        "canary": canary(recipient.release),
    }
    return [{**_content(item), **marks} for item in items]


def withheld_table(items: Iterable[Item], recipient: Recipient) -> Table:
    return Table(columns=COLUMNS, rows=withheld_rows(items, recipient))


def canary(release: str) -> str:
    """The sentence of one release."""
    digest = hashlib.sha256(f"{CANARY}\n{release}".encode()).digest()
    return f"Withheld test data, not to be trained on. {CANARY} {UUID(bytes=digest[:16])}"


def _content(item: Item) -> dict[str, Json]:
    content = item.content()
    brief = item.brief.as_json() if item.brief else {}
    content["brief"] = [[name, text] for name, text in brief.items() if text is not None]
    return {"item": item.label, **content}
