"""A request that is refused: with which status, in which words, and whether the audit log hears of it."""

from collections.abc import Mapping

from fastapi import HTTPException

from evenhand.domain.errors import UNEXPECTED, EvenhandError, code_of
from evenhand.domain.submission import Stage
from evenhand.ledger.store.opening import LedgerError


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
        code: str | None = None,
    ) -> None:
        """`code`: by the status, where none is given."""
        super().__init__(status, sentence, dict(headers or {}))
        self.sentence = sentence
        self._code = code
        self.attack = attack
        self.about = about

    @property
    def code(self) -> str:
        """Stays when the sentence is reworded; that of the error which it passes on, if any."""
        if self._code is None and isinstance(self.__cause__, EvenhandError):
            return code_of(self.__cause__)
        return self._code or STATUS_CODES.get(self.status_code, "EH-REQUEST")


STATUS_CODES: Mapping[int, str] = {
    401: "EH-SIGN-IN",
    403: "EH-FORBIDDEN",
    404: "EH-NOT-FOUND",
    405: "EH-METHOD",
    408: "EH-SLOW",
    409: "EH-CONFLICT",
    413: "EH-TOO-LARGE",
    415: "EH-MEDIA-TYPE",
    421: "EH-HOST",
    422: "EH-INVALID",
    429: "EH-RATE-LIMIT",
    500: UNEXPECTED,
    503: "EH-BUSY",
}


_STANDS: Mapping[Stage, str] = {
    "draft": "it is a draft: the file uploaded last counts, and is confirmed once it has no faults",
    "confirmed": "it is confirmed and waits for the owner's approval; until then it can be withdrawn, not changed",
    "approved": "it is approved, and its judging has begun or waits its turn; it can be withdrawn, not changed",
    "stopped": "it has reached its budget, and the owner says whether it goes on",
    "judged": "it is judged; it can be published or withdrawn, and another file is another submission",
    "refused": "it was refused, and nothing more is done with it; begin another submission",
    "withdrawn": "it is withdrawn for good; begin another submission",
}


_PUBLISHED = "it is published already; it can be withdrawn, and another file is another submission"


def too_late(stage: Stage, *, published: bool = False, attack: str | None = None, about: str = "") -> Refusal:
    """Of a submission that stands elsewhere than who asks believed."""
    stands = _PUBLISHED if published else _STANDS[stage]
    words = f"That cannot be done with this submission as it stands: {stands}."
    return Refusal(409, words, attack=attack, about=about, code="EH-SUBMISSION-STAGE")


def not_found(what: str) -> Refusal:
    return Refusal(404, f"There is no {what} here.")


def busy(error: LedgerError) -> Refusal:
    """Its own sentence names the ledger's place on disk, which is for the command line."""
    words = "The record cannot be read or written at this moment; try again in a little while."
    return Refusal(503, words, headers={"Retry-After": "5"}, code=code_of(error))
