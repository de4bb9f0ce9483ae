"""Creation-MMBench's table: every model against the baseline; overall, by category and by task."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.benchmarks.creation_mmbench.tasks import OTHER, categories, category_of
from evenhand.domain.estimate import Estimate
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.response import Response
from evenhand.ledger.projection import StudyOnRecord, items_of
from evenhand.ledger.record import Ledger
from evenhand.ledger.votes import JudgedBattles, judged_battles
from evenhand.reports.evidence import record_notes
from evenhand.reports.scores.creation_choosing import CreationStudies
from evenhand.reports.scores.creation_figures import Figures, figures, graded
from evenhand.reports.scores.creation_record import ModelRecord, model_records

ENOUGH_ANSWERED = 0.95
"""Of the benchmark's items; a model that answered fewer has no rank."""

NO_TASK = "no task"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A category or a task."""

    name: str
    category: str
    figures: Figures


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelScore:
    model: str
    rank: int | None
    """By Reward; None where too little is answered or nothing has a verdict."""
    whole: Figures
    categories: tuple[Part, ...]
    """The paper's four, then others; those of which the benchmark has items."""
    tasks: tuple[Part, ...]
    flagged: Mapping[str, int]
    """Answers that were judged though cut or refused, by flag."""

    def as_json(self) -> dict[str, Json]:
        flagged: dict[str, Json] = {flag: count for flag, count in sorted(self.flagged.items())}
        return {
            "model": self.model,
            "rank": self.rank,
            **self.whole.as_json(),
            "flagged": flagged,
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
    items: int
    models: tuple[ModelScore, ...]
    """The highest Reward first; those without one last."""
    notes: tuple[str, ...]

    def as_json(self) -> dict[str, Json]:
        return {
            "schema": 1,
            "benchmark": self.benchmark,
            "judge": self.judge,
            # By definition: the authors' own measured 0.36 and printed 0.00.
            "baseline": {"model": self.baseline, "reward": 0, **self.baseline_vfs.as_json("vfs")},
            "variant": self.variant or "default",
            "protocols": list(self.protocols),
            "items": self.items,
            "models": [one.as_json() for one in self.models],
            "notes": list(self.notes),
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class CreationEvidence:
    """What one table is made of; one of the two judgings may be missing."""

    baseline: str
    preference: JudgedBattles | None
    factuality: JudgedBattles | None
    items: tuple[Item, ...]
    """All of the benchmark's."""
    answers: tuple[Response, ...]
    """To them, of the variant that was judged."""

    @property
    def judgings(self) -> tuple[JudgedBattles, ...]:
        return tuple(one for one in (self.preference, self.factuality) if one is not None)


def creation_evidence(ledger: Ledger, chosen: CreationStudies) -> CreationEvidence:
    def judged(part: Sequence[StudyOnRecord]) -> JudgedBattles | None:
        return judged_battles(ledger, part) if part else None

    items = items_of(ledger, chosen.first.data)
    answers = ledger.responses_to((item.digest for item in items), variant=chosen.first.variant)
    return CreationEvidence(
        baseline=chosen.baseline,
        preference=judged(chosen.preference),
        factuality=judged(chosen.factuality),
        items=tuple(items),
        answers=tuple(answers),
    )


def creation_score(evidence: CreationEvidence) -> CreationScore:
    """Raises RankError on verdicts that make no Reward or grade."""
    records = model_records(evidence.preference, evidence.factuality, evidence.baseline, evidence.answers)
    orders = len({showing.forward for record in records for showing in record.preference}) or 2
    parts = _Parts.of(evidence.items)
    models = _ranked([_model_score(record, parts, orders) for record in records])
    study = evidence.judgings[0].study
    return CreationScore(
        benchmark=study.benchmark,
        judge=study.rater.name,
        baseline=evidence.baseline,
        baseline_vfs=graded([one for record in records for one in record.factuality], baseline=True),
        variant=study.variant,
        protocols=tuple(one.study.condition.protocol for one in evidence.judgings),
        items=len(evidence.items),
        models=models,
        notes=tuple(_notes(evidence, records, models)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Parts:
    """Digests of the items, by category and by task, in the paper's order."""

    everything: frozenset[str]
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
            everything=frozenset(digest for digests in by_category.values() for digest in digests),
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


def _model_score(record: ModelRecord, parts: _Parts, orders: int) -> ModelScore:
    def part(name: str, category: str, items: frozenset[str]) -> Part:
        return Part(
            name=name, category=category, figures=figures(record.within(items), items=len(items), orders=orders)
        )

    return ModelScore(
        model=record.model,
        rank=None,
        whole=figures(record.within(parts.everything), items=len(parts.everything), orders=orders),
        categories=tuple(part(name, name, items) for name, items in parts.by_category.items()),
        tasks=tuple(part(task, category, items) for (category, task), items in parts.by_task.items()),
        flagged=Counter(flag for answer in record.answers.values() for flag in answer.flags),
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
    return one.whole.answered >= ENOUGH_ANSWERED * one.whole.items


def _notes(evidence: CreationEvidence, records: Sequence[ModelRecord], models: Sequence[ModelScore]) -> Iterable[str]:
    yield (
        "Each verdict of each order counts as one vote, and showings without a verdict (Fail) count in no score, as "
        "published. Intervals (95 %) count cases, not votes."
    )
    yield f"The baseline is {evidence.baseline}; its Reward is 0 by definition."
    yield from _gaps(evidence, records)
    few = [f"{one.model} ({one.whole.answered})" for one in models if not _enough(one)]
    if few:
        enough = f"{100 * ENOUGH_ANSWERED:.0f} % of the {len(evidence.items)} items"
        yield f"Not ranked, because fewer than {enough} are answered: {', '.join(few)}."
    for one in models:
        for flag, count in sorted(one.flagged.items()):
            words = (
                f"1 answer is {flag} and judged as it stands"
                if count == 1
                else (f"{count} answers are {flag} and judged as they stand")
            )
            yield f"{one.model}: {words}."
    yield from told_once({one.study.condition.protocol: record_notes(one) for one in evidence.judgings})


def _gaps(evidence: CreationEvidence, records: Sequence[ModelRecord]) -> Iterable[str]:
    items = len(evidence.items)
    if evidence.preference is None:
        yield "No preferences were judged, so there is no Reward and no Win Rate."
    if evidence.factuality is None:
        yield "Visual factuality was not judged, so there is no VFS."
    else:
        without = sum(item.factuality_criteria is None for item in evidence.items)
        if without:
            yield f"{without} of {items} items have no criteria of visual factuality: no VFS is wanted there."
    showings = [showing for record in records for showing in (*record.preference, *record.factuality)]
    waiting = sum(not showing.asked for showing in showings)
    if waiting:
        yield f"{waiting} showings that are wanted were not asked yet; `evenhand judge` goes on with them."
    judged = {showing.item for showing in showings if showing.asked}
    if len(judged) < items:
        yield f"Only {len(judged)} of the {items} items were judged."


def told_once(said: Mapping[str, Sequence[str]]) -> list[str]:
    """Sentences that all of them say, once; the others behind the name of who says them."""
    told: dict[str, None] = {}
    for name, sentences in said.items():
        for sentence in sentences:
            everyone = all(sentence in others for others in said.values())
            told[sentence if everyone else f"{name}: {sentence}"] = None
    return list(told)
