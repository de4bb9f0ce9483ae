"""The table of answers that were graded alone by criteria: the mean of each model on each criterion."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from evenhand.domain.errors import Misuse
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.rubric import Rubric
from evenhand.domain.trial import seen
from evenhand.domain.verdict import Grades, NoVerdict, Reason
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.words import counted, listed, wide_notes
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.results import Mask, Results
from evenhand.ledger.read.steering import Steering, steering_of
from evenhand.ledger.read.unasked import answers_not_reached
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.choosing import Choice, choose_of_run
from evenhand.reports.board.evidence import asked_words
from evenhand.reports.board.steering import steering_sentences
from evenhand.reports.papers.paper import ScoredTable, TableRequest
from evenhand.reports.papers.scores.raw_sheet import flat, raw_sheet
from evenhand.stats.intervals import clustered_mean
from evenhand.stats.intervals.mean import Range
from evenhand.stats.reliability import Coverage

_NOT_GRADED = Estimate(value=None, reason="no grade was read")
_TOLD = ("answers_shown", "writes_verdicts", "gives_orders", "verdict_items", "order_items")
"""Of what answers say to the judge, all that has a meaning for answers that were shown alone."""
_UNPROVEN = (
    "How far this judge's grades can be trusted was not measured: each answer was graded alone, so there is no order "
    "to swap. `evenhand audit` measures a judge that compares."
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GradedModel:
    model: str
    overall: Estimate
    """Of the means over the criteria, each answer's weighing the same."""
    criteria: tuple[Estimate, ...]
    coverage: Coverage
    """Of the answers that were to be graded, replicates being one."""
    by_item: Mapping[str, float]
    """Of each item with a grade the mean over criteria and replicates."""

    def as_json(self, rubric: Rubric) -> dict[str, Json]:
        means: dict[str, Json] = {
            name: one.as_json("mean") for name, one in zip(rubric.names, self.criteria, strict=True)
        }
        return {
            "model": self.model,
            **self.overall.as_json("overall"),
            "criteria": means,
            "coverage": self.coverage.as_json(),
        }


def graded_studies(ledger: Ledger, benchmark: str) -> list[StudyOnRecord]:
    """Those in which answers to this benchmark were graded alone."""
    return studies(ledger, benchmark=benchmark, purposes=("rubric",))


def rubric_table(ledger: Ledger, asked: TableRequest, found: Sequence[StudyOnRecord]) -> ScoredTable:
    """Of one judging among those `found`. Raises MixedError where one must be chosen."""
    _refuse_of_papers(asked)
    choice = Choice(
        benchmark=asked.benchmark,
        judge=asked.judge,
        protocol=asked.protocol,
        readout=asked.readout,
        variant=asked.variant,
        see=asked.see,
    )
    chosen = choose_of_run(ledger, choice, next(iter(asked.runs), None), among=found)
    return replace(table_of_grades(ledger, chosen.studies, csv=asked.form == "csv"), notes=chosen.notes)


def table_of_grades(ledger: Ledger, judging: Sequence[StudyOnRecord], *, csv: bool = False) -> ScoredTable:
    """Of one judging's studies."""
    study = judging[0]
    rubric = rubric_of(study)
    judged = counted_battles(ledger, judging)
    unasked = answers_not_reached(ledger, judging, judged.results)
    models = tuple(sorted(_models(judged, unasked, rubric), key=_best_first))
    steering = {judged.names.get(model, model): one for model, one in steering_of([judged]).items()}
    coverage = _together(models)
    asked_how = asked_words(study.condition.protocol, seen(study.condition), pictured=judged.pictured)
    heading = (
        f"Graded by {judged.judge} under {asked_how}, from {rubric.low} to {rubric.high}; "
        f"{coverage.with_verdict:,} of {counted(coverage.wanted, 'answer')} have grades."
    )
    notes = (*_notes(models, coverage, judged), _UNPROVEN)
    document: dict[str, Json] = {
        "schema": 1,
        "benchmark": study.benchmark,
        "judge": judged.judge,
        "protocol": study.condition.protocol,
        "readout": study.condition.readout,
        "see": seen(study.condition),
        "variant": study.variant,
        **rubric.as_json(),
        "models": [{**one.as_json(rubric), **_said(steering.get(one.model))} for one in models],
        "coverage": coverage.as_json(),
        "notes": list(notes),
    }
    lead = _lead(models, rubric)
    return ScoredTable(
        document=document,
        sheets=((_wide if csv else _sheet)(study, rubric, models),),
        sentences=(*([lead] if lead else []), *steering_sentences(steering), heading, *notes),
        heading=heading,
        lead=lead,
        board=None,
    )


def rubric_of(study: StudyOnRecord) -> Rubric:
    assert study.rubric is not None, "a study of this purpose has one"
    return study.rubric


def judgings(found: Sequence[StudyOnRecord]) -> list[list[StudyOnRecord]]:
    """The studies of each table: one judge, asked in one way, by the same criteria."""
    together: dict[object, list[StudyOnRecord]] = {}
    for one in found:
        key = (one.benchmark, one.data, one.rater, one.condition, one.variant, rubric_of(one))
        together.setdefault(key, []).append(one)
    return list(together.values())


def _best_first(one: GradedModel) -> tuple[float, str]:
    return np.inf if one.overall.value is None else -one.overall.value, one.model


def _refuse_of_papers(asked: TableRequest) -> None:
    given = {
        "--against": asked.against,
        "--by": asked.by,
        "--compare-variants": asked.compare_variants,
        "--groups": asked.groups,
    }
    if named := [flag for flag, value in given.items() if value]:
        raise Misuse(f"{', '.join(named)}: a table of grades by criteria has none of that; leave it out.")
    if len(asked.runs) > 1:
        raise Misuse("A table of grades by criteria is of one judging; give one --run.")


def _models(judged: JudgedBattles, unasked: Sequence[tuple[str, str]], rubric: Rubric) -> Iterator[GradedModel]:
    results, showings = judged.results, judged.showings
    grades = _Grades.of(results, rubric)
    shown: list[int] = np.unique(results.first_model).tolist()
    for model in sorted({*(results.models[code] for code in shown), *(model for _, model in unasked)}):
        coverage = _coverage(showings, _of(showings, model), more=sum(one == model for _, one in unasked))
        graded = _graded(grades, _of(results, model), rubric)
        yield replace(graded, model=judged.names.get(model, model), coverage=coverage)


def _of(results: Results, model: str) -> Mask:
    mine = np.array([name == model for name in results.models], dtype=np.bool_)
    return mine[results.first_model]


def _coverage(showings: Results, rows: Mask, *, more: int) -> Coverage:
    """Of these rows, and `more` that nobody asked."""
    ended: list[int] = np.bincount(showings.ending[rows], minlength=len(showings.endings)).tolist()
    reasons: Counter[Reason] = Counter()
    for ending, number in zip(showings.endings, ended, strict=True):
        if isinstance(ending, NoVerdict) and number:
            reasons[ending.reason] += number
    wanted = sum(ended)
    return Coverage(wanted=wanted + more, with_verdict=wanted - reasons.total(), reasons=dict(reasons))


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class _Grades:
    results: Results
    weights: npt.NDArray[np.float64]
    """Replicates of one showing that were read share its weight."""
    of_ending: npt.NDArray[np.float64]
    """Of each ending its grades; NaN without."""

    @classmethod
    def of(cls, results: Results, rubric: Rubric) -> "_Grades":
        read = results.decided
        sharing = np.bincount(results.showing[read], minlength=int(results.showing.max(initial=-1)) + 1)
        of_ending = np.full((len(results.endings), len(rubric.criteria)), np.nan)
        for code, ending in enumerate(results.endings):
            # Endings of other studies may be among them, by other criteria, and of no row.
            if isinstance(ending, Grades) and len(ending.values) == len(rubric.criteria):
                of_ending[code] = ending.values
        weights = np.where(read, 1 / np.maximum(sharing[results.showing], 1), 0.0)
        return cls(results=results, weights=weights, of_ending=of_ending)


def _graded(grades: _Grades, rows: Mask, rubric: Rubric) -> GradedModel:
    """Of one model's rows; the name and the coverage are for the caller to fill in."""
    results = grades.results
    read = np.flatnonzero(rows & results.decided)
    values = grades.of_ending[results.ending[read]]
    items, weights = results.item.code[read].astype(np.int64), grades.weights[read]
    empty = Coverage(wanted=0, with_verdict=0)
    if not len(values):
        nothing = (_NOT_GRADED,) * len(rubric.criteria)
        return GradedModel(model="", overall=_NOT_GRADED, criteria=nothing, coverage=empty, by_item={})
    within = Range(low=rubric.low, high=rubric.high)
    means = [clustered_mean(column, items, weights=weights, within=within) for column in values.T]
    overall = values.mean(axis=1)
    number = len(results.item.names)
    weight = np.bincount(items, weights=weights, minlength=number)
    there: list[int] = np.flatnonzero(weight).tolist()
    mean: list[float] = (
        np.bincount(items, weights=weights * overall, minlength=number)[there] / weight[there]
    ).tolist()
    return GradedModel(
        model="",
        overall=clustered_mean(overall, items, weights=weights, within=within),
        criteria=tuple(means),
        coverage=empty,
        by_item={results.item.names[item]: one for item, one in zip(there, mean, strict=True)},
    )


def _together(models: Sequence[GradedModel]) -> Coverage:
    reasons: Counter[Reason] = Counter()
    for one in models:
        reasons.update(one.coverage.reasons)
    return Coverage(
        wanted=sum(one.coverage.wanted for one in models),
        with_verdict=sum(one.coverage.with_verdict for one in models),
        reasons=dict(reasons),
    )


def _said(one: Steering | None) -> dict[str, Json]:
    told: Mapping[str, Json] = {} if one is None else one.as_json()
    return {name: told.get(name) for name in _TOLD}


def _lead(models: Sequence[GradedModel], rubric: Rubric) -> str:
    """Who has the highest mean, and whether it is ahead of the next on the items that both have; empty without one."""
    graded = [one for one in models if one.overall.value is not None]
    if not graded:
        return ""
    first, *others = graded
    best = f"{first.model} has the highest mean, {_mean(first.overall)}"
    if not others:
        return f"{best}."
    second = others[0]
    common = sorted(first.by_item.keys() & second.by_item.keys())
    width = rubric.high - rubric.low
    ahead = clustered_mean(
        [first.by_item[item] - second.by_item[item] for item in common], common, within=Range(low=-width, high=width)
    )
    if ahead.value is None:
        return f"{best}; it and {second.model} have grades on no item in common, so they cannot be compared."
    on = f"on the {counted(len(common), 'item')} that both have grades on"
    if ahead.lower is not None and ahead.lower > 0:
        return f"{best}: ahead of {second.model} by {_mean(ahead)} {on}."
    return f"{best}; whether it is ahead of {second.model} is open, {_mean(ahead, sign=True)} {on}."


def _notes(models: Sequence[GradedModel], coverage: Coverage, judged: JudgedBattles) -> Iterator[str]:
    if coverage.reasons:
        why = ", ".join(f"{number:,} {reason}" for reason, number in sorted(coverage.reasons.items()))
        yield f"Asked and without grades, and so in no mean: {why}."
    if coverage.not_asked:
        yield f"Not asked yet: {counted(coverage.not_asked, 'answer')}; the same `evenhand judge` again asks the rest."
    items = [frozenset(one.by_item) for one in models if one.by_item]
    if len(set(items)) > 1:
        most = max(map(len, items))
        fewer = [f"{one.model} on {len(one.by_item):,}" for one in models if len(one.by_item) < most]
        told = listed(fewer) or "each on as many, but not on the same"
        yield f"Not all models have grades on the same items ({told}; the most is {most:,}): means are of other items."
    yield from wide_notes(one.overall.clusters for one in models)
    if judged.replaced:
        yield f"Left out: {counted(judged.replaced, 'result')} on answers that were replaced since."


def _sheet(study: StudyOnRecord, rubric: Rubric, models: Sequence[GradedModel]) -> Sheet:
    return Sheet(
        title=f"{study.benchmark}: mean grades, {rubric.low} to {rubric.high}",
        headings=("model", "overall", *rubric.names, "graded"),
        rows=tuple(
            (
                one.model,
                _mean(one.overall),
                *map(_mean, one.criteria),
                f"{one.coverage.with_verdict:,} of {one.coverage.wanted:,}",
            )
            for one in models
        ),
    )


def _wide(study: StudyOnRecord, rubric: Rubric, models: Sequence[GradedModel]) -> Sheet:
    rows = [{"model": one.model, **flat(one.as_json(rubric))} for one in models]
    return raw_sheet(study.benchmark, rows)


def _mean(estimate: Estimate, *, sign: bool = False) -> str:
    if estimate.value is None:
        return MISSING
    form = "+.2f" if sign else ".2f"
    value = format(round(estimate.value, 2) + 0.0, form)
    if estimate.lower is None or estimate.upper is None:
        return value
    return f"{value} ({format(round(estimate.lower, 2) + 0.0, form)} to {format(round(estimate.upper, 2) + 0.0, form)})"
