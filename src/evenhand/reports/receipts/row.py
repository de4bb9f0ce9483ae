"""A model's row on a board as a receipt tells it: rounded, so that a repeated calculation gives the same digits."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import fmean
from typing import cast

import numpy as np

from evenhand.domain.estimate import Estimate, whole
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE
from evenhand.format.number_ranges import as_ranges
from evenhand.format.supported import document_supported, to_unit, unit_of
from evenhand.ledger.read.results import Mask, Results
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.board import Board, BoardRow
from evenhand.reports.board.evidence import of_record
from evenhand.reports.board.ranking import board
from evenhand.reports.board.win_rates_by import against_reference, by_category, categories_of
from evenhand.reports.board.withheld.dealt import dealt
from evenhand.reports.board.withheld.released import FEWEST, ReleasedBoard, released_until, withheld_rows
from evenhand.reports.papers.scores.visit_bench import VISIT_PROTOCOLS, AskedItems, whole_score
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.shares.win_rate import WinRate, win_rates
from evenhand.stats.reliability import Coverage

POINTS, SHARES = 1, 3
"""Digits after the point."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PlacedRow:
    """A board, and which of its models the row is of."""

    model: str
    judged: JudgedBattles
    board: Board
    items: Mapping[str, Item]
    """By digest."""


def placed(model: str, judged: JudgedBattles, items: Mapping[str, Item]) -> PlacedRow:
    """Raises RankError where the judge graded or chose instead of comparing two."""
    return PlacedRow(model=model, judged=judged, board=board(of_record(judged, seed=0)), items=items)


def row_of(one: PlacedRow, *, elo_rounds: int, telling: "Telling | None" = None) -> dict[str, Json]:
    """`elo_rounds`: resamples behind Elo's interval; receipts of earlier versions have none. `telling`: what a team
    may know of battles against a withheld reference, beside those that it knows one by one; the receipt says so."""
    standing = next((each for each in one.board.models if each.model == one.model), None)
    rating = Estimate(value=None, reason="has no verdict") if standing is None else standing.rating
    row: dict[str, Json] = {
        "model": one.model,
        **rounded(rating.as_json("rating"), POINTS),
        "rank": None if standing is None else standing.rank,
        "rank_lower": None if standing is None else standing.rank_lower,
        "rank_upper": None if standing is None else standing.rank_upper,
        "models": sum(each.rank is not None for each in one.board.models),
        "component": None if standing is None else standing.component,
        "votes": _counts(_rate(one.board.findings.shown, one.model)),
        "battles": _counts(_rate(one.board.findings.battles, one.model)),
        **_against_reference(one),
    }
    if standing is not None and standing.placed is not None:
        # Whom it met and when it ended hung on what was said: of these the plain intervals would miss the truth.
        row |= {"categories": [], "visit": None, "placed": rounded(standing.placed, SHARES)}
    else:
        row |= {
            "categories": _by_category(one, without_reference=telling is not None),
            "visit": _visit(one, elo_rounds),
        }
    return row if telling is None else {**fields_supported(row), "withheld": True, **telling.as_json()}


def fields_supported(row: Mapping[str, Json]) -> dict[str, Json]:
    """With no more digits than intervals support."""
    return cast("dict[str, Json]", document_supported(dict(row)))


@dataclass(frozen=True, slots=True, kw_only=True)
class AsReleased:
    version: int
    """The last one of the judge's releases that counts."""
    open: frozenset[int]
    """Judgements against the reference, by number, of which nothing is withheld."""

    def as_json(self) -> dict[str, Json]:
        return {"version": self.version, "open": as_ranges(sorted(self.open))}


@dataclass(frozen=True, slots=True, kw_only=True)
class Telling:
    """How a receipt tells of battles against a withheld reference."""

    released: AsReleased | None = None
    """None of earlier versions, which told whatever was on enough items."""
    deal: bool = True
    """Whether they are dealt among their items; those of the earliest were not."""

    def as_json(self) -> dict[str, Json]:
        dealt_too: dict[str, Json] = {"dealt": True} if self.deal else {}
        return dealt_too if self.released is None else {**dealt_too, "released": self.released.as_json()}

    def told(self, ledger: Ledger, judged: JudgedBattles, board: ReleasedBoard) -> JudgedBattles:
        if self.released is None:
            return without_few_against_reference(judged, deal=self.deal)
        items = items_of_rows(judged, self.released.open)
        return released_until(ledger, board, self.released.version, open_items=items).shown(judged).judged


def items_of_rows(judged: JudgedBattles, numbers: Collection[int]) -> frozenset[str]:
    results = judged.results
    codes: list[int] = results.item.code[np.isin(results.seq, [*numbers])].tolist()
    return frozenset(results.item.names[code] for code in codes)


def without_few_against_reference(judged: JudgedBattles, *, deal: bool = True) -> JudgedBattles:
    """As receipts of earlier versions told: of two models, one of them the reference, only what is on enough items to
    be told together, and all of it."""
    results = judged.results
    withheld = withheld_rows(judged)
    first, second = results.pair_by_name
    pair = first.astype(np.int64) * len(results.models) + second
    waiting = {frozenset(one.models) for one in judged.not_asked}
    few = np.zeros(len(results), dtype=np.bool_)
    enough: list[list[int]] = []
    for each in np.unique(pair[withheld]).tolist():
        rows = withheld & (pair == each)
        one, other = divmod(int(each), len(results.models))
        models = frozenset((results.models[one], results.models[other]))
        if len(np.unique(results.item.code[rows])) < FEWEST or models in waiting:
            few |= rows
        else:
            enough.append(np.flatnonzero(rows).tolist())
    return dealt(judged, enough, ~few) if deal else replace(judged, results=results.rows(~few))


def moved(before: Sequence[BoardRow], after: Sequence[BoardRow], *, withheld: bool = False) -> list[Json]:
    """How the ratings of the models that stand on both boards changed when another joined, in the order after.

    A fit has its mean at the start value, so that a newcomer alone shifts everybody. Here `after` too has its mean over
    the models that stood before: over each component of theirs, as components cannot be compared.
    """
    earlier = {one.model: one for one in before}
    both = [
        _Changed(model=one.model, component=old.component, before=old.rating.value, after=one.rating.value)
        for one in after
        if (old := earlier.get(one.model)) is not None and old.rating.value is not None and one.rating.value is not None
    ]
    shift = {
        component: fmean(one.after - one.before for one in both if one.component == component)
        for component in {one.component for one in both}
    }
    units = {one.model: unit_of(one.rating.lower, one.rating.upper) if withheld else None for one in after}
    return [
        {"model": one.model, **_both(one.before, one.after - shift[one.component], units[one.model])} for one in both
    ]


def _both(before: float, after: float, unit: float | None) -> dict[str, Json]:
    if unit is not None:
        before, after = to_unit(before, unit), to_unit(after, unit)
    return rounded({"before": before, "after": after}, POINTS)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Changed:
    model: str
    component: int | None
    before: float
    after: float


def rows_with(results: Results, model: str) -> Mask:
    """The results in which this model plays."""
    number = results.models.index(model) if model in results.models else len(results.models)
    return (results.first_model == number) | (results.second_model == number)


def coverage_of(judged: JudgedBattles, model: str) -> Coverage:
    """Of the showings wanted of this model."""
    showings = judged.showings.rows(rows_with(judged.showings, model))
    unasked = sum(model in one.models for one in judged.not_asked)
    return Coverage.of((ending for _, _, ending in showings.each()), wanted=len(showings) + unasked)


def rounded(fields: Mapping[str, Json], digits: int) -> dict[str, Json]:
    """Numbers that have a fraction; 1000.0 becomes 1000, which every reader of JSON writes alike."""
    return {name: whole(round(one, digits)) if isinstance(one, float) else one for name, one in fields.items()}


def _rate(comparisons: Comparisons, model: str) -> WinRate | None:
    """None where this model does not play."""
    return next((one for one in win_rates(comparisons) if one.model == model), None)


def _counts(one: WinRate | None) -> Json:
    wins, losses, ties = (0.0, 0.0, 0.0) if one is None else (one.wins, one.losses, one.ties)
    counts: dict[str, Json] = {"played": wins + losses + ties, "wins": wins, "losses": losses, "ties": ties}
    return rounded(counts, SHARES)


def _against_reference(one: PlacedRow) -> dict[str, Json]:
    """A tie is half a win."""
    shown = one.board.findings.shown
    met = against_reference(shown).get(one.model)
    if met is not None:
        rate = met.win_rate
    elif REFERENCE in shown.models:
        rate = Estimate(value=None, reason="never met it")
    else:
        rate = Estimate(value=None, reason="the reference did not play")
    return rounded(rate.as_json("win_vs_reference"), SHARES)


def _by_category(one: PlacedRow, *, without_reference: bool) -> list[Json]:
    judged = one.judged
    if without_reference:
        # Of a skill there are few, and the team knows all others of it: what is left would be those few.
        judged = replace(judged, results=judged.results.rows(~withheld_rows(judged)))
    rates = by_category(judged, {digest: item.category for digest, item in one.items.items()})
    found: list[Json] = []
    for each in categories_of(one.model, rates):
        fields = {name: value for name, value in each.rate.as_json().items() if name != "model"}
        found.append({"category": each.category, **rounded(fields, SHARES)})
    return found


def _visit(one: PlacedRow, rounds: int) -> Json:
    """VisIT-Bench's own figures: Elo of one pass over the battles, and the rate against the reference without ties."""
    if one.judged.study.condition.protocol not in VISIT_PROTOCOLS:
        return None
    standing = whole_score(one.judged, AskedItems(items=one.items), rounds=rounds).of(one.model)
    if standing is None:
        return None
    counts: dict[str, Json] = {name: getattr(standing, name) for name in ("matches", "wins", "losses", "ties")}
    return {
        **rounded(standing.elo.as_json("elo"), POINTS),
        **({"elo_rounds": rounds} if rounds else {}),
        "provisional": standing.provisional,
        **counts,
        **rounded(standing.win_vs_reference.as_json("win_vs_reference"), SHARES),
        "win_vs_reference_ties": standing.win_vs_reference_ties,
    }
