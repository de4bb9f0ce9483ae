"""A proposed item: what people and the worker say about it, and where that can leave it (following.py).

Events are only ever added; where a proposal stands follows from its events alone, under the rules that each
verification was given with, so that a change of the rules changes nothing that was decided before.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from evenhand.domain.event import Event

Stage: TypeAlias = Literal[
    "image",
    "instruct",
    "caption",
    "answer",
    "verify",
    "flagged",
    "accepted",
    "joined",
    "rejected",
    "withdrawn",
    "removed",
]
"""What it waits for (instruct: an instruction about an image that was taken in); or flagged (the owner decides),
accepted (waits for a version), or how it ended: removed is one
that had joined and was taken out of all versions to come."""

OVER: tuple[Stage, ...] = ("rejected", "withdrawn", "removed")
"""Its writer may propose another for the same skill."""

CaptionOrAnswer: TypeAlias = Literal["answer", "caption", "neither"]
"""What is at fault where an answer does not follow its instruction (VisIT-Bench, Figs. 13 and 14)."""

NOBODY: frozenset[str] = frozenset()
OwnersWord: TypeAlias = Literal["cleared", "again", "rejected", "withdrawn", "removed"]


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
    round: int = 1
    """Which of the instructions that its writer writes for this skill; 0 for a row that was taken in and is nobody's
    task."""
    pictures: tuple[str, ...] = ()
    """Of several images, each in its place: the digest of one that was uploaded, or where it is from."""
    captions: tuple[str, ...] = ()
    """One for each image, where it was taken in with them."""
    source: str = ""
    """The dataset that it was taken in from; with no text yet, it waits for somebody to write one."""
    instance: str = ""
    """What it is called there."""

    @property
    def images(self) -> tuple[str, ...]:
        """In their order, each a digest or an address."""
        return self.pictures or tuple(filter(None, (self.image or self.url,)))

    @property
    def urls(self) -> tuple[str, ...]:
        return tuple(filter(is_address, self.images))

    @property
    def origin(self) -> str:
        """The dataset, or where the images are from; empty where they were uploaded."""
        return self.source or " ".join(self.urls)


def is_address(image: str) -> bool:
    return ":" in image


def with_images(said: Instruction, images: Sequence[str]) -> Instruction:
    """Of one, as it was said before there could be several."""
    if len(images) > 1:
        return replace(said, pictures=tuple(images), image=None, url=None)
    (one,) = images
    uploaded = not is_address(one)
    return replace(said, pictures=(), image=one if uploaded else None, url=None if uploaded else one)


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageCame:
    about: int
    digest: str
    place: int = 0
    """Among the images, from 0."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageFailed:
    about: int
    detail: str
    final: bool
    """Whether trying again is in vain."""
    place: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Caption:
    about: int
    text: str
    texts: tuple[str, ...] = ()
    """Of several images, one each; `text` is all of them."""


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
    """A text that stands, with who wrote it: "" for a row that was taken in."""

    seq: int
    by: str
    text: str
    texts: tuple[str, ...] = ()
    """Of a caption of several images, one each."""


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
    fetched: tuple[str | None, ...]
    """The digest of each image, in its place; None until it has come."""
    caption: Written | None = None
    """In stage `caption` the one that was found underspecified, if any."""
    answer: Answer | None = None
    answer_seq: int = 0
    attempt: int = 1
    failures: tuple[ProposalEvent, ...] = ()
    """Of what the worker tries at this stage, since it last went well or the owner asked for another try."""
    opinions: tuple[Opinion, ...] = ()
    """On this answer, each person's last."""
    cleared: frozenset[str] = NOBODY
    """Whose marks of an offence the owner has cleared; one that comes later, or anew, stops it again."""
    reason: str = ""
    """Why it was rejected or taken out."""
    joined: Joined | None = None

    @property
    def images(self) -> tuple[str, ...]:
        """Digests of those that have come, in their order."""
        return tuple(filter(None, self.fetched))

    @property
    def image(self) -> str | None:
        return next(iter(self.images), None)

    @property
    def ended(self) -> bool:
        return self.stage == "joined" or self.stage in OVER

    def opinion_of(self, person: str) -> Verification | None:
        return next((one.verification for one in self.opinions if one.by == person), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """The owner's, for everybody who works on a benchmark."""

    alone: bool = False
    """Whether one person may caption and verify what came of their own instruction or caption."""
    verifiers: int = 1
    attempts: int = 2
