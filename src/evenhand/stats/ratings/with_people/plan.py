"""What more verdicts of people would bring: how sure a board would be by them alone, and with the judge beside them."""

from dataclasses import dataclass

import numpy as np

from evenhand.domain.identity import Json
from evenhand.stats.intervals import LEVEL, reach
from evenhand.stats.ratings.bradley_terry.ratings import BradleyTerry, bradley_terry, differences
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge
from evenhand.stats.ratings.with_people.ratings import joined_ratings


@dataclass(frozen=True, slots=True, kw_only=True)
class HalfWidths:
    """Points: the mean half-width of the interval of a difference of two models."""

    people: float
    together: float

    def as_json(self) -> dict[str, Json]:
        return {"people": self.people, "together": self.together}


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    verdicts: int
    """Of people, so far."""
    more: int
    correlation: float
    """Of people's and the judge's residuals on the same pairs, after the ratings are taken out."""
    now: HalfWidths
    then: HalfWidths
    worth: float
    """Verdicts of people that would then be as sure, were there no judge."""

    def as_json(self) -> dict[str, Json]:
        return {
            "verdicts": self.verdicts,
            "more": self.more,
            "correlation": self.correlation,
            "half_width_now": self.now.as_json(),
            "half_width_then": self.then.as_json(),
            "worth": self.worth,
        }


def planned(given: PeopleAndJudge, more: int, *, scale: Scale | None = None, level: float = LEVEL) -> Plan:
    """With so many more, drawn from the judge's other pairs as these were and by as many more people.

    Variances go down as verdicts grow in number; beside the judge by what its residuals tell of people's, less the more
    of its pairs people have. Raises NoFiniteFit, and ValueError where the judge has not so many pairs or no difference
    has an interval.
    """
    if not given.verdicts:
        raise ValueError("All of people's verdicts point one way, so that they rate nobody.")
    scale = scale or Scale()
    room = open_verdicts(given)
    if more > room:
        raise ValueError(f"The judge has pairs for {room:,} more verdicts of people, not for {more:,}.")
    joined = joined_ratings(given, scale=scale, level=level)
    alone = bradley_terry(given.people, scale=scale, level=level)
    now = HalfWidths(people=_half(alone), together=_half(joined.rated))
    if not np.isfinite(now.people):
        raise ValueError("People judged too few items for an interval of any difference.")
    times = (given.verdicts + more) / given.verdicts
    clusters = float(np.median(alone.spread.effective[: len(given.models)]))
    error = now.people / (reach(clusters, level) * scale.unit)
    # Student's t comes down too.
    few = _of_few(given, error, times) * reach(clusters * times, level) / reach(clusters, level)
    people = now.people * times**-0.5 * few
    left = joined.residuals.left(given.probability * times)
    return Plan(
        verdicts=given.verdicts,
        more=more,
        correlation=joined.residuals.correlation,
        now=now,
        then=HalfWidths(people=people, together=people * left**0.5),
        worth=(given.verdicts + more) / left,
    )


def open_verdicts(given: PeopleAndJudge) -> int:
    """How many more the judge has pairs for."""
    return round((len(given.judged) - given.pairs_by_people) * given.verdicts / given.pairs_by_people)


def _of_few(given: PeopleAndJudge, error: float, times: float) -> float:
    """How much of a standard error is there for verdicts being few, and goes with more of them.

    The correction for few items widens it by the share of the verdicts that parameters take up. And ratings known to
    `error`, in natural units, lie too far apart, where a verdict tells less: the inverse of its information is
    2 + 2 cosh(d), on average larger by a quarter of the error squared near d = 0.
    """
    taken = (len(given.models) - 1) / given.pairs_by_people
    variance = (1 - taken) / (1 - taken / times) * (1 + error**2 / (4 * times)) / (1 + error**2 / 4)
    return float(variance) ** 0.5 if taken < 1 else 1.0


def _half(rated: BradleyTerry) -> float:
    found = differences(rated)
    half = (found.upper - found.lower)[np.triu_indices(len(rated.models), 1)] / 2
    known = half[np.isfinite(half)]
    return float(known.mean()) if known.size else float("nan")
