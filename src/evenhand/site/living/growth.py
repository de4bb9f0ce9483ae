"""What a growing benchmark asks of one person, and what its people have done."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from operator import itemgetter
from typing import Literal, TypeAlias

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.ledger.store.record import Ledger
from evenhand.site.living.cache import KnownProposals, ProposalCache
from evenhand.site.living.events import (
    OVER,
    Caption,
    ImageFailed,
    Instruction,
    ProposalEvent,
    ProposalState,
    Verification,
)
from evenhand.site.living.following import last_opinions, may_caption, may_verify
from evenhand.site.living.settings import ROUNDS_MOST, GrowingBenchmark, Skill
from evenhand.site.living.store import Proposal, find_proposal, lease, skipped
from evenhand.stats.intervals import clustered_share
from evenhand.stats.reliability.agreement.alpha import krippendorff_alpha
from evenhand.stats.reliability.agreement.rater_matrix import Cases, RaterMatrix

Step: TypeAlias = Literal["instruct", "caption", "verify"]
Doing: TypeAlias = Literal["write", "instruct", "caption", "verify"]
STEPS: tuple[Step, ...] = ("instruct", "caption", "verify")
TaskState: TypeAlias = Literal["open", "written", "skipped"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WritingTask:
    number: int
    """From 1."""
    skill: Skill
    round: int
    """From 1: which of this person's instructions for this skill."""
    state: TaskState
    proposal: Proposal | None
    """This person's for this skill and round, unless it is over and they may write another."""
    rejected: Proposal | None = None
    """Their last one, where it was rejected or taken out and they have written no other since."""

    def name(self, growing: str) -> str:
        """Under which it is skipped, and its draft kept."""
        return writing_name(growing, self.skill.name, self.round)

    @property
    def image_fault(self) -> str | None:
        """Why the worker could not fetch the image, at its last try."""
        if self.proposal is None or self.proposal.standing.stage != "image":
            return None
        failures = [event.said for event in self.proposal.standing.failures if isinstance(event.said, ImageFailed)]
        return failures[-1].detail if failures else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Assignments:
    """All that a benchmark asks of one person at this moment."""

    growing: GrowingBenchmark
    person: str
    known: KnownProposals
    passed: frozenset[str]
    """What this person skipped, on any benchmark."""
    writing: Sequence[WritingTask]

    @property
    def joined(self) -> int:
        return len(self.known.at("joined"))

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

    @property
    def instruct(self) -> "PersonQueue":
        return self.waiting("instruct")

    @property
    def caption(self) -> "PersonQueue":
        return self.waiting("caption")

    @property
    def verify(self) -> "PersonQueue":
        return self.waiting("verify")

    def waiting(self, step: Step) -> "PersonQueue":
        return PersonQueue(asked=self, step=step)

    def offered(self, one: Proposal, step: Step) -> bool:
        return not self.has_skipped(one, step) and self.may_do(one, step)

    def has_skipped(self, one: Proposal, step: Step) -> bool:
        return step_skip(self.growing.id, step, one.id) in self.passed

    def may_do(self, one: Proposal, step: Step) -> bool:
        """Whether it waits for this person, be it that they skipped it."""
        stands, rules = one.standing, self.growing.terms.rules
        if stands.stage != step:
            return False
        if step == "instruct":
            return True
        if step == "caption":
            return may_caption(stands, self.person, rules)
        return may_verify(stands, self.person, rules) and stands.opinion_of(self.person) is None

    @property
    def passed_over(self) -> frozenset[Doing]:
        """Where this person skipped something that is not offered now."""
        return frozenset(self._passed_over())

    def _passed_over(self) -> Iterator[Doing]:
        if any(task.state == "skipped" for task in self.writing):
            yield "write"
        for step in STEPS:
            if any(self.has_skipped(one, step) and self.may_do(one, step) for one in self.known.at(step)):
                yield step

    def done(self, step: Step) -> Sequence[Proposal]:
        """By this person, the newest last."""
        last: list[tuple[int, Proposal]] = []
        for one in self.known.of_person(self.person):
            said = [event.seq for event in one.events if event.person == self.person and done_in(step, event)]
            last += [(said[-1], one)] if said else []
        return [one for _, one in sorted(last, key=itemgetter(0))]


def done_in(step: Step, event: ProposalEvent) -> bool:
    """Whether this is what somebody does in this step."""
    said = event.said
    if isinstance(said, Instruction):
        # A row of a writer's own is a task of theirs, as is all that they write.
        return step == "instruct" and bool(said.source) and not said.round
    return isinstance(said, Caption if step == "caption" else Verification) and step != "instruct"


@dataclass(frozen=True, slots=True, kw_only=True)
class PersonQueue(Collection[Proposal]):
    """What waits for one person, in the order it was made: as there may be thousands, each is looked at only when its
    turn comes, and they are counted without a look at any."""

    asked: Assignments
    step: Step

    def __iter__(self) -> Iterator[Proposal]:
        return (one for one in self.asked.known.at(self.step) if self.asked.offered(one, self.step))

    def __len__(self) -> int:
        # Whatever this person neither worked on nor skipped is theirs to do.
        known, step = self.asked.known, self.step
        theirs = {one.id for one in known.of_person(self.asked.person)}
        start = step_skip(self.asked.growing.id, step, "")
        skips = {name.removeprefix(start) for name in self.asked.passed if name.startswith(start)}
        found = [known.found[one] for one in theirs | (skips & known.found.keys())]
        kept_from_them = sum(one.standing.stage == step and not self.asked.offered(one, step) for one in found)
        return len(known.at(step)) - kept_from_them

    def __contains__(self, one: object) -> bool:
        return any(each == one for each in self)


def asked_of(at_hand: ProposalCache, growing: GrowingBenchmark, person: str) -> Assignments:
    known = at_hand.of(growing.id)
    passed = frozenset(skipped(at_hand.ledger, person))
    writing = _writing(growing, known.of_person(person), person, passed)
    return Assignments(growing=growing, person=person, known=known, passed=passed, writing=writing)


def _writing(
    growing: GrowingBenchmark, found: Iterable[Proposal], person: str, passed: Collection[str]
) -> tuple[WritingTask, ...]:
    """Round after round, so that a task keeps its number where the owner adds a round."""
    last = {
        (one.standing.asked.round, one.standing.asked.skill): one
        for one in found
        if one.standing.instruction.by == person
    }
    terms = growing.terms
    wanted = [(number, skill) for number in range(1, terms.per_skill + 1) for skill in terms.skills]
    # What was written before the owner wanted fewer stays its writer's to look at.
    more = [(number, skill) for number in range(terms.per_skill + 1, ROUNDS_MOST + 1) for skill in terms.skills]
    wanted += [one for one in more if (one[0], one[1].name) in last]

    def task(number: int, in_round: int, skill: Skill) -> WritingTask:
        one = last.get((in_round, skill.name))
        stage = None if one is None else one.standing.stage
        passed_over = writing_name(growing.id, skill.name, in_round) in passed
        theirs = None if stage in OVER else one
        return WritingTask(
            number=number,
            skill=skill,
            round=in_round,
            state="written" if theirs else "skipped" if passed_over else "open",
            proposal=theirs,
            rejected=one if stage in ("rejected", "removed") else None,
        )

    return tuple(task(number, *one) for number, one in enumerate(wanted, start=1))


def writing_name(growing: str, skill: str, in_round: int) -> str:
    # No skill holds a tab, as its name is printable.
    return f"write {growing} {skill}" if in_round == 1 else f"write {growing} {skill}\t{in_round}"


def step_skip(growing: str, step: Step, proposal: str) -> str:
    return f"{step} {growing} {proposal}"


def take(ledger: Ledger, asked: Assignments, step: Step) -> Proposal | None:
    """The next that waits for this person and that nobody else has before them."""
    gone: set[str] = set()
    while True:
        one = _leased(ledger, asked, step, gone)
        if one is None:
            return None
        # What was asked may be a moment old: whoever had this one before them may have done it since.
        now = find_proposal(ledger, asked.growing.id, one.id)
        if now is not None and asked.may_do(now, step):
            return now
        gone.add(one.id)


def _leased(ledger: Ledger, asked: Assignments, step: Step, gone: set[str]) -> Proposal | None:
    seen: dict[str, Proposal] = {}

    def places() -> Iterator[str]:
        for one in asked.waiting(step):
            for place in _places(asked.growing, step, one) if one.id not in gone else ():
                seen[place] = one
                yield place

    taken = lease(ledger, asked.person, places(), start=place_start(asked.growing.id, step))
    return None if taken is None else seen[taken]


def _places(growing: GrowingBenchmark, step: Step, one: Proposal) -> list[str]:
    """As many as may work on it at once."""
    stands: ProposalState = one.standing
    wanted = 1 if step != "verify" else max(1, growing.terms.rules.verifiers - len(stands.opinions))
    start = place_start(growing.id, step, one)
    return [f"{start}{number}" for number in range(wanted)]


def about(one: Proposal, step: Step) -> int:
    """The number of what is to be instructed, captioned or verified; another instruction or answer has another one."""
    return one.standing.answer_seq if step == "verify" else one.standing.instruction.seq


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


def _behind(found: ProposalState) -> set[str]:
    captioned = "" if found.caption is None else found.caption.by
    made = {one for one in (found.instruction.by, captioned) if one}
    return {*made, *(one.by for one in found.opinions if one.verification.follows)}


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceShare:
    """What was taken in from one dataset."""

    source: str
    licences: tuple[str, ...]
    rows: int
    instruct: int
    """That wait for an instruction."""
    joined: int


def sources(found: Iterable[Proposal]) -> list[SourceShare]:
    """In the order they were first taken in from."""
    by_source: dict[str, list[ProposalState]] = {}
    for one in found:
        if one.standing.asked.source:
            by_source.setdefault(one.standing.asked.source, []).append(one.standing)
    return [
        SourceShare(
            source=source,
            licences=tuple(dict.fromkeys(one.asked.licence for one in rows)),
            rows=len(rows),
            instruct=sum(one.stage == "instruct" for one in rows),
            joined=sum(one.stage == "joined" for one in rows),
        )
        for source, rows in by_source.items()
    ]


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
    matrix = RaterMatrix(
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
        alpha=krippendorff_alpha(matrix),
    )
