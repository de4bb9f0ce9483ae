"""What pages and the API show of a judged submission, held against the receipts that the ledger keeps of it."""

import json
from collections.abc import Iterator, Mapping
from typing import cast

from evenhand.domain.identity import Json, canonical_json
from evenhand.domain.submission import Judged
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import SHOWN, Submission, receipts_on_record
from evenhand.reports.receipts.reading import Receipt
from evenhand.reports.receipts.receipt import seal


def shown_otherwise(ledger: Ledger, submission: Submission, receipt: Receipt) -> Iterator[str]:
    """Sentences: where this receipt is not kept as it was given, or a page shows something else than a receipt says."""
    kept = {event: _document(content) for event, content in receipts_on_record(ledger, submission.id).items()}
    if not any(one.get("seal") == receipt.seal for one in kept.values()):
        yield f"The ledger keeps no receipt of submission {submission.id} with the seal of this one."
    for event, one in kept.items():
        # A receipt of another ledger has its seal blamed, and once is enough.
        if one != receipt.document and not _sealed(ledger, one):
            yield f"The receipt that the ledger keeps as number {event} is not as it sealed it: it was changed."
    shown = {event.seq: event.said.receipt for event in submission.events if isinstance(event.said, Judged)}
    for event in sorted(kept.keys() - shown.keys()):
        yield f"That the submission was judged (number {event}) is not on record any more, and no page shows its row."
    for event, fields in sorted(shown.items()):
        told = kept.get(event)
        if told is None:
            yield f"Pages show a row (number {event}) of which the ledger keeps no receipt."
        else:
            yield from _fields(event, fields, {name: told[name] for name in SHOWN if name in told})


def _fields(event: int, shown: Mapping[str, Json], told: Mapping[str, Json]) -> Iterator[str]:
    for name in sorted({*shown, *told}):
        if canonical_json(shown.get(name)) != canonical_json(told.get(name)):
            yield f"`{name}` as pages show it (number {event}) is not that of the receipt."


def _document(content: str) -> Mapping[str, Json]:
    try:
        found: object = json.loads(content)
    except (ValueError, RecursionError):
        return {}
    return cast(Mapping[str, Json], found) if isinstance(found, Mapping) else {}


def _sealed(ledger: Ledger, document: Mapping[str, Json]) -> bool:
    try:
        return seal(ledger, document) == document.get("seal")
    except ValueError:  # a number that no JSON has
        return False
