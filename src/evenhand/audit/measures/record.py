"""What an audit measure is: the trials it wants, its number, how that is read, its chart; and what a number is of."""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, Literal, TypeAlias, TypeVar

from evenhand.audit.document import Unit
from evenhand.audit.trials import Block, Looked, PairTrial, Purposeful, Sources
from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.verdict import NoVerdict, Preference, Verdict
from evenhand.domain.vote import Vote
from evenhand.stats.intervals import Range

if TYPE_CHECKING:
    from evenhand.audit.design import Design

SHARE = Range()
EFFECT = Range(low=-1.0, high=1.0)
SMALL_EFFECT = 0.2
"""An effect of this size turns one verdict of ten."""
WIDE = 250
"""Pixels of a chart's axis: with its labels it fits a phone."""
NO_CASES = "no cases"
"""What an estimate of nothing says of itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    name: str
    estimate: Estimate
    design: str
    """A sentence: what was shown, and what the value counts."""
    unit: Unit = "share"
    part_of: str | None = None
    """The measure that this one looks into."""
    left_out: int = 0
    """Sets of showings that count together only, and of which one was not read."""
    way: str | None = None
    """How words were planted, where the measure is of one way; `stands_out`: more than chance among all ways makes."""
    stands_out: bool = False
    silenced: bool = False
    """Whether it has no value because of replies that hold no verdict."""

    def as_json(self) -> dict[str, Json]:
        one = self.estimate
        document: dict[str, Json] = {
            "name": self.name,
            "value": one.value,
            "lower": one.lower,
            "upper": one.upper,
            "n": whole(one.n),
            "unit": self.unit,
            "design": self.design,
        }
        if one.reason:
            document["reason"] = one.reason
        if self.left_out:
            document["left_out"] = self.left_out
        if self.way is not None:
            document |= {"way": self.way, "stands_out": self.stands_out}
        return {**document, "part_of": self.part_of} if self.part_of else document


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditReplies:
    """What was said on the audit's trials."""

    verdicts: Mapping[str, Verdict | NoVerdict]
    """By the trial's key."""

    def sign(self, one: Purposeful) -> int | None:
        """Positive for the response shown first; None where no preference was read."""
        verdict = self.verdicts.get(one.trial.key)
        return verdict.sign if isinstance(verdict, Preference) else None

    def votes(self, trials: Sequence[Purposeful]) -> list[Vote]:
        """Of the models' own answers, each showing once."""
        votes: list[Vote] = []
        for one in trials:
            verdict = self.verdicts.get(one.trial.key)
            if isinstance(one, PairTrial) and not one.repeat and isinstance(verdict, Preference):
                first, second = one.models
                vote = Vote(
                    item=one.trial.item,
                    model_a=first,
                    model_b=second,
                    first=first,
                    value=verdict.value,
                    levels=verdict.levels,
                    rater=one.trial.rater,
                )
                votes.append(vote)
        return votes


_Shown = TypeVar("_Shown", bound=Purposeful)


@dataclass(frozen=True, slots=True, kw_only=True)
class Whole(Generic[_Shown]):
    """Showings of the sets that were read whole, so that a leaning to a place cancels out in each."""

    signs: tuple[tuple[_Shown, int], ...]
    """Positive for the response shown first."""
    left_out: int
    """Sets asked that were not read whole."""


def read_whole(trials: Sequence[_Shown], heard: AuditReplies, together: Callable[[_Shown], Hashable]) -> Whole[_Shown]:
    """Of the sets that `together` tells apart on one item."""
    sets: dict[Hashable, list[_Shown]] = {}
    for one in trials:
        sets.setdefault((one.trial.item, together(one)), []).append(one)
    signs: list[tuple[_Shown, int]] = []
    left_out = 0
    for members in sets.values():
        read = [(one, sign) for one in members if (sign := heard.sign(one)) is not None]
        if len(read) == len(members):
            signs += read
        elif any(one.trial.key in heard.verdicts for one in members):
            left_out += 1
    return Whole(signs=tuple(signs), left_out=left_out)


@dataclass(frozen=True, slots=True, kw_only=True)
class MeasureOffer:
    """How many cases of a measure trials make if every one of them gets a verdict."""

    cases: int
    items: int
    """Twins, for `looks`."""
    of_twins: int = 0
    """Of the items those that are a side of a twin, and so none that is ranked on."""


def each_a_case(trials: Sequence[Purposeful]) -> MeasureOffer:
    twins = {one.trial.item for one in trials if isinstance(one, Looked)}
    return MeasureOffer(cases=len(trials), items=len({one.trial.item for one in trials}), of_twins=len(twins))


Found: TypeAlias = Literal["fault", "fine", "open"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """How an interval of a measure is read; nothing at all is said of what has no value."""

    of: Callable[[float, float], Found]
    """From the lower and the upper bound."""
    fault: str
    """In words that follow `Problems found:`; `{side}` stands for one of `sides`."""
    fine: str
    open: str
    sides: tuple[str, str] = ("", "")
    """What `{side}` is where the value lies above `middle`, and where it does not."""
    middle: float = 0.0

    def words(self, found: Found, value: float) -> str:
        return getattr(self, found).format(side=self.sides[0 if value > self.middle else 1])


def at_least(bound: float) -> Callable[[float, float], Found]:
    return lambda lower, upper: "fine" if lower >= bound else "fault" if upper < bound else "open"


def near(middle: float, far: float) -> Callable[[float, float], Found]:
    """A fault where the middle lies outside the interval; fine where the interval lies within `far` of it."""

    def found(lower: float, upper: float) -> Found:
        if lower > middle or upper < middle:
            return "fault"
        return "fine" if middle - far <= lower and upper <= middle + far else "open"

    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditMeasure:
    """A measure with all that an audit must know of it; `name` is what `--require` takes."""

    name: str
    within: Range
    """What its value can be at the least and at the most."""
    measure: "Callable[[Design, AuditReplies, int], list[Measure]] | None"
    """From the design, what was said and the seed: the measure of this name, then those that look into it (`part_of`).
    None: told from the record besides the trials."""
    shown: Callable[[Sequence[Purposeful]], Sequence[Purposeful]] = lambda _: ()
    """Of an audit's trials those that it counts."""
    offer: Callable[[Sequence[Purposeful]], MeasureOffer] | None = each_a_case
    """How many cases these make. None: only the record can tell."""
    trials_of_a_case: int = 1
    part: str = ""
    """What `--part` calls the trials that it asks for; empty: it counts what others ask for."""
    trials: Callable[[Sources, int], list[Block]] | None = None
    """From what an audit is made of and the seed: its own trials, item after item, in blocks that go together."""
    reading: Reading | None = None
    """None: it is a number without a sentence."""
    reading_beside: "Callable[[Measure, Sequence[Measure]], Reading | None] | None" = None
    """The same where it depends on the other measures, or is for those that look into it too."""
    low: float | None = None
    """From here on the reading is fine, and in `high` up to where: what tells how many cases would answer it."""
    high: float | None = None
    chart: Callable[[Mapping[str, Any]], Any] | None = None
    """From the audit's JSON document an Altair chart, or None where there is nothing to draw."""
    about: str = ""
    """A sentence for the list of measures."""
    package: str = ""
    """Which installed package it is from; empty: built in. Filled in by the catalog."""
