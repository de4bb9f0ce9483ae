"""The second call: a reply without a readable decision goes to an extractor, which says what it decides."""

from dataclasses import dataclass, replace

from evenhand.domain.call import Reply, Request
from evenhand.domain.rater import Rater
from evenhand.domain.trial import Trial
from evenhand.domain.verdict import NoVerdict, Undecided, Verdict
from evenhand.protocols.protocol import JUDGEMENT, Protocol

EXTRACTED: tuple[Undecided, ...] = ("unreadable", "conflicting", "refused")
"""Why a whole reply has no readable decision. One that was cut, or that its provider calls a refusal, holds none that
could be extracted; one that only reads like a refusal may."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extractor:
    """Who is asked the second time."""

    rater: Rater
    model: str
    """The model's name as its endpoint knows it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    protocol: Protocol
    extractor: Extractor

    def request(self, trial: Trial, judgement: str) -> Request:
        """`judgement`: the words of the first reply."""
        return replace(self._request(judgement), replicate=trial.replicate, attempt=trial.attempt)

    def longest(self, tokens: int) -> Request:
        """About as long as a request can get after a first reply of so many tokens."""
        return self._request("word" * tokens)

    def _request(self, judgement: str) -> Request:
        return Request(
            endpoint=self.extractor.rater.endpoint,
            model=self.extractor.model,
            messages=self.protocol.messages({JUDGEMENT: judgement}),
            settings=self.extractor.rater.settings,
        )

    def read(self, first: NoVerdict, reply: Reply, *, shown: tuple[str, ...], fence: str | None) -> Verdict | NoVerdict:
        """What the extractor says that the judge decided; else why the first reply had no decision, and that it has."""
        if reply.finish in ("refused", "length"):
            verdict = NoVerdict(reason="unreadable", detail=f"The extractor's reply ended so: {reply.finish}.")
        else:
            verdict = self.protocol.read(reply.text, shown=shown, fence=fence)
        if isinstance(verdict, NoVerdict):
            return NoVerdict(reason=first.reason, detail=f"{first.detail} Nor was one extracted: {verdict.detail}")
        return verdict
