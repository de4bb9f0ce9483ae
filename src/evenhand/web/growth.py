"""What a growing benchmark asks of one person, and what its people have done."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.proposal import (
    OVER,
    Caption,
    ImageFailed,
    Instruction,
    Standing,
    Verification,
    last_opinions,
    may_caption,
    may_verify,
)
from evenhand.intervals import clustered_share
from evenhand.ledger.growing import GrowingBenchmark, Skill
from evenhand.ledger.proposals import Proposal, find_proposal, lease, skipped
from evenhand.ledger.proposals_at_hand import Known, ProposalsAtHand
from evenhand.ledger.record import Ledger
from evenhand.reliability.alpha import krippendorff_alpha
from evenhand.reliability.opinions import Cases, Opinions

Step: TypeAlias = Literal["caption", "verify"]
Doing: TypeAlias = Literal["write", "caption", "verify"]
TaskState: TypeAlias = Literal["open", "written", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingTask:
    number: int
    """From 1."""
    skill: Skill
    state: TaskState
    proposal: Proposal | None
    """This person's for this skill, unless it is over and they may write another."""
    rejected: Proposal | None = None
    """Their last one, where it was rejected or taken out and they have written no other since."""

    @property
    def image_fault(self) -> str | None:
        """Why the worker could not fetch the image, at its last try."""
        if self.proposal is None or self.proposal.standing.stage != "image":
            return None
        failures = [event.said for event in self.proposal.standing.failures if isinstance(event.said, ImageFailed)]
        return failures[-1].detail if failures else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """All that a benchmark asks of one person at this moment."""

    growing: GrowingBenchmark
    writing: Sequence[WritingTask]
    caption: Sequence[Proposal]
    verify: Sequence[Proposal]
    mine: Sequence[tuple[Step, Proposal]]
    """What this person captioned or verified, the newest last."""
    joined: int
    passed_over: frozenset[Doing] = frozenset()
    """Where this person skipped something that is not offered now."""

    @property
    def written(self) -> int:
        return sum(task.state == "written" for task in self.writing)

    @property
    def next_task(self) -> WritingTask | None:
        return next((task for task in self.writing if task.state == "open"), None)

    @property
    def troubled(self) -> Sequence[WritingTask]:
        """Of this person's writing: what was rejected, or has no image because it could not be fetched."""
        return [task for task in self.writing if task.rejected is not None or task.image_fault is not None]

    def waiting(self, step: Step) -> Sequence[Proposal]:
        return self.caption if step == "caption" else self.verify

    def done(self, step: Step) -> Sequence[Proposal]:
        """By this person, the newest last."""
        return [one for kind, one in self.mine if kind == step]


def asked_of(at_hand: ProposalsAtHand, growing: GrowingBenchmark, person: str) -> Asked:
    known = at_hand.of(growing.id)
    passed = skipped(at_hand.ledger, person)
    worked_on = known.of_person(person)
    return Asked(
        growing=growing,
        writing=_writing(growing, worked_on, person, passed),
        caption=[one for one in known.at("caption") if _offered(one, "caption", growing, person, passed)],
        verify=[one for one in known.at("verify") if _offered(one, "verify", growing, person, passed)],
        mine=_mine(worked_on, person),
        joined=len(known.at("joined")),
        passed_over=frozenset(_passed_over(known, growing, person, passed)),
    )


def _passed_over(known: Known, growing: GrowingBenchmark, person: str, passed: set[str]) -> Iterator[Doing]:
    if not passed:
        return
    if any(one.state == "skipped" for one in _writing(growing, known.of_person(person), person, passed)):
        yield "write"
    steps: tuple[Step, ...] = ("caption", "verify")
    for step in steps:
        there = (one for one in known.at(step) if step_skip(growing.id, step, one.id) in passed)
        if any(_offered(one, step, growing, person, set()) for one in there):
            yield step


def _writing(
    growing: GrowingBenchmark, found: Iterable[Proposal], person: str, passed: set[str]
) -> tuple[WritingTask, ...]:
    last = {one.standing.asked.skill: one for one in found if one.standing.instruction.by == person}
    theirs = {skill: one for skill, one in last.items() if one.standing.stage not in OVER}
    rejected = {skill: one for skill, one in last.items() if one.standing.stage in ("rejected", "removed")}

    def state(skill: str) -> TaskState:
        if skill in theirs:
            return "written"
        return "skipped" if writing_name(growing.id, skill) in passed else "open"

    return tuple(
        WritingTask(
            number=number,
            skill=skill,
            state=state(skill.name),
            proposal=theirs.get(skill.name),
            rejected=rejected.get(skill.name),
        )
        for number, skill in enumerate(growing.terms.skills, start=1)
    )


def writing_name(growing: str, skill: str) -> str:
    return f"write {growing} {skill}"


def step_skip(growing: str, step: Step, proposal: str) -> str:
    return f"{step} {growing} {proposal}"


def _offered(one: Proposal, step: Step, growing: GrowingBenchmark, person: str, passed: set[str]) -> bool:
    stands, rules = one.standing, growing.terms.rules
    if passed and step_skip(growing.id, step, one.id) in passed:
        return False
    if step == "caption":
        return may_caption(stands, person, rules)
    return may_verify(stands, person, rules) and stands.opinion_of(person) is None


def _mine(found: Sequence[Proposal], person: str) -> Sequence[tuple[Step, Proposal]]:
    last: dict[tuple[Step, str], tuple[int, Proposal]] = {}
    for one in found:
        for event in one.events:
            if event.person == person and isinstance(event.said, Caption | Verification):
                step: Step = "caption" if isinstance(event.said, Caption) else "verify"
                last[step, one.id] = event.seq, one
    return [(step, one) for (step, _), (_, one) in sorted(last.items(), key=lambda each: each[1][0])]


def take(ledger: Ledger, asked: Asked, step: Step, person: str) -> Proposal | None:
    """The next that waits for this person and that nobody else has before them."""
    gone: set[str] = set()
    while True:
        one = _leased(ledger, asked, step, person, gone)
        if one is None:
            return None
        # What was asked may be a moment old: whoever had this one before them may have done it since.
        now = find_proposal(ledger, asked.growing.id, one.id)
        if now is not None and now.standing.stage == step and _offered(now, step, asked.growing, person, set()):
            return now
        gone.add(one.id)


def _leased(ledger: Ledger, asked: Asked, step: Step, person: str, gone: set[str]) -> Proposal | None:
    seen: dict[str, Proposal] = {}

    def places() -> Iterator[str]:
        for one in asked.waiting(step):
            for place in _places(asked.growing, step, one) if one.id not in gone else ():
                seen[place] = one
                yield place

    taken = lease(ledger, person, places(), start=place_start(asked.growing.id, step))
    return None if taken is None else seen[taken]


def _places(growing: GrowingBenchmark, step: Step, one: Proposal) -> list[str]:
    """As many as may work on it at once."""
    stands: Standing = one.standing
    wanted = 1 if step == "caption" else max(1, growing.terms.rules.verifiers - len(stands.opinions))
    start = place_start(growing.id, step, one)
    return [f"{start}{number}" for number in range(wanted)]


def about(one: Proposal, step: Step) -> int:
    """The number of what is to be captioned or verified; another instruction or answer has another one."""
    return one.standing.instruction.seq if step == "caption" else one.standing.answer_seq


def place_start(growing: str, step: Step, one: Proposal | None = None) -> str:
    """How the names of the places begin; of one task, or of all of this step."""
    return f"{step} {growing} " if one is None else f"{step} {growing} {one.id} {about(one, step)} "


@dataclass(frozen=True, slots=True, kw_only=True)
class Share:
    """What one person has done."""

    written: int
    captioned: int
    verified: int
    joined: int
    """Items of the benchmark that stand on what they wrote, captioned or verified."""


def shares(found: Iterable[Proposal]) -> dict[str, Share]:
    """By person."""
    counted: Counter[tuple[str, str]] = Counter()
    for one in found:
        done = {(event.person, type(event.said)) for event in one.events if event.person is not None}
        counted.update((person, kind.__name__) for person, kind in done)
        if one.standing.stage == "joined":
            counted.update((person, "joined") for person in _behind(one.standing))
    return {
        person: Share(
            written=counted[person, Instruction.__name__],
            captioned=counted[person, Caption.__name__],
            verified=counted[person, Verification.__name__],
            joined=counted[person, "joined"],
        )
        for person in dict.fromkeys(person for person, _ in counted)
    }


def _behind(found: Standing) -> set[str]:
    captioned = () if found.caption is None else (found.caption.by,)
    return {found.instruction.by, *captioned, *(one.by for one in found.opinions if one.verification.follows)}


@dataclass(frozen=True, slots=True, kw_only=True)
class VerifiersAgreement:
    answers: int
    """Verified by two people or more."""
    alike: Estimate
    """Share of pairs of people who said the same of an answer."""
    alpha: Estimate
    """Krippendorff's; of two values, which any metric sets equally far apart."""


def verifiers_agreement(found: Iterable[Proposal]) -> VerifiersAgreement | None:
    """On whether answers follow their instructions; None where nobody verified what another had."""
    cases = [list(said.items()) for one in found for said in last_opinions(one.events).values() if len(said) > 1]
    if not cases:
        return None
    pairs = [
        (number, a[1].follows == b[1].follows) for number, said in enumerate(cases) for a, b in combinations(said, 2)
    ]
    raters = tuple(dict.fromkeys(person for said in cases for person, _ in said))
    rows = [(number, raters.index(person), one) for number, said in enumerate(cases) for person, one in said]
    opinions = Opinions(
        cases=Cases(item=np.arange(len(cases)), model=np.zeros(len(cases), dtype=np.intp), models=("",)),
        raters=raters,
        case=np.array([case for case, _, _ in rows]),
        rater=np.array([rater for _, rater, _ in rows]),
        value=np.array([1.0 if one.follows else -1.0 for _, _, one in rows]),
        levels=2,
    )
    return VerifiersAgreement(
        answers=len(cases),
        alike=clustered_share(
            np.array([alike for _, alike in pairs], dtype=np.float64),
            np.ones(len(pairs)),
            np.array([case for case, _ in pairs]),
        ),
        alpha=krippendorff_alpha(opinions),
    )
