"""What a benchmark withholds, and people's ratings, for somebody whose request was accepted: all marked as theirs.

Two marks stand in each row (VisIT-Bench, appendix A: no training on the data). `released_to`, `release` and `released`
say in plain words whose copy it is. `canary` is a sentence with a token that no other text holds: whoever gathers
training data can leave out every document with the word before it, and the token in a corpus or in a model's output
tells from which release it came. The token follows from the release's id alone, so that the log of releases is enough
to look it up. Marks trace carelessness: somebody who means to can take them out.
"""

import hashlib
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from uuid import UUID

from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.verdict import NoVerdict, verdict_json
from evenhand.exchange.tables import ExchangeTable, Shape
from evenhand.ledger.read.projection import StudyOnRecord, judged
from evenhand.ledger.store.record import Ledger

_MARKS: Mapping[str, Shape] = {"released_to": "text", "release": "text", "released": "text", "canary": "text"}

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
    **_MARKS,
}
"""`criteria` and `brief` are lists of a name and a text."""

RATING_COLUMNS: Mapping[str, Shape] = {
    "item": "text",
    "models": "texts",
    "verdict": "verdict",
    "reason": "text",
    "person": "whole",
    **_MARKS,
}
"""Models and verdict are as shown: a preference is positive for the first of the models."""

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
    return [{**_content(item), **_marks(recipient)} for item in items]


def withheld_table(items: Iterable[Item], recipient: Recipient) -> ExchangeTable:
    return ExchangeTable(columns=COLUMNS, rows=withheld_rows(items, recipient))


def ratings_table(
    ledger: Ledger,
    chosen: Sequence[StudyOnRecord],
    recipient: Recipient,
    *,
    hidden: Collection[str] = (),
    names: Mapping[str, str] | None = None,
) -> ExchangeTable:
    """People's judgements one by one; a person is a number that means nothing outside this file.

    Rows with a model among the `hidden` are left out. `names`: what the reader may call submitted models, by label.
    """
    called, persons = names or {}, dict[str, int]()
    rows: list[dict[str, Json]] = []
    for one in judged(ledger, chosen):
        if set(one.models) & set(hidden):
            continue
        verdict = one.judgement.verdict
        told: dict[str, Json] = {
            "item": one.label,
            "models": [called.get(model, model) for model in one.models],
            "verdict": None if isinstance(verdict, NoVerdict) else verdict_json(verdict),
            "reason": verdict.reason if isinstance(verdict, NoVerdict) else None,
            "person": persons.setdefault(one.trial.rater, len(persons) + 1),
        }
        rows.append({**told, **_marks(recipient)})
    return ExchangeTable(columns=RATING_COLUMNS, rows=rows)


def _marks(recipient: Recipient) -> dict[str, Json]:
    return {
        "released_to": recipient.name,
        "release": recipient.release,
        "released": datetime.fromtimestamp(recipient.at, UTC).date().isoformat(),
        "canary": canary(recipient.release),
    }


def canary(release: str) -> str:
    """The sentence of one release."""
    digest = hashlib.sha256(f"{CANARY}\n{release}".encode()).digest()
    return f"Withheld test data, not to be trained on. {CANARY} {UUID(bytes=digest[:16])}"


def _content(item: Item) -> dict[str, Json]:
    content = item.content()
    brief = item.brief.as_json() if item.brief else {}
    content["brief"] = [[name, text] for name, text in brief.items() if text is not None]
    return {"item": item.label, **content}
