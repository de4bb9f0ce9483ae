"""A proposed item: what people and the worker said about it, and where that leaves it.

Events are only ever added; where a proposal stands follows from its events alone, under the rules that each
verification was given with, so that a change of the rules changes nothing that was decided before.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Literal, TypeAlias

from evenhand.domain.event import Event

Stage: TypeAlias = Literal[
    "image", "caption", "answer", "verify", "flagged", "accepted", "joined", "rejected", "withdrawn", "removed"
]
"""What it waits for; or flagged (the owner decides), accepted (waits for a version), or how it ended: removed is one
that had joined and was taken out of all versions to come."""

OVER: tuple[Stage, ...] = ("rejected", "withdrawn", "removed")
"""Its writer may propose another for the same skill."""

CaptionOrAnswer: TypeAlias = Literal["answer", "caption", "neither"]
"""What is at fault where an answer does not follow its instruction (VisIT-Bench, Figs. 13 and 14)."""

_NOBODY: frozenset[str] = frozenset()
OwnersWord: TypeAlias = Literal["cleared", "again", "rejected", "withdrawn", "removed"]

FIRST_WAIT = 60.0
"""Seconds until something that failed is tried again; five times as long after each further failure."""
TRIES = 4
"""After so many failures it waits for the owner."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Instruction:
    skill: str
    text: str
    licence: str
    """Of the image, in the words of whoever chose it."""
    image: str | None = None
    """Digest of an image that was uploaded."""
    url: str | None = None
    """Where the image is from, where it was not uploaded."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCame:
    about: int
    digest: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFailed:
    about: int
    detail: str
    final: bool
    """Whether trying again is in vain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    about: int
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    about: int
    attempt: int
    text: str
    model: str
    call: str
    """The call's key on record."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerFailed:
    about: int
    attempt: int
    detail: str
    final: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Verification:
    about: int
    follows: bool
    fault: CaptionOrAnswer | None = None
    """Only where it does not follow."""
    offensive: bool = False
    verifiers: int = 1
    """The rule when it was given: how many people look at each answer."""
    attempts: int = 2
    """The rule when it was given: how many answers to one caption are tried."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Word:
    """The owner's: a flag cleared, another try, a rejection, an item taken out. Or the writer's, who withdraws it."""

    word: OwnersWord
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined:
    version: int
    item: str
    """The item's digest."""


Said: TypeAlias = Instruction | ImageCame | ImageFailed | Caption | Answer | AnswerFailed | Verification | Word | Joined


ProposalEvent: TypeAlias = Event[Said]
"""`about` in what was said is the `seq` of the event it answers to: what answers to a superseded one counts not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Written:
    """A text that stands, with who wrote it."""

    seq: int
    by: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Opinion:
    by: str
    verification: Verification


@dataclass(frozen=True, slots=True, kw_only=True)
class ProposalState:
    """Where a proposal stands."""

    stage: Stage
    instruction: Written
    asked: Instruction
    image: str | None
    caption: Written | None = None
    """In stage `caption` the one that was found underspecified, if any."""
    answer: Answer | None = None
    answer_seq: int = 0
    attempt: int = 1
    failures: tuple[ProposalEvent, ...] = ()
    """Of what the worker tries at this stage, since it last went well or the owner asked for another try."""
    opinions: tuple[Opinion, ...] = ()
    """On this answer, each person's last."""
    cleared: frozenset[str] = _NOBODY
    """Whose marks of an offence the owner has cleared; one that comes later, or anew, stops it again."""
    reason: str = ""
    """Why it was rejected or taken out."""
    joined: Joined | None = None

    @property
    def ended(self) -> bool:
        return self.stage == "joined" or self.stage in OVER

    def opinion_of(self, person: str) -> Verification | None:
        return next((one.verification for one in self.opinions if one.by == person), None)


def standing(events: Iterable[ProposalEvent]) -> ProposalState | None:
    """Of one proposal's events in their order; None before its first instruction. Events that do not fit are passed
    over, as where a caption came for an instruction that was changed in the meantime."""
    return reduce(after, events, None)


def after(before: ProposalState | None, event: ProposalEvent) -> ProposalState | None:
    said = event.said
    if isinstance(said, Instruction):
        return _instructed(before, event, said)
    if before is None:
        return None
    match said:
        case ImageCame() | ImageFailed():
            return _pictured(before, event, said)
        case Caption():
            return _captioned(before, event, said)
        case Answer() | AnswerFailed():
            return _answered(before, event, said)
        case Verification():
            return _verified(before, event, said)
        case Word():
            return _worded(before, event, said)
        case Joined():
            return replace(before, stage="joined", joined=said) if before.stage == "accepted" else before


def _instructed(before: ProposalState | None, event: ProposalEvent, said: Instruction) -> ProposalState | None:
    if event.person is None or (before is not None and not _writing(before)):
        return before
    return ProposalState(
        stage="image" if said.image is None else "caption",
        instruction=Written(seq=event.seq, by=event.person, text=said.text),
        asked=said,
        image=said.image,
    )


def _writing(before: ProposalState) -> bool:
    """Whether nobody has built on the instruction yet."""
    return before.stage in ("image", "caption") and before.caption is None


def _pictured(before: ProposalState, event: ProposalEvent, said: ImageCame | ImageFailed) -> ProposalState:
    if before.stage != "image" or said.about != before.instruction.seq:
        return before
    if isinstance(said, ImageFailed):
        return replace(before, failures=(*before.failures, event))
    return replace(before, stage="caption", image=said.digest, failures=())


def _captioned(before: ProposalState, event: ProposalEvent, said: Caption) -> ProposalState:
    if event.person is None or said.about != before.instruction.seq or not _captioning(before):
        return before
    written = Written(seq=event.seq, by=event.person, text=said.text)
    return replace(
        before, stage="answer", caption=written, answer=None, answer_seq=0, attempt=1, failures=(), opinions=()
    )


def _captioning(before: ProposalState) -> bool:
    return before.stage in ("caption", "answer") or (before.stage == "verify" and not before.opinions)


def _answered(before: ProposalState, event: ProposalEvent, said: Answer | AnswerFailed) -> ProposalState:
    due = before.caption is not None and (said.about, said.attempt) == (before.caption.seq, before.attempt)
    if before.stage != "answer" or not due:
        return before
    if isinstance(said, AnswerFailed):
        return replace(before, failures=(*before.failures, event))
    return replace(before, stage="verify", answer=said, answer_seq=event.seq, failures=(), opinions=(), cleared=_NOBODY)


def _verified(before: ProposalState, event: ProposalEvent, said: Verification) -> ProposalState:
    if event.person is None or before.stage not in VERIFIABLE or said.about != before.answer_seq:
        return before
    others = tuple(one for one in before.opinions if one.by != event.person)
    cleared = before.cleared if said.offensive else before.cleared - {event.person}
    return _decided(replace(before, opinions=(*others, Opinion(by=event.person, verification=said)), cleared=cleared))


VERIFIABLE: tuple[Stage, ...] = ("verify", "flagged", "accepted")
"""Until it has joined, another opinion counts: who looked at the answer before it was accepted is heard."""


def _decided(before: ProposalState) -> ProposalState:
    """By the rule of the last opinion: more say yes than no, of as many as are wanted; a tie waits for one more."""
    said = [one.verification for one in before.opinions]
    if _offended(before) - before.cleared:
        return replace(before, stage="flagged")
    yes = sum(one.follows for one in said)
    no = len(said) - yes
    if not said or len(said) < said[-1].verifiers or yes == no:
        return replace(before, stage="verify")
    if yes > no:
        return replace(before, stage="accepted")
    return _at_fault(before, [one.fault or "neither" for one in said if not one.follows], said[-1].attempts)


def _offended(found: ProposalState) -> frozenset[str]:
    return frozenset(one.by for one in found.opinions if one.verification.offensive)


def _at_fault(before: ProposalState, faults: Sequence[CaptionOrAnswer], attempts: int) -> ProposalState:
    counted = Counter(faults)
    most = max(counted.values())
    # Where as many say one as the other, a better caption comes first: the answer is made from it.
    order: tuple[CaptionOrAnswer, ...] = ("caption", "answer", "neither")
    fault = next(one for one in order if counted[one] == most)
    if fault == "caption":
        return replace(before, stage="caption", answer=None, answer_seq=0, failures=(), opinions=(), cleared=_NOBODY)
    if fault == "answer" and before.attempt < attempts:
        return _another_answer(before)
    wrong = "the answer made from it was" if before.attempt == 1 else f"{before.attempt} answers made from it were"
    reason = {
        "answer": f"The caption is fine, and {wrong} wrong.",
        "neither": "The answer does not follow, and neither the caption nor the model is at fault.",
    }[fault]
    return replace(before, stage="rejected", reason=reason)


def _another_answer(before: ProposalState) -> ProposalState:
    return replace(
        before,
        stage="answer",
        answer=None,
        answer_seq=0,
        attempt=before.attempt + 1,
        failures=(),
        opinions=(),
        cleared=_NOBODY,
        reason="",
    )


def _worded(before: ProposalState, event: ProposalEvent, said: Word) -> ProposalState:
    match said.word:
        case "rejected" if before.stage not in ("joined", "withdrawn", "removed"):
            return replace(before, stage="rejected", reason=said.reason)
        case "removed" if before.stage == "joined":
            return replace(before, stage="removed", reason=said.reason)
        case "withdrawn" if event.person == before.instruction.by and _writing(before):
            return replace(before, stage="withdrawn")
        case "cleared" if before.stage == "flagged":
            return _decided(replace(before, cleared=_offended(before)))
        case "again" if before.stage in ("image", "answer"):
            return _tried_again(before)
        case "again" if before.stage == "rejected":
            return _reopened(before)
        case _:
            return before


def _tried_again(before: ProposalState) -> ProposalState:
    last = before.failures[-1].said if before.failures else None
    if isinstance(last, AnswerFailed) and last.final:
        return _another_answer(before)
    return replace(before, failures=())


def _reopened(before: ProposalState) -> ProposalState:
    if before.caption is not None:
        return _another_answer(before)
    return replace(before, stage="image" if before.image is None else "caption", failures=(), reason="")


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The owner's, for everybody who works on a benchmark."""

    alone: bool = False
    """Whether one person may caption and verify what came of their own instruction or caption."""
    verifiers: int = 1
    attempts: int = 2


def may_write_again(found: ProposalState, person: str) -> bool:
    """Whether the writer may still change it, or withdraw it."""
    return found.instruction.by == person and _writing(found)


def may_caption(found: ProposalState, person: str, rules: Rules) -> bool:
    if found.stage == "caption":
        return rules.alone or found.instruction.by != person
    return found.caption is not None and found.caption.by == person and _captioning(found)


def may_verify(found: ProposalState, person: str, rules: Rules) -> bool:
    if found.stage not in VERIFIABLE:
        return False
    made = {found.instruction.by, found.caption.by if found.caption else ""}
    return rules.alone or person not in made or found.opinion_of(person) is not None


def said_already(found: ProposalState, events: Sequence[ProposalEvent], person: str, said: Said) -> bool:
    """Whether a person says the very same again, as where a form is sent twice; `events` led to where it stands."""
    match said:
        case Instruction():
            return found.instruction.by == person and found.asked == said
        case Caption():
            last = found.caption
            return found.stage != "caption" and last is not None and (last.by, last.text) == (person, said.text)
        case Verification():
            # Of the events, as a no may have taken the answer away with all opinions on it.
            return last_opinions(events).get(said.about, {}).get(person) == said
        case _:
            return False


def next_try(found: ProposalState) -> float | None:
    """When the worker may try, in seconds since the epoch: 0 for at once; None where it waits for the owner."""
    if not found.failures:
        return 0.0
    last = found.failures[-1]
    final = isinstance(last.said, ImageFailed | AnswerFailed) and last.said.final
    if final or len(found.failures) >= TRIES:
        return None
    return last.at + FIRST_WAIT * 5.0 ** (len(found.failures) - 1)


def last_opinions(events: Iterable[ProposalEvent]) -> dict[int, dict[str, Verification]]:
    """By answer, what each person last said of it: of all answers, superseded ones too."""
    found: dict[int, dict[str, Verification]] = {}
    for event in events:
        if isinstance(event.said, Verification) and event.person is not None:
            found.setdefault(event.said.about, {})[event.person] = event.said
    return found
