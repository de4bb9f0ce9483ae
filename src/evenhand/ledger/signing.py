"""The ledger's key pair: what it signs, anybody verifies with the public key alone.

The private key lies in the ledger, as its other secret does; a backup holds both. Whoever can read the ledger can sign.
"""

import json
import re
import secrets
import time
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, insert, select, update

from evenhand.domain.identity import Json
from evenhand.ledger import schema
from evenhand.ledger.chain import utc
from evenhand.ledger.record import Ledger

ALGORITHM = "ed25519"
_PRIVATE, _RETIRED = "signing_key", "retired_keys"
_KEY = re.compile(r"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")


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
        now = PublicKey(key=_public(_stored(connection, _PRIVATE) or ""), retired=None)
        return [now, *_retired(connection)]


def rotate(ledger: Ledger) -> PublicKey:
    """Lets a new key sign from now on; what the old one signed still verifies. The old private key is gone then."""
    table = schema.meta
    with ledger.writing() as connection:
        old = _public(_stored(connection, _PRIVATE) or "")
        known = [
            {"key": old, "retired": time.time()},
            *({"key": k.key, "retired": k.retired} for k in _retired(connection)),
        ]
        fresh = secrets.token_hex(32)
        connection.execute(update(table).where(table.c.name == _PRIVATE).values(value=fresh))
        if _stored(connection, _RETIRED) is None:
            connection.execute(insert(table), [{"name": _RETIRED, "value": "[]"}])
        connection.execute(update(table).where(table.c.name == _RETIRED).values(value=json.dumps(known)))
    return PublicKey(key=_public(fresh), retired=None)


def sign(ledger: Ledger, content: bytes) -> dict[str, Json]:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    with ledger.reading() as connection:
        private = _stored(connection, _PRIVATE) or ""
    value = Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private)).sign(content)
    return {"algorithm": ALGORITHM, "public_key": _public(private), "value": value.hex()}


def signed_by(signature: Any, content: bytes) -> str | None:
    """The public key whose owner signed this content; None where the signature is none, or of something else."""
    from cryptography.exceptions import InvalidSignature
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    try:
        if signature["algorithm"] != ALGORITHM:
            return None
        key: str = signature["public_key"]
        Ed25519PublicKey.from_public_bytes(bytes.fromhex(key)).verify(bytes.fromhex(signature["value"]), content)
    except (InvalidSignature, TypeError, ValueError, KeyError):
        return None
    return key


def keys_in(text: str) -> Collection[str]:
    """Public keys in a text: one in hex, a list of them, or what a page or `ledger info --json` tells."""
    return list(dict.fromkeys(_KEY.findall(text.lower())))


def _public(private: str) -> str:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    return Ed25519PrivateKey.from_private_bytes(bytes.fromhex(private)).public_key().public_bytes_raw().hex()


def _stored(connection: Connection, name: str) -> str | None:
    return connection.execute(select(schema.meta.c.value).where(schema.meta.c.name == name)).scalar()


def _retired(connection: Connection) -> list[PublicKey]:
    return [PublicKey(**one) for one in json.loads(_stored(connection, _RETIRED) or "[]")]
