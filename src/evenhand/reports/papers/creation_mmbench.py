"""Creation-MMBench: Reward, Win Rate and Visual Factuality Score against a baseline."""

from dataclasses import replace
from typing import cast

from evenhand.format.axis import Axis
from evenhand.format.sheet import Sheet
from evenhand.ledger.read.projection import studies
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import find_run
from evenhand.reports.board.choosing import MixedError
from evenhand.reports.board.few_items import ShownFigures, without_few
from evenhand.reports.board.steering import steering_sentences
from evenhand.reports.errors import RankError
from evenhand.reports.papers.paper import (
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
    points_cell,
    reliability_board,
    reliability_json,
    share_cell,
)
from evenhand.reports.papers.reproduce.creation_mmbench import tables
from evenhand.reports.papers.scores.creation_choosing import (
    FACTUALITY,
    PREFERENCE,
    CreationChoice,
    CreationStudies,
    choose_creation,
    variants_of,
)
from evenhand.reports.papers.scores.creation_csv import long_breakdown, variants_table, wide_sheet
from evenhand.reports.papers.scores.creation_figures import CreationFigures
from evenhand.reports.papers.scores.creation_score import (
    CreationEvidence,
    CreationScore,
    creation_evidence,
    creation_score,
    told_once,
)
from evenhand.reports.papers.scores.creation_sheets import By, board_sheets, breakdown_sheets
from evenhand.reports.papers.scores.creation_variants import VariantScores, in_order, refuse_unlike, variants_sheet

_TITLE = "Reward, Win Rate and Visual Factuality"
REWARDS = Axis(low=-100.0, high=100.0)


def _table(ledger: Ledger, asked: TableRequest) -> ScoredTable:
    return _variants(ledger, asked) if asked.compare_variants else _one_table(ledger, asked)


def _one_table(ledger: Ledger, asked: TableRequest) -> ScoredTable:
    chosen = choose_creation(studies(ledger, benchmark=asked.benchmark), _choice(ledger, asked))
    evidence = creation_evidence(ledger, chosen)
    score = creation_score(evidence)
    heading = f"Judged by {score.judge} under {' and '.join(score.protocols)}."
    ranked = None if evidence.preference is None else reliability_board(evidence.preference, asked.seed)
    return ScoredTable(
        document={**score.as_json(), "reliability": reliability_json(ranked)},
        sheets=_sheets(score, asked),
        sentences=(*steering_sentences(score.steering), heading, *score.notes),
        board=ranked,
    )


def _sheets(score: CreationScore, asked: TableRequest) -> tuple[Sheet, ...]:
    by = cast("By | None", asked.by)
    # A CSV file is one table.
    if asked.form == "csv":
        return (long_breakdown(score, by) if by else wide_sheet(score),)
    return breakdown_sheets(score, by) if by else board_sheets(score)


def _variants(ledger: Ledger, asked: TableRequest) -> ScoredTable:
    for flag, given in (("variant", asked.variant), ("run", asked.runs), ("by", asked.by)):
        if given:
            raise RankError(f"--compare-variants compares all variants overall; leave out --{flag}.")
    found = studies(ledger, benchmark=asked.benchmark)
    variants = in_order(variants_of(found, asked.benchmark))
    chosen = {
        variant: choose_creation(found, _choice(ledger, replace(asked, variant=variant or "default")))
        for variant in variants
    }
    refuse_unlike(chosen)
    evidence = {variant: creation_evidence(ledger, one) for variant, one in chosen.items()}
    scores = VariantScores(by_variant={variant: creation_score(one) for variant, one in evidence.items()})
    notes = told_once(
        {
            variant or "default": (*steering_sentences(score.steering), *score.notes)
            for variant, score in scores.by_variant.items()
        }
    )
    first = next(iter(scores.by_variant.values()))
    heading = f"Judged by {first.judge} under {' and '.join(first.protocols)}."
    sheet = variants_table(scores) if asked.form == "csv" else variants_sheet(scores)
    return ScoredTable(document=scores.as_json(), sheets=(sheet,), sentences=(heading, *notes), board=None)


def _choice(ledger: Ledger, asked: TableRequest) -> CreationChoice:
    return CreationChoice(
        benchmark=asked.benchmark,
        judge=asked.judge,
        protocol=asked.protocol or PREFERENCE,
        readout=asked.readout,
        variant=asked.variant,
        against=asked.against,
        studies=frozenset(_study_of(ledger, run) for run in asked.runs),
    )


def _study_of(ledger: Ledger, run: str) -> str:
    study = find_run(ledger, run).study
    if study is None:
        raise RankError(f"Run {run} judged nothing, so it has no score.")
    return study


def _for_report(ledger: Ledger, sources: ReportSources) -> tuple[CreationScore, ...]:
    return tuple(creation_score(creation_evidence(ledger, one)) for one in sources.graded)


def _for_page(ledger: Ledger, board: PageSources) -> tuple[CreationScore, ...]:
    """One for each baseline."""
    baselines = sorted({study.against for study in board.studies if study.against is not None})
    chosen = (_chosen(board, baseline) for baseline in baselines)
    evidence = [_as_everybody_may_know(creation_evidence(ledger, one)) for one in chosen]
    return tuple(_withheld(one) if board.withheld else creation_score(one) for one in evidence)


def _chosen(board: PageSources, baseline: str) -> CreationStudies:
    choice = CreationChoice(
        benchmark=board.benchmark,
        judge=board.judge,
        protocol=PREFERENCE if board.protocol == FACTUALITY else board.protocol,
        against=baseline,
    )
    try:
        return choose_creation([*board.studies, *board.graded], choice)
    except MixedError:
        # Grades under several settings: none of them belongs to these preferences more than another.
        return choose_creation(board.studies, choice)


def _withheld(found: CreationEvidence) -> CreationScore:
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
    """That somebody is being judged, or has withdrawn, is nobody's business."""
    parts = [None if one is None else replace(one, set_aside=0) for one in (found.preference, found.factuality)]
    return replace(found, preference=parts[0], factuality=parts[1])


def _best(score: CreationScore) -> str | None:
    if not score.models:
        return None
    best = score.models[0]
    reward, vfs = best.whole.dual.preference.reward, best.whole.dual.vfs
    if reward.value is None or best.rank is None:
        return None
    grade = "" if vfs.value is None else f" and a Visual Factuality Score of {vfs.value:.2f} of 10"
    return f"Against {score.baseline}, {best.model} has the highest Reward, {reward.value:+.2f}{grade}."


def _page(score: CreationScore, category: str | None) -> PaperPage:
    where = "" if category is None else f" in {category}"
    everything = PaperTable(
        caption=f"Against {score.baseline}{where}. Reward runs from -100 to 100, VFS from 0 to 10",
        headings=("Reward", "Win Rate", "VFS", "Judged"),
        rows=tuple(
            PaperRow(model=one.model, rank=one.rank if category is None else None, cells=_cells(figures))
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
    return PaperPage(
        title=_TITLE,
        tables=(everything, parts) if len(names) > 1 else (everything,),
        notes=score.notes,
    )


def _within(score: CreationScore, model: str, category: str | None) -> CreationFigures | None:
    one = next(one for one in score.models if one.model == model)
    if category is None:
        return one.whole
    return next((part.figures for part in one.categories if part.name == category), None)


def _cells(figures: CreationFigures) -> tuple[PaperCell, ...]:
    dual = figures.dual
    return (
        points_cell(dual.preference.reward, axis=REWARDS),
        share_cell(dual.preference.win_rate),
        points_cell(dual.vfs),
        PaperCell(words=f"{figures.judged:,} of {figures.applicable:,}"),
    )


def _part_cell(figures: CreationFigures) -> PaperCell:
    vfs = figures.dual.vfs.value
    reward = points_cell(figures.dual.preference.reward)
    return PaperCell(words=reward.words, interval="" if vfs is None else f"VFS {vfs:.2f}")


CREATION_MMBENCH = Paper(
    name="creation-mmbench",
    printed=tables,
    recorded=PaperOfRecord(
        score=CreationScore,
        protocols=(PREFERENCE, "creation_people", FACTUALITY),
        by=("category", "task"),
        title=_TITLE,
        figure="Reward",
        table=_table,
        for_report=_for_report,
        for_page=_for_page,
        sheets=lambda score: [*board_sheets(score), *breakdown_sheets(score, "category")[:1]],
        notes=lambda score: score.notes,
        page=_page,
        best=_best,
    ),
)
