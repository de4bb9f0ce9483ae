"""A team's submission: what the team, the owner and the worker said about it, and where that leaves it.

Events are only ever added; where a submission stands follows from its events alone. The record knows the submitted
model by a label that says nothing, so that it is anonymous until its team publishes it.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import reduce
from typing import Literal, TypeAlias

from evenhand.domain.event import Event
from evenhand.domain.identity import Json
from evenhand.domain.placing import LOOKS, MOST_CALLS, Newcomer

Stage: TypeAlias = Literal["draft", "confirmed", "approved", "stopped", "judged", "refused", "withdrawn"]
"""draft: the team is still at it. confirmed: waits for the owner's approval. approved: is judged, or waits its turn.
stopped: the budget is reached and the owner is asked. judged: there is a receipt."""

FIRST_WAIT = 60.0
"""Seconds until judging goes on after calls have failed; twice as long after each further failure in a row."""
LONGEST_WAIT = 3600.0

Despite: TypeAlias = Literal["", "without_reference", "with_reference"]
"""What the owner decided about answers that speak to the judge, or let figures tell single verdicts: none had to be
taken; judged, but never against the reference, about which each such battle would be a question; judged and shown as
any other."""

Feedback: TypeAlias = Literal["paper", "ladder"]
"""What a team learns of a submission. paper: its row, and its battles with other models one by one. ladder: nothing by
item, and a row that moves only where a submission is better than the one shown by more than its standard error."""

Pairs: TypeAlias = Literal["random", "nearest"]
"""Whom a submitted model meets. random: opponents by lot, a fixed number of battles in both orders. nearest: those it
is hardest to tell from, a call each, until a rule is met or all looks planned beforehand are taken."""

_LABEL = "submission-"


def label(submission: str) -> str:
    """The name under which the record knows the submitted model."""
    return f"{_LABEL}{submission}"


def labelled(model: str) -> str | None:
    """The submission that the record means by this model name; None where it is none."""
    return model.removeprefix(_LABEL) if model.startswith(_LABEL) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Uploaded:
    file: str
    """SHA-256 of its bytes."""
    name: str
    """As the team calls it; shown to the team, and its ending says how it is read."""
    size: int
    """Bytes."""
    answered: int
    """Items with a usable answer."""
    faults: int
    """What must be corrected before it can be confirmed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Confirmed:
    about: int
    """The `seq` of the upload."""
    checked: bool = False
    """Whether it was checked once more, under the terms of that moment, and had no fault whatever it had before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimated:
    """The worker's: whom the model would meet, and what that would cost at most."""

    opponents: tuple[str, ...]
    """Models as the record names them, the reference among them where it plays."""
    battles: int
    reference_battles: int
    """Of the battles."""
    seed: int
    trials: int
    calls_at_least: int
    calls_at_most: int
    input_tokens: int
    output_tokens: int
    cost_usd: float | None
    """None where no price is known."""
    terms: str = ""
    """`Terms.drawn` of the terms it was made under; empty where that is not told."""
    likely_usd: float | None = None
    """What it is likely to cost, with the range; None where no price is known, or nobody told."""
    likely_lower: float | None = None
    likely_upper: float | None = None
    likely_by: str = ""
    """What that was worked out from; empty where nobody told."""
    reach: float | None = None
    """What it buys: points to each side of its rating, at 95 %."""
    reach_by: str = ""
    orders: int = 0
    """Answers that tell the judge what to do."""
    verdicts: int = 0
    """Answers that write a verdict, or a grade."""
    steering: tuple[str, ...] = ()
    """The first of both kinds: the item's label, and the words."""
    repeated: int = 0
    """Answers that say the same as others of the file, where most do; of `within`."""
    like: str = ""
    """The earlier model whose answers most of these are; empty where there is none."""
    same: int = 0
    """Of the answers those that are its, and next those that one of the two has and the other has not."""
    changed: int = 0
    within: str = ""
    """The skill, or other part of the items, of which that is so; empty for all."""
    until: str = ""
    """Where it is placed among its nearest, the rule at which that ends; battles and calls are then the most there can
    be. Empty where opponents are drawn at random."""
    looks: int = 0
    max_calls: int = 0
    expected_calls: float | None = None
    """Of one placed among its nearest: how many it is likely to take; None where nobody knows."""
    expected_by: str = ""

    @property
    def steers(self) -> bool:
        """Whether answers speak to the judge."""
        return bool(self.orders or self.verdicts)

    @property
    def chosen(self) -> bool:
        """Whether its figures against the reference would tell single verdicts."""
        return bool(self.repeated or self.like)

    @property
    def held(self) -> bool:
        """Whether the owner has to decide about its battles against the reference before anything is asked."""
        return self.steers or self.chosen

    @property
    def unpriced(self) -> "Estimated":
        """As one says it who knows no price."""
        return replace(self, cost_usd=None, likely_usd=None, likely_lower=None, likely_upper=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Approved:
    """The owner's, with all that decides which trials are wanted."""

    budget: float | None
    """Dollars; None is no limit."""
    opponents: tuple[str, ...]
    """Models as the record names them, the reference among them where it plays."""
    battles: int
    reference_battles: int
    """Of the battles."""
    seed: int
    despite: Despite = ""
    until: str = ""
    """Where it is placed among its nearest, the rule at which that ends; empty where opponents are drawn at random."""
    looks: int = 0
    max_calls: int = 0

    @property
    def nearest(self) -> bool:
        return bool(self.until)


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """The owner's: it is not judged, or where it was its row goes, as where it broke the policy."""

    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Stopped:
    """The worker's: the budget does not allow another call."""

    spent: float
    least: float | None = None
    """The least budget in all, in dollars, with which it goes on; None where that was not said."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Raised:
    """The owner's answer: go on, with so many dollars in all; None is no limit."""

    budget: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Closed:
    """The owner's answer: let it be judged by what is there."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Failed:
    """The worker's: calls failed, and it will go on later."""

    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    receipt: Mapping[str, Json]
    """Whole where it is told; read back from the record, only what pages show of it."""
    partial: bool = False
    """Whether trials that were wanted have not been asked."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Published:
    """The team's: its name may stand on the board."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Withdrawn:
    """The team's: the row goes, the record stays."""


Said: TypeAlias = (
    Uploaded
    | Confirmed
    | Estimated
    | Approved
    | Refused
    | Stopped
    | Raised
    | Closed
    | Failed
    | Judged
    | Published
    | Withdrawn
)


SubmissionEvent: TypeAlias = Event[Said]


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionState:
    stage: Stage = "draft"
    upload: Uploaded | None = None
    """The last one."""
    least: float | None = None
    """With what budget in all it goes on at least, where it was stopped."""
    upload_seq: int = 0
    confirmed: float | None = None
    """When."""
    confirmed_seq: int = 0
    """Of two the one with the smaller number came first, whatever the clocks say of the machines that wrote it."""
    estimated: Estimated | None = None
    estimated_seq: int = 0
    approved: Approved | None = None
    """With the budget as it was last raised."""
    against_reference: int = 0
    """The most battles against the reference that any approval was for: a part of them may have been judged before it
    was taken back."""
    approval_seq: int = 0
    """Of the approval, or of the owner's last word since."""
    under_way: bool = False
    """Whether judging was approved, or was to go on, and has not ended since, be it that it was taken back, refused or
    withdrawn: how far it has come is then the owner's to know. A reply that was on record is read at once, so it would
    tell which answers somebody else has given before, such as the reference."""
    closing: bool = False
    """Whether the owner lets it be judged by what is there."""
    failures: tuple[SubmissionEvent, ...] = ()
    """In a row."""
    judged: Judged | None = None
    judged_at: float | None = None
    published: bool = False
    reason: str = ""
    """Why it was refused."""

    @property
    def to_be_confirmed(self) -> bool:
        return self.stage == "draft" and self.upload is not None and not self.upload.faults

    @property
    def held(self) -> bool:
        """Whether the owner has to decide about its battles against the reference, as far as was looked."""
        return self.estimated is not None and self.estimated.held

    def leaves_open(self, found: Estimated) -> bool:
        """Whether something is found in its answers about which the approval did not decide: a word on orders is none
        on figures that would tell single verdicts, nor the other way. Without the reference no order asks about it."""
        known, asks = self.estimated, self.approved is None or self.approved.despite != "without_reference"
        orders = found.steers and asks and not (known and known.steers)
        return orders or (found.chosen and not (known and known.chosen))

    @property
    def taken_back(self) -> bool:
        """Whether it was approved before something was found that the owner has to decide about."""
        return self.stage == "confirmed" and self.approved is not None

    @property
    def on_the_board(self) -> bool:
        """Whether its verdicts count on a board."""
        return self.stage not in ("withdrawn", "refused")

    @property
    def next_try(self) -> float:
        """When the worker may go on, in seconds since the epoch; 0 for at once."""
        if not self.failures:
            return 0.0
        return self.failures[-1].at + min(LONGEST_WAIT, FIRST_WAIT * 2.0 ** (len(self.failures) - 1))


def standing(events: Iterable[SubmissionEvent]) -> SubmissionState:
    """Of one submission's events in their order; those that do not fit are passed over."""
    return reduce(after, events, SubmissionState())


def after(before: SubmissionState, event: SubmissionEvent) -> SubmissionState:
    match event.said:
        case Uploaded() | Confirmed() | Published() | Withdrawn():
            return _by_team(before, event)
        case Approved() | Refused() | Raised() | Closed():
            return _by_owner(before, event)
        case Estimated() | Stopped() | Failed() | Judged():
            return _by_worker(before, event)


def _by_team(before: SubmissionState, event: SubmissionEvent) -> SubmissionState:
    match event.said:
        case Uploaded() as said if before.stage == "draft":
            return replace(before, upload=said, upload_seq=event.seq)
        case Confirmed() as said if _confirms(before, said):
            return replace(before, stage="confirmed", confirmed=event.at, confirmed_seq=event.seq)
        case Published() if before.stage == "judged":
            return replace(before, published=True)
        case Withdrawn() if before.stage not in ("withdrawn", "refused"):
            return replace(before, stage="withdrawn", published=False)
        case _:
            return before


def _confirms(before: SubmissionState, said: Confirmed) -> bool:
    if before.stage != "draft" or before.upload is None or said.about != before.upload_seq:
        return False
    return said.checked or not before.upload.faults


def _by_owner(before: SubmissionState, event: SubmissionEvent) -> SubmissionState:
    match event.said:
        case Approved() as said if before.stage == "confirmed" and (said.despite or not before.held):
            most = max(before.against_reference, said.reference_battles)
            return replace(
                before,
                stage="approved",
                approved=said,
                against_reference=most,
                approval_seq=event.seq,
                under_way=True,
            )
        case Refused(reason=reason) if before.stage not in ("draft", "refused", "withdrawn"):
            return replace(before, stage="refused", reason=reason, published=False)
        case Raised(budget=budget) if before.approved is not None and _may_go_on(before):
            return replace(
                before,
                stage="approved",
                approved=replace(before.approved, budget=budget),
                approval_seq=event.seq,
                under_way=True,
                closing=False,
                failures=(),
            )
        case Closed() if before.stage in ("stopped", "approved") or before.taken_back:
            return replace(before, stage="approved", closing=True, approval_seq=event.seq, under_way=True, failures=())
        case _:
            return before


def _may_go_on(before: SubmissionState) -> bool:
    return before.stage in ("approved", "stopped") or (before.judged is not None and before.judged.partial)


def _is_estimated(before: SubmissionState, said: Estimated) -> bool:
    """Whether that is news. An approval is taken back where something was found that it did not decide about."""
    if before.stage == "approved":
        return before.leaves_open(said) and not before.closing
    return before.stage == "confirmed" and said != before.estimated


def _by_worker(before: SubmissionState, event: SubmissionEvent) -> SubmissionState:
    if isinstance(event.said, Estimated):
        if not _is_estimated(before, event.said):
            return before
        return replace(before, stage="confirmed", estimated=event.said, estimated_seq=event.seq, failures=())
    if before.stage != "approved":
        return before
    match event.said:
        case Stopped() as said:
            return replace(before, stage="stopped", failures=(), least=said.least)
        case Failed():
            return replace(before, failures=(*before.failures, event))
        case Judged() as said:
            return replace(
                before,
                stage="judged",
                judged=said,
                judged_at=event.at,
                under_way=False,
                closing=False,
                failures=(),
            )
        case _:
            return before


@dataclass(frozen=True, slots=True, kw_only=True)
class Entered:
    """What the team says of the model."""

    model: str
    version: str
    team: str
    link: str = ""

    @property
    def shown(self) -> str:
        """As a board names it once it is published."""
        return f"{self.model} {self.version} ({self.team})".replace("  ", " ")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionTerms:
    """What the owner of a benchmark has set for submissions to it."""

    policy: str
    """What every team accepts before anything else."""
    battles: int = 700
    reference_battles: int = 150
    """Of the battles (VisIT-Bench, appendix F)."""
    seed: int = 0
    per_team: int = 3
    """How many confirmed submissions of one team are taken within `days`."""
    days: int = 30
    missing_allowed: int = 0
    """How many items may be left without a usable answer."""
    open: bool = True
    """Whether submissions are taken."""
    feedback: Feedback = "paper"
    reserve: float = 0.0
    """Share of the items that count only in the figure that is published."""
    reserved: tuple[str, ...] = ()
    """Digests of these items: drawn when the board was opened, told to nobody."""
    pairs: Pairs = "random"
    until: str = "rank=3"
    """Of nearest, with the next two: the rule at which a placing ends."""
    looks: int = LOOKS
    max_calls: int = MOST_CALLS

    @property
    def ladder(self) -> bool:
        return self.feedback == "ladder"

    @property
    def nearest(self) -> bool:
        return self.pairs == "nearest"

    def newcomer(self, model: str) -> Newcomer:
        """How a model is placed among its nearest. Raises Misuse."""
        return Newcomer(model, until=self.until, looks=self.looks, max_calls=self.max_calls, seed=self.seed)

    @property
    def drawn(self) -> str:
        """What of them decides which battles a model plays."""
        if self.nearest:
            return (
                f"nearest opponents until {self.until}, {self.looks} looks, at most {self.max_calls} comparisons, "
                f"seed {self.seed}"
            )
        return f"{self.battles} battles, {self.reference_battles} against the reference, seed {self.seed}"

    def as_json(self) -> dict[str, Json]:
        fields: dict[str, Json] = {name: getattr(self, name) for name in SubmissionTerms.__dataclass_fields__}
        return {**fields, "reserved": [*self.reserved]}


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmittedModel:
    """A submitted model as a board knows it."""

    submission: str
    person: str
    """Whose it is."""
    entered: Entered
    standing: SubmissionState = field(default_factory=SubmissionState)
    ladder: bool = False
    """Whether only the owner sees single battles of it, published or not, and it stands on no board of ratings."""

    @property
    def in_sight(self) -> bool:
        """Whether everybody may read its answers and the verdicts on them."""
        return self.standing.published and not self.ladder

    @property
    def label(self) -> str:
        return label(self.submission)

    @property
    def shown(self) -> str:
        """To everybody: its name once it is published."""
        return self.entered.shown if self.standing.published else f"anonymous {self.submission}"
