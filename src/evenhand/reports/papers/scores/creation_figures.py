"""Creation-MMBench's numbers of one model on some items: Reward, Win Rate and Visual Factuality Score."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.verdict import Grades, Preference
from evenhand.reports.papers.scores.creation_record import ModelRecord, OrderedPair
from evenhand.stats.intervals import clustered_mean
from evenhand.stats.intervals.mean import Range
from evenhand.stats.ratings.shares.reward import RANGE, FiveLevel, Reward, WorstAndBest, band, reward
from evenhand.stats.reliability import Coverage

GRADES = Range(low=0, high=10)
"""What a Visual Factuality Score can be."""

SHARE = Range(low=0, high=1)

_NOT_ASKED = Estimate(value=None, reason="not judged")
_NOT_READ = Estimate(value=None, reason="no judgement has a verdict")


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedPreferences:
    """What a judging of preferences was to ask about."""

    items: frozenset[str]
    """Of the benchmark's, by digest."""
    applicable: frozenset[str]
    """Those of them that can be compared: with criteria to compare by."""
    orders: int
    """In how many each was to be shown."""

    def within(self, items: frozenset[str]) -> "WantedPreferences":
        return replace(self, items=self.items & items, applicable=self.applicable & items)


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationVerdicts:
    """Over the valid judgements, each a vote of its own, as published; intervals count cases."""

    preference: Reward
    vfs: Estimate
    baseline_vfs: Estimate

    def as_json(self) -> dict[str, Json]:
        return {
            **self.preference.reward.as_json("reward"),
            **self.preference.win_rate.as_json("win_rate"),
            **self.vfs.as_json("vfs"),
            **self.baseline_vfs.as_json("baseline_vfs"),
            "counts": self.preference.counts.as_json(),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationFigures:
    items: int
    """Of the benchmark."""
    answered: int
    applicable: int
    """Items that can be compared."""
    judged: int
    """Of these, the items that were shown in every order and have a verdict."""
    dual: CreationVerdicts
    """Of both orders."""
    forward: CreationVerdicts
    """Of the published order alone: the baseline stands first."""
    win_rate_band: WorstAndBest
    vfs_band: WorstAndBest
    unanswered_worst: float | None
    """The Reward if each unanswered item that applies were "much worse" in every order; None without a verdict."""
    preference: Coverage
    factuality: Coverage

    @property
    def clusters(self) -> tuple[int, int]:
        """Items behind the Reward and behind the grades."""
        return self.dual.preference.reward.clusters, self.dual.vfs.clusters

    def as_json(self) -> dict[str, Json]:
        preference = self.dual.preference
        return {
            "items": self.items,
            "answered": self.answered,
            "applicable": self.applicable,
            "judged": self.judged,
            **self.dual.as_json(),
            "reward_if_failures_worst": preference.band.worst,
            "reward_if_failures_best": preference.band.best,
            "win_rate_if_failures_worst": self.win_rate_band.worst,
            "win_rate_if_failures_best": self.win_rate_band.best,
            "vfs_if_failures_worst": self.vfs_band.worst,
            "vfs_if_failures_best": self.vfs_band.best,
            "reward_if_unanswered_worst": self.unanswered_worst,
            "forward": self.forward.as_json(),
            "coverage": {"preference": self.preference.as_json(), "factuality": self.factuality.as_json()},
        }


def figures(record: ModelRecord, wanted: WantedPreferences) -> CreationFigures:
    """Of what is known of the wanted items."""
    record = record.within(wanted.items)
    dual = _verdicts(record)
    counts = dual.preference.counts
    unanswered = wanted.orders * len(wanted.applicable - record.answers.keys())
    return CreationFigures(
        items=len(wanted.items),
        answered=len(record.answers),
        applicable=len(wanted.applicable),
        judged=len(judged_items(record.preference, wanted.orders) & wanted.applicable),
        dual=dual,
        forward=_verdicts(record.forward()),
        win_rate_band=band(counts.much_better + counts.better, counts.valid, lacking=counts.fail, within=SHARE),
        vfs_band=_vfs_band(dual.vfs, record.factuality),
        unanswered_worst=(
            band(counts.points, counts.valid, lacking=unanswered, within=RANGE).worst if counts.valid else None
        ),
        preference=_coverage(record.preference),
        factuality=_coverage(record.factuality),
    )


def judged_items(showings: Iterable[OrderedPair], orders: int) -> set[str]:
    """Digests of the items that were shown in all of so many orders, with a verdict in one at least."""
    asked = [showing for showing in showings if showing.asked]
    times = Counter(showing.item for showing in asked)
    return {showing.item for showing in asked if showing.read and times[showing.item] >= orders}


def graded(showings: Sequence[OrderedPair], *, baseline: bool) -> Estimate:
    """The mean grade of the model, or of the baseline beside it."""
    values: list[float] = []
    weights: list[float] = []
    items: list[str] = []
    for showing in showings:
        for verdict in showing.read:
            assert isinstance(verdict, Grades)
            values.append(showing.grade(verdict, baseline=baseline))
            weights.append(1 / len(showing.read))
            items.append(showing.item)
    if not values:
        return _NOT_READ if any(one.failure for one in showings) else _NOT_ASKED
    return clustered_mean(values, items, weights=weights, within=GRADES)


def _verdicts(record: ModelRecord) -> CreationVerdicts:
    return CreationVerdicts(
        preference=_preference(record.preference),
        vfs=graded(record.factuality, baseline=False),
        baseline_vfs=graded(record.factuality, baseline=True),
    )


def _preference(showings: Sequence[OrderedPair]) -> Reward:
    values: list[int] = []
    weights: list[float] = []
    items: list[str] = []
    for showing in showings:
        for verdict in showing.read:
            assert isinstance(verdict, Preference)
            values.append(showing.in_favour(verdict))
            weights.append(1 / len(showing.read))
            items.append(showing.item)
    votes = FiveLevel(
        value=np.array(values, dtype=np.int8),
        weight=np.array(weights, dtype=np.float64),
        item=items,
        fails=sum(one.failure is not None for one in showings),
    )
    return reward(votes)


def _vfs_band(vfs: Estimate, showings: Sequence[OrderedPair]) -> WorstAndBest:
    failures = sum(one.failure is not None for one in showings)
    return band((vfs.value or 0.0) * vfs.n, vfs.n, lacking=failures, within=GRADES)


def _coverage(showings: Iterable[OrderedPair]) -> Coverage:
    wanted = list(showings)
    return Coverage.of((one.ending for one in wanted if one.ending is not None), wanted=len(wanted))
