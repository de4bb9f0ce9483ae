"""Creation-MMBench's Reward and Win Rate of one model against the baseline, from five-level votes."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL, clustered_mean, clustered_share
from evenhand.stats.intervals.mean import Range

POINTS = 50
"""Of Reward for each step of a verdict: much better is +100, worse is -50."""

RANGE = Range(low=-2 * POINTS, high=2 * POINTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class VoteCounts:
    """Votes by what they say of the model; fractional where replicates share a showing. Table 5's columns."""

    much_better: float = 0
    better: float = 0
    tie: float = 0
    worse: float = 0
    much_worse: float = 0
    fail: float = 0
    """Showings without a verdict: counted nowhere else, as published."""

    @property
    def valid(self) -> float:
        return self.much_better + self.better + self.tie + self.worse + self.much_worse

    @property
    def points(self) -> float:
        """Of all valid votes together."""
        won, lost = 2 * self.much_better + self.better, 2 * self.much_worse + self.worse
        return POINTS * (won - lost)

    @property
    def reward(self) -> float | None:
        """From -100 to 100, over the valid votes of both orders; None without one."""
        return self.points / self.valid if self.valid else None

    @property
    def win_rate(self) -> float | None:
        """From 0 to 1; a tie counts as not won."""
        return (self.much_better + self.better) / self.valid if self.valid else None

    def as_json(self) -> dict[str, Json]:
        return {
            "much_better": whole(self.much_better),
            "better": whole(self.better),
            "tie": whole(self.tie),
            "worse": whole(self.worse),
            "much_worse": whole(self.much_worse),
            "fail": whole(self.fail),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class WorstAndBest:
    """What a mean would be if everything that lacks a value had the worst one, or the best; None of nothing."""

    worst: float | None
    best: float | None


def band(total: float, valid: float, *, lacking: float, within: Range) -> WorstAndBest:
    """`total`: the sum of the `valid` values; `lacking`: how many have none."""
    shown = valid + lacking
    if not shown:
        return WorstAndBest(worst=None, best=None)
    return WorstAndBest(worst=(total + within.low * lacking) / shown, best=(total + within.high * lacking) / shown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Reward:
    counts: VoteCounts
    reward: Estimate
    win_rate: Estimate
    band: WorstAndBest
    """The Reward if every showing without a verdict were "much worse", or "much better"."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class FiveLevel:
    """Votes on one model, a row each."""

    value: npt.NDArray[np.int8]
    """2, 1, 0, -1, -2 in favour of the model."""
    weight: npt.NDArray[np.float64]
    item: Sequence[str] | npt.NDArray[np.int64]
    fails: float = 0
    """Showings without a verdict."""


def reward(votes: FiveLevel, *, level: float = LEVEL) -> Reward:
    """Micro-averaged over the votes of both orders, as published; intervals clustered by item."""
    if votes.value.size and int(np.abs(votes.value).max()) > 2:
        raise ValueError("A five-level vote lies from -2 to 2.")
    by_value = np.bincount(votes.value.astype(np.int64) + 2, weights=votes.weight, minlength=5)
    much_worse, worse, tie, better, much_better = (float(weight) for weight in by_value)
    counts = VoteCounts(
        much_better=much_better, better=better, tie=tie, worse=worse, much_worse=much_worse, fail=votes.fails
    )
    return Reward(
        counts=counts,
        reward=clustered_mean(
            POINTS * votes.value.astype(np.float64), votes.item, weights=votes.weight, within=RANGE, level=level
        ),
        win_rate=clustered_share((votes.value > 0).astype(np.float64), votes.weight, votes.item, level=level),
        band=band(counts.points, counts.valid, lacking=votes.fails, within=RANGE),
    )
