"""Models placed at looks that were planned beforehand, on the board of the others.

Their verdicts were asked for until enough was known, so a plain interval would miss the truth too often. Theirs is the
repeated one of the last look, and what was said since then counts at the next.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.placing import LookPlan, Until
from evenhand.domain.response import REFERENCE
from evenhand.domain.verdict import NoVerdict, Preference
from evenhand.engine.tasks.placing import Course, PlacingLook, Said, calls_there_are
from evenhand.ledger.read.results import Mask, Results
from evenhand.ledger.read.votes import JudgedBattles, PlacingOnRecord
from evenhand.stats.intervals import LEVEL
from evenhand.stats.ratings.bradley_terry.ratings import bradley_terry
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.ranks import rank_ranges
from evenhand.stats.ratings.placing import FrozenBoard, NoBoard
from evenhand.stats.ratings.scale import Scale
from evenhand.stats.ratings.soft import soft_rows
from evenhand.stats.sequential import look_values

if TYPE_CHECKING:
    from evenhand.reports.board.board import Board, BoardRow


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedModel:
    """How far the placing of one model has come."""

    course: Course
    said: tuple[Said, ...]
    """Of whole batches, in the order they were asked."""
    looks: tuple[PlacingLook, ...]

    @property
    def model(self) -> str:
        return self.course.plan.new

    @property
    def look(self) -> PlacingLook | None:
        """The one that counts."""
        return self.looks[-1] if self.looks else None

    @property
    def done(self) -> bool:
        return self.look is not None and self.look.last

    def as_json(self) -> dict[str, Json]:
        plan, look = self.course.plan, self.look
        return {
            "until": str(plan.until),
            "soft": plan.soft,
            "looks": plan.looks,
            "look": 0 if look is None else look.number,
            "max_calls": plan.max_calls,
            "calls": len(self.said) if look is None else look.calls,
            "standard_errors": None if look is None else look.reach,
            "settled": look is not None and look.settled,
            "done": None if self.course.to_the_end and not self.done else self.done,
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
    shown, hidden = {one for batch in placing.batches for one in batch}, placing.hidden_pairs
    return all(
        (item, *models) in shown or frozenset(models) in hidden
        for item, models, _ in _rows_of(judged, placing.plan.new).each()
    )


def beside_dealt(judged: JudgedBattles, hidden: Mask, batches: Sequence[Sequence[int]]) -> tuple[PlacingOnRecord, ...]:
    """The placings of a board of which these rows are told to nobody one by one: followed by the others alone.
    `batches`: rows that count together or not at all."""
    together = [judged.results.said[rows] for rows in batches]
    rows = {(item, *models) for item, models, _ in judged.results.rows(hidden).each()}
    found: list[PlacingOnRecord] = []
    for one in judged.placings:
        shown = {showing for batch in one.batches for showing in batch}
        # Whoever was judged otherwise too stays one like any other.
        asked = one.batches if _only_so(judged, one) else ()
        # Those that joined a board without the reference were placed by verdicts that everybody may see.
        dealt = not one.plan.among or REFERENCE in one.plan.among
        not_yet = frozenset(number for some in together if some.max() > one.plan.record for number in some.tolist())
        found.append(replace(one, batches=asked, hidden=frozenset(shown & rows), dealt=dealt, not_yet=not_yet))
    return tuple(found)


def placed_model(judged: JudgedBattles, placing: PlacingOnRecord) -> PlacedModel:
    """On the board of those who were never placed so, as in its own run: one that was, and was judged otherwise since,
    is not put on it afterwards. Raises NoBoard where they make none."""
    course = course_of(judged.without([one.plan.new for one in judged.placings]), placing)
    said = said_of(judged, placing)
    return PlacedModel(course=course, said=tuple(said), looks=tuple(course.looks(said)))


def course_of(founders: JudgedBattles, placing: PlacingOnRecord) -> Course:
    """On the board as it stood when the placing began, of soft verdicts where those were read. Raises NoBoard.

    A repeated interval holds at all looks together, so the other kind of verdicts, or those that everybody may see,
    have one too at the looks that were taken: only when to stop was not theirs to say.
    """
    founders = founders.among(placing.plan.among)
    results = founders.results
    there = (results.said <= placing.plan.record) & ~np.isin(results.said, [*placing.not_yet])
    votes = replace(founders, results=results.rows(there)).votes
    rows, names = votes.comparisons(), votes.item.in_order_of_rows().names
    rows = rows if rows.soft is None else soft_rows(rows)
    items = dict.fromkeys((*names, *(item for batch in placing.batches for item, _, _ in batch)))
    number = {item: code for code, item in enumerate(items)}
    board = FrozenBoard.of(rows, items=len(number))
    return Course(
        plan=placing.plan,
        board=board,
        number=number,
        seed=placing.seed,
        tiers=cache(lambda: _tiers(rows)),
        to_the_end=placing.dealt or placing.plan.soft is not (results.soft is not None),
    )


def _tiers(rows: Comparisons) -> list[int]:
    return [one.tier or 0 for one in rank_ranges(bradley_terry(rows)).ranges]


def said_of(judged: JudgedBattles, placing: PlacingOnRecord) -> list[Said]:
    """Of the batches that are whole: every showing has a reply."""
    new, hidden = placing.plan.new, placing.hidden
    found: dict[tuple[str, str, str], list[float]] = {one: [] for one in hidden}
    rows = _rows_of(judged, new)
    for (item, (first, second), ending), soft in zip(rows.each(), _likely(rows), strict=True):
        if isinstance(ending, NoVerdict) and ending.call_failed:
            continue
        scores = found.setdefault((item, first, second), [])
        if isinstance(ending, Preference) and (item, first, second) not in hidden:
            won = (1 + float(np.sign(ending.value))) / 2 if soft is None else soft
            scores.append(won if first == new else 1 - won)
    said: list[Said] = []
    for batch in placing.batches:
        if any(one not in found for one in batch):
            break
        said += [Said(shown=one, score=sum(found[one]) / len(found[one]) if found[one] else None) for one in batch]
    return said


def _likely(rows: Results) -> list[float] | list[None]:
    """Of each row how likely the first shown was to be preferred; None where verdicts are hard."""
    return [None] * len(rows) if rows.soft is None else rows.soft.tolist()


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedCalls:
    """What a rule took when models of the board were placed again."""

    until: Until
    calls: float
    """On average."""
    fewest: int
    most: int
    """That one of them took; all that are allowed where the rule was not met."""
    met: int
    """Models of which the rule was met before the looks were taken."""
    models: int
    replayed: int
    """Calls that each of them could be placed again with: fewer than are allowed where they met fewer others."""

    def as_json(self) -> dict[str, Json]:
        return {
            "until": str(self.until),
            "calls": round(self.calls),
            "calls_fewest": self.fewest,
            "calls_most": self.most,
            "met": self.met,
            "models": self.models,
        }


TOO_FEW_IN_BOTH = "too few pairs of the board were judged in both orders to place its models again"
_AGAIN = 8
"""Models of the board that are placed again, from the weakest to the strongest."""
_USUAL = (Until(kind="rank", number=3), Until(kind="tier"), Until(kind="width", number=50))


def replayed(board: JudgedBattles, course: Course, others: Sequence[Until] = _USUAL) -> tuple[ExpectedCalls, ...]:
    """Of the rule asked for and of others: each of some models is placed anew on the verdicts of the rest, with what
    the judge said of it. Without a rule for which too few of their pairs were judged in both orders; nobody is better
    than itself, so a rule about one model is told by the others."""
    rules = list({str(one): one for one in (course.plan.until, *others)}.values())
    order = np.argsort(course.board.strength, kind="stable")
    some = sorted({int(order[place]) for place in np.linspace(0, len(order) - 1, _AGAIN).round().astype(int)})
    taken = {model: _replay(board, course, model, rules) for model in (course.board.models[code] for code in some)}
    each = [
        [one.met[place] for model, one in taken.items() if one is not None and model != rule.model]
        for place, rule in enumerate(rules)
    ]
    most, there = course.plan.max_calls, min((one.calls for one in taken.values() if one is not None), default=0)
    return tuple(
        _took(rule, calls, at_most=most, replayed=there) for rule, calls in zip(rules, each, strict=True) if calls
    )


def _took(until: Until, calls: Sequence[int | None], *, at_most: int, replayed: int) -> ExpectedCalls:
    """`calls`: of each model, None where the rule was not met."""
    taken = [one or at_most for one in calls]
    return ExpectedCalls(
        until=until,
        calls=float(np.mean(taken)),
        fewest=min(taken),
        most=max(taken),
        met=sum(one is not None for one in calls),
        models=len(calls),
        replayed=replayed,
    )


class _Replayed(NamedTuple):
    met: list[int | None]
    """By rule, after how many calls it was met, if it was."""
    calls: int


def _replay(board: JudgedBattles, course: Course, model: str, rules: Sequence[Until]) -> _Replayed | None:
    """None where the record does not hold enough: half of the calls that are allowed. A model of the board has one
    opponent fewer than one that joins, so it may not have them all."""
    scores = {one.shown: one.score for one in _all_said(board, model)}
    both = [shown for shown in scores if (shown[0], shown[2], shown[1]) in scores]
    answered: dict[str, frozenset[str]] = {}
    for item, first, second in both:
        answered[item] = answered.get(item, frozenset()) | {second if first == model else first}
    never = Until(kind="width", number=1e-9)
    placing = PlacingOnRecord(plan=replace(course.plan, new=model, until=never), seed=course.seed, batches=())
    most = course.plan.max_calls
    if 2 * calls_there_are(answered) < most:
        return None
    try:
        again = course_of(board.without([model]), placing)
    except NoBoard:
        return None
    said: list[Said] = []
    while len(said) < most and (following := again.following(said, answered)):
        said += [Said(shown=shown, score=scores[shown]) for shown in following]
    looks = again.looks(said)
    ruled = [replace(again, plan=replace(again.plan, until=rule)) for rule in rules]
    met = [
        next((look.calls for look in looks if look.placed and one.settled(look.placed, look.reach)), None)
        if one.plan.until.model != model
        else None
        for one in ruled
    ]
    return _Replayed(met=met, calls=len(said))


def _all_said(judged: JudgedBattles, model: str) -> list[Said]:
    """Every verdict on the model."""
    shown = [(item, *models) for item, models, _ in _rows_of(judged, model).each()]
    plan = LookPlan(new=model, until=Until(kind="tier"), looks=1, max_calls=1, record=0)
    every = PlacingOnRecord(plan=plan, seed=0, batches=tuple((one,) for one in dict.fromkeys(shown)))
    return said_of(judged, every)


def _rows_of(judged: JudgedBattles, model: str) -> Results:
    return judged.only(model).results


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
        about_intervals=told,
        about_ranks=alone.about_ranks,
        neighbours=alone.neighbours,
        # Few calls against opponents that were chosen would outweigh all others in it.
        soft=None if whole.soft is None or alone.soft is None else replace(whole.soft, gain=alone.soft.gain),
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
    if one.course.to_the_end:
        # Only a board of the verdicts that it was placed by knows whether they have met the rule.
        ends = (
            "its soft verdicts say when it ends, and this board is of hard ones"
            if plan.soft
            else "when it ends is for other verdicts than these to say"
        )
    elif look.settled:
        ends = f"{plan.until} is met"
    else:
        ends = "all looks are taken" if look.last else "more looks are to come"
    return (
        f"The interval of {one.model} is the repeated one: {look.reach:.2f} standard errors at look {look.number} of "
        f"{plan.looks} planned beforehand, after {look.calls} calls; {ends}. It holds at all looks together at 95 %."
    )
