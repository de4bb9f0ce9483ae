"""The line that closes a reply and alone is read: it carries a token drawn for the trial, told to the judge alone."""

import hmac
import re
from functools import cache
from importlib.resources import files

from evenhand.domain.identity import content_hash
from evenhand.prompts import Template
from evenhand.protocols.letters import prose

ALPHABET = "BCDFGHJKLMNPQRSTVWXZ23456789"
"""No vowel, so that a token spells no word, and nothing that could be taken for another letter: no 0, O, 1 or I."""

TOKEN_LENGTH = 8
"""38 bits, which a candidate would have to guess before the trial exists."""

_BESIDE_THE_TOKEN = re.compile(r"[\s\"'`”’»)\]}]*(?:(?:[:：.,;|=]|[-–—→>]+(?=\s))\s*)*")

_A_CLAUSE = 24
_SENTENCE_END = re.compile(r"[.!?]\s")
_DENYING = re.compile(r"\b(?:not|never|without|wants?|wanted|demand\w*|ask\w*)\b|n['’]t\b", re.IGNORECASE)


def trial_token(secret: bytes, trial_key: str) -> str:
    """The same for the same ledger and trial, so a rerun sends the same bytes; not to be guessed without the secret."""
    if not secret:
        raise ValueError("A trial's token needs a secret of at least one byte.")
    number = int.from_bytes(hmac.digest(secret, b"token\n" + trial_key.encode(), "sha256"))
    letters: list[str] = []
    for _ in range(TOKEN_LENGTH):
        number, place = divmod(number, len(ALPHABET))
        letters.append(ALPHABET[place])
    return "".join(letters)


def token_notice(token: str) -> str:
    """What tells the judge how to close its reply."""
    return _notice().fill({"token": token})


def token_hash() -> str:
    """Of the words that ask for the closing line."""
    return content_hash("token", [token_notice("token")])


@cache
def _notice() -> Template:
    text = files(__package__ or "").joinpath("closing.md").read_text(encoding="utf-8")
    return Template.parse(text.rstrip("\n"), source="protocols/closing.md")


def said_after(token: str, text: str, *, lines: int = 1) -> str | None:
    """What follows the token on each line that begins with it, one below the other; None where no line holds it.

    With fewer than `lines` such lines, on the others that hold it too, but for those that deny it or speak at length.
    `text` is plain text (`plain`), so that emphasis does not stand between the token and the decision.
    """
    alone = re.compile(rf"(?<![^\W_]){re.escape(token)}(?![^\W_])")
    split = [alone.split(line) for line in text.split("\n") if token in line]
    split = [parts for parts in split if len(parts) > 1]
    if not split:
        return None
    begun = [parts for parts in split if not any(map(str.isalnum, parts[0]))]
    if len(begun) < lines:
        begun = [parts for parts in split if _may_lead(parts[0])]
    said = [part for parts in begun for part in parts[1:]]
    return "\n".join(part[found.end() :] if (found := _BESIDE_THE_TOKEN.match(part)) else part for part in said)


def _may_lead(before: str) -> bool:
    """Whether the words before a token on its line may lead to the judge's decision."""
    sentence = _SENTENCE_END.split(before)[-1]
    return prose(sentence.rpartition(": ")[2]) < _A_CLAUSE and not _DENYING.search(sentence)
