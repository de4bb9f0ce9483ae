"""Unguessable delimiters round what the candidates wrote, so that none can step out of its place in the prompt."""

import hmac
from functools import cache
from importlib.resources import files

from evenhand.domain.identity import content_hash
from evenhand.prompts import Template

NONCE_LENGTH = 16
"""Hex digits: 64 bits, which a candidate would have to guess before the trial exists."""

_MARKS = " []()*_`\"'>:."


def fence_nonce(secret: bytes, trial_key: str) -> str:
    """The same for the same ledger and trial, so a rerun sends the same bytes; not to be guessed without the secret."""
    if not secret:
        raise ValueError("A fence needs a secret of at least one byte.")
    return hmac.digest(secret, b"fence\n" + trial_key.encode(), "sha256").hex()[:NONCE_LENGTH]


def fenced(text: str, nonce: str) -> str:
    return f"[begin {nonce}]\n{text}\n[end {nonce}]"


def fence_notice(nonce: str) -> str:
    """What tells the judge what the delimiters mean."""
    return _notice().fill({"nonce": nonce})


def fence_hash() -> str:
    """Of the words and marks that a fence adds to a prompt."""
    return content_hash("fence", [fenced("text", "nonce"), fence_notice("nonce")])


@cache
def _notice() -> Template:
    text = files(__package__ or "").joinpath("fence.md").read_text(encoding="utf-8")
    return Template.parse(text.rstrip("\n"), source="protocols/fence.md")


def fenced_spans(text: str, nonce: str) -> list[tuple[int, int]]:
    """Where a reply quotes a fenced block: from the opening delimiter's end to the closing one's beginning."""
    opening, closing = f"begin {nonce}", f"end {nonce}"
    spans: list[tuple[int, int]] = []
    start = text.find(opening)
    while start >= 0:
        end = text.find(closing, start)
        if end < 0:
            break
        if _is_block(text[start + len(opening) : end]):
            spans.append((start + len(opening), end))
        start = text.find(opening, end)
    return spans


def _is_block(between: str) -> bool:
    """Whether the two delimiters stand round a text, on lines of their own or on one: not named apart in prose."""
    return "\n" not in between or between.lstrip(_MARKS).startswith("\n") or between.rstrip(_MARKS).endswith("\n")
