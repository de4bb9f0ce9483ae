"""What is known of each judge: nearness to people, order, audits, price; and which one to take."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.format.result import Result
from evenhand.format.supported import points_interval, share_words
from evenhand.format.words import count, counted, listed
from evenhand.reports.alignment.conclusion import interval_told
from evenhand.reports.judges.sentinel import SentinelReport
from evenhand.stats.intervals import LEVEL, Range, clustered_mean
from evenhand.stats.reliability.agreement.alignment import ComparedVerdicts, side_hits
from evenhand.stats.reliability.summary import CONSISTENT_ENOUGH, FAR_FROM_EVEN

if TYPE_CHECKING:
    import altair as alt

NOT_KNOWN = Estimate(value=None, reason="nothing on record tells")
MEASURES = (
    "agreement", "people_agreement", "kappa", "swap_consistency", "first_position", "grade_above_chance",
    "length_effect", "planted_effect", "looks", "repeatability", "coverage", "cost_per_1000_usd", "tokens",
    "latency_seconds",
)  # fmt: skip
"""Each a field of a judge, in the order of the table."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Judge:
    """As it was asked: by one protocol, shown one part of the image."""

    judge: str
    protocol: str | None = None
    see: str | None = None
    agreement: Estimate = NOT_KNOWN
    """How often it takes people's side, a tie of its own counted as half; in a person's place where two people judged
    the same cases."""
    people_agreement: Estimate = NOT_KNOWN
    """What people reach in the same places: the ceiling."""
    kappa: Estimate = NOT_KNOWN
    swap_consistency: Estimate = NOT_KNOWN
    first_position: Estimate = NOT_KNOWN
    """Share of the verdicts that go to the answer shown first; 50 % is fair. Of verdicts in one order only, what an
    answer as good as the other would win by standing first."""
    grade_above_chance: Estimate = NOT_KNOWN
    length_effect: Estimate = NOT_KNOWN
    planted_effect: Estimate = NOT_KNOWN
    looks: Estimate = NOT_KNOWN
    repeatability: Estimate = NOT_KNOWN
    coverage: Estimate = NOT_KNOWN
    cost_per_1000_usd: Estimate = NOT_KNOWN
    tokens: Estimate = NOT_KNOWN
    """Of one judgement, both ways."""
    latency_seconds: Estimate = NOT_KNOWN
    """Of one call, the median."""
    compared: ComparedVerdicts | None = None
    """Its verdicts beside people's, where there are some."""
    sentinel: SentinelReport | None = None
    """What came of asking it again, where it was."""

    def estimate(self, name: str) -> Estimate:
        return getattr(self, name)


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeChoice:
    """Which judge to take, and why."""

    judge: str | None
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class JudgesReport(Result):
    table: ClassVar[str] = "judges"
    shown: ClassVar[tuple[str, ...]] = (
        "judge", "agreement", "people_agreement", "kappa", "swap_consistency", "first_position", "cost_per_1000_usd",
        "frontier",
    )  # fmt: skip

    about: str
    """The benchmark, or the files."""
    judges: tuple[Judge, ...]
    """Nearest to people first; those nobody compared with people last, by name."""
    people_unknown: str | None = None
    """Why none could be compared with people; of the ledger."""
    notes: tuple[str, ...] = ()

    @property
    def headline(self) -> str:
        return f"{counted(len(self.judges), 'judge')} of {self.about}"

    @property
    def names(self) -> tuple[str, ...]:
        """How each is called here: with its protocol and what it was shown where the name alone would not tell."""
        names = [one.judge for one in self.judges]
        asked = [" ".join(filter(None, (one.protocol, one.see and f"shown {one.see}"))) for one in self.judges]
        return tuple(
            f"{name} ({how})" if names.count(name) > 1 and how else name for name, how in zip(names, asked, strict=True)
        )

    @property
    def frontier(self) -> tuple[bool, ...]:
        """Whether no other judge is both as cheap and as near to people, one of the two better."""
        points = [(one.cost_per_1000_usd.value, one.agreement.value) for one in self.judges]

        def beaten(cost: float, near: float) -> bool:
            return any(
                c <= cost and a >= near and (c < cost or a > near) for c, a in points if c is not None and a is not None
            )

        return tuple(c is not None and a is not None and not beaten(c, a) for c, a in points)

    @property
    def choice(self) -> JudgeChoice:
        return _choice(self.judges, self.names)

    @property
    def sentences(self) -> tuple[str, ...]:
        return (self.choice.sentence, *self._beside)

    @property
    def _beside(self) -> list[str]:
        """What to know beside the conclusion."""
        unknown = self.people_unknown
        without = [] if unknown is None else [f"Nobody can be compared with people: {unknown}"]
        return [*_warnings(self.judges, self.names), *without, *self.notes]

    def as_json(self) -> dict[str, Json]:
        rows: list[Json] = []
        for one, name, frontier in zip(self.judges, self.names, self.frontier, strict=True):
            figures = {
                key: value for measure in MEASURES for key, value in one.estimate(measure).as_json(measure).items()
            }
            rows.append(
                {
                    "judge": one.judge,
                    "name": name,
                    "protocol": one.protocol,
                    "see": one.see,
                    **figures,
                    "frontier": frontier,
                    **_sentinel_json(one.sentinel),
                }
            )
        return {
            "schema": 1,
            "about": self.about,
            "judges": rows,
            "take": self.choice.judge,
            "conclusion": self.choice.sentence,
            "notes": [*self._beside],
        }

    def chart(self) -> "alt.LayerChart":
        """Cost against agreement, the frontier marked. Raises ChartError where either is known of no judge."""
        from evenhand.reports.judges.chart import judges_chart

        return judges_chart(self)


def _sentinel_json(of: SentinelReport | None) -> dict[str, Json]:
    """None where it was not asked again; since when, where it has changed."""
    since = of.looks[of.onset.look].name if of is not None and of.onset is not None else None
    return {"sentinel": None if of is None else of.state, "sentinel_since": since}


def _choice(judges: Sequence[Judge], names: Sequence[str]) -> JudgeChoice:
    near = [place for place, one in enumerate(judges) if one.agreement.value is not None]
    if not near:
        return JudgeChoice(
            judge=None,
            sentence="Which judge to take is not known: no person judged these cases.",
        )
    if len(near) == 1:
        (only,) = near
        return JudgeChoice(
            judge=None if _may_be_chance(judges[only]) else judges[only].judge,
            sentence=f"{names[only]} {_near(judges[only])}; no other judge was compared with people.",
        )
    # Which judge is nearest is found on the same cases, so any two of them may come to be compared.
    level = 1 - (1 - LEVEL) / (len(near) * (len(near) - 1) / 2)
    apart = {
        (one, other): _difference(judges[one], judges[other], level) for one in near for other in near if one != other
    }
    # On the cases that both judged: a judge of easier cases agrees more often and may be the worse one.
    unbeaten = [one for one in near if not any(_is_nearer(apart[other, one]) for other in near if other != one)]
    if not unbeaten:
        return JudgeChoice(
            judge=None, sentence="Which judge to take is not known: each is further from people than another."
        )
    best = max(unbeaten, key=lambda place: judges[place].agreement.value or 0.0)
    if _may_be_chance(judges[best]):
        return JudgeChoice(
            judge=None,
            sentence=f"None of these judges is shown to agree with people more than chance does. The nearest, "
            f"{names[best]}, {_near(judges[best])}.",
        )
    alike = [place for place in unbeaten if place != best and not _may_be_chance(judges[place])]
    taken = _cheapest([best, *alike], judges)
    word = "Pay" if judges[taken].cost_per_1000_usd.value else "Take"
    if taken != best:
        return JudgeChoice(
            judge=judges[taken].judge,
            sentence=f"{word} {names[taken]}, {_dollars(judges[taken])} per 1,000 judgements: it "
            f"{_near(judges[taken])}. {names[best]}, {_dollars(judges[best])}, does in "
            f"{share_words(judges[best].agreement)}; no difference is shown ({_span(apart[best, taken])}).",
        )
    if alike:
        others = listed(names[place] for place in alike)
        span = f" ({_span(apart[best, alike[0]])})" if len(alike) == 1 else ""
        return JudgeChoice(
            judge=judges[best].judge,
            sentence=f"{word} {names[best]}: it {_near(judges[best])}; no difference to {others} is shown{span}, nor "
            "a lower price.",
        )
    further = [names[place] for place in near if place != best and _is_nearer(apart[best, place])]
    more = f", and on the same cases more often than {listed(further)}" if further else ""
    chance = [names[place] for place in unbeaten if place != best]
    unknown = f" Whether {listed(chance)} agrees with people more than chance does is not shown." if chance else ""
    return JudgeChoice(
        judge=judges[best].judge, sentence=f"{word} {names[best]}: it {_near(judges[best])}{more}.{unknown}"
    )


def _is_nearer(difference: Estimate) -> bool:
    return difference.lower is not None and difference.lower > 0


def _may_be_chance(judge: Judge) -> bool:
    """Whether kappa's interval reaches 0; where there is none, few cases stand behind what is told."""
    return judge.kappa.lower is not None and judge.kappa.lower <= 0


def _cheapest(places: Sequence[int], judges: Sequence[Judge]) -> int:
    """The first where its own price is unknown: what is not known to be cheaper is not taken for it."""
    own = judges[places[0]].cost_per_1000_usd.value
    if own is None:
        return places[0]
    return min(places, key=lambda place: _known(judges[place].cost_per_1000_usd.value))


def _known(cost: float | None) -> float:
    return float("inf") if cost is None else cost


def _difference(one: Judge, other: Judge, level: float) -> Estimate:
    """How much more often the first takes people's side, on the cases that both judged and where people take one."""
    if one.compared is None or other.compared is None:
        return NOT_KNOWN
    mine, theirs = one.compared, other.compared
    _, first, second = np.intersect1d(mine.case, theirs.case, return_indices=True)
    sided = mine.people[first] != 0
    first, second = first[sided], second[sided]
    if not len(first):
        return NOT_KNOWN
    people = mine.people[first]
    hits = side_hits(mine.judged[first], people) - side_hits(theirs.judged[second], people)
    return clustered_mean(hits, mine.item[first], within=Range(low=-1.0), level=level)


def _near(one: Judge) -> str:
    own, people = one.agreement, one.people_agreement
    beside = "" if people.value is None else f" (people with each other: {share_words(people)})"
    return f"agrees with people in {share_words(own)} of {count(round(own.n))} comparisons{beside}"


def _span(of: Estimate) -> str:
    if of.lower is None or of.upper is None:
        return "too few cases in common"
    return f"{points_interval(of)} points"


def _dollars(one: Judge) -> str:
    value = one.cost_per_1000_usd.value
    return "an unknown price" if value is None else f"${value:,.2f}"


def _warnings(judges: Sequence[Judge], names: Sequence[str]) -> list[str]:
    said: list[str] = []
    for one, name in zip(judges, names, strict=True):
        first, swap = one.first_position, one.swap_consistency
        if first.lower is not None and first.lower > 0.5 + FAR_FROM_EVEN:
            said.append(
                f"{name} favours the answer shown first: {share_words(first)}{interval_told(first)}; 50 % is fair."
            )
        if first.upper is not None and first.upper < 0.5 - FAR_FROM_EVEN:
            said.append(
                f"{name} favours the answer shown second: {share_words(first)} to the first{interval_told(first)}."
            )
        if swap.upper is not None and swap.upper < CONSISTENT_ENOUGH:
            said.append(f"{name} keeps only {share_words(swap)} of its verdicts when the answers swap positions.")
        if one.sentinel is not None and one.sentinel.onset is not None:
            since = one.sentinel.looks[one.sentinel.onset.look].name
            said.append(f"{name} has changed since {since}: asked again, it does not decide as it did.")
    return said
