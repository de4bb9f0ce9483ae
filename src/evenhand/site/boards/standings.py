"""A board worked out for its page: the standings, what stands beside them, and the battles behind them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.domain.item import Item
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.read.steering import Steering
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.submissions.submitted_models import board_names, counted_battles
from evenhand.reports.board import few_items
from evenhand.reports.board.board import Board, BoardRow
from evenhand.reports.board.columns import length_controlled
from evenhand.reports.board.evidence import EvidenceSource, of_record
from evenhand.reports.board.few_items import FEWEST, TOO_FEW, ShownFigures, without_few
from evenhand.reports.board.methods.catalog import DEFAULT
from evenhand.reports.board.ranking import Ranking, board
from evenhand.reports.board.steering import steering_sentences
from evenhand.reports.board.win_rates_by import InCategory, against_reference, by_category, categories_of
from evenhand.reports.errors import RankError
from evenhand.site.boards.listing import PEOPLE, BoardOnRecord
from evenhand.site.people.agreement import Agreement, together, votes_in
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.ranks import rank_ranges
from evenhand.stats.reliability import Coverage, Summary


@dataclass(frozen=True, slots=True, kw_only=True)
class BoardView:
    """Which view of a board."""

    board: str
    method: str = DEFAULT
    category: str | None = None
    equal_length: bool = False
    study: str | None = None
    """Of people: one of their studies alone."""
    running: bool = False
    """Whether what people judge in studies that still run counts too: for the owner."""
    withheld: bool = False
    """Whether sums that rest on few items are left out: for all others, where something is withheld."""

    @property
    def whole(self) -> "BoardView":
        """The plain view of the same verdicts."""
        return BoardView(board=self.board, study=self.study, running=self.running, withheld=self.withheld)

    @property
    def plain(self) -> bool:
        return self == self.whole


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class BoardBattles:
    """All battles of a board, joined over the orders."""

    rows: Comparisons
    items: tuple[str, ...]
    """Digests; `rows.item` counts in them."""

    def of(self, model: str, *, without: Collection[str] = ()) -> "npt.NDArray[np.intp]":
        """Rows in which the model plays, but not against those."""
        code_of = {name: code for code, name in enumerate(self.rows.models)}
        code = code_of.get(model, -1)
        plays = (self.rows.model_a == code) | (self.rows.model_b == code)
        for other in without:
            plays &= (self.rows.model_a != code_of[other]) & (self.rows.model_b != code_of[other])
        return np.flatnonzero(plays)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False, weakref_slot=True)
class Standings:
    on_record: BoardOnRecord
    asked: BoardView
    origin: EvidenceSource
    updated: float | None
    """When the newest of its results was judged, in seconds since the epoch."""
    models: tuple[BoardRow, ...]
    unit: str
    votes: int
    battles: int
    items: int | None
    coverage: Coverage
    reliability: Summary | None
    notes: tuple[str, ...]
    categories: tuple[str, ...]
    """Those in which something was judged."""
    people: Agreement | None
    """How far the people agree who judged; None where a model did."""
    against_reference: Mapping[str, Estimate]
    """By model: share won against the reference, a tie half a win; empty where it does not play."""
    by_category: Mapping[str, Sequence[InCategory]]
    """By model; only of the plain view."""
    index: BoardBattles | None
    """Only of the plain view."""
    names: Mapping[str, str]
    """What everybody may call the submitted models, by the label that the record knows."""
    links: Mapping[str, str]
    """Where published ones are at home, by label."""
    steering: Mapping[str, Steering]
    """By model, what its answers say to the judge; without what may not be told."""
    few: int
    """Verdicts that are left out of what is told of a category, as they rest on too few items to be shown."""

    @property
    def told(self) -> tuple[str, ...]:
        return steering_sentences(self.steering, self.names)

    def told_of(self, model: str) -> tuple[str, ...]:
        return steering_sentences({model: self.steering[model]} if model in self.steering else {}, self.names)

    def of(self, model: str) -> BoardRow | None:
        return next((one for one in self.models if one.model == model), None)


def public_battles(ledger: Ledger, on_record: BoardOnRecord, *, items: Collection[str] | None = None) -> JudgedBattles:
    """What makes a board; that somebody is being judged, or has withdrawn, is nobody's business."""
    return replace(counted_battles(ledger, on_record.studies, items=items), set_aside=0)


def ranked(ledger: Ledger, on_record: BoardOnRecord, asked: BoardView) -> tuple[Board, JudgedBattles]:
    """Raises RankError where the board cannot be made as asked."""
    judged, notes = _judged(ledger, on_record, asked)
    evidence = of_record(judged, seed=0)
    if on_record.human:
        evidence = replace(evidence, origin=replace(evidence.origin, judge=PEOPLE))
    made = board(evidence, Ranking(method=asked.method))
    steering = few_items.told_to_all(made.steering, asked.category) if asked.withheld else made.steering
    return replace(made, remarks=(*made.remarks, *notes), steering=steering), judged


def _judged(ledger: Ledger, on_record: BoardOnRecord, asked: BoardView) -> tuple[JudgedBattles, tuple[str, ...]]:
    """With sentences about what is left out. Raises RankError where nothing else is there."""
    category_of = {item.digest: item.category for item in items_of(ledger, on_record.data)}
    items = None
    if asked.category is not None:
        items = {item for item, category in category_of.items() if category == asked.category}
    if not asked.withheld:
        return public_battles(ledger, on_record, items=items), ()
    whole = without_few(public_battles(ledger, on_record))
    if items is None:
        shown = whole
    else:
        parts = without_few(whole.judged, category_of).judged
        judged = public_battles(ledger, on_record, items=items)
        kept = np.isin(judged.results.seq, parts.results.seq)
        shown = ShownFigures(judged=replace(judged, results=judged.results.rows(kept)), left_out=int((~kept).sum()))
    if shown.left_out and not len(shown.judged.results):
        raise RankError(
            f"What was judged here is on {TOO_FEW}: others than the owner see two models' verdicts once they met on "
            f"{FEWEST} items."
        )
    return shown.judged, shown.sentences


def standings(
    ledger: Ledger, on_record: BoardOnRecord, asked: BoardView, *, categories: tuple[str, ...] | None = None
) -> Standings:
    """`categories`: of the plain view, where this is another. Raises RankError where it cannot be made as asked."""
    made, judged = ranked(ledger, on_record, asked)
    items = items_of(ledger, on_record.data)
    entered = submitted_models(ledger)
    models, notes = made.models, made.notes
    if asked.equal_length:
        models, notes = at_equal_length(made)
    shown = judged.votes.comparisons() if asked.plain else None
    # Numbers of items are given in the order in which votes name them.
    named = judged.votes.item.in_order_of_rows().names
    parts = _parts(judged, items) if asked.withheld and asked.plain else ShownFigures(judged=judged, left_out=0)
    return Standings(
        on_record=on_record,
        asked=asked,
        origin=made.origin,
        updated=float(judged.results.at.max()) if len(judged.results) else None,
        models=models,
        unit=made.unit,
        votes=made.votes,
        battles=made.battles,
        items=made.items,
        coverage=made.coverage,
        reliability=made.reliability,
        notes=notes,
        categories=_categories(judged, items) if categories is None else categories,
        people=together(votes_in(judged)) if on_record.human else None,
        against_reference={model: one.win_rate for model, one in against_reference(made.findings.shown).items()},
        by_category=_by_category(made, parts.judged, items) if asked.plain else {},
        index=None if shown is None else BoardBattles(rows=joined(shown, "visit"), items=named),
        names=board_names(ledger, entered),
        links={label: one.entered.link for label, one in entered.items() if one.standing.published},
        steering=made.steering,
        few=parts.left_out,
    )


_UNTESTED = "Neighbours on the list are not tested one by one here, for their tests do not hold the length equal."


def at_equal_length(made: Board) -> tuple[tuple[BoardRow, ...], tuple[str, ...]]:
    """The rows, and the sentences that hold of them: what the plain ratings say of ranks is left out."""
    beside = length_controlled(made)
    after = made.findings.length_effect.after
    if after is None or not beside.cells:
        return made.models, (*beside.sentences, "The ratings shown are not at equal length.", *made.notes)
    ranges = rank_ranges(after)
    spans = dict(zip((one.model for one in after.models), ranges.ranges, strict=True))
    before = {one.model: one for one in made.models}
    changed = [
        replace(
            before[one.model],
            rating=one.rating,
            median=None,
            rank=one.rank,
            rank_lower=spans[one.model].rank_lower,
            rank_upper=spans[one.model].rank_upper,
            rank_own_lower=spans[one.model].own_lower,
            rank_own_upper=spans[one.model].own_upper,
            tier=spans[one.model].tier,
            note=one.note,
            component=None if one.component is None else one.component + 1,
        )
        for one in after.models
    ]
    changed.sort(key=lambda one: (one.component is None, one.component or 0, one.rank or 0, one.model))
    of_others = {*made.about_ranks, *made.about_missing}
    kept = (one for one in made.notes if one not in of_others)
    return tuple(changed), (*beside.sentences, *ranges.notes, _UNTESTED, *kept)


def _categories(judged: JudgedBattles, items: Sequence[Item]) -> tuple[str, ...]:
    codes: list[int] = np.unique(judged.results.item.code).tolist()
    seen = {judged.results.item.names[code] for code in codes}
    return tuple(sorted({item.category for item in items if item.category and item.digest in seen}))


def _parts(judged: JudgedBattles, items: Sequence[Item]) -> ShownFigures:
    return without_few(judged, {item.digest: item.category for item in items})


def _by_category(made: Board, judged: JudgedBattles, items: Sequence[Item]) -> dict[str, list[InCategory]]:
    rates = by_category(judged, {item.digest: item.category for item in items})
    return {one.model: categories_of(one.model, rates) for one in made.models}
