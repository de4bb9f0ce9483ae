"""Creation-MMBench's table: every model against the baseline; overall, by category and by task."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from evenhand.benchmarks.creation_mmbench.tasks import OTHER, categories, category_of
from evenhand.benchmarks.files.models_file import ModelGroups
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.trial import seen
from evenhand.format.words import wide_notes
from evenhand.ledger.read.projection import StudyOnRecord, items_of
from evenhand.ledger.read.steering import Steering, steering_of
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import counted_battles
from evenhand.reports.board.evidence import asked_words, record_notes
from evenhand.reports.board.steering import steering_json, steering_sentences
from evenhand.reports.papers.scores.creation_answers import AnswerFacts
from evenhand.reports.papers.scores.creation_choosing import PREFERENCE, CreationStudies
from evenhand.reports.papers.scores.creation_figures import (
    CreationFigures,
    WantedPreferences,
    figures,
    graded,
    judged_items,
)
from evenhand.reports.papers.scores.creation_groups import GroupGaps, group_gaps
from evenhand.reports.papers.scores.creation_record import ModelRecord, model_records

ENOUGH = 0.95
"""Of the items; a model that answered fewer, or was judged on fewer, has no rank."""

NO_TASK = "no task"


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredPart:
    """A category or a task."""

    name: str
    category: str
    figures: CreationFigures


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    model: str
    rank: int | None
    """By Reward; None where too little is answered or judged."""
    whole: CreationFigures
    categories: tuple[ScoredPart, ...]
    """The paper's four, then others; those of which the benchmark has items."""
    tasks: tuple[ScoredPart, ...]
    answers: AnswerFacts

    def as_json(self) -> dict[str, Json]:
        return {
            "model": self.model,
            "rank": self.rank,
            **self.whole.as_json(),
            **self.answers.as_json(),
            "categories": [{"category": part.name, **part.figures.as_json()} for part in self.categories],
            "tasks": [{"task": part.name, "category": part.category, **part.figures.as_json()} for part in self.tasks],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationScore:
    benchmark: str
    judge: str
    baseline: str
    baseline_vfs: Estimate
    """Over the grades it got beside every model."""
    variant: str
    protocols: tuple[str, ...]
    see: tuple[str | None, ...]
    """What the judge was shown of the image under each of the protocols."""
    items: int
    models: tuple[ModelScore, ...]
    """The highest Reward first; those without one last."""
    groups: GroupGaps | None = None
    """None where nobody said which group a model is of."""
    notes: tuple[str, ...]
    steering: Mapping[str, Steering] = field(default_factory=dict[str, Steering])
    """By model, what its answers say to the judge; empty where nobody knows."""

    @property
    def heading(self) -> str:
        ways = map(asked_words, self.protocols, self.see)
        return f"Judged by {self.judge} under {' and '.join(ways)}."

    def as_json(self) -> dict[str, Json]:
        baseline = {"model": self.baseline, "reward": 0, **self.baseline_vfs.as_json("vfs")}
        return {
            "schema": 1,
            "benchmark": self.benchmark,
            "judge": self.judge,
            # By definition: the authors' own measured 0.36 and printed 0.00.
            "baseline": {**baseline, **steering_json(self.steering, self.baseline)},
            "variant": self.variant or "default",
            "protocols": list(self.protocols),
            "see": dict(zip(self.protocols, self.see, strict=True)),
            "items": self.items,
            "models": [{**one.as_json(), **steering_json(self.steering, one.model)} for one in self.models],
            **({"groups": self.groups.as_json()} if self.groups else {}),
            "notes": [*steering_sentences(self.steering), *self.notes],
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationEvidence:
    """What one table is made of; one of the two judgings may be missing."""

    chosen: CreationStudies
    preference: JudgedBattles | None
    factuality: JudgedBattles | None
    items: tuple[Item, ...]
    """All of the benchmark's."""
    answers: tuple[Response, ...]
    """To them, of the variant that was judged; the baseline's and the references are plain."""

    @property
    def baseline(self) -> str:
        return self.chosen.baseline

    @property
    def judgings(self) -> tuple[JudgedBattles, ...]:
        return tuple(one for one in (self.preference, self.factuality) if one is not None)


def creation_evidence(ledger: Ledger, chosen: CreationStudies) -> CreationEvidence:
    def judged(part: Sequence[StudyOnRecord]) -> JudgedBattles | None:
        return counted_battles(ledger, part) if part else None

    items = items_of(ledger, chosen.first.data)
    answers = ledger.responses_to(
        (item.digest for item in items), variant=chosen.first.variant, plain={REFERENCE, chosen.baseline}
    )
    return CreationEvidence(
        chosen=chosen,
        preference=judged(chosen.preference),
        factuality=judged(chosen.factuality),
        items=tuple(items),
        answers=tuple(answers),
    )


def creation_score(evidence: CreationEvidence) -> CreationScore:
    """Raises RankError on verdicts that make no Reward or grade."""
    records = model_records(evidence.preference, evidence.factuality, evidence.baseline, evidence.answers)
    parts, wanted = _Parts.of(evidence.items), _wanted(evidence)
    models = _ranked([_model_score(record, parts, wanted) for record in records])
    first = evidence.judgings[0]
    study = first.study
    return CreationScore(
        benchmark=study.benchmark,
        judge=first.judge,
        baseline=evidence.baseline,
        baseline_vfs=graded([one for record in records for one in record.factuality], baseline=True),
        variant=study.variant,
        protocols=tuple(one.study.condition.protocol for one in evidence.judgings),
        see=tuple(seen(one.study.condition) for one in evidence.judgings),
        items=len(evidence.items),
        models=models,
        notes=tuple(_notes(evidence, records, models)),
        steering=steering_of(evidence.judgings),
    )


def with_groups(score: CreationScore, evidence: CreationEvidence, groups: ModelGroups | None) -> CreationScore:
    """With the gaps between groups of models, and what there is to say of them."""
    if groups is None:
        return score
    records = model_records(evidence.preference, evidence.factuality, evidence.baseline, evidence.answers)
    preferred = evidence.preference is not None
    few = {
        one.model
        for one in score.models
        if not _enough_answered(one.whole) or (preferred and not _enough_judged(one.whole))
    }
    found = group_gaps(records, evidence.baseline, groups, unranked=few)
    return replace(score, groups=found, notes=(*score.notes, *found.sentences))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Digests of the items, by category and by task, in the paper's order."""

    by_category: Mapping[str, frozenset[str]]
    by_task: Mapping[tuple[str, str], frozenset[str]]
    """By category and task."""

    @classmethod
    def of(cls, items: Iterable[Item]) -> "_Parts":
        by_category: dict[str, set[str]] = {}
        by_task: dict[tuple[str, str], set[str]] = {}
        for item in items:
            category = item.category or category_of(item.task)
            by_category.setdefault(category, set()).add(item.digest)
            by_task.setdefault((category, item.task or NO_TASK), set()).add(item.digest)
        tasks = [task for category in categories() for task in category.tasks]
        return cls(
            by_category={name: frozenset(by_category[name]) for name in sorted(by_category, key=_category_place)},
            by_task={
                name: frozenset(by_task[name])
                for name in sorted(by_task, key=lambda name: (_category_place(name[0]), _place(name[1], tasks)))
            },
        )


def _category_place(name: str) -> tuple[bool, int, str]:
    return name == OTHER, *_place(name, [category.name for category in categories()])


def _place(name: str, published: Sequence[str]) -> tuple[int, str]:
    return (published.index(name), "") if name in published else (len(published), name)


def _wanted(evidence: CreationEvidence) -> WantedPreferences:
    judged = evidence.preference
    # Another protocol need not ask about taste.
    by_criteria = judged is None or judged.study.condition.protocol == PREFERENCE
    return WantedPreferences(
        items=frozenset(item.digest for item in evidence.items),
        applicable=frozenset(
            item.digest for item in evidence.items if item.subjective_criteria is not None or not by_criteria
        ),
        orders=evidence.chosen.orders,
    )


def _model_score(record: ModelRecord, parts: _Parts, wanted: WantedPreferences) -> ModelScore:
    def part(name: str, category: str, items: frozenset[str]) -> ScoredPart:
        return ScoredPart(name=name, category=category, figures=figures(record, wanted.within(items)))

    return ModelScore(
        model=record.model,
        rank=None,
        whole=figures(record, wanted),
        categories=tuple(part(name, name, items) for name, items in parts.by_category.items()),
        tasks=tuple(part(task, category, items) for (category, task), items in parts.by_task.items()),
        answers=AnswerFacts.of(record.answers.values()),
    )


def _ranked(models: Sequence[ModelScore]) -> tuple[ModelScore, ...]:
    rewards = {one.model: one.whole.dual.preference.reward.value for one in models}
    competing = [value for one in models if (value := rewards[one.model]) is not None and _enough(one)]
    placed = [
        replace(one, rank=1 + sum(other > value for other in competing))
        if (value := rewards[one.model]) is not None and _enough(one)
        else one
        for one in models
    ]
    return tuple(sorted(placed, key=lambda one: (_descending(rewards[one.model]), one.model)))


def _descending(value: float | None) -> float:
    return float("inf") if value is None else -value


def _enough(one: ModelScore) -> bool:
    return _enough_answered(one.whole) and _enough_judged(one.whole)


def _enough_answered(whole: CreationFigures) -> bool:
    return whole.answered >= ENOUGH * whole.items


def _enough_judged(whole: CreationFigures) -> bool:
    return whole.judged >= ENOUGH * whole.applicable


_BASELINE = "The baseline is"
_COUNTS = "Each showing of two answers in one order counts as"


def _notes(evidence: CreationEvidence, records: Sequence[ModelRecord], models: Sequence[ModelScore]) -> Iterable[str]:
    yield _what_counts(evidence)
    yield f"{_BASELINE} {evidence.baseline}; its Reward is 0 by definition."
    yield from wide_notes(clusters for one in models for clusters in one.whole.clusters)
    yield from _not_ranked(models, preferred=evidence.preference is not None)
    yield from _gaps_by_model(evidence, records, models)
    yield _read(evidence)
    yield from _gaps(evidence)
    for one in models:
        yield from one.answers.sentences(one.model)
    against = AnswerFacts.of(answer for answer in evidence.answers if answer.model == evidence.baseline)
    yield from against.sentences(evidence.baseline)
    yield from _deviations(evidence)
    yield from told_once({one.study.condition.protocol: record_notes(one) for one in evidence.judgings})


def explaining(notes: Iterable[str]) -> tuple[str, ...]:
    """Those that say how the table is made, whatever is in it."""
    return tuple(one for one in notes if one.startswith((_BASELINE, _COUNTS)))


def _read(evidence: CreationEvidence) -> str:
    judged = ((evidence.preference, "preferences"), (evidence.factuality, "grades"))
    read = [
        f"{one.coverage.with_verdict:,} of {one.coverage.wanted:,} {noun}" for one, noun in judged if one is not None
    ]
    return f"Wanted and read: {' and '.join(read)}."


def _what_counts(evidence: CreationEvidence) -> str:
    shared = any(one.replicates > 1 for one in evidence.chosen.everything)
    vote = "one vote, which its replicates share" if shared else "one vote"
    return (
        f"{_COUNTS} {vote}, and showings without a verdict (Fail) count in no "
        "score, as published. Intervals (95 %) count cases, not votes."
    )


def _gaps(evidence: CreationEvidence) -> Iterable[str]:
    items = len(evidence.items)
    if evidence.preference is None:
        yield "No preferences were judged, so there is no Reward and no Win Rate."
    else:
        without = items - len(_wanted(evidence).applicable)
        if without:
            yield f"{_of(without, items)} no subjective criteria: no preference is wanted there."
    if evidence.factuality is None:
        yield "Visual factuality was not judged, so there is no VFS."
    else:
        without = sum(item.factuality_criteria is None for item in evidence.items)
        if without:
            yield f"{_of(without, items)} no criteria of visual factuality: no VFS is wanted there."


def _of(some: int, items: int) -> str:
    return f"{some} of {items} items {'has' if some == 1 else 'have'}"


def _gaps_by_model(
    evidence: CreationEvidence, records: Sequence[ModelRecord], models: Sequence[ModelScore]
) -> Iterable[str]:
    showings = [showing for record in records for showing in (*record.preference, *record.factuality)]
    waiting = sum(not showing.asked for showing in showings)
    if waiting:
        yield f"{waiting} showings that are wanted were not asked yet; `evenhand judge` goes on with them."
    gradable = {item.digest for item in evidence.items if item.factuality_criteria is not None}
    of_model = {record.model: record for record in records}
    for one in models:
        if evidence.preference is not None and one.whole.judged < one.whole.applicable:
            yield f"{one.model}: {one.whole.judged} of {one.whole.applicable} items judged."
        graded_here = judged_items(of_model[one.model].factuality, evidence.chosen.grading_orders) & gradable
        if evidence.factuality is not None and len(graded_here) < len(gradable):
            yield f"{one.model}: {len(graded_here)} of {len(gradable)} items graded for visual factuality."


def _not_ranked(models: Sequence[ModelScore], *, preferred: bool) -> Iterable[str]:
    few = [one for one in models if not _enough_answered(one.whole)]
    if few:
        said = ", ".join(f"{one.model} ({one.whole.answered})" for one in few)
        items = f"{100 * ENOUGH:.0f} % of the {few[0].whole.items} items"
        yield f"Not ranked, because fewer than {items} are answered: {said}."
    few = [one for one in models if preferred and _enough_answered(one.whole) and not _enough_judged(one.whole)]
    if few:
        said = ", ".join(f"{one.model} ({one.whole.judged})" for one in few)
        items = f"{100 * ENOUGH:.0f} % of the {few[0].whole.applicable} items"
        yield f"Not ranked, because fewer than {items} are judged: {said}."


def _deviations(evidence: CreationEvidence) -> Iterable[str]:
    """From the published judging, as far as the studies and not their judgements know them."""
    chosen = evidence.chosen
    for studies, orders in ((chosen.preference, chosen.orders), (chosen.factuality, chosen.grading_orders)):
        if studies and orders == 1:
            name, asked = studies[0].condition.protocol, studies[0].orders
            order = "one order drawn for each item" if asked == "random" else f"the {asked} order"
            yield f"Differs from the published judging: {name} asked in {order} alone, not in both."
    raters = {one.study.condition.protocol: one.study.rater for one in evidence.judgings}
    if len({rater.key for rater in raters.values()}) > 1:
        said = ", ".join(
            f"{name} at {rater.endpoint} with {rater.settings.canonical}" for name, rater in raters.items()
        )
        yield f"The two judgings differ in the judge's endpoint or settings: {said}."


def told_once(said: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences that all of them say, once; the others behind the name of who says them."""
    told: dict[str, None] = {}
    for name, sentences in said.items():
        for sentence in sentences:
            everyone = all(sentence in others for others in said.values())
            told[sentence if everyone else f"{name}: {sentence}"] = None
    return list(told)
