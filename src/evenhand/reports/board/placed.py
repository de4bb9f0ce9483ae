"""Models placed at looks that were planned beforehand, on the board of the others.

Their verdicts were asked for until enough was known, so a plain interval would miss the truth too often. Theirs is the
repeated one of the last look, and what was said since then counts at the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.placing import LookPlan, Until
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.engine.tasks.placing import Course, Look, Said, calls_there_are
from evenhand.ledger.read.results import Results
from evenhand.ledger.read.votes import JudgedBattles, PlacingOnRecord
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.placing import FrozenBoard, NoBoard
from evenhand.stats.ratings.ranks import rank_ranges
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.sequential import look_values

if TYPE_CHECKING:
    from evenhand.reports.board.board import Board, BoardRow


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedModel:
    """How far the placing of one model has come."""

    course: Course
    said: tuple[Said, ...]
    """Of whole batches, in the order they were asked."""
    looks: tuple[Look, ...]

    @property
    def model(self) -> str:
        return self.course.plan.new

    @property
    def look(self) -> Look | None:
        """The one that counts."""
        return self.looks[-1] if self.looks else None

    @property
    def done(self) -> bool:
        return self.look is not None and self.look.last

    def as_json(self) -> dict[str, Json]:
        plan, look = self.course.plan, self.look
        return {
            "until": str(plan.until),
            "looks": plan.looks,
            "look": 0 if look is None else look.number,
            "max_calls": plan.max_calls,
            "calls": len(self.said) if look is None else look.calls,
            "standard_errors": None if look is None else look.reach,
            "settled": look is not None and look.settled,
            "done": self.done,
        }

    def against(self, *, together: bool = False) -> dict[str, int]:
        """By model of the frozen board: 1 where this one is better, -1 where it is worse, 0 where nobody can tell; each
        comparison for itself, as the rule takes them, or all at once (Bonferroni)."""
        look = self.look
        if look is None or look.placed is None:
            return {}
        models, planned = self.course.board.models, self.course.plan.looks
        wider = look_values(planned, 1 - (1 - LEVEL) / len(models))[look.number - 1] if together else 0.0
        reach = max(look.reach, look.reach * wider / look_values(planned)[look.number - 1])
        return dict(zip(models, look.placed.told(reach).tolist(), strict=True))

    def rating(self, others: Mapping[str, float], scale: Scale) -> Estimate:
        """On a board on which the others have these ratings."""
        look, plan = self.look, self.course.plan
        if look is None:
            why = f"being placed: the first of {plan.looks} looks is after {plan.borders[0]} calls"
            return Estimate(value=None, n=0, reason=why)
        told = self.course.met(self.said[: look.calls])
        n, items = len(told), len(np.unique(told.item))
        if look.placed is None:
            return Estimate(value=None, n=n, clusters=items, reason="it won or lost everything so far")
        board, error = self.course.board, look.placed.error
        if scale.anchor in board.models:
            error = float(look.placed.apart_error[board.models.index(scale.anchor)])
        half = look.reach * error
        value, lower, upper = (board.printed(look.placed.strength + step, others, scale) for step in (0.0, -half, half))
        return Estimate(value=value, lower=lower, upper=upper, n=n, clusters=items)


def standing_placings(judged: JudgedBattles) -> tuple[PlacingOnRecord, ...]:
    """Those of models that have no other verdicts: whoever was judged otherwise too is a model like any other."""
    return tuple(one for one in judged.placings if _only_so(judged, one))


def _only_so(judged: JudgedBattles, placing: PlacingOnRecord) -> bool:
    shown = {one for batch in placing.batches for one in batch}
    return all((item, *models) in shown for item, models, _ in _rows_of(judged, placing.plan.new).each())


def placed_model(judged: JudgedBattles, placing: PlacingOnRecord, newcomers: Sequence[str]) -> PlacedModel:
    """Raises NoBoard where the others make none."""
    course = course_of(judged.without(newcomers), placing)
    said = said_of(judged, placing)
    return PlacedModel(course=course, said=tuple(said), looks=tuple(course.looks(said)))


def course_of(founders: JudgedBattles, placing: PlacingOnRecord) -> Course:
    """On the board as it stood when the placing began. Raises NoBoard."""
    results = founders.results
    votes = replace(founders, results=results.rows(results.seq <= placing.plan.record)).votes
    rows, names = votes.comparisons(), votes.item.in_order_of_rows().names
    items = dict.fromkeys((*names, *(item for batch in placing.batches for item, _, _ in batch)))
    number = {item: code for code, item in enumerate(items)}
    board = FrozenBoard.of(rows, items=len(number))
    return Course(plan=placing.plan, board=board, number=number, seed=placing.seed, tiers=lambda: _tiers(rows))


def _tiers(rows: Comparisons) -> list[int]:
    return [one.tier or 0 for one in rank_ranges(bradley_terry(rows)).ranges]


def said_of(judged: JudgedBattles, placing: PlacingOnRecord) -> list[Said]:
    """Of the batches that are whole: every showing has a reply."""
    new, found = placing.plan.new, dict[tuple[str, str, str], list[float]]()
    for item, (first, second), ending in _rows_of(judged, new).each():
        if isinstance(ending, NoVerdict) and ending.call_failed:
            continue
        scores = found.setdefault((item, first, second), [])
        if isinstance(ending, Preference):
            sign = float(np.sign(ending.value))
            scores.append((1 + (sign if first == new else -sign)) / 2)
    said: list[Said] = []
    for batch in placing.batches:
        if any(one not in found for one in batch):
            break
        said += [Said(shown=one, score=sum(found[one]) / len(found[one]) if found[one] else None) for one in batch]
    return said


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCalls:
    """What a rule took when models of the board were placed again."""

    until: Until
    calls: float
    """On average."""
    met: int
    """Models of which the rule was met before the looks were taken."""
    models: int

    def as_json(self) -> dict[str, Json]:
        return {"until": str(self.until), "calls": round(self.calls), "met": self.met, "models": self.models}


_AGAIN = 8
"""Models of the board that are placed again, from the weakest to the strongest."""


def replayed(board: JudgedBattles, course: Course) -> tuple[ExpectedCalls, ...]:
    """Of the rule asked for and of others: each of some models is placed anew on the verdicts of the rest, with what
    the judge said of it. Empty where too few of its pairs were judged in both orders."""
    asked = course.plan.until
    usual = [Until(kind="rank", number=3), Until(kind="tier"), Until(kind="width", number=50)]
    rules = list({str(one): one for one in (asked, *usual)}.values())
    order = np.argsort(course.board.strength)
    some = sorted({int(order[place]) for place in np.linspace(0, len(order) - 1, _AGAIN).round().astype(int)})
    taken = [_replay(board, course, course.board.models[code], rules) for code in some]
    known = [one for one in taken if one is not None]
    if not known:
        return ()
    most = course.plan.max_calls
    return tuple(
        ExpectedCalls(
            until=rule,
            calls=float(np.mean([one[place] or most for one in known])),
            met=sum(one[place] is not None for one in known),
            models=len(known),
        )
        for place, rule in enumerate(rules)
    )


def _replay(board: JudgedBattles, course: Course, model: str, rules: Sequence[Until]) -> list[int | None] | None:
    """By rule, after how many calls it was met; None where the record does not hold enough."""
    scores = {one.shown: one.score for one in _all_said(board, model)}
    both = [shown for shown in scores if (shown[0], shown[2], shown[1]) in scores]
    answered: dict[str, frozenset[str]] = {}
    for item, first, second in both:
        answered[item] = answered.get(item, frozenset()) | {second if first == model else first}
    never = Until(kind="width", number=1e-9)
    placing = PlacingOnRecord(plan=replace(course.plan, new=model, until=never), seed=course.seed, batches=())
    if calls_there_are(answered) < course.plan.max_calls:
        return None
    try:
        again = course_of(board.without([model]), placing)
    except NoBoard:
        return None
    said: list[Said] = []
    while len(said) < course.plan.max_calls:
        said += [Said(shown=shown, score=scores[shown]) for shown in again.following(said, answered)]
    looks = again.looks(said)
    ruled = [replace(again, plan=replace(again.plan, until=rule)) for rule in rules]
    return [
        next((look.calls for look in looks if look.placed and one.settled(look.placed, look.reach)), None)
        if one.plan.until.model != model
        else None
        for one in ruled
    ]


def _all_said(judged: JudgedBattles, model: str) -> list[Said]:
    """Every verdict on the model."""
    shown = [(item, *models) for item, models, _ in _rows_of(judged, model).each()]
    plan = LookPlan(new=model, until=Until(kind="tier"), looks=1, max_calls=1, record=0)
    every = PlacingOnRecord(plan=plan, seed=0, batches=tuple((one,) for one in dict.fromkeys(shown)))
    return said_of(judged, every)


def _rows_of(judged: JudgedBattles, model: str) -> Results:
    results = judged.results
    if model not in results.models:
        return results.rows(np.zeros(len(results), dtype=np.bool_))
    code = results.models.index(model)
    return results.rows((results.first_model == code) | (results.second_model == code))


def with_placed(whole: "Board", alone: "Board", placed: Sequence[PlacedModel], scale: Scale) -> "Board":
    """`whole`: of all verdicts. `alone`: without these models', as the others are rated."""
    ratings = {row.model: row.rating.value for row in alone.models if row.component == 1}
    others = {model: value for model, value in ratings.items() if value is not None}
    own = {row.model: row for row in whole.models}
    rated = {one.model: one.rating(others, scale) for one in placed}
    own_claims, claims = (
        {one.model: _claims(one, rated, alone, together=together) for one in placed} for together in (False, True)
    )
    rows = [
        _moved(row, *([of[model].get(row.model, 0) for model in of] for of in (own_claims, claims)))
        for row in alone.models
    ]
    tier = {row.model: row.tier or 0 for row in alone.models}
    ranked = sum(row.component == 1 for row in alone.models) + sum(one.value is not None for one in rated.values())
    rows += [
        _row(own[one.model], one, rated[one.model], (own_claims[one.model], claims[one.model]), tier, ranked)
        for one in placed
    ]
    told = tuple(_sentence(one) for one in placed)
    return replace(
        whole,
        models=tuple(_in_order(rows)),
        basis=(*alone.basis, *told),
        about_placed=told,
        about_ranks=alone.about_ranks,
        neighbours=alone.neighbours,
    )


def _claims(one: PlacedModel, rated: Mapping[str, Estimate], alone: "Board", *, together: bool) -> dict[str, int]:
    """Against every model: those that the frozen board lacks are told apart where the intervals are."""
    own, found = rated[one.model], one.against(together=together)
    if own.value is None:
        return {}
    later = {row.model: row.rating for row in alone.models if row.component == 1 and row.model not in found}
    later |= {model: rating for model, rating in rated.items() if model != one.model}
    for model, rating in later.items():
        if rating.lower is not None and rating.upper is not None and own.lower is not None and own.upper is not None:
            found[model] = int(own.lower > rating.upper) - int(own.upper < rating.lower)
    return {**dict.fromkeys(later, 0), **found}


def _moved(row: "BoardRow", own: Sequence[int], told: Sequence[int]) -> "BoardRow":
    """The ranks that a model may hold now that others have come in: each is better (1), worse (-1) or either (0)."""
    if row.component != 1:
        return row
    better, maybe = sum(one > 0 for one in told), sum(one >= 0 for one in told)
    own_better, own_maybe = sum(one > 0 for one in own), sum(one >= 0 for one in own)

    def by(rank: int | None, more: int) -> int | None:
        return None if rank is None else rank + more

    return replace(
        row,
        rank_lower=by(row.rank_lower, better),
        rank_upper=by(row.rank_upper, maybe),
        rank_own_lower=by(row.rank_own_lower, own_better),
        rank_own_upper=by(row.rank_own_upper, own_maybe),
    )


def _row(
    own: "BoardRow",
    one: PlacedModel,
    rating: Estimate,
    told: tuple[Mapping[str, int], Mapping[str, int]],
    tier: Mapping[str, int],
    models: int,
) -> "BoardRow":
    """`told`: what is claimed against the others, each for itself and all at once."""
    known = rating.value is not None
    lowest, lowest_together = (1 + sum(sign < 0 for sign in of.values()) for of in told)
    highest, highest_together = (models - sum(sign > 0 for sign in of.values()) for of in told)
    above = [tier.get(model, 0) for model, sign in told[1].items() if sign < 0]
    look = one.look
    note = "being placed" if look is None else f"placed at look {look.number} of {one.course.plan.looks}"
    return replace(
        own,
        rating=rating,
        median=None,
        rank=1 if known else None,
        rank_lower=lowest_together if known else None,
        rank_upper=highest_together if known else None,
        rank_own_lower=lowest if known else None,
        rank_own_upper=highest if known else None,
        tier=1 + max(above, default=0) if known else None,
        component=1 if known else None,
        note=note,
        placed=one.as_json(),
    )


def _in_order(rows: Sequence["BoardRow"]) -> list["BoardRow"]:
    """The first component by rating, ranked anew; the others as they are."""
    first = sorted((row for row in rows if row.component == 1), key=lambda row: -(row.rating.value or 0.0))
    again = [row if row.rank is None else replace(row, rank=place) for place, row in enumerate(first, 1)]
    later = [row for row in rows if row.component not in (1, None)]
    return [*again, *later, *(row for row in rows if row.component is None)]


def _sentence(one: PlacedModel) -> str:
    plan, look = one.course.plan, one.look
    if look is None:
        return f"{one.model} is being placed: {len(one.said)} of {plan.borders[0]} calls to the first look."
    ends = f"{plan.until} is met" if look.settled else "all looks are taken" if look.last else "more looks are to come"
    return (
        f"The interval of {one.model} is the repeated one: {look.reach:.2f} standard errors at look {look.number} of "
        f"{plan.looks} planned beforehand, after {look.calls} calls; {ends}. It holds at all looks together at 95 %."
    )
