"""From the flags of `score` to a paper's table."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.cli.environment import WrongUse
from evenhand.cli.read.boards import chosen_studies
from evenhand.domain.identity import Json
from evenhand.format.sheet import Sheet
from evenhand.ledger.read.projection import items_of, studies
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import find_run
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.board import Board
from evenhand.reports.board.evidence import of_record
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.methods.win_rate import WIN_RATE
from evenhand.reports.board.ranking import Ranking, board
from evenhand.reports.board.steering import steering_sentences
from evenhand.reports.papers.scores import paper_of_benchmark
from evenhand.reports.papers.scores.creation_choosing import (
    PREFERENCE,
    CreationChoice,
    choose_creation,
    variants_of,
)
from evenhand.reports.papers.scores.creation_csv import long_breakdown, variants_table, wide_sheet
from evenhand.reports.papers.scores.creation_score import CreationScore, creation_evidence, creation_score, told_once
from evenhand.reports.papers.scores.creation_sheets import board_sheets as creation_board_sheets
from evenhand.reports.papers.scores.creation_sheets import breakdown_sheets
from evenhand.reports.papers.scores.creation_variants import VariantScores, in_order, refuse_unlike, variants_sheet
from evenhand.reports.papers.scores.visit_bench import AskedItems, VisitScore, visit_score
from evenhand.reports.papers.scores.visit_sheets import board_sheets, breakdown_sheet
from evenhand.reports.papers.scores.visit_sheets import long_breakdown as visit_long_breakdown
from evenhand.reports.papers.scores.visit_sheets import wide_sheet as visit_wide_sheet

_OF = {"skill": "visit-bench", "source": "visit-bench", "category": "creation-mmbench", "task": "creation-mmbench"}
"""Whose tables --by can ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scored:
    document: Mapping[str, Json]
    sheets: tuple[Sheet, ...]
    sentences: tuple[str, ...]
    board: Board | None
    """Of the same verdicts; the judge's reliability stands under the table. None where no two answers were compared."""


def score_of(benchmark: str, flags: Mapping[str, Any]) -> Scored:
    """Raises WrongUse for a benchmark without a table of its own, MixedError where one judge must be chosen."""
    family = paper_of_benchmark(benchmark)
    if family is None:
        raise WrongUse(
            f"{benchmark} has no paper's table here; `evenhand rank --benchmark {benchmark}` ranks what was judged."
        )
    if flags["by"] and _OF[flags["by"]] != family:
        fitting = " or ".join(by for by, of in _OF.items() if of == family)
        raise WrongUse(f"{benchmark} has no table by {flags['by']}; it has one by {fitting}.")
    ledger = Ledger(flags["store"], create=False)
    flags = {**flags, "benchmark": benchmark}
    if family == "visit-bench":
        return _visit(ledger, flags)
    return _variants(ledger, flags) if flags["compare_variants"] else _creation(ledger, flags)


def _visit(ledger: Ledger, flags: Mapping[str, Any]) -> Scored:
    if flags["against"] or flags["compare_variants"]:
        raise WrongUse("--against and --compare-variants are of creation-mmbench's table.")
    if len(flags["run"]) > 1:
        raise WrongUse(f"The table of {flags['benchmark']} is of one judging; give one --run.")
    judged = counted_battles(ledger, chosen_studies(ledger, {**flags, "run": next(iter(flags["run"]), None)}))
    score = visit_score(
        judged,
        _asked(ledger, judged),
        scoring=Scoring(join=flags["join"]),
        rounds=flags["bootstrap"],
        seed=flags["seed"],
    )
    covered = f"{score.coverage.with_verdict:,} of {score.coverage.wanted:,} showings have a verdict."
    heading = f"Judged by {score.judge} under {score.protocol}; {covered}"
    ranked = _reliability_board(judged, flags)
    document = {**score.as_json(), "reliability": _reliability(ranked)}
    about_ratings = () if flags["by"] else score.rating_notes
    return Scored(
        document=document,
        sheets=_visit_sheets(score, flags),
        sentences=(*steering_sentences(score.steering), heading, *score.notes, *about_ratings),
        board=ranked,
    )


def _visit_sheets(score: VisitScore, flags: Mapping[str, Any]) -> tuple[Sheet, ...]:
    # A CSV file is one table.
    if flags["form"] == "csv":
        return (visit_long_breakdown(score, flags["by"]) if flags["by"] else visit_wide_sheet(score),)
    return (breakdown_sheet(score, flags["by"]),) if flags["by"] else board_sheets(score)


def _asked(ledger: Ledger, judged: JudgedBattles) -> AskedItems:
    items = {item.digest: item for item in items_of(ledger, judged.study.data)}
    answers: dict[str, set[str]] = {}
    for answer in ledger.responses_to(items, variant=judged.study.variant):
        answers.setdefault(answer.model, set()).add(answer.item)
    return AskedItems(items=items, answers=answers)


def _creation(ledger: Ledger, flags: Mapping[str, Any]) -> Scored:
    chosen = choose_creation(studies(ledger, benchmark=flags["benchmark"]), _creation_choice(ledger, flags))
    evidence = creation_evidence(ledger, chosen)
    score = creation_score(evidence)
    heading = f"Judged by {score.judge} under {' and '.join(score.protocols)}."
    ranked = None if evidence.preference is None else _reliability_board(evidence.preference, flags)
    return Scored(
        document={**score.as_json(), "reliability": _reliability(ranked)},
        sheets=_creation_sheets(score, flags),
        sentences=(*steering_sentences(score.steering), heading, *score.notes),
        board=ranked,
    )


def _creation_sheets(score: CreationScore, flags: Mapping[str, Any]) -> tuple[Sheet, ...]:
    # A CSV file is one table.
    if flags["form"] == "csv":
        return (long_breakdown(score, flags["by"]) if flags["by"] else wide_sheet(score),)
    return breakdown_sheets(score, flags["by"]) if flags["by"] else creation_board_sheets(score)


def _variants(ledger: Ledger, flags: Mapping[str, Any]) -> Scored:
    for flag in ("variant", "run", "by"):
        if flags[flag]:
            raise WrongUse(f"--compare-variants compares all variants overall; leave out --{flag}.")
    found = studies(ledger, benchmark=flags["benchmark"])
    variants = in_order(variants_of(found, flags["benchmark"]))
    chosen = {
        variant: choose_creation(found, _creation_choice(ledger, {**flags, "variant": variant or "default"}))
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
    sheet = variants_table(scores) if flags["form"] == "csv" else variants_sheet(scores)
    return Scored(document=scores.as_json(), sheets=(sheet,), sentences=(heading, *notes), board=None)


def _creation_choice(ledger: Ledger, flags: Mapping[str, Any]) -> CreationChoice:
    return CreationChoice(
        benchmark=flags["benchmark"],
        judge=flags["judge"],
        protocol=flags["protocol"] or PREFERENCE,
        readout=flags["readout"],
        variant=flags["variant"],
        against=flags["against"],
        studies=frozenset(_study_of(ledger, run) for run in flags["run"]),
    )


def _study_of(ledger: Ledger, run: str) -> str:
    study = find_run(ledger, run).study
    if study is None:
        raise WrongUse(f"Run {run} judged nothing, so it has no score.")
    return study


def _reliability_board(judged: JudgedBattles, flags: Mapping[str, Any]) -> Board:
    return board(of_record(judged, flags["seed"]), Ranking(method=WIN_RATE.name))


def _reliability(ranked: Board | None) -> Json:
    return None if ranked is None or ranked.reliability is None else ranked.reliability.as_json()
