"""That a run lives, as runs on other machines see it: by a lock of a connection to the server, which ends with it."""

import hashlib
from collections.abc import Iterable
from contextlib import suppress
from threading import Lock

from sqlalchemy import Connection, Engine, text
from sqlalchemy.exc import SQLAlchemyError

LOCKED = "+lock"
"""How the names of holders end who show their presence so; of any other the lease alone tells."""

_OURS = 0x6576656E
"""The first number of each of these locks; any that no other program of the database takes."""
_TAKE = text("SELECT pg_try_advisory_lock(:ours, :one)")
_TAKEN = text(
    "SELECT CAST(objid AS bigint) FROM pg_locks WHERE locktype = 'advisory' AND classid = :ours AND objsubid = 2 "
    "AND granted AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"
)
_STILL = text("SELECT 1")


class Presence:
    """Of one holder of claims. On SQLite, which one machine alone uses, there is nothing to show."""

    def __init__(self, engine: Engine, holder: str) -> None:
        self._engine = engine
        self._mine = {"ours": _OURS, "one": _number(holder)}
        self._connection: Connection | None = None
        self._using = Lock()
        self._ended = False
        self.needed = engine.dialect.name == "postgresql"

    def keep(self) -> bool:
        """Whether others may have taken the holder for gone since this was last done: it was not shown all the while,
        and is not yet where the server has no connection free."""
        if not self.needed:
            return False
        with self._using:
            if self._ended or self._still_shown():
                return False
            self._begun()
            return True

    def end(self) -> None:
        with self._using:
            self._ended = True
            self._close()

    def _still_shown(self) -> bool:
        if self._connection is None:
            return False
        with suppress(SQLAlchemyError):
            self._connection.execute(_STILL)
            return True
        self._close()
        return False

    def _begun(self) -> None:
        with suppress(SQLAlchemyError):
            if self._begin():
                return
        self._close()

    def _begin(self) -> bool:
        self._connection = self._engine.connect().execution_options(isolation_level="AUTOCOMMIT")
        self._connection.detach()  # given back to others, it would keep the lock
        # False where the server has not noticed yet that an earlier connection of ours is lost: it is shown by that.
        return bool(self._connection.execute(_TAKE, self._mine).scalar())

    def _close(self) -> None:
        connection, self._connection = self._connection, None
        if connection is not None:
            with suppress(SQLAlchemyError):
                connection.close()


def absent(connection: Connection, holders: Iterable[str]) -> list[str]:
    """Those of the holders who show their presence by a lock and have none now."""
    shown = [holder for holder in holders if holder.endswith(LOCKED)]
    if not shown or connection.dialect.name != "postgresql":
        return []
    taken = set(connection.execute(_TAKEN, {"ours": _OURS}).scalars())
    return [holder for holder in shown if _number(holder) not in taken]


def _number(holder: str) -> int:
    return int.from_bytes(hashlib.sha256(holder.encode()).digest()[:4], "big") >> 1
