"""What items are called to people who may not see all of them.

An item's digest is a hash of all it holds: whoever has its public part could try out short references until it fits.
"""

import hmac
from collections import Counter

from evenhand.ledger.read.projection import item_labels
from evenhand.ledger.store.record import Ledger


def public_names(ledger: Ledger, data: str) -> dict[str, str]:
    """By digest: the label, which is public, with a sign that only this ledger can make where two items share it."""
    labels = item_labels(ledger, {data})
    known = Counter(labels.values())
    secret = ledger.fence_secret() if len(known) < len(labels) else b""
    return {item: label if known[label] == 1 else f"{label} {_sign(secret, item)}" for item, label in labels.items()}


def _sign(secret: bytes, item: str) -> str:
    return hmac.digest(secret, b"item\n" + item.encode(), "sha256").hex()[:16]
