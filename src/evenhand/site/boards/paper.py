"""A board in the figures of its paper: Creation-MMBench's Reward, Win Rate and VFS, or VisIT-Bench's Elo and wins."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from evenhand.domain.estimate import Estimate
from evenhand.domain.response import REFERENCE
from evenhand.format.tables import per_cent
from evenhand.ledger.read.projection import StudyOnRecord, items_of
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.board.columns import interval
from evenhand.reports.papers.scores import paper_of_benchmark
from evenhand.reports.papers.scores.creation_choosing import (
    FACTUALITY,
    PREFERENCE,
    CreationChoice,
    CreationStudies,
    choose_creation,
)
from evenhand.reports.papers.scores.creation_figures import CreationFigures
from evenhand.reports.papers.scores.creation_score import (
    CreationEvidence,
    CreationScore,
    creation_evidence,
    creation_score,
)
from evenhand.reports.papers.scores.visit_bench import PART_WORDS, VISIT_PROTOCOLS, ItemGroup, VisitScore, visit_score
from evenhand.reports.papers.scores.visit_bench import AskedItems as AskedOfModels
from evenhand.site.boards.few_items import ShownFigures, without_few
from evenhand.site.boards.listing import PEOPLE, BoardOnRecord
from evenhand.site.boards.standings import public_battles
from evenhand.site.http.bars import SHARES, Axis
from evenhand.stats.ratings.bradley_terry.notes import counted

CREATION_PROTOCOLS = (PREFERENCE, "creation_people", FACTUALITY)

REWARDS = Axis(low=-100.0, high=100.0)
_NONE = "–"
_MODELS_BESIDE = 12
"""Columns of the table by skill."""

Score: TypeAlias = CreationScore | VisitScore


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperCell:
    words: str
    interval: str = ""
    estimate: Estimate | None = None
    """Drawn on `axis` where both are there."""
    axis: Axis | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperRow:
    model: str
    rank: int | None
    cells: tuple[PaperCell, ...]
    linked: bool = True
    """Whether it stands on the board and has a page."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PaperTable:
    caption: str
    headings: tuple[str, ...]
    """Of the cells."""
    rows: tuple[PaperRow, ...]
    folded: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Paper:
    title: str
    tables: tuple[PaperTable, ...]
    notes: tuple[str, ...]


def paper_scores(
    ledger: Ledger, board: BoardOnRecord, found: Sequence[BoardOnRecord], *, withheld: bool = False
) -> tuple[Score, ...]:
    """One for each baseline of Creation-MMBench's, one of VisIT-Bench's; none for a board of no paper.

    `found` are all boards: the grades of visual factuality stand on another one. `withheld`: without sums that rest on
    few items. Raises RankError.
    """
    if board.protocol in VISIT_PROTOCOLS:
        if paper_of_benchmark(board.benchmark) is None:
            return ()
        return (_visit(ledger, board, withheld=withheld),)
    if board.protocol in CREATION_PROTOCOLS:
        graded = [study for one in found if one.protocol == FACTUALITY and one.id != board.id for study in one.studies]
        baselines = sorted({study.against for study in board.studies if study.against is not None})
        chosen = (_chosen(board, graded, baseline) for baseline in baselines)
        evidence = [_as_everybody_may_know(creation_evidence(ledger, one)) for one in chosen]
        return tuple(_creation_withheld(one) if withheld else creation_score(one) for one in evidence)
    return ()


def _creation_withheld(found: CreationEvidence) -> CreationScore:
    """Without sums that rest on few items, of all and of each category."""
    if found.preference is None:
        return creation_score(found)
    whole = without_few(found.preference)
    parts = without_few(whole.judged, {item.digest: item.category for item in found.items})
    score = creation_score(replace(found, preference=whole.judged))
    categories = {one.model: one.categories for one in creation_score(replace(found, preference=parts.judged)).models}
    models = (replace(one, categories=categories.get(one.model, ())) for one in score.models)
    sentences = ShownFigures(judged=parts.judged, left_out=whole.left_out + parts.left_out).sentences
    return replace(score, models=tuple(models), notes=(*score.notes, *sentences))


def _as_everybody_may_know(found: CreationEvidence) -> CreationEvidence:
    """As `public_battles` has it."""
    parts = [None if one is None else replace(one, set_aside=0) for one in (found.preference, found.factuality)]
    return replace(found, preference=parts[0], factuality=parts[1])


def with_a_page_of_their_own(found: Sequence[BoardOnRecord]) -> tuple[BoardOnRecord, ...]:
    """Without the grades of visual factuality that stand beside the same judge's preferences."""
    preferred = {(one.data, one.judge, one.readout, one.variant) for one in found if one.protocol == PREFERENCE}
    return tuple(
        one
        for one in found
        if one.protocol != FACTUALITY or (one.data, one.judge, one.readout, one.variant) not in preferred
    )


def _visit(ledger: Ledger, board: BoardOnRecord, *, withheld: bool) -> VisitScore:
    items = {item.digest: item for item in items_of(ledger, board.data)}
    judged = public_battles(ledger, board)
    if not withheld:
        return visit_score(judged, AskedOfModels(items=items))
    whole = without_few(judged)
    score = visit_score(whole.judged, AskedOfModels(items=items))
    skills = without_few(whole.judged, {digest: item.category for digest, item in items.items()})
    images = without_few(whole.judged, {digest: str(len(item.images) > 1) for digest, item in items.items()})
    by_skill, by_images = score.by_skill, score.by_images
    if skills.left_out:
        by_skill = visit_score(skills.judged, AskedOfModels(items=items)).by_skill
    if images.left_out:
        by_images = visit_score(images.judged, AskedOfModels(items=items)).by_images
    most = whole.left_out + max(skills.left_out, images.left_out)
    sentences = ShownFigures(judged=judged, left_out=most).sentences
    return replace(score, by_skill=by_skill, by_images=by_images, notes=(*score.notes, *sentences))


def _chosen(board: BoardOnRecord, graded: Sequence[StudyOnRecord], baseline: str) -> CreationStudies:
    choice = CreationChoice(
        benchmark=board.benchmark,
        judge=PEOPLE if board.human else board.judge,
        protocol=PREFERENCE if board.protocol == FACTUALITY else board.protocol,
        against=baseline,
    )
    try:
        return choose_creation([*board.studies, *graded], choice)
    except MixedError:
        # Grades under several settings: none of them belongs to these preferences more than another.
        return choose_creation(board.studies, choice)


def paper_of(score: Score, category: str | None) -> Paper:
    """Of one category, or of everything with the categories below."""
    paper = _creation_paper(score, category) if isinstance(score, CreationScore) else _visit_paper(score, category)
    return replace(paper, tables=tuple(map(_without_empty_columns, paper.tables)))


def _without_empty_columns(table: PaperTable) -> PaperTable:
    """People give no grades of factuality, say, and need not meet the reference."""
    empty = PaperCell(words=_NONE)
    kept = [place for place in range(len(table.headings)) if any(row.cells[place] != empty for row in table.rows)]
    return replace(
        table,
        headings=tuple(table.headings[place] for place in kept),
        rows=tuple(replace(row, cells=tuple(row.cells[place] for place in kept)) for row in table.rows),
    )


def _creation_paper(score: CreationScore, category: str | None) -> Paper:
    where = "" if category is None else f" in {category}"
    everything = PaperTable(
        caption=f"Against {score.baseline}{where}. Reward runs from -100 to 100, VFS from 0 to 10",
        headings=("Reward", "Win Rate", "VFS", "Judged"),
        rows=tuple(
            PaperRow(model=one.model, rank=one.rank if category is None else None, cells=_creation_cells(figures))
            for one in score.models
            if (figures := _within(score, one.model, category)) is not None
        ),
    )
    names = [part.name for part in score.models[0].categories] if score.models and category is None else []
    parts = PaperTable(
        caption="Reward in each category, VFS below it",
        headings=tuple(names),
        rows=tuple(
            PaperRow(model=one.model, rank=None, cells=tuple(_part_cell(part.figures) for part in one.categories))
            for one in score.models
        ),
    )
    return Paper(
        title="Reward, Win Rate and Visual Factuality",
        tables=(everything, parts) if len(names) > 1 else (everything,),
        notes=score.notes,
    )


def _within(score: CreationScore, model: str, category: str | None) -> CreationFigures | None:
    one = next(one for one in score.models if one.model == model)
    if category is None:
        return one.whole
    return next((part.figures for part in one.categories if part.name == category), None)


def _creation_cells(figures: CreationFigures) -> tuple[PaperCell, ...]:
    dual = figures.dual
    return (
        _points(dual.preference.reward, axis=REWARDS),
        _share(dual.preference.win_rate),
        _points(dual.vfs),
        PaperCell(words=f"{figures.judged:,} of {figures.applicable:,}"),
    )


def _part_cell(figures: CreationFigures) -> PaperCell:
    vfs = figures.dual.vfs.value
    reward = _points(figures.dual.preference.reward)
    return PaperCell(words=reward.words, interval="" if vfs is None else f"VFS {vfs:.2f}")


def _visit_paper(score: VisitScore, category: str | None) -> Paper:
    """Single-image and multi-image items are boards of their own, as in the paper and as `score` prints them."""
    whole = category is None
    parts = score.by_images if whole else [part for part in score.by_skill if part.name == category]
    boards = [
        PaperTable(
            caption=(
                f"Elo and wins against the verified reference, {PART_WORDS.get(part.name, part.name)}, "
                f"both orders one battle, ties left out; {counted(part.items, 'item')}"
            ),
            headings=("Elo", "Matches", "Won against reference", "Met", "Ties"),
            rows=_visit_rows(part),
        )
        for part in parts
    ]
    if whole and len(score.by_skill) > 1:
        boards.append(_by_skill(score))
    notes = (*score.notes, *(score.rating_notes if whole else score.whole.notes))
    return Paper(title="Elo and wins against the reference", tables=tuple(boards), notes=notes)


def _visit_rows(part: ItemGroup) -> tuple[PaperRow, ...]:
    return tuple(
        PaperRow(
            model=one.model,
            rank=one.rank,
            cells=(
                PaperCell(
                    words=_NONE if one.elo.value is None else f"{one.elo.value:.0f}{'*' if one.provisional else ''}"
                ),
                PaperCell(words=f"{one.matches:,}"),
                _share(one.win_vs_reference, axis=SHARES),
                PaperCell(words=f"{one.win_vs_reference.n:,.0f}" if one.win_vs_reference.value is not None else _NONE),
                PaperCell(words=f"{one.win_vs_reference_ties:,}"),
            ),
        )
        for one in part.standings
    )


def _by_skill(score: VisitScore) -> PaperTable:
    """Skills under each other: there are many more of them than models that one looks at."""
    everyone = [one.model for one in score.whole.standings if one.model != REFERENCE]
    models = everyone[:_MODELS_BESIDE]
    most = f" The first {_MODELS_BESIDE} models; the others' are on their pages" if len(everyone) > len(models) else ""
    return PaperTable(
        caption=f"Won against the reference by skill, ties left out; Elo where it did not play.{most}",
        headings=tuple(models),
        rows=tuple(
            PaperRow(
                model=part.name, rank=None, linked=False, cells=tuple(_skill_cell(part, model) for model in models)
            )
            for part in score.by_skill
        ),
        folded=True,
    )


def _skill_cell(part: ItemGroup, model: str) -> PaperCell:
    one = part.of(model)
    if one is None:
        return PaperCell(words=_NONE)
    if part.of(REFERENCE) is None:
        return PaperCell(words=_NONE if one.elo.value is None else f"Elo {one.elo.value:.0f}")
    return _share(one.win_vs_reference)


def _points(estimate: Estimate, *, axis: Axis | None = None) -> PaperCell:
    if estimate.value is None:
        return PaperCell(words=_NONE)
    # Adding 0 turns -0.0 into 0.0.
    words = f"{round(estimate.value, 2) + 0.0:.2f}"
    bounds = ""
    if estimate.lower is not None and estimate.upper is not None:
        bounds = f"{round(estimate.lower, 2) + 0.0:.2f} to {round(estimate.upper, 2) + 0.0:.2f}"
    return PaperCell(words=words, interval=bounds, estimate=estimate, axis=axis)


def _share(estimate: Estimate, *, axis: Axis | None = None) -> PaperCell:
    if estimate.value is None:
        return PaperCell(words=_NONE)
    return PaperCell(
        words=per_cent(estimate.value), interval=interval(estimate, share=True), estimate=estimate, axis=axis
    )
