"""Creation-MMBench: Reward, Win Rate and Visual Factuality Score against a baseline."""

from collections.abc import Sequence
from dataclasses import replace
from typing import cast

from evenhand.benchmarks.creation_mmbench.tasks import category_of
from evenhand.exchange.judgements.row import IMPORTED
from evenhand.format.axis import Axis
from evenhand.format.sheet import Sheet
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.store.record import Ledger
from evenhand.reports.board.choosing import MixedError, board_notes, study_of_run
from evenhand.reports.board.sources import people_beside
from evenhand.reports.board.steering import steering_sentences
from evenhand.reports.board.withheld.released import Released, ShownFigures
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
    judged_alike,
    variants_of,
)
from evenhand.reports.papers.scores.creation_csv import long_breakdown, variants_table, wide_sheet
from evenhand.reports.papers.scores.creation_figures import CreationFigures
from evenhand.reports.papers.scores.creation_record import imports_against, refuse_levels
from evenhand.reports.papers.scores.creation_score import (
    NO_TASK,
    CreationEvidence,
    CreationScore,
    creation_evidence,
    creation_score,
    explaining,
    told_once,
    with_groups,
)
from evenhand.reports.papers.scores.creation_sheets import By, board_sheets, breakdown_sheets, part_notes
from evenhand.reports.papers.scores.creation_variants import (
    VISION,
    VariantScores,
    difference_sentences,
    difference_sheets,
    in_order,
    refuse_unlike,
    variant_differences,
    variants_sheet,
)
from evenhand.reports.papers.scores.soft import soft_scores
from evenhand.reports.papers.scores.with_people import REWARD, WIN_RATE, scores_with_people

_TITLE = "Reward, Win Rate and Visual Factuality"
REWARDS = Axis(low=-100.0, high=100.0)


def _table(ledger: Ledger, asked: TableRequest) -> ScoredTable:
    return _variants(ledger, asked) if asked.compare_variants else _one_table(ledger, asked)


def _one_table(ledger: Ledger, asked: TableRequest) -> ScoredTable:
    runs = {run: study_of_run(ledger, run) for run in asked.runs}
    found, choice = _found(ledger, asked, frozenset(runs.values()))
    chosen = choose_creation(found, choice)
    fixed = {one.condition.protocol for one in chosen.everything if one.key in runs.values()}
    evidence = creation_evidence(ledger, chosen)
    score = creation_score(evidence)
    ranked = None if evidence.preference is None else reliability_board(evidence.preference, asked.seed)
    score = with_groups(score, evidence, asked.groups)
    of_parts = part_notes(score, cast("By", asked.by)) if asked.by else ()
    table = ScoredTable(
        document={**score.as_json(), "reliability": reliability_json(ranked)},
        sheets=_sheets(score, asked),
        sentences=(*steering_sentences(score.steering), score.heading, *score.notes, *of_parts),
        heading=score.heading,
        lead=_best(score) or "",
        explaining=explaining(score.notes),
        asked=tuple(score.groups.sentences) if score.groups else (),
        board=ranked,
        notes=board_notes(runs, [one for one in chosen.everything if one.condition.protocol in fixed]),
    )
    if asked.soft:
        table = table.softly(soft_scores(ledger, chosen.preference, evidence.baseline), asked)
    return _with_people(ledger, table, evidence, asked) if asked.with_people else table


def _with_people(ledger: Ledger, table: ScoredTable, evidence: CreationEvidence, asked: TableRequest) -> ScoredTable:
    if evidence.preference is None:
        raise RankError("No preferences were judged, so there is nothing that people's could correct.")
    people = people_beside(ledger, evidence.preference)
    refuse_levels(people)
    part_of = {
        item.digest: (item.task or NO_TASK) if asked.by == "task" else item.category or category_of(item.task)
        for item in evidence.items
    }
    found = scores_with_people(evidence.preference, people, evidence.baseline, (REWARD, WIN_RATE), part_of)
    return table.with_people(found, asked)


def _sheets(score: CreationScore, asked: TableRequest) -> tuple[Sheet, ...]:
    by = cast("By | None", asked.by)
    # A CSV file is one table.
    if asked.form == "csv":
        return (long_breakdown(score, by) if by else wide_sheet(score),)
    return breakdown_sheets(score, by) if by else board_sheets(score)


def _variants(ledger: Ledger, asked: TableRequest) -> ScoredTable:
    for flag, given in (
        ("variant", asked.variant),
        ("by", asked.by),
        ("with-people", asked.with_people),
        ("soft", asked.soft),
    ):
        if given:
            raise RankError(f"--compare-variants compares all variants overall; leave out --{flag}.")
    evidence = {variant: creation_evidence(ledger, one) for variant, one in _chosen_variants(ledger, asked).items()}
    scores = VariantScores(
        by_variant={variant: creation_score(one) for variant, one in evidence.items()},
        differences=variant_differences(evidence),
    )
    notes = told_once(
        {
            variant or "default": (*steering_sentences(score.steering), *score.notes)
            for variant, score in scores.by_variant.items()
        }
    )
    first = next(iter(scores.by_variant.values()))
    sheets = (variants_table(scores),) if asked.form == "csv" else (variants_sheet(scores), *difference_sheets(scores))
    sentences = (*difference_sentences(scores), first.heading, *notes)
    return ScoredTable(
        document=scores.as_json(), sheets=sheets, sentences=sentences, board=None,
        heading=first.heading, explaining=explaining(notes), asked=tuple(difference_sentences(scores)),
    )  # fmt: skip


def _chosen_variants(ledger: Ledger, asked: TableRequest) -> dict[str, CreationStudies]:
    """Of each variant on record; of a run, of those that were judged and shown as it was."""
    runs = frozenset(study_of_run(ledger, run) for run in asked.runs)
    found, choice = _found(ledger, asked, runs)
    if runs:
        found = judged_alike(found, choose_creation(found, choice))
    choice = replace(choice, studies=frozenset())
    variants = in_order(variants_of(found, choice) or [VISION])
    chosen = {variant: choose_creation(found, replace(choice, variant=variant or "default")) for variant in variants}
    refuse_unlike(chosen)
    return chosen


def _found(ledger: Ledger, asked: TableRequest, runs: frozenset[str]) -> tuple[list[StudyOnRecord], CreationChoice]:
    found = studies(ledger, benchmark=asked.benchmark)
    choice = _choice(asked, found, runs)
    return imports_against(ledger, found, asked.against) if choice.protocol == IMPORTED.protocol else found, choice


def _choice(asked: TableRequest, found: Sequence[StudyOnRecord], runs: frozenset[str]) -> CreationChoice:
    """`runs`: the studies of the runs that were chosen; the board that they are part of is of their protocol."""
    compared = {one.condition.protocol for one in found if one.key in runs} - {FACTUALITY}
    of_runs = compared.pop() if len(compared) == 1 else PREFERENCE
    return CreationChoice(
        benchmark=asked.benchmark,
        judge=asked.judge,
        protocol=asked.protocol or of_runs,
        readout=asked.readout,
        variant=asked.variant,
        against=asked.against,
        see=asked.see,
        studies=runs,
    )


def _for_report(ledger: Ledger, sources: ReportSources) -> tuple[CreationScore, ...]:
    return tuple(creation_score(creation_evidence(ledger, one)) for one in sources.graded)


def _for_page(ledger: Ledger, board: PageSources) -> tuple[CreationScore, ...]:
    """One for each baseline."""
    baselines = sorted({study.against for study in board.studies if study.against is not None})
    chosen = (_chosen(board, baseline) for baseline in baselines)
    evidence = [_as_everybody_may_know(creation_evidence(ledger, one)) for one in chosen]
    return tuple(_as_released(one, board.released) if board.released else creation_score(one) for one in evidence)


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


def _as_released(found: CreationEvidence, given: Released) -> CreationScore:
    if found.preference is None:
        return creation_score(found)
    whole = given.shown(found.preference)
    parts = given.shown(whole.judged, {item.digest: item.category for item in found.items})
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
        headings=("Reward", "Win Rate, a tie not won", "VFS", "Judged"),
        ranked_by="Reward",
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
        grouped=True,
    ),
)
