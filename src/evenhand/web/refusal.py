"""A request that is refused: with which status, in which words, and whether the audit log hears of it."""

from collections.abc import Mapping

from fastapi import HTTPException


class Refusal(HTTPException):
    """Raised anywhere below the gate; answered as a page, or under /api as JSON. The sentence is shown to the visitor.

    `attack` names in the audit log what honest use does not bring about; it also counts against the visitor.
    """

    def __init__(
        self,
        status: int,
        sentence: str,
        *,
        attack: str | None = None,
        about: str = "",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, sentence, dict(headers or {}))
        self.sentence = sentence
        self.attack = attack
        self.about = about


def too_late(*, attack: str | None = None, about: str = "") -> Refusal:
    """Of a submission about which something else was said meanwhile."""
    words = "As this submission stands now, that cannot be done; look at it again."
    return Refusal(409, words, attack=attack, about=about)


def not_found(what: str) -> Refusal:
    return Refusal(404, f"There is no {what} here.")
