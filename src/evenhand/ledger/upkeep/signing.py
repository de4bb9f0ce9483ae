"""The ledger's key pair: what it signs, anybody verifies with the public key alone.

The private key lies in the ledger, as its other secret does; a backup holds both. Whoever can read the ledger can sign.
"""

import json
import re
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, insert, select, update

from evenhand.domain.identity import Json
from evenhand.ledger.store import schema
from evenhand.ledger.store.opening import LedgerError
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.upkeep.chain import utc

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

ALGORITHM = "ed25519"
_PRIVATE, _RETIRED = "signing_key", "retired_keys"
_KEY = re.compile(r"[0-9a-f]{64}")
_LINE = re.compile(r"[0-9a-f]{64}(\s+(signs now|until [0-9tz:.+-]+))?")
_DAMAGED = "The keys that sign receipts are not as they were written in this ledger; restore a backup from before."


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicKey:
    key: str
    """32 bytes in hex."""
    retired: float | None
    """When another took its place, seconds since 1970; None for the one that signs now."""

    def as_json(self) -> dict[str, Json]:
        return {"key": self.key, "retired": None if self.retired is None else utc(self.retired)}


def public_keys(ledger: Ledger) -> list[PublicKey]:
    """The one that signs now, then those before it, the last first."""
    with ledger.reading() as connection:
        now = PublicKey(key=_public(_private(connection)), retired=None)
        return [now, *_retired(connection)]


def rotate(ledger: Ledger) -> PublicKey:
    """Lets a new key sign from now on; what the old one signed still verifies. The old private key is gone then."""
    table = schema.meta
    with ledger.writing() as connection:
        old = _public(_private(connection))
        known = [
            {"key": old, "retired": time.time()},
            *({"key": k.key, "retired": k.retired} for k in _retired(connection)),
        ]
        fresh = secrets.token_hex(32)
        connection.execute(update(table).where(table.c.name == _PRIVATE).values(value=fresh))
        if _stored(connection, _RETIRED) is None:
            connection.execute(insert(table), [{"name": _RETIRED, "value": "[]"}])
        connection.execute(update(table).where(table.c.name == _RETIRED).values(value=json.dumps(known)))
        return PublicKey(key=_public(_private(connection)), retired=None)


def sign(ledger: Ledger, content: bytes) -> dict[str, Json]:
    with ledger.reading() as connection:
        private = _private(connection)
    return {"algorithm": ALGORITHM, "public_key": _public(private), "value": private.sign(content).hex()}


def signed_by(signature: Any, content: bytes) -> str | None:
    """The public key whose owner signed this content; None where the signature is none, or of something else."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        if signature["algorithm"] != ALGORITHM or len(signature) != 3:  # beside them anybody may have put something
            return None
        key: str = signature["public_key"]
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature["value"]), content)
    except (InvalidSignature, TypeError, ValueError, KeyError):
        return None
    return key


def keys_in(text: str) -> Collection[str]:
    """Public keys of a text that is nothing else: a key, the lines of `ledger keys list`, or a document with
    `public_keys`.

    In a receipt, or on a page that repeats what teams entered, anybody may have put one.
    """
    try:
        document: Any = json.loads(text)
        words = [str(one["key"]) for one in document["public_keys"]]
    except (ValueError, TypeError, KeyError, RecursionError):
        words = [line.split()[0] for line in text.splitlines() if line.strip()]
        if not all(_LINE.fullmatch(line.strip().lower()) for line in text.splitlines() if line.strip()):
            return []
    return list(dict.fromkeys(word.lower() for word in words if _KEY.fullmatch(word.lower())))


def _private(connection: Connection) -> "Ed25519PrivateKey":
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    try:
        return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(_stored(connection, _PRIVATE) or ""))
    except (TypeError, ValueError):
        raise LedgerError(_DAMAGED, code="EH-LEDGER-KEYS") from None


def _public(private: "Ed25519PrivateKey") -> str:
    return private.public_key().public_bytes_raw().hex()


def _stored(connection: Connection, name: str) -> str | None:
    return connection.execute(select(schema.meta.c.value).where(schema.meta.c.name == name)).scalar()


def _retired(connection: Connection) -> list[PublicKey]:
    try:
        known = json.loads(_stored(connection, _RETIRED) or "[]")
        return [PublicKey(key=str(one["key"]), retired=float(one["retired"])) for one in known]
    except (TypeError, ValueError, KeyError, RecursionError):
        raise LedgerError(_DAMAGED, code="EH-LEDGER-KEYS") from None
