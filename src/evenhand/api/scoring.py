"""A benchmark's table as its paper makes it, from what the ledger holds."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal, TypeAlias, cast

from evenhand.api.choosing import Chosen, chosen_studies
from evenhand.api.ledgers import GivenLedger, ledger_at
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.trial import Readout
from evenhand.domain.vote import Joining
from evenhand.format.result import Result
from evenhand.format.sheet import Sheet
from evenhand.ledger.read.projection import items_of, studies
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import find_run
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.board import Board
from evenhand.reports.board.evidence import of_record
from evenhand.reports.board.methods import Scoring
from evenhand.reports.board.ranking import Ranking, board
from evenhand.reports.board.steering import steering_sentences
from evenhand.reports.board.table import reliability_sentences
from evenhand.reports.papers.scores import paper_of_benchmark
from evenhand.reports.papers.scores.creation_choosing import (
    PREFERENCE,
    CreationChoice,
    choose_creation,
    variants_of,
)
from evenhand.reports.papers.scores.creation_csv import long_breakdown, variants_table, wide_sheet
from evenhand.reports.papers.scores.creation_score import creation_evidence, creation_score, told_once
from evenhand.reports.papers.scores.creation_sheets import board_sheets as creation_board_sheets
from evenhand.reports.papers.scores.creation_sheets import breakdown_sheets
from evenhand.reports.papers.scores.creation_variants import VariantScores, in_order, refuse_unlike, variants_sheet
from evenhand.reports.papers.scores.visit_bench import AskedItems, visit_score
from evenhand.reports.papers.scores.visit_sheets import board_sheets, breakdown_sheet
from evenhand.reports.papers.scores.visit_sheets import long_breakdown as visit_long_breakdown
from evenhand.reports.papers.scores.visit_sheets import wide_sheet as visit_wide_sheet

Breakdown: TypeAlias = Literal["skill", "source", "category", "task"]

_OF: Mapping[Breakdown, str] = {
    "skill": "visit-bench",
    "source": "visit-bench",
    "category": "creation-mmbench",
    "task": "creation-mmbench",
}
"""Whose tables --by can ask for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreChoice:
    """Which verdicts of a ledger a paper's table is made of, and how."""

    judge: str | None = None
    protocol: str | None = None
    readout: Readout | None = None
    variant: str | None = None
    run: tuple[str, ...] = ()
    against: str | None = None
    by: Breakdown | None = None
    compare_variants: bool = False
    join: Joining = "visit"
    bootstrap: int = 200
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scored(Result):
    table: ClassVar[str] = "models"
    shown: ClassVar[tuple[str, ...]] = (
        "rank", "model", "variant", "elo", "elo_lower", "elo_upper", "matches", "win_vs_reference", "reward",
        "reward_lower", "reward_upper", "vfs", "win_rate",
    )  # fmt: skip

    document: Mapping[str, Json]
    sheets: tuple[Sheet, ...]
    long_sheet: Sheet
    """The same as one table, for a file."""
    told: tuple[str, ...]
    board: Board | None
    """Of the same verdicts; the judge's reliability stands under the table. None where no two answers were compared."""
    ledger: Ledger
    notes: tuple[str, ...] = ()
    """Sentences on what was chosen."""

    @property
    def headline(self) -> str:
        return f"{self.document['benchmark']} as its paper scores it, judged by {self.document['judge']}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return self.told if self.board is None else (*self.told, *reliability_sentences(self.board))

    def as_json(self) -> Mapping[str, Json]:
        return self.document

    def rows(self) -> list[dict[str, Json]]:
        """Of the models; of compared variants each variant's, one after the other."""
        variants = cast("list[Mapping[str, Json]]", self.document.get("variants") or [self.document])
        named = "variants" in self.document
        return [
            {**cast("dict[str, Json]", row), **({"variant": one["variant"]} if named else {})}
            for one in variants
            for row in cast("list[Json]", one["models"])
        ]


def score(
    benchmark: str,
    *,
    ledger: "GivenLedger | None" = None,
    judge: str | None = None,
    protocol: str | None = None,
    readout: Readout | None = None,
    variant: str | None = None,
    run: str | Sequence[str] = (),
    against: str | None = None,
    by: Breakdown | None = None,
    compare_variants: bool = False,
    join: Joining = "visit",
    bootstrap: int = 200,
    seed: int = 0,
) -> Scored:
    """The table of a benchmark as its paper makes it, from what the ledger holds; `evenhand score` is the command.

    >>> eh.score("visit-bench-sample", ledger=judged, bootstrap=0)
    visit-bench-sample as its paper scores it, judged by openai/gpt-4o

    Raises Misuse for a benchmark without a table of its own, MixedError where one judge must be chosen.
    """
    choice = ScoreChoice(
        judge=judge,
        protocol=protocol,
        readout=readout,
        variant=variant,
        run=(run,) if isinstance(run, str) else tuple(run),
        against=against,
        by=by,
        compare_variants=compare_variants,
        join=join,
        bootstrap=bootstrap,
        seed=seed,
    )
    return score_of(benchmark, choice, partial(ledger_at, ledger, create=False))


def score_of(benchmark: str, choice: ScoreChoice, opened: Callable[[], Ledger]) -> Scored:
    family = paper_of_benchmark(benchmark)
    if family is None:
        raise Misuse(
            f"{benchmark} has no paper's table here; `evenhand rank --benchmark {benchmark}` ranks what was judged."
        )
    if choice.by and _OF[choice.by] != family:
        fitting = " or ".join(by for by, of in _OF.items() if of == family)
        raise Misuse(f"{benchmark} has no table by {choice.by}; it has one by {fitting}.")
    book = opened()
    if family == "visit-bench":
        return _visit(book, benchmark, choice)
    return _variants(book, benchmark, choice) if choice.compare_variants else _creation(book, benchmark, choice)


def _visit(ledger: Ledger, benchmark: str, choice: ScoreChoice) -> Scored:
    if choice.against or choice.compare_variants:
        raise Misuse("--against and --compare-variants are of creation-mmbench's table.")
    if len(choice.run) > 1:
        raise Misuse(f"The table of {benchmark} is of one judging; give one --run.")
    chosen = Chosen(
        benchmark=benchmark,
        judge=choice.judge,
        protocol=choice.protocol,
        readout=choice.readout,
        variant=choice.variant,
        run=next(iter(choice.run), None),
    )
    found = chosen_studies(ledger, chosen)
    judged = counted_battles(ledger, found.studies)
    score = visit_score(
        judged,
        _asked(ledger, judged),
        scoring=Scoring(join=choice.join),
        rounds=choice.bootstrap,
        seed=choice.seed,
    )
    covered = f"{score.coverage.with_verdict:,} of {score.coverage.wanted:,} showings have a verdict."
    heading = f"Judged by {score.judge} under {score.protocol}; {covered}"
    ranked = _reliability_board(judged, choice)
    document = {**score.as_json(), "reliability": _reliability(ranked)}
    by = choice.by if choice.by in ("skill", "source") else None
    about_ratings = () if by else score.rating_notes
    return Scored(
        document=document,
        sheets=(breakdown_sheet(score, by),) if by else board_sheets(score),
        long_sheet=visit_long_breakdown(score, by) if by else visit_wide_sheet(score),
        ledger=ledger,
        told=(*steering_sentences(score.steering), heading, *score.notes, *about_ratings),
        notes=found.notes,
        board=ranked,
    )


def _asked(ledger: Ledger, judged: JudgedBattles) -> AskedItems:
    items = {item.digest: item for item in items_of(ledger, judged.study.data)}
    answers: dict[str, set[str]] = {}
    for answer in ledger.responses_to(items, variant=judged.study.variant):
        answers.setdefault(answer.model, set()).add(answer.item)
    return AskedItems(items=items, answers=answers)


def _creation(ledger: Ledger, benchmark: str, choice: ScoreChoice) -> Scored:
    chosen = choose_creation(studies(ledger, benchmark=benchmark), _creation_choice(ledger, benchmark, choice))
    evidence = creation_evidence(ledger, chosen)
    score = creation_score(evidence)
    by = choice.by if choice.by in ("category", "task") else None
    heading = f"Judged by {score.judge} under {' and '.join(score.protocols)}."
    ranked = None if evidence.preference is None else _reliability_board(evidence.preference, choice)
    return Scored(
        document={**score.as_json(), "reliability": _reliability(ranked)},
        sheets=breakdown_sheets(score, by) if by else creation_board_sheets(score),
        long_sheet=long_breakdown(score, by) if by else wide_sheet(score),
        ledger=ledger,
        told=(*steering_sentences(score.steering), heading, *score.notes),
        board=ranked,
    )


def _variants(ledger: Ledger, benchmark: str, choice: ScoreChoice) -> Scored:
    for flag in ("variant", "run", "by"):
        if getattr(choice, flag):
            raise Misuse(f"--compare-variants compares all variants overall; leave out --{flag}.")
    found = studies(ledger, benchmark=benchmark)
    variants = in_order(variants_of(found, benchmark))
    of_variants = {variant: replace(choice, variant=variant or "default") for variant in variants}
    chosen = {
        variant: choose_creation(found, _creation_choice(ledger, benchmark, one))
        for variant, one in of_variants.items()
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
    return Scored(
        document=scores.as_json(),
        sheets=(variants_sheet(scores),),
        long_sheet=variants_table(scores),
        told=(heading, *notes),
        board=None,
        ledger=ledger,
    )


def _creation_choice(ledger: Ledger, benchmark: str, choice: ScoreChoice) -> CreationChoice:
    return CreationChoice(
        benchmark=benchmark,
        judge=choice.judge,
        protocol=choice.protocol or PREFERENCE,
        readout=choice.readout,
        variant=choice.variant,
        against=choice.against,
        studies=frozenset(_study_of(ledger, run) for run in choice.run),
    )


def _study_of(ledger: Ledger, run: str) -> str:
    study = find_run(ledger, run).study
    if study is None:
        raise Misuse(f"Run {run} judged nothing, so it has no score.")
    return study


def _reliability_board(judged: JudgedBattles, choice: ScoreChoice) -> Board:
    return board(of_record(judged, choice.seed), Ranking(method="win-rate"))


def _reliability(ranked: Board | None) -> Json:
    return None if ranked is None or ranked.reliability is None else ranked.reliability.as_json()
