"""Judge against judge, as Creation-MMBench's Table 7 sets them beside each other: who comes nearer to people.

With the images against without them, one judge against another who was shown the same, both orders against one.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Literal, TypeAlias

from evenhand.domain.identity import Json
from evenhand.domain.trial import Condition
from evenhand.reports.alignment.evidence import JudgeWay
from evenhand.stats.reliability.agreement.paired import PairedAlignment, paired_alignment, read_at_once
from evenhand.stats.reliability.agreement.rater_matrix import RaterMatrix

Question: TypeAlias = Literal["images", "judges", "orders"]
Evaluation: TypeAlias = Literal["dual", "non-dual"]
_SIGHT = ("both", "images", "caption", "none")
"""The most first."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class JudgeHeard:
    """What a judge said of each case; None where it was not asked so."""

    rater: str
    way: JudgeWay
    taken: RaterMatrix
    """The mean of both orders, or else of one."""
    dual: RaterMatrix | None
    """The mean of both orders."""
    single: RaterMatrix | None
    """One order: the published one, where both were asked."""

    def evaluated(self, how: Evaluation) -> RaterMatrix | None:
        return self.dual if how == "dual" else self.single


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgePair:
    question: Question
    judge: str
    """Of `rater`, by its own name."""
    rater: str
    less: str
    """Of `orders` the same judge: its dual evaluation less its single one."""
    evaluation: Evaluation
    """Of `orders` that of `rater`."""
    found: PairedAlignment
    """Of all cases."""
    models: tuple[tuple[str, PairedAlignment], ...]
    """Of each model's."""

    def as_json(self) -> dict[str, Json]:
        return {
            "question": self.question,
            "rater": self.rater,
            "less": self.less,
            "evaluation": self.evaluation,
            "less_evaluation": "non-dual" if self.question == "orders" else self.evaluation,
            **self.found.as_json(),
            "models": [{"model": model, **one.as_json()} for model, one in self.models],
        }


def judge_pairs(judges: Sequence[JudgeHeard], people: RaterMatrix) -> tuple[JudgePair, ...]:
    """Those of one question and evaluation are tested together, by Holm."""
    found: list[JudgePair] = []
    for how in ("dual", "non-dual"):
        for question in ("images", "judges"):
            met = [(one, other) for one, other in map(_first, combinations(judges, 2)) if _asks(one, other) == question]
            found += _tested(question, how, ((one, other, how) for one, other in met), people)
    found += _tested("orders", "dual", ((one, one, "non-dual") for one in judges), people)
    return tuple(found)


def _asks(one: JudgeHeard, other: JudgeHeard) -> Question | None:
    """None where two ways of being asked differ in more than a question is about."""
    if one.way.judge != other.way.judge:
        return "judges" if one.way.condition == other.way.condition else None
    if one.way.rater != other.way.rater or None in (one.way.see, other.way.see) or one.way.see == other.way.see:
        return None
    pictures = {how for how in (_pictures(one.way.condition), _pictures(other.way.condition)) if how}
    alike = _without_sight(one.way.condition) == _without_sight(other.way.condition)
    return "images" if alike and len(pictures) <= 1 else None


def _without_sight(condition: Condition | None) -> Condition | None:
    return condition and replace(condition, see="none", image_detail=None, max_image_edge=None)


def _pictures(condition: Condition | None) -> tuple[object, ...]:
    """How images were shown; nothing where none was."""
    if condition is None or condition.see not in ("images", "both"):
        return ()
    return condition.image_detail, condition.max_image_edge


def _first(pair: tuple[JudgeHeard, JudgeHeard]) -> tuple[JudgeHeard, JudgeHeard]:
    """Who was shown more stands first."""
    one, other = pair
    more = {see: place for place, see in enumerate(_SIGHT)}
    return (one, other) if more.get(one.way.see or "", 0) <= more.get(other.way.see or "", 0) else (other, one)


def _tested(
    question: Question,
    how: Evaluation,
    pairs: Iterable[tuple[JudgeHeard, JudgeHeard, Evaluation]],
    people: RaterMatrix,
) -> list[JudgePair]:
    found: list[JudgePair] = []
    for one, other, less in pairs:
        first, second = one.evaluated(how), other.evaluated(less)
        if first is not None and second is not None:
            pair = JudgePair(
                question=question,
                judge=one.way.judge,
                rater=one.rater,
                less=other.rater,
                evaluation=how,
                found=paired_alignment(first, second, people),
                models=_by_model(first, second, people),
            )
            found.append(pair)
    adjusted = read_at_once([one.found for one in found])
    return [replace(one, found=each) for one, each in zip(found, adjusted, strict=True)]


def _by_model(first: RaterMatrix, second: RaterMatrix, people: RaterMatrix) -> tuple[tuple[str, PairedAlignment], ...]:
    model, names = people.cases.model, people.cases.models
    compared = [
        paired_alignment(first.only(model[first.case] == code), second.only(model[second.case] == code), people)
        for code in range(len(names))
    ]
    return tuple(zip(names, read_at_once(compared), strict=True))
