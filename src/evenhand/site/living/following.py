"""Where a proposal stands after what was said of it, and who may say what next."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import reduce

from evenhand.benchmarks.files.items_file import join_captions
from evenhand.site.living.events import (
    NOBODY,
    Answer,
    AnswerFailed,
    Caption,
    CaptionOrAnswer,
    ImageCame,
    ImageFailed,
    Instruction,
    Joined,
    Opinion,
    ProposalEvent,
    ProposalState,
    Rules,
    Said,
    Stage,
    Verification,
    Word,
    Written,
    is_address,
)

FIRST_WAIT = 60.0
"""Seconds until something that failed is tried again; five times as long after each further failure."""
TRIES = 4
"""After so many failures it waits for the owner."""


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
    if (event.person is None and not said.source) or (before is not None and not _writing(before)):
        return before
    given = before is not None and before.stage == "instruct" and before.asked.images == said.images
    fetched = before.fetched if before and given else tuple(None if is_address(one) else one for one in said.images)
    texts = said.captions if len(said.captions) > 1 else ()
    taken_in = Written(seq=event.seq, by="", text=join_captions(said.captions) or "", texts=texts)
    return ProposalState(
        stage=_waits_for(said, fetched),
        instruction=Written(seq=event.seq, by=event.person or "", text=said.text),
        asked=said,
        fetched=fetched,
        caption=taken_in if said.captions else None,
    )


def _waits_for(said: Instruction, fetched: Sequence[str | None]) -> Stage:
    if None in fetched:
        return "image"
    if not said.text:
        return "instruct"
    return "answer" if said.captions else "caption"


def _writing(before: ProposalState) -> bool:
    """Whether nobody has built on the instruction yet."""
    return before.stage in ("image", "instruct", "caption") and before.caption is None


def _pictured(before: ProposalState, event: ProposalEvent, said: ImageCame | ImageFailed) -> ProposalState:
    if before.stage != "image" or said.about != before.instruction.seq or said.place not in missing_images(before):
        return before
    if isinstance(said, ImageFailed):
        return replace(before, failures=(*before.failures, event))
    fetched = tuple(said.digest if place == said.place else one for place, one in enumerate(before.fetched))
    others = tuple(one for one in before.failures if one not in _failures_of(before, said.place))
    return replace(before, stage=_waits_for(before.asked, fetched), fetched=fetched, failures=others)


def missing_images(found: ProposalState) -> Sequence[int]:
    """The places of those that have not come yet."""
    return [place for place, one in enumerate(found.fetched) if one is None]


def _failures_of(found: ProposalState, place: int) -> list[ProposalEvent]:
    return [one for one in found.failures if isinstance(one.said, ImageFailed) and one.said.place == place]


def _captioned(before: ProposalState, event: ProposalEvent, said: Caption) -> ProposalState:
    if event.person is None or said.about != before.instruction.seq or not _captioning(before):
        return before
    written = Written(seq=event.seq, by=event.person, text=said.text, texts=said.texts)
    return replace(before, stage="answer", caption=written, answer=None, attempt=1, failures=(), opinions=())


def _captioning(before: ProposalState) -> bool:
    return before.stage in ("caption", "answer") or (before.stage == "verify" and not before.opinions)


def _answered(before: ProposalState, event: ProposalEvent, said: Answer | AnswerFailed) -> ProposalState:
    due = before.caption is not None and (said.about, said.attempt) == (before.caption.seq, before.attempt)
    if before.stage != "answer" or not due:
        return before
    if isinstance(said, AnswerFailed):
        return replace(before, failures=(*before.failures, event))
    return replace(before, stage="verify", answer=said, answer_seq=event.seq, failures=(), opinions=(), cleared=NOBODY)


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
        return replace(before, stage="caption", answer=None, failures=(), opinions=(), cleared=NOBODY)
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
        attempt=before.attempt + 1,
        failures=(),
        opinions=(),
        cleared=NOBODY,
        reason="",
    )


def _worded(before: ProposalState, event: ProposalEvent, said: Word) -> ProposalState:
    match said.word:
        case "rejected" if before.stage not in ("joined", "withdrawn", "removed"):
            return replace(before, stage="rejected", reason=said.reason)
        case "removed" if before.stage == "joined":
            return replace(before, stage="removed", reason=said.reason)
        case "withdrawn" if event.person == before.instruction.by and _writing(before):
            return _given_back(before, event) if before.asked.source else replace(before, stage="withdrawn")
        case "cleared" if before.stage == "flagged":
            return _decided(replace(before, cleared=_offended(before)))
        case "again" if before.stage in ("image", "answer"):
            return _tried_again(before)
        case "again" if before.stage == "rejected":
            return _reopened(before)
        case _:
            return before


def _given_back(before: ProposalState, event: ProposalEvent) -> ProposalState:
    """A row that was taken in, for somebody else to write its instruction."""
    asked = replace(before.asked, text="", round=0)
    written = Written(seq=event.seq, by="", text="")
    return replace(before, stage=_waits_for(asked, before.fetched), asked=asked, instruction=written, failures=())


def _tried_again(before: ProposalState) -> ProposalState:
    last = before.failures[-1].said if before.failures else None
    if isinstance(last, AnswerFailed) and last.final:
        return _another_answer(before)
    return replace(before, failures=())


def _reopened(before: ProposalState) -> ProposalState:
    if before.caption is not None and not missing_images(before):
        return _another_answer(before)
    return replace(before, stage=_waits_for(before.asked, before.fetched), failures=(), reason="")


def may_write_again(found: ProposalState, person: str) -> bool:
    """Whether the writer may still change it, or withdraw it."""
    return found.instruction.by == person and _writing(found)


def may_instruct(found: ProposalState, person: str) -> bool:
    """Whether somebody may write the instruction of a row that was taken in, or change theirs."""
    return found.stage == "instruct" or (bool(found.asked.source) and may_write_again(found, person))


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
    """When the worker may try, in seconds since the epoch: 0 for at once; None where it waits for the owner, of
    several images where one does."""
    if found.stage != "image":
        return _after_failures(found.failures)
    tries = [next_image_try(found, place) for place in missing_images(found)]
    due = [one for one in tries if one is not None]
    return min(due, default=0.0) if len(due) == len(tries) else None


def next_image_try(found: ProposalState, place: int) -> float | None:
    """Of the image in this place."""
    return _after_failures(_failures_of(found, place))


def _after_failures(failures: Sequence[ProposalEvent]) -> float | None:
    if not failures:
        return 0.0
    last = failures[-1]
    final = isinstance(last.said, ImageFailed | AnswerFailed) and last.said.final
    if final or len(failures) >= TRIES:
        return None
    return last.at + FIRST_WAIT * 5.0 ** (len(failures) - 1)


def last_opinions(events: Iterable[ProposalEvent]) -> dict[int, dict[str, Verification]]:
    """By answer, what each person last said of it: of all answers, superseded ones too."""
    found: dict[int, dict[str, Verification]] = {}
    for event in events:
        if isinstance(event.said, Verification) and event.person is not None:
            found.setdefault(event.said.about, {})[event.person] = event.said
    return found
