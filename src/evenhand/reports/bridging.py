"""An old judge's board and a new one's on one scale: newcomers whom only the new judge rated stand on the old board."""

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, Protocol, TypeAlias

from rich.console import Console

from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.format.result import Result
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.sheet_table import print_sheet
from evenhand.format.tables import escape
from evenhand.format.words import count, counted, listed, unbroken
from evenhand.reports.board.board import Board, BoardRow
from evenhand.reports.board.evidence import EvidenceSource
from evenhand.reports.errors import RankError
from evenhand.stats.intervals import error_of
from evenhand.stats.ratings.bridge import (
    FEWEST_MODELS,
    Bridge,
    NoBridge,
    RatedByBoth,
    bridge,
    expected_half,
    spread_out,
)

How: TypeAlias = Literal["both", "old", "bridged"]


class JudgesRatings(Protocol):
    """A board as far as a bridge asks: of a command, of a report or of a page."""

    @property
    def origin(self) -> EvidenceSource: ...
    @property
    def models(self) -> tuple[BoardRow, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgedModel:
    model: str
    how: How
    """Rated by both judges or by the old one, and so rated by the old; or by the new one alone, and brought over."""
    rank: int
    rank_lower: int
    """The best rank it may hold, and in `rank_upper` the worst: one more than the models it is separated from."""
    rank_upper: int
    rating: Estimate
    """On the old board's scale."""
    by_new: Estimate
    """On the new board's own scale."""

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.model,
            "how": self.how,
            "rank": self.rank,
            "rank_lower": self.rank_lower,
            "rank_upper": self.rank_upper,
            **self.rating.as_json("rating"),
            **self.by_new.as_json("new_rating"),
        }


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class BridgedBoard(Result):
    table: ClassVar[str] = "models"
    shown: ClassVar[tuple[str, ...]] = ("rank", "model", "rating", "rating_lower", "rating_upper", "how")

    old: str
    new: str
    line: Bridge
    models: tuple[BridgedModel, ...]
    """The highest first."""
    shared_items: bool
    """Whether both boards are of one benchmark's items."""

    @property
    def newcomers(self) -> tuple[BridgedModel, ...]:
        """Rated by the new judge alone."""
        return tuple(one for one in self.models if one.how == "bridged")

    @property
    def headline(self) -> str:
        brought = self.newcomers
        both = counted(self.line.models, "model")
        if not brought:
            return f"{self.old} and {self.new} on one scale, by the {both} that both rated; {self.new} rated no others."
        if len(brought) == 1:
            (one,) = brought
            assert one.rating.lower is not None
            assert one.rating.upper is not None
            assert one.rating.value is not None
            return (
                f"{one.model}, whom only {self.new} rated, stands at {one.rating.value:,.0f} ({one.rating.lower:,.0f} "
                f"to {one.rating.upper:,.0f}) on the board of {self.old}, rank {one.rank} ({one.rank_lower} to "
                f"{one.rank_upper}) of {len(self.models)}."
            )
        return (
            f"{counted(len(brought), 'model')} whom only {self.new} rated stand on the board of {self.old}, by the "
            f"{both} that both rated."
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        tau, could = self.line.tau / self.line.slope, self.line.tau_upper / self.line.slope
        if tau:
            yield (
                f"About single models the judges differ by some {tau:,.0f} points of the old board beyond the errors "
                f"of both boards; it could be {could:,.0f}. No number of verdicts takes that away: it is what each "
                "judge likes, and it is in these intervals."
            )
        else:
            yield (
                "Beyond the errors of both boards no difference about single models is seen; by "
                f"{counted(self.line.models, 'model')} alone it could still be {could:,.0f} points of the old board."
            )
        yield f"100 points of {self.old} are {100 * self.line.slope:,.0f} of {self.new}."
        if self.shared_items:
            yield "Both boards rest on the same items; their errors are taken for independent, which is not quite so."

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "old": self.old,
            "new": self.new,
            "models_both": self.line.models,
            "slope": self.line.slope,
            "shift": self.line.shift,
            "tau": self.line.tau,
            "tau_upper": self.line.tau_upper,
            "models": [one.as_json() for one in self.models],
            "notes": list(self.sentences),
        }


def bridges(old: JudgesRatings, others: Iterable[JudgesRatings]) -> tuple[BridgedBoard, ...]:
    """Of each other judge that rated models which the old one did not, and shares enough with it."""
    found: list[BridgedBoard] = []
    for new in others:
        try:
            made = bridged(old, new)
        except RankError:
            continue
        if made.newcomers:
            found.append(made)
    return tuple(found)


def bridged(old: JudgesRatings, new: JudgesRatings) -> BridgedBoard:
    """Raises RankError where the two boards share too little, or cannot be brought to one scale."""
    founders, rivals = _rated(old), _rated(new)
    before, after = ({model: row.rating for model, row in of.items()} for of in (founders, rivals))
    both = [model for model in before if model in after]
    names = _names(old, new)
    if before and before == after:
        raise RankError(f"{names[0]} and {names[1]} are one board; a bridge is between two: name another judge.")
    rated = RatedByBoth(
        old=[_value(before[model]) for model in both],
        old_error=[_known(founders[model].error) for model in both],
        new=[_value(after[model]) for model in both],
        new_error=[_known(rivals[model].error) for model in both],
    )
    try:
        line = bridge(rated)
    except NoBridge as error:
        raise RankError(f"{names[1]} cannot be brought to the scale of {names[0]}: {error}.") from error
    # As far as the interval reaches: that of a model placed at looks has to hold at all of them.
    brought = {model: _known(error_of(one)) for model, one in after.items() if model not in before}
    on_old = {**before, **{model: line.placed(_value(after[model]), error) for model, error in brought.items()}}
    order = sorted(on_old, key=lambda model: -_value(on_old[model]))
    return BridgedBoard(
        old=names[0],
        new=names[1],
        line=line,
        shared_items=old.origin.data is not None and old.origin.data == new.origin.data,
        models=tuple(
            BridgedModel(
                model=model,
                how="both" if model in both else "old" if model in before else "bridged",
                rank=place,
                rank_lower=1 + sum(_separated(other, on_old[model]) for other in on_old.values()),
                rank_upper=len(on_old) - sum(_separated(on_old[model], other) for other in on_old.values()),
                rating=on_old[model],
                by_new=after.get(model, Estimate(value=None, reason=f"{names[1]} did not rate it")),
            )
            for place, model in enumerate(order, 1)
        ),
    )


def _rated(board: JudgesRatings) -> dict[str, BoardRow]:
    """The models that can be compared with each other and have an interval."""
    return {
        row.model: row
        for row in board.models
        if row.component == 1 and row.rating.lower is not None and row.rating.upper is not None
    }


def _value(rating: Estimate) -> float:
    return _known(rating.value)


def _known(number: float | None) -> float:
    assert number is not None
    return number


def _separated(better: Estimate, worse: Estimate) -> bool:
    """Whether one rating is higher than another, as far as both reach."""
    apart, reaches = _value(better) - _value(worse), (_half(better), _half(worse))
    return apart > math.hypot(*reaches)


def _half(rating: Estimate) -> float:
    assert rating.lower is not None
    assert rating.upper is not None
    return (rating.upper - rating.lower) / 2


def _names(old: JudgesRatings, new: JudgesRatings) -> tuple[str, str]:
    """Of one judge at two endpoints with those, and else as the old and the new one."""
    plain = _called(old, "the old judge"), _called(new, "the new judge")
    if plain[0] != plain[1]:
        return plain
    at = [rater.endpoint for rater in (old.origin.rater, new.origin.rater) if rater is not None]
    told = [f"at {one}" for one in at] if len(set(at)) == 2 else ["(old)", "(new)"]
    return f"{plain[0]} {told[0]}", f"{plain[1]} {told[1]}"


def _called(board: JudgesRatings, otherwise: str) -> str:
    return board.origin.judge or board.origin.source or otherwise


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundersPlan:
    """So many of the old board's models judged anew."""

    models: tuple[str, ...]
    calls: int
    half: float
    """How far a newcomer's interval will reach to each side, where it stands amid them."""
    half_at_ends: float
    """Where it is as good as the best of them, or as bad as the worst."""

    def as_json(self) -> dict[str, Json]:
        return {
            "founders": list(self.models),
            "calls": self.calls,
            "half_width": self.half,
            "half_width_at_ends": self.half_at_ends,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BridgePlan:
    old: str
    tau: float
    width: float | None
    plans: tuple[FoundersPlan, ...]
    """From the fewest founders up."""

    @property
    def chosen(self) -> FoundersPlan | None:
        """The cheapest that reaches the wanted width; None where none does, or none is wanted."""
        return next((one for one in self.plans if self.width is not None and one.half <= self.width), None)

    @property
    def sentences(self) -> tuple[str, ...]:
        return tuple(self._sentences())

    def _sentences(self) -> Iterator[str]:
        if self.width is not None:
            chosen, best = self.chosen, min(self.plans, key=lambda one: one.half)
            if chosen is None:
                yield (
                    f"No choice of founders brings a newcomer within {self.width:,.0f} points; the nearest is "
                    f"{best.half:,.0f}, with {len(best.models)} of them."
                )
            else:
                yield (
                    f"Judge {listed(chosen.models, most=len(chosen.models))} anew, {count(chosen.calls)} calls: a "
                    f"newcomer is then known within {chosen.half:,.0f} points."
                )
        else:
            most = self.plans[-1]
            yield (
                f"With all {len(most.models)} founders judged anew, {count(most.calls)} calls, a newcomer is known "
                f"within {most.half:,.0f} points; --width says which of them are enough for a wider interval."
            )
        yield (
            f"As if the judges differed by {self.tau:,.0f} points about single models (--tau), and the new board were "
            "as sure as the old one; calls are those of every two founders on every item in both orders."
        )

    def as_json(self) -> dict[str, Json]:
        chosen = self.chosen
        return {
            "schema": 1,
            "old": self.old,
            "tau": self.tau,
            "width": self.width,
            "chosen": None if chosen is None else chosen.as_json(),
            "plans": [one.as_json() for one in self.plans],
            "notes": list(self.sentences),
        }


def bridge_plan(old: Board, *, width: float | None = None, tau: float = 0.0) -> BridgePlan:
    """Which models of the old board to let the new judge rate. Raises RankError where there are too few."""
    rated = _rated(old)
    if len(rated) < FEWEST_MODELS:
        raise RankError(
            f"{_called(old, 'The old judge')} rated {counted(len(rated), 'model')} with an interval; a bridge takes "
            f"{FEWEST_MODELS} or more."
        )
    names, ratings = list(rated), [_value(one.rating) for one in rated.values()]
    error = math.sqrt(sum(_known(one.error) ** 2 for one in rated.values()) / len(rated))
    return BridgePlan(
        old=_called(old, "the old judge"),
        tau=tau,
        width=width,
        plans=tuple(
            _plan([names[one] for one in chosen], [ratings[one] for one in chosen], error, tau, old.items or 0)
            for chosen in (spread_out(ratings, models) for models in range(FEWEST_MODELS, len(names) + 1))
        ),
    )


def _plan(names: Sequence[str], ratings: Sequence[float], error: float, tau: float, items: int) -> FoundersPlan:
    middle = sum(ratings) / len(ratings)
    at = {place: expected_half(ratings, where=place, error=error, tau=tau) for place in (middle, *ratings)}
    return FoundersPlan(
        models=tuple(names),
        calls=len(names) * (len(names) - 1) * items,
        half=at[middle],
        half_at_ends=max(at[min(ratings)], at[max(ratings)]),
    )


_HOW: Mapping[How, str] = {"both": "by both", "old": "by the old alone", "bridged": "brought over"}


def bridge_sheet(found: BridgedBoard) -> Sheet:
    return Sheet(
        title=f"{found.new} on the scale of {found.old}",
        headings=("model", "rank", "could be", "rating", "95 %", "rated", "by the new"),
        rows=tuple(
            (
                one.model,
                str(one.rank),
                f"{one.rank_lower} to {one.rank_upper}",
                *_cells(one.rating),
                _HOW[one.how],
                _cells(one.by_new)[0],
            )
            for one in found.models
        ),
    )


def newcomers_sheet(found: BridgedBoard) -> Sheet:
    """For a place where the old board itself stands already."""
    return Sheet(
        title=f"Rated by {found.new} alone, on the scale of {found.old}",
        headings=("model", "rank", "could be", "rating", "95 %"),
        rows=tuple(
            (one.model, str(one.rank), f"{one.rank_lower} to {one.rank_upper}", *_cells(one.rating))
            for one in found.newcomers
        ),
    )


def plan_sheet(plan: BridgePlan) -> Sheet:
    return Sheet(
        title=f"Founders of {plan.old} to judge anew",
        headings=("founders", "calls", "newcomer amid them", "at the ends"),
        rows=tuple(
            (str(len(one.models)), count(one.calls), f"± {one.half:,.0f}", f"± {one.half_at_ends:,.0f}")
            for one in plan.plans
        ),
    )


def _cells(of: Estimate) -> tuple[str, str]:
    if of.value is None or of.lower is None or of.upper is None:
        return MISSING, MISSING
    return f"{of.value:,.0f}", f"{of.lower:,.0f} to {of.upper:,.0f}"


def print_bridge(found: BridgedBoard | BridgePlan, console: Console) -> None:
    """What came out, the table, and what to know of it."""
    headline, *more = (found.headline, *found.sentences) if isinstance(found, BridgedBoard) else (found.sentences)
    console.print(unbroken(escape(headline)))
    console.print()
    print_sheet(bridge_sheet(found) if isinstance(found, BridgedBoard) else plan_sheet(found), console)
    console.print()
    for sentence in more:
        console.print(unbroken(escape(sentence)))
