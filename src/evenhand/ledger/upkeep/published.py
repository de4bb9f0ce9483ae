"""Heads of the chain that stand elsewhere: in a receipt, a report, a document of one, or a backup."""

import json
import re
import sqlite3
from collections.abc import Generator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from sqlalchemy import Connection, NullPool, create_engine
from sqlalchemy.exc import SQLAlchemyError

from evenhand.ledger.upkeep.chain import Head, HeadError, head_from, head_of, parted

MARK = "chain"
"""The field of a document, and the element of a page, that a head stands in."""
_IN_PAGE = re.compile(rf'<script type="text/plain" id="{MARK}">(.*?)</script>', re.DOTALL)
_SQLITE = b"SQLite format 3\x00"


def published_head(path: Path) -> Head:
    """Raises HeadError, with a sentence that names the file."""
    try:
        if (backup := _backup_at(path)) is not None:
            with _reading(backup) as connection:
                return head_of(connection)
        return head_from(_document(path.read_text(encoding="utf-8", errors="replace")))
    except OSError as error:
        raise HeadError(f"{path} cannot be read: {error.strerror}.", code="EH-FILE-MISSING") from None
    except HeadError as error:
        raise HeadError(f"{path}: {error}", code=error.code) from None


def goes_on_from(path: Path, head: Head) -> bool:
    """Whether the file is a backup that holds all that the ledger with this head does. Raises as `published_head`."""
    backup = _backup_at(path)
    if backup is None:
        return False
    with _reading(backup) as connection:
        return not parted(connection, head)


def _document(text: str) -> Any:
    if found := _IN_PAGE.search(text):
        text = found[1]
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        raise HeadError(
            "It is no receipt, no report's page or JSON document, and no backup that carries a head."
        ) from None
    return cast(dict[str, Any], document).get(MARK, document) if isinstance(document, dict) else None


def _backup_at(path: Path) -> Path | None:
    """The ledger at this place; None where it is a file of another kind."""
    if path.is_dir():
        found = sorted(path.glob("*.db"))
        if len(found) != 1:
            raise HeadError(f"There is {'no' if not found else 'more than one'} ledger in this folder; name the file.")
        return found[0]
    with path.open("rb") as file:
        return path if file.read(len(_SQLITE)) == _SQLITE else None


@contextmanager
def _reading(path: Path) -> Generator[Connection]:
    """Without a byte written: a backup may lie where nobody can write, and of an older version."""
    lasting = "mode=ro" if path.with_name(f"{path.name}-wal").exists() else "mode=ro&immutable=1"
    uri = f"file:{quote(str(path.absolute()))}?{lasting}"
    engine = create_engine("sqlite://", creator=lambda: sqlite3.connect(uri, uri=True), poolclass=NullPool)
    try:
        with closing(engine.connect()) as connection:
            yield connection
    except SQLAlchemyError:
        raise HeadError("It is no ledger, or one from before there was a chain.") from None
    finally:
        engine.dispose()
