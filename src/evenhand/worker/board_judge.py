"""Whether the models that a worker was given are those that judge a board, and what to give it where they are not."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TypeAlias

from evenhand.domain.errors import Misuse
from evenhand.domain.rater import Rater
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.quote import Quote
from evenhand.engine.tasks.as_judged import Spoken
from evenhand.engine.tasks.joining import BoardToJoin
from evenhand.protocols.protocol import Protocol

MakeCallContext: TypeAlias = Callable[[Budget, frozenset[str]], CallContext]
"""For one run; the names of settings that a provider must not refuse. Raises Misuse where a key is missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelReady:
    """A model that the worker was given."""

    name: str
    """`provider/model`."""
    endpoint: str
    """Endpoint identity."""
    model: str
    """The model's name as its endpoint knows it."""
    quote: Quote
    call_context: MakeCallContext

    def is_same_as(self, rater: Rater) -> bool:
        return (self.name, self.endpoint) == (rater.name, rater.endpoint)


@dataclass(frozen=True, slots=True, kw_only=True)
class Seated:
    """The judge of a board, and who extracts, at hand."""

    judge: ModelReady
    extractor: ModelReady
    """The judge itself, or another."""

    @property
    def spoken(self) -> Spoken:
        return Spoken(judge=self.judge.model, extractor=self.extractor.model)

    @property
    def unpriced(self) -> str | None:
        """The name of a model whose price is not known."""
        return next((one.name for one in (self.judge, self.extractor) if not one.quote.known), None)

    def call_context(self, budget: Budget, board: BoardToJoin, protocol: Protocol) -> CallContext:
        judge = board.judge
        # A protocol's default may be adapted, as it was then.
        own = judge.rater.settings.chosen(protocol.settings)
        if judge.condition.image_detail != protocol.seeing.detail and judge.condition.image_detail is not None:
            own |= {"image_detail"}
        context = self.judge.call_context(budget, own)
        if self.extractor is self.judge or judge.extractor is None or protocol.extraction is None:
            return context
        own = judge.extractor.settings.chosen(protocol.extraction.settings)
        return replace(context, second=self.extractor.call_context(budget, own))


def seated(board: BoardToJoin, judge: ModelReady | None, extractor: ModelReady | None) -> Seated:
    """Raises Misuse, with the flags that the worker needs, where these are not the board's."""
    wanted = board.judge
    if wanted.rater.kind != "model":
        raise Misuse(f"The board of {board.intake.benchmark} is judged by people, so no worker can judge for it.")
    if judge is None or not judge.is_same_as(wanted.rater):
        raise Misuse(_differs(board, wanted.rater, judge, _JUDGE))
    second = wanted.extractor
    if second is None or judge.is_same_as(second):
        return Seated(judge=judge, extractor=judge)
    if extractor is None or not extractor.is_same_as(second):
        raise Misuse(_differs(board, second, extractor, _EXTRACTOR))
    return Seated(judge=judge, extractor=extractor)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """How a sentence speaks of one of the two models, and of the flags that name it."""

    called: str
    does: str
    flag: str

    def flags_for(self, rater: Rater) -> str:
        words = f"{self.flag} {rater.name}"
        if "://" in rater.endpoint:
            return f"{words} {self.flag}-base-url {rater.endpoint}"
        if rater.name.startswith(f"{rater.endpoint}/") or rater.name.startswith("local/"):
            return words
        return f"{words} {self.flag}-base-url ADDRESS {self.flag}-endpoint-name {rater.endpoint}"


_JUDGE = _Part(called="judge", does="is judged by", flag="--judge")
_EXTRACTOR = _Part(called="extractor", does="has unclear decisions extracted by", flag="--extractor")


def _differs(board: BoardToJoin, wanted: Rater, given: ModelReady | None, part: _Part) -> str:
    has = f"no {part.called}" if given is None else f"{given.name} at {given.endpoint}"
    return (
        f"The board of {board.intake.benchmark} {part.does} {wanted.name} at {wanted.endpoint}, and the worker was "
        f"given {has}; start it, or `serve`, with {part.flags_for(wanted)}."
    )
