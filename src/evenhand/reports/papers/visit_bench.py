"""VisIT-Bench: Elo and wins against the reference, single-image and multi-image items apart."""

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

from evenhand.domain.estimate import Estimate
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE
from evenhand.format.axis import SHARES
from evenhand.format.sheet import Sheet
from evenhand.format.words import counted
from evenhand.ledger.read.answers import answered
from evenhand.ledger.read.projection import items_of
from evenhand.ledger.read.public_benchmarks import grew_here
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.choosing import Choice, choose_of_run
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.elo import BY_MEDIAN
from evenhand.reports.board.shown.columns import interval
from evenhand.reports.board.sources import people_beside
from evenhand.reports.board.steering import steering_sentences
from evenhand.reports.board.withheld.released import ShownFigures
from evenhand.reports.errors import RankError
from evenhand.reports.papers.paper import (
    NONE,
    PageSources,
    Paper,
    PaperCell,
    PaperOfRecord,
    PaperPage,
    PaperRow,
    PaperTable,
    ReportSources,
    ScoredTable,
    TableRequest,
    reliability_board,
    reliability_json,
    share_cell,
)
from evenhand.reports.papers.reproduce.visit_bench import tables
from evenhand.reports.papers.scores.soft import soft_scores
from evenhand.reports.papers.scores.visit_bench import (
    ELO_ROUNDS,
    EQUATION_1,
    OTHER_SOURCE,
    PART_WORDS,
    VISIT_PROTOCOLS,
    AskedItems,
    ItemGroup,
    VisitRow,
    VisitScore,
    in_fixed_order,
    source_name,
    visit_score,
)
from evenhand.reports.papers.scores.visit_sheets import (
    By,
    board_sheets,
    breakdown_sheet,
    long_breakdown,
    part_notes,
    wide_sheet,
)
from evenhand.reports.papers.scores.with_people import SHARE_WON, scores_with_people

_NAME = "visit-bench"
_TITLE = "Elo and wins against the reference"
_MODELS_BESIDE = 12
"""Columns of the table by skill."""


def _its_own(ledger: Ledger, benchmark: str) -> bool:
    """Its protocols are used on other benchmarks too, whose table it is not; one that grew here grew as it did."""
    return benchmark.removesuffix("-sample") == _NAME or grew_here(ledger, benchmark)


def _table(ledger: Ledger, asked: TableRequest) -> ScoredTable:
    if asked.against or asked.compare_variants:
        raise RankError("--against and --compare-variants are of creation-mmbench's table.")
    if len(asked.runs) > 1:
        raise RankError(f"The table of {asked.benchmark} is of one judging; give one --run.")
    choice = Choice(
        benchmark=asked.benchmark,
        judge=asked.judge,
        protocol=asked.protocol,
        readout=asked.readout,
        variant=asked.variant,
        see=asked.see,
    )
    chosen = choose_of_run(ledger, choice, next(iter(asked.runs), None))
    judged = counted_battles(ledger, chosen.studies)
    score = visit_score(
        judged,
        _asked_items(ledger, judged),
        scoring=Scoring(join=asked.join, k=asked.k),
        rounds=asked.rounds,
        within=("skill", "source"),
        seed=asked.seed,
    )
    covered = f"{score.coverage.with_verdict:,} of {score.coverage.wanted:,} showings have a verdict."
    heading = f"Judged by {score.judge} under {score.protocol}; {covered}"
    ranked = reliability_board(judged, asked.seed)
    document = {**score.as_json(), "reliability": reliability_json(ranked)}
    by = cast("By | None", asked.by)
    about_ratings = part_notes(score, by) if by else score.rating_notes
    table = ScoredTable(
        document=document,
        sheets=_sheets(score, asked),
        sentences=(*steering_sentences(score.steering), heading, *score.notes, *about_ratings),
        heading=heading,
        explaining=(BY_MEDIAN, EQUATION_1, in_fixed_order(asked.seed)),
        board=ranked,
        notes=chosen.notes,
    )
    if asked.soft:
        table = table.softly(soft_scores(ledger, chosen.studies, REFERENCE), asked)
    if not asked.with_people:
        return table
    items = {item.digest: item for item in items_of(ledger, judged.study.data)}
    part_of = {digest: source_name(one) if by == "source" else one.category for digest, one in items.items()}
    people = people_beside(ledger, judged)
    return table.with_people(scores_with_people(judged, people, REFERENCE, (SHARE_WON,), part_of), asked)


def _sheets(score: VisitScore, asked: TableRequest) -> tuple[Sheet, ...]:
    by = cast("By | None", asked.by)
    # A CSV file is one table.
    if asked.form == "csv":
        return (long_breakdown(score, by) if by else wide_sheet(score),)
    return (breakdown_sheet(score, by),) if by else board_sheets(score)


def _asked_items(ledger: Ledger, judged: JudgedBattles) -> AskedItems:
    items = {item.digest: item for item in items_of(ledger, judged.study.data)}
    answers = answered(ledger, items, variant=judged.study.variant)
    return AskedItems(
        items=items, answers=answers, sources=_sources(ledger, judged.study.benchmark, judged.study.data, items)
    )


def _sources(ledger: Ledger, benchmark: str, data: str, items: Mapping[str, Item]) -> dict[str, str]:
    """As the data tell. In what grew here a skill says nothing of where an item is from, and the address of an image
    that somebody found is no dataset."""
    told = {
        item: source
        for item, source in ledger.images.addresses.sources(data).items()
        if item in items and not source.startswith(("http://", "https://"))
    }
    usual = dict.fromkeys(items, OTHER_SOURCE) if grew_here(ledger, benchmark) else {}
    return {**usual, **told}


def _for_report(ledger: Ledger, sources: ReportSources) -> tuple[VisitScore, ...]:
    if not _its_own(ledger, sources.judged.study.benchmark):
        return ()
    items, study = {item.digest: item for item in sources.items}, sources.judged.study
    asked = AskedItems(items=items, sources=_sources(ledger, study.benchmark, study.data, items))
    return (visit_score(sources.judged, asked, rounds=ELO_ROUNDS, within=("skill",), seed=sources.seed),)


def _for_page(ledger: Ledger, board: PageSources) -> tuple[VisitScore, ...]:
    if not _its_own(ledger, board.benchmark):
        return ()
    items = {item.digest: item for item in items_of(ledger, board.data)}
    # That somebody is being judged, or has withdrawn, is nobody's business.
    judged = replace(counted_battles(ledger, board.studies), set_aside=0)
    asked = AskedItems(items=items, sources=_sources(ledger, board.benchmark, board.data, items))
    if board.released is None:
        return (visit_score(judged, asked, rounds=ELO_ROUNDS, within=("skill",)),)
    whole = board.released.shown(judged)
    score = visit_score(whole.judged, asked, rounds=ELO_ROUNDS, within=("skill",))
    skills = board.released.shown(whole.judged, {digest: item.category for digest, item in items.items()})
    images = board.released.shown(whole.judged, {digest: str(len(item.images) > 1) for digest, item in items.items()})
    by_skill, by_images = score.by_skill, score.by_images
    if skills.left_out:
        by_skill = visit_score(skills.judged, asked, rounds=ELO_ROUNDS, within=("skill",)).by_skill
    if images.left_out:
        by_images = visit_score(images.judged, asked, rounds=ELO_ROUNDS).by_images
    most = whole.left_out + max(skills.left_out, images.left_out)
    sentences = ShownFigures(judged=judged, left_out=most).sentences
    return (replace(score, by_skill=by_skill, by_images=by_images, notes=(*score.notes, *sentences)),)


def _report_sheets(score: VisitScore) -> list[Sheet]:
    by_skill = [breakdown_sheet(score, "skill")] if len(score.by_skill) > 1 else []
    return [*board_sheets(score), *by_skill]


def _page(score: VisitScore, category: str | None) -> PaperPage:
    """Single-image and multi-image items are boards of their own, as in the paper and as `score` prints them."""
    whole = category is None
    parts = score.by_images if whole else [part for part in score.by_skill if part.name == category]
    boards = [_board(part) for part in parts]
    if whole and len(score.by_skill) > 1:
        boards.append(_by_skill(score))
    notes = (*score.notes, *(score.rating_notes if whole else score.whole.notes))
    return PaperPage(title=_TITLE, tables=tuple(boards), notes=notes)


def _board(part: ItemGroup) -> PaperTable:
    of = PART_WORDS.get(part.name, part.name)
    return PaperTable(
        caption=(
            f"Elo and wins against the verified reference, {of}, both orders one battle, ties left out; "
            f"{counted(part.items, 'item')}"
        ),
        headings=(
            f"Median Elo, {of}",
            f"Elo, {of}",
            "Matches",
            "Battles won of those decided with the reference",
            "Decided",
            "Ties",
        ),
        rows=_rows(part),
        rows_of=f"Model, {of}",
        ranked_by=part.ranked_by,
    )


def _rows(part: ItemGroup) -> tuple[PaperRow, ...]:
    return tuple(
        PaperRow(
            model=one.model,
            rank=one.rank,
            cells=(
                _elo_cell(one, one.elo_median),
                _elo_cell(one, one.elo if one.elo_median is None else replace(one.elo, lower=None, upper=None)),
                PaperCell(words=f"{one.matches:,}"),
                share_cell(one.win_vs_reference, axis=SHARES),
                PaperCell(words=f"{one.win_vs_reference.n:,.0f}" if one.win_vs_reference.value is not None else NONE),
                PaperCell(words=f"{one.win_vs_reference_ties:,}"),
            ),
        )
        for one in part.standings
    )


def _elo_cell(one: VisitRow, shown: Estimate | None) -> PaperCell:
    """Bounds are of the resamples, and stand with their median where it is known."""
    if shown is None or shown.value is None:
        return PaperCell(words=NONE)
    bounds = "" if shown.lower is None and shown.upper is None else interval(shown)
    return PaperCell(words=f"{shown.value:.0f}{'*' if one.provisional else ''}", interval=bounds)


def _by_skill(score: VisitScore) -> PaperTable:
    """Skills under each other: there are many more of them than models that one looks at."""
    everyone = [one.model for one in score.whole.standings if one.model != REFERENCE]
    models = everyone[:_MODELS_BESIDE]
    most = f" The first {_MODELS_BESIDE} models; the others' are on their pages" if len(everyone) > len(models) else ""
    return PaperTable(
        caption=f"Won against the reference by skill, ties left out; Elo where it did not play or all were ties, which "
        f"after few battles is near its start, and so is its interval.{most}",
        headings=tuple(models),
        rows=tuple(
            PaperRow(
                model=part.name, rank=None, linked=False, cells=tuple(_skill_cell(part, model) for model in models)
            )
            for part in score.by_skill
        ),
        rows_of="Skill",
        folded=True,
    )


def _skill_cell(part: ItemGroup, model: str) -> PaperCell:
    one = part.of(model)
    if one is None:
        return PaperCell(words=NONE)
    if part.of(REFERENCE) is None or one.win_vs_reference.value is None:
        if one.elo.value is None:
            return PaperCell(words=NONE)
        return PaperCell(words=f"Elo {one.elo.value:.0f}", interval=interval(one.elo))
    return share_cell(one.win_vs_reference)


VISIT_BENCH = Paper(
    name=_NAME,
    printed=tables,
    recorded=PaperOfRecord(
        score=VisitScore,
        protocols=VISIT_PROTOCOLS,
        by=("skill", "source"),
        title=_TITLE,
        figure="Elo",
        table=_table,
        for_report=_for_report,
        for_page=_for_page,
        sheets=_report_sheets,
        notes=lambda score: (*score.notes, *score.rating_notes),
        page=_page,
        best=lambda _: None,
    ),
)
