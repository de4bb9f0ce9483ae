"""What more verdicts of people would bring to the boards of the judges that are held against them."""

from dataclasses import dataclass, replace

import numpy as np

from evenhand.domain.identity import Json
from evenhand.format.words import counted
from evenhand.reports.alignment.evidence import Testimony
from evenhand.reports.errors import AlignmentError
from evenhand.stats.ratings.bradley_terry.likelihood import NoFiniteFit
from evenhand.stats.ratings.with_people.matched import PeopleAndJudge, not_among, pairs_on_items
from evenhand.stats.ratings.with_people.plan import Plan, planned


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePlan:
    judge: str
    plan: Plan | None
    reason: str = ""
    """Why there is none."""
    raters: bool = False
    """Whether people's intervals are by rater too, so that more verdicts are thought to come from more people."""

    @property
    def _raters(self) -> str:
        return " (of as many more people, in proportion)" if self.raters else ""

    @property
    def sentence(self) -> str:
        if self.plan is None:
            return f"What more verdicts of people would bring beside {self.judge} cannot be told: {self.reason}"
        one = self.plan
        gain = f"± {one.then.together:.0f} with {self.judge} beside them"
        if one.correlation <= 0:
            gain = f"no less with {self.judge} beside them, whose verdicts do not go with theirs"
        return (
            f"{counted(one.more, 'more verdict')} of people{self._raters} would tell two models apart to "
            f"± {one.then.people:.0f} points by people alone, to {gain} (now ± {one.now.people:.0f} and "
            f"± {one.now.together:.0f}, from {counted(one.verdicts, 'verdict')}; their residuals correlate at "
            f"{one.correlation:.2f})."
        )

    def as_json(self) -> dict[str, Json]:
        known: dict[str, Json] = {} if self.plan is None else self.plan.as_json()
        return {"judge": self.judge, **known, **({"reason": self.reason} if self.reason else {})}


def plans(said: Testimony, more: int) -> tuple[JudgePlan, ...]:
    """Of each judge. Raises AlignmentError where there is none."""
    if not said.judges:
        raise AlignmentError("A plan is of people beside a judge, and only people judged here: name one with --judge.")
    return tuple(_plan(said, judge, more) for judge in said.judges)


def _plan(said: Testimony, judge: str, more: int) -> JudgePlan:
    own, theirs = (np.flatnonzero(said.votes.by(some)) for some in ((judge,), said.people))
    rows = said.votes.rows(np.concatenate([own, theirs])).comparisons()
    first = np.arange(len(rows)) < len(own)
    judged, people = rows.rows(first), rows.rows(~first)
    people = people.rows(~not_among(pairs_on_items(people), pairs_on_items(judged)))
    if not len(people):
        return JudgePlan(judge=judge, plan=None, reason="they have no pair in common.")
    several = people.rater is not None and 1 < len(np.unique(people.rater)) < len(people)
    given = PeopleAndJudge.of(judged, replace(people, crossed=people.rater if several else None))
    try:
        return JudgePlan(judge=judge, plan=planned(given.placed().given, more), raters=several)
    except (NoFiniteFit, ValueError) as refused:
        return JudgePlan(judge=judge, plan=None, reason=str(refused))
