"""Raw replies of judges asked elsewhere: one JSON object a line, or records."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from evenhand.exchange.errors import ExchangeError


@dataclass(frozen=True, slots=True, kw_only=True)
class RawReply:
    item: str
    reply: str
    shown: tuple[str, ...]
    options: int | None
    token: str | None


def read_replies(path: Path, *, needs_options: bool, needs_token: bool = False) -> list[RawReply]:
    """All of the file, or ExchangeError at the first row that does not fit."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except (OSError, UnicodeDecodeError) as error:
        raise ExchangeError(f"{path} cannot be read: {error}.") from error
    replies: list[RawReply] = []
    for line, words in enumerate(text.split("\n"), start=1):
        if words.strip():
            number = len(replies) + 1
            where = f"{path}, row {number} (line {line})"
            replies.append(_reply(_parsed(words, where), number, where, needs_options, needs_token))
    if not replies:
        raise ExchangeError(f'{path} holds no replies; expected one {{"reply": text}} a line.')
    return replies


def given_replies(
    rows: Iterable[str | Mapping[str, object]], *, needs_options: bool, needs_token: bool = False
) -> list[RawReply]:
    """The same of records with the fields of such a file, or of bare texts."""
    records = [{"reply": one} if isinstance(one, str) else dict(one) for one in rows]
    replies = [
        _reply(one, number, f"reply {number}", needs_options, needs_token) for number, one in enumerate(records, 1)
    ]
    if not replies:
        raise ExchangeError("There are no replies to read.")
    return replies


def _parsed(words: str, where: str) -> object:
    try:
        return json.loads(words)
    except json.JSONDecodeError as error:
        raise ExchangeError(f"{where}: not JSON ({error.msg}); give one object a line, with `reply`.") from error
    except (ValueError, RecursionError) as error:  # a number with thousands of digits, brackets without end
        raise ExchangeError(f"{where}: not JSON that can be used ({error}).") from error


def _reply(row: object, number: int, where: str, needs_options: bool, needs_token: bool) -> RawReply:
    """A row that names no item is called by its number."""
    if not isinstance(row, dict):
        raise ExchangeError(f"{where}: expected an object with reply, found {type(row).__name__}.")
    row = cast(dict[str, Any], row)
    item, reply = row.get("item", row.get("id", number)), row.get("reply")
    if not isinstance(item, str | int) or not isinstance(reply, str):
        found = ", ".join(row) or "nothing"
        raise ExchangeError(
            f"{where}: expected reply (text), and item (text or number) where there is one; found the fields {found}."
        )
    shown: Any = row.get("shown", [])
    options: Any = row.get("options")
    if not isinstance(shown, list) or not all(isinstance(one, str) for one in cast(list[Any], shown)):
        raise ExchangeError(f"{where}: shown must be a list of texts.")
    if options is not None and (not isinstance(options, int) or isinstance(options, bool) or options < 1):
        raise ExchangeError(f"{where}: options must be a whole number from 1 up, found {options!r}.")
    if needs_options and options is None:
        raise ExchangeError(f"{where}: this protocol picks one of several, so options (how many) is needed.")
    token: Any = row.get("token")
    if token is not None and not (isinstance(token, str) and token.isalnum()):
        raise ExchangeError(f"{where}: token must be the trial's, letters and digits, found {token!r}.")
    if needs_token and token is None:
        raise ExchangeError(f"{where}: this protocol reads only the line with the trial's token, so token is needed.")
    return RawReply(item=str(item), reply=reply, shown=tuple(cast(list[str], shown)), options=options, token=token)
