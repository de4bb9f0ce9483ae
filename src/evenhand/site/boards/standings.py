"""A board worked out for its page: the standings, what stands beside them, and the battles behind them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain

import numpy as np
import numpy.typing as npt

from evenhand.domain.estimate import Estimate
from evenhand.domain.item import Item
from evenhand.format.supported import every_supported, supported, without_interval
from evenhand.ledger.read.projection import StudyOnRecord, items_of
from evenhand.ledger.read.steering import Steering
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.store import submitted_models
from evenhand.ledger.submissions.submitted_models import board_names, counted_battles
from evenhand.reports.board.board import Board, BoardRow
from evenhand.reports.board.evidence import EvidenceSource, named_notes, of_record
from evenhand.reports.board.methods.catalog import DEFAULT
from evenhand.reports.board.ranking import Ranking, board
from evenhand.reports.board.shown.columns import length_controlled
from evenhand.reports.board.steering import steering_sentences
from evenhand.reports.board.win_rates_by import (
    InCategory,
    against_reference,
    by_category,
    categories_of,
    pair_rates,
)
from evenhand.reports.board.withheld.released import (
    FEWEST,
    TOO_FEW,
    Release,
    Released,
    ShownFigures,
    cells_of,
    numbered,
    open_items,
    release,
    released_now,
    told_to_all,
    withheld_rows,
)
from evenhand.reports.errors import RankError
from evenhand.site.boards.listing import PEOPLE, BoardOnRecord
from evenhand.site.http.computed import LastMade
from evenhand.site.http.visibility import bare_items, unpublished
from evenhand.site.people.agreement import Agreement, agreement_shown, together, votes_in
from evenhand.stats.ratings.battle_rules import joined
from evenhand.stats.ratings.comparisons import Comparisons
from evenhand.stats.ratings.differences.ranks import rank_ranges
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
    pair_rates: Mapping[str, Mapping[str, Estimate]]
    """Of the first models, by model and opponent: share of its votes won, a tie half a win. Without those that no
    team has published: whom they beat is their own business."""
    names: Mapping[str, str]
    """What everybody may call the submitted models, by the label that the record knows."""
    links: Mapping[str, str]
    """Where published ones are at home, by label."""
    steering: Mapping[str, Steering]
    """By model, what its answers say to the judge; without what may not be told."""
    few: int
    """Verdicts that are left out of what is told of a category, as they rest on too few items to be shown."""
    left_out: tuple[str, ...] = ()
    """Sentences: how many verdicts are left out of it, and why."""
    version: str = ""
    """Of which release it is, where something is withheld; a sentence."""

    @property
    def told(self) -> tuple[str, ...]:
        return steering_sentences(self.steering, self.names)

    def told_of(self, model: str) -> tuple[str, ...]:
        return steering_sentences({model: self.steering[model]} if model in self.steering else {}, self.names)

    def of(self, model: str) -> BoardRow | None:
        return next((one for one in self.models if one.model == model), None)


def public_battles(
    ledger: Ledger,
    on_record: BoardOnRecord,
    *,
    items: Collection[str] | None = None,
    studies: Sequence[StudyOnRecord] | None = None,
) -> JudgedBattles:
    """What makes a board, or some of its studies; that somebody is being judged, or has withdrawn, is nobody's
    business, and how many people are left out the board says itself."""
    return replace(counted_battles(ledger, studies or on_record.studies, items=items), set_aside=0, people_out=0)


def released_of(ledger: Ledger, on_record: BoardOnRecord) -> Released:
    """What everybody may count of its withheld verdicts, with what can be released now."""
    return released_now(ledger, partial(release_of, ledger, on_record))


def release_of(ledger: Ledger, on_record: BoardOnRecord) -> Release:
    """Only reads."""
    bare = bare_items(ledger, on_record.data) if on_record.imported else frozenset[str]()
    groups = [
        (on_record.alone, True),
        *(([one for one in on_record.shares if one.key in part.counting], part.counts) for part in on_record.parts),
    ]
    shared = [some for some, counts in groups if some and counts]
    out = [[one for one in on_record.shares if one.key in part.out] for part in on_record.parts]
    return release(
        ledger,
        on_record.released_as,
        [(public_battles(ledger, on_record, studies=some), shared) for some, shared in groups if some],
        cells=cells_of(ledger, on_record.data),
        open_items=bare | open_items(ledger, on_record.data),
        left_out=[public_battles(ledger, on_record, studies=some) for some in out if some],
        together=[public_battles(ledger, on_record, studies=[*chain(*shared)])] if len(shared) > 1 else (),
    )


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class RankedBoard:
    board: Board
    judged: JudgedBattles
    left_out: tuple[str, ...]
    """Sentences: how many verdicts are left out, and why."""


def ranked(
    ledger: Ledger, on_record: BoardOnRecord, asked: BoardView, given: Released | None, last: LastMade | None = None
) -> RankedBoard:
    """`given`: what was released, where something is withheld. `last`: where the same is asked for several times.
    Raises RankError where it cannot be made as asked."""
    if last is None:
        return _ranked(ledger, on_record, asked, given, None)
    same = replace(asked, equal_length=False)  # which arranges the same board otherwise
    make = partial(_ranked, ledger, on_record, same, given, last)
    return last.get("plain" if same.plain else "board", same, make)


def _ranked(
    ledger: Ledger, on_record: BoardOnRecord, asked: BoardView, given: Released | None, last: LastMade | None
) -> RankedBoard:
    judged, notes = _judged(ledger, on_record, asked, given, last)
    evidence = of_record(judged, seed=0)
    if on_record.human:
        evidence = replace(evidence, origin=replace(evidence.origin, judge=PEOPLE))
    made = board(evidence, Ranking(method=asked.method))
    steering = told_to_all(made.steering, asked.category) if given else made.steering
    made = replace(made, remarks=(*made.remarks, *notes), steering=steering)
    return RankedBoard(board=made, judged=judged, left_out=notes)


def _judged(
    ledger: Ledger, on_record: BoardOnRecord, asked: BoardView, given: Released | None, last: LastMade | None
) -> tuple[JudgedBattles, tuple[str, ...]]:
    """With sentences about what is left out. Raises RankError where nothing else is there."""
    category_of = {item.digest: item.category for item in items_of(ledger, on_record.data)}
    items = None
    if asked.category is not None:
        items = {item for item, category in category_of.items() if category == asked.category}
    if given is None and items is not None:
        return public_battles(ledger, on_record, items=items), ()
    make = partial(public_battles, ledger, on_record)
    every = make() if last is None else last.get("verdicts", asked.whole, make)
    if given is None:
        return every, ()
    whole = given.shown(every)
    if items is None:
        shown = whole
    else:
        parts = given.shown(whole.judged, category_of).judged
        every = numbered(public_battles(ledger, on_record, items=items))
        kept = np.isin(every.results.seq, parts.results.seq)
        left_out = int((withheld_rows(every, given.open_items) & ~kept).sum())
        parted = given.shown(replace(every, results=every.results.rows(kept)))
        shown = replace(parted, left_out=left_out)
    if shown.left_out and not len(shown.judged.results):
        raise RankError(_why_nothing(every))
    return shown.judged, shown.sentences


def _why_nothing(judged: JudgedBattles) -> str:
    """Where nothing of it may be shown to others than the owner."""
    met: dict[frozenset[str], set[str]] = {}
    read = judged.results.rows(judged.results.decided)
    for item, models, _ in read.each():
        met.setdefault(frozenset(models), set()).add(item)
    if max(map(len, met.values()), default=0) < FEWEST:
        return (
            f"What was judged here is on {TOO_FEW}: others than the owner see two models' verdicts once they met on "
            f"{FEWEST} items."
        )
    return (
        f"Nothing that was judged here is shown to others than the owner yet: verdicts count in batches of at least "
        f"{FEWEST} items of two models, and these wait for more, reach beyond this view, or lost some of their batch, "
        "as when somebody is left out."
    )


def standings(
    ledger: Ledger,
    on_record: BoardOnRecord,
    asked: BoardView,
    *,
    categories: tuple[str, ...] | None = None,
    given: Released | None = None,
    last: LastMade | None = None,
) -> Standings:
    """`categories`: of the plain view, where this is another. `given`: what was released, where something is withheld.
    `last`: where the same is asked for several times. Raises RankError where it cannot be made as asked."""
    found = ranked(ledger, on_record, asked, given, last)
    made, judged = found.board, found.judged
    items = items_of(ledger, on_record.data)
    entered = submitted_models(ledger)
    names = board_names(ledger, entered)
    models, notes = made.models, made.notes
    if asked.equal_length:
        models, notes = at_equal_length(made)
    if given is not None:
        models = tuple(map(_supported, models))
    unsaid = {*found.left_out, *named_notes(judged)}
    shown = judged.votes.comparisons() if asked.plain else None
    # Numbers of items are given in the order in which votes name them.
    named = judged.votes.item.in_order_of_rows().names
    parts = ShownFigures(judged=judged, left_out=0)
    if given is not None and asked.plain:
        parts = given.shown(judged, {item.digest: item.category for item in items})
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
        notes=tuple(_by_names(one, names) for one in notes if one not in unsaid),
        left_out=found.left_out,
        categories=_categories(judged, items) if categories is None else categories,
        people=_agreement(judged, given) if on_record.human else None,
        against_reference={
            model: one.win_rate if given is None else supported(one.win_rate)
            for model, one in against_reference(made.findings.shown).items()
        },
        by_category=_by_category(made, parts.judged, items, rounded=given is not None) if asked.plain else {},
        index=None if shown is None else BoardBattles(rows=joined(shown, "visit"), items=named),
        pair_rates=_pair_rates(made, unpublished(entered), rounded=given is not None),
        names=names,
        links={label: one.entered.link for label, one in entered.items() if one.standing.published},
        steering=made.steering,
        few=parts.left_out,
        version="" if given is None else given.sentence,
    )


def _by_names(sentence: str, names: Mapping[str, str]) -> str:
    """Submitted models as everybody calls them."""
    for label in names:
        sentence = sentence.replace(label, names[label])
    return sentence


_SET_AGAINST_EACH_OTHER = 25
"""Models, at most: a table of more is not read."""


def _pair_rates(made: Board, hidden: Collection[str], *, rounded: bool) -> dict[str, dict[str, Estimate]]:
    """Of what the board counts: of withheld verdicts whole batches, in no more digits than they support."""
    models = [one.model for one in made.models if one.component is not None and one.model not in hidden]
    found = pair_rates(made.findings.shown, models[:_SET_AGAINST_EACH_OTHER])
    rates = {one: {other: rate.win_rate for other, rate in rates.items()} for one, rates in found.items()}
    return every_supported(rates) if rounded else rates


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


def _supported(row: BoardRow) -> BoardRow:
    """Digits beyond the interval's would tell, of ratings that depend on the order of battles, which were won."""
    rating = row.rating
    if rating.value is not None and (rating.lower is None or rating.upper is None):
        rating = replace(rating, value=without_interval(rating.value))
    median = None if row.median is None else without_interval(row.median)
    return replace(row, rating=supported(rating), median=median, win_rate=supported(row.win_rate))


def _agreement(judged: JudgedBattles, given: Released | None) -> Agreement | None:
    return together(votes_in(judged)) if given is None else agreement_shown(judged, given)


def _categories(judged: JudgedBattles, items: Sequence[Item]) -> tuple[str, ...]:
    codes: list[int] = np.unique(judged.results.item.code).tolist()
    seen = {judged.results.item.names[code] for code in codes}
    return tuple(sorted({item.category for item in items if item.category and item.digest in seen}))


def _by_category(
    made: Board, judged: JudgedBattles, items: Sequence[Item], *, rounded: bool
) -> dict[str, list[InCategory]]:
    rates = by_category(judged, {item.digest: item.category for item in items})
    found = {one.model: categories_of(one.model, rates) for one in made.models}
    return every_supported(found) if rounded else found
