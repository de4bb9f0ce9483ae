"""How far groups of models lie apart, such as proprietary and open ones: Creation-MMBench's Table 5 has the two."""

from collections.abc import Callable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import numpy.typing as npt

from evenhand.benchmarks.data_error import listed
from evenhand.benchmarks.files.models_file import ModelGroups
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.verdict import Grades, Preference
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.words import counted
from evenhand.reports.papers.scores.creation_record import ModelRecord, OrderedPair
from evenhand.stats.intervals import Range, joined_means, left_out
from evenhand.stats.ratings.shares.reward import POINTS, RANGE
from evenhand.stats.reliability.grade_score.comparison import sign_flip_p_value
from evenhand.stats.reliability.paired_difference import PairedDifference, together

FloatArray = npt.NDArray[np.float64]

_NOT_JUDGED = Estimate(value=None, reason="not judged")


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGap:
    """One group's mean less another's, each model of a group weighing the same."""

    measure: str
    group: str
    other: str
    found: PairedDifference
    """Counts cases, for these very models; all pairs of groups are tested together."""

    def as_json(self) -> dict[str, Json]:
        about: dict[str, Json] = {"measure": self.measure, "group": self.group, "other": self.other}
        tested: dict[str, Json] = {"p_value": self.found.p_value, "p_adjusted": self.found.p_adjusted}
        return {**about, **self.found.difference.as_json("difference"), **tested}


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupGaps:
    groups: ModelGroups
    models: Mapping[str, tuple[str, ...]]
    """By group, those of the table that weigh in its means; the baseline is in none."""
    means: Mapping[tuple[str, str], Estimate]
    """By measure and group."""
    gaps: tuple[GroupGap, ...]
    without: tuple[str, ...]
    """Models of the table that have no group."""
    unranked: tuple[str, ...]
    """Models that have a group and no rank, or no verdict: too little of theirs is answered or judged."""
    unread: Mapping[str, tuple[str, ...]]
    """By measure, models of the groups without a verdict there, where others have some."""
    baseline: str
    unknown: tuple[str, ...]
    """Models that have a group and are not in the table."""

    def group_of(self, model: str) -> str:
        return self.groups.of.get(model, "")

    def as_json(self) -> dict[str, Json]:
        named: list[Json] = [
            {"group": name, "models": list(models), **_flat(self.means[measure, name] for measure in _MEASURES)}
            for name, models in self.models.items()
        ]
        return {
            "source": self.groups.source,
            "groups": named,
            "gaps": [one.as_json() for one in self.gaps],
            "without_group": list(self.without),
            "not_ranked": list(self.unranked),
            "not_in_the_table": list(self.unknown),
        }

    @property
    def sheets(self) -> tuple[Sheet, ...]:
        if not self.gaps:
            return ()
        rows = [(_MEASURES[one.measure].name, *self._cells(one)) for one in self.gaps]
        headings = ("", "group", "other group", "gap", "95 %", "p", "mean", "other mean", "cases")
        # Of three groups and more a row is known by its two groups alone, in every part of a folded table.
        return (Sheet(title="Between groups of models", headings=headings, rows=tuple(rows), names=3),)

    def _cells(self, gap: GroupGap) -> tuple[str, ...]:
        measure, found = _MEASURES[gap.measure], gap.found.difference
        means = [measure.words(self.means[gap.measure, name].value) for name in (gap.group, gap.other)]
        between = MISSING
        if found.lower is not None and found.upper is not None:
            between = f"{measure.words(found.lower)} to {measure.words(found.upper)}"
        p = MISSING if gap.found.p_adjusted is None else f"{gap.found.p_adjusted:.2g}"
        differs = measure.words(found.value, sign=True)
        return (gap.group, gap.other, differs, between, p, *means, f"{found.clusters}")

    @property
    def sentences(self) -> Iterator[str]:
        sizes = ", ".join(f"{name} ({counted(len(models), 'model')})" for name, models in self.models.items())
        if self.gaps:
            several = " corrected for the pairs of groups by Holm's method" if len(self.models) > 2 else ""
            yield (
                f"Groups by {self.groups.source}: {sizes}. Each model of a group weighs the same; intervals and "
                f"p{several} count cases, for these very models, and say nothing of others of the group."
            )
        else:
            there = f"only {sizes}" if sizes else "none"
            yield f"A gap needs models of two groups; by {self.groups.source} there is {there}."
        yield f"The baseline {self.baseline} is in no group's mean."
        if self.without:
            yield (
                f"No group in {self.groups.source}, and so in no gap: {listed(self.without)}. Add a row with the "
                "model and its group."
            )
        if self.unranked:
            yield f"Not ranked, and so in no gap, though they have a group: {listed(self.unranked)}."
        for measure, models in self.unread.items():
            yield f"No verdict, and so in no gap in {_MEASURES[measure].name}: {listed(models)}."
        if self.unknown:
            yield f"Named in {self.groups.source} and not in this table: {listed(self.unknown)}."


@dataclass(frozen=True, slots=True, kw_only=True)
class _Measure:
    name: str
    showings: Callable[[ModelRecord], tuple[OrderedPair, ...]]
    value: Callable[[OrderedPair, Preference | Grades], float]
    within: Range
    share: bool = False

    def words(self, value: float | None, *, sign: bool = False) -> str:
        if value is None:
            return MISSING
        shown = round(100 * value if self.share else value, 2) + 0.0
        return f"{shown:{'+' if sign else ''}.2f}{' %' if self.share else ''}"


def _vote(showing: OrderedPair, verdict: Preference | Grades) -> int:
    assert isinstance(verdict, Preference)
    return showing.in_favour(verdict)


def _grade(showing: OrderedPair, verdict: Preference | Grades) -> float:
    assert isinstance(verdict, Grades)
    return showing.grade(verdict)


_MEASURES: Mapping[str, _Measure] = {
    "reward": _Measure(
        name="Reward", showings=lambda one: one.preference, value=lambda s, v: POINTS * _vote(s, v), within=RANGE
    ),
    "win_rate": _Measure(
        name="Win Rate",
        showings=lambda one: one.preference,
        value=lambda s, v: float(_vote(s, v) > 0),
        within=Range(low=0, high=1),
        share=True,
    ),
    "vfs": _Measure(name="VFS", showings=lambda one: one.factuality, value=_grade, within=Range(low=0, high=10)),
}


def group_gaps(
    records: Sequence[ModelRecord], baseline: str, groups: ModelGroups, *, unranked: Set[str] = frozenset()
) -> GroupGaps:
    """Of all pairs of groups that have models here, in the order in which the file names the groups.

    `unranked`: models of which too little is known to weigh as much as others.
    """
    of = groups.of
    here = [record for record in records if record.model != baseline]
    grouped = [one for one in here if one.model in of]
    weighing = [one for one in grouped if one.model not in unranked and any(_read(one, key) for key in _MEASURES)]
    names = [name for name in dict.fromkeys(of.values()) if any(of[one.model] == name for one in weighing)]
    members = {name: [one for one in weighing if of[one.model] == name] for name in names}
    means: dict[tuple[str, str], Estimate] = {}
    gaps: list[GroupGap] = []
    for key, measure in _MEASURES.items():
        items = sorted({showing.item for one in weighing for showing in _read(one, key)})
        parts = {name: _part(measure, some, items) for name, some in members.items()}
        means |= {(key, name): _mean(part, measure.within) for name, part in parts.items()}
        pairs = list(combinations(names, 2))
        tested = together([_gap(parts[one], parts[other], measure.within) for one, other in pairs])
        gaps += [
            GroupGap(measure=key, group=one, other=other, found=found)
            for (one, other), found in zip(pairs, tested, strict=True)
        ]
    known = {baseline, *(one.model for one in here)}
    return GroupGaps(
        groups=groups,
        models={name: tuple(one.model for one in some) for name, some in members.items()},
        means=means,
        gaps=tuple(gaps),
        without=tuple(one.model for one in here if one.model not in of),
        unranked=tuple(one.model for one in grouped if one.model not in {other.model for other in weighing}),
        unread=_unread(weighing),
        baseline=baseline,
        unknown=tuple(sorted(of.keys() - known)),
    )


def _read(record: ModelRecord, measure: str) -> list[OrderedPair]:
    return [showing for showing in _MEASURES[measure].showings(record) if showing.read]


def _unread(records: Sequence[ModelRecord]) -> dict[str, tuple[str, ...]]:
    """By measure that some model has a verdict in; Win Rate is of the same verdicts as Reward."""
    found = {key: tuple(one.model for one in records if not _read(one, key)) for key in ("reward", "vfs")}
    return {key: models for key, models in found.items() if 0 < len(models) < len(records)}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """A group's mean, and by item what it is made of."""

    score: float
    """The mean of its models' scores, as the table has them."""
    influences: FloatArray
    """What an item moves the mean by; their sum is 0, and an item that no model has a vote on moves nothing."""
    left_out: FloatArray
    """The same, as if the item had had no say in the models' scores."""
    spread: FloatArray
    """What an item adds to the mean's variance if all votes vary alike."""
    pull: FloatArray
    """The same, where each model's variance is that of its items by their weight."""


def _part(measure: _Measure, records: Sequence[ModelRecord], items: Sequence[str]) -> _Part | None:
    """None where no model has a vote. A model's score is a mean over its votes, however many an item has."""
    number = {item: place for place, item in enumerate(items)}
    scores: list[float] = []
    shares: list[FloatArray] = []
    influences: list[FloatArray] = []
    for record in records:
        sums, weights = np.zeros(len(items)), np.zeros(len(items))
        for showing in measure.showings(record):
            for verdict in showing.read:
                sums[number[showing.item]] += measure.value(showing, verdict) / len(showing.read)
                weights[number[showing.item]] += 1 / len(showing.read)
        if weights.any():
            scores.append(float(sums.sum() / weights.sum()))
            shares.append(weights / weights.sum())
            influences.append((sums - scores[-1] * weights) / weights.sum())
    if not scores:
        return None
    share, influence = np.array(shares), np.array(influences)
    squares = np.square(share)
    return _Part(
        score=float(np.mean(scores)),
        influences=influence.mean(axis=0),
        left_out=(influence * left_out(share)).mean(axis=0),
        spread=squares.sum(axis=0) / len(scores) ** 2,
        pull=squares.sum(axis=1) @ share / len(scores) ** 2,
    )


def _mean(part: _Part | None, within: Range) -> Estimate:
    if part is None:
        return _NOT_JUDGED
    return joined_means(part.score, part.left_out, part.spread, within=within)


def _gap(one: _Part | None, other: _Part | None, within: Range) -> PairedDifference:
    if one is None or other is None:
        return PairedDifference(difference=_NOT_JUDGED, p_value=None, p_adjusted=None)
    gap = one.score - other.score
    found = joined_means(
        gap,
        one.left_out - other.left_out,
        one.spread + other.spread,
        within=Range(low=-within.width, high=within.width),
    )
    # If the groups were alike, the models that rest on the fewest items would have missed by most of the gap. What an
    # item adds to it is its influence and its part of that; where all models have the same items, its own difference.
    missed = gap * (one.pull + other.pull) / (one.pull + other.pull).sum()
    items: FloatArray = found.clusters * (one.influences - other.influences + missed)
    p_value = sign_flip_p_value(items.round(9))
    return PairedDifference(difference=found, p_value=p_value, p_adjusted=p_value)


def _flat(estimates: Iterator[Estimate]) -> dict[str, Json]:
    found: dict[str, Json] = {}
    for name, one in zip(_MEASURES, estimates, strict=True):
        found |= one.as_json(name)
    return found
