"""What an owner asks of people, as a script or a form says it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, Field, ValidationError, model_validator

from evenhand.domain.response import REFERENCE
from evenhand.ledger.read.projection import BenchmarkOnRecord, StudyOnRecord, benchmarks, items_of
from evenhand.ledger.store.record import Ledger
from evenhand.reports.papers.scores.creation_choosing import FACTUALITY, PREFERENCE
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.service import SentFields
from evenhand.site.people.checks import Known
from evenhand.site.people.forms import AskedStudy, Conduct, FormName, Pairs, Sharing, Who
from evenhand.site.people.plan import (
    PlannedStudy,
    SampleOnRecord,
    answers_for_people,
    judged_by_models,
    model_studies,
    plan_people_study,
    samples,
)

TITLE_LONGEST = 120
NAME_LONGEST = 1000
PEOPLE_MOST = 500
ITEMS_MOST = 100_000
SEED_MOST = 999_999_999
GUIDELINE_LONGEST = 20_000
QUESTION_LONGEST = 500
WHY_LONGEST = 1000
KNOWN_MOST = 100
REPEATS_MOST = 100
_BETWEEN = re.compile(r"(?<!\\)\|")
"""A bar that belongs to a name has a backslash before it."""
_TIE = re.compile(r"^((?:[^|\\]|\\.)*\|)\s*tie\s*\|", re.IGNORECASE)
"""Between the item and the two models of which neither is better."""


class KnownComparison(BaseModel):
    """A comparison of which you know the better answer."""

    item: str = Field(max_length=NAME_LONGEST, description="The item's id.")
    better: str = Field(max_length=NAME_LONGEST, description="The model whose answer is better.")
    worse: str = Field(max_length=NAME_LONGEST)
    why: str = Field(default="", max_length=WHY_LONGEST, description="What a person is told, where they are told.")
    tie: bool = Field(default=False, description="Neither is better; then it does not matter which is named first.")

    def known(self) -> Known:
        return Known(item=self.item, better=self.better, worse=self.worse, why=self.why.strip(), tie=self.tie)


Knowns = Annotated[list[KnownComparison], Field(max_length=KNOWN_MOST)]


class NewStudy(BaseModel):
    data: str = Field(max_length=64, description="Digest of the benchmark's data, as /api/benchmarks lists it.")
    form: FormName
    title: str = Field(default="", max_length=TITLE_LONGEST)
    category: str | None = Field(default=None, max_length=NAME_LONGEST)
    sample: str | None = Field(default=None, max_length=64, description="Key of a study that `evenhand sample` made.")
    items: int | None = Field(default=None, ge=1, le=ITEMS_MOST, description="At most so many; all where null.")
    pairs: Who = "all"
    models: list[str] = Field(
        default=[],
        max_length=1000,
        description="Empty: all that answered, but the reference and submissions that are not published.",
    )
    against: str | None = Field(default=None, max_length=NAME_LONGEST, description="With pairs `against`.")
    given: list[tuple[str, str]] = Field(default=[], max_length=1000, description="With pairs `given`.")
    comparisons: int | None = Field(default=None, ge=1, le=ITEMS_MOST, description="At most so many; all where null.")
    people: int = Field(default=2, ge=1, le=PEOPLE_MOST)
    people_per_comparison: int = Field(default=1, ge=1, le=PEOPLE_MOST)
    overlap: float = Field(default=0.0, ge=0.0, le=1.0, description="Share of the comparisons that everybody sees.")
    seed: int = Field(default=0, ge=0, le=SEED_MOST)
    question: str = Field(default="", max_length=QUESTION_LONGEST, description="In place of the form's own.")
    both_bad: bool = Field(default=False, description="Offer `both-bad`, which is a tie with its mark.")
    skips: bool = Field(default=False, description="Let people pass a comparison over, with a reason.")
    advance: bool = Field(default=False, description="A choice leads to the next comparison.")
    guideline: str = Field(default="", max_length=GUIDELINE_LONGEST, description="Markdown, read before the first.")
    examples: Knowns = Field(default=[], description="Shown with the guideline.")
    training: Knowns = Field(default=[], description="Asked first, with an answer to what was chosen.")
    gold: Knowns = Field(default=[], description="Asked among the others, unmarked.")
    repeats: int = Field(
        default=0, ge=0, le=REPEATS_MOST, description="Comparisons that each person sees again, the other way round."
    )

    @model_validator(mode="after")
    def whole(self) -> "NewStudy":
        if (sentence := self._fault()) is not None:
            raise ValueError(sentence.rstrip("."))
        return self

    def _fault(self) -> str | None:
        if self.people_per_comparison > self.people:
            return "No more people can see a comparison than take part."
        if self.pairs == "against" and not self.against:
            return "Say which model the others are compared with."
        if self.pairs == "given" and not self.given:
            return "Give the pairs of models to compare."
        if any(first == second for first, second in self.given):
            return "A model is not compared with itself."
        if any(one.better == one.worse for one in (*self.examples, *self.training, *self.gold)):
            return "A model is not compared with itself; of a known comparison the better and the worse differ."
        return None

    def asked(self) -> AskedStudy:
        given = self.pairs == "given"
        pairs = Pairs(
            who=self.pairs,
            models=() if given else tuple(sorted(set(self.models))),
            against=self.against if self.pairs == "against" else None,
            given=tuple(self.given) if given else (),
        )
        sharing = Sharing(people=self.people, each=self.people_per_comparison, overlap=self.overlap, seed=self.seed)
        return AskedStudy(
            data=self.data,
            form=self.form,
            pairs=pairs,
            sharing=sharing,
            title=self.title.strip(),
            category=self.category or None,
            sample=self.sample or None,
            items=self.items,
            most=self.comparisons,
            conduct=Conduct(
                question=self.question.strip(),
                both_bad=self.both_bad,
                skips=self.skips,
                advance=self.advance,
                guideline=self.guideline.strip(),
                examples=tuple(one.known() for one in self.examples),
                training=tuple(one.known() for one in self.training),
                gold=tuple(one.known() for one in self.gold),
                repeats=self.repeats,
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a study can be made of."""

    benchmark: BenchmarkOnRecord
    items: int
    label: str
    """Of the first item."""
    categories: tuple[tuple[str, int], ...]
    """Each with how many items it has."""
    samples: tuple[SampleOnRecord, ...]
    models: tuple[tuple[str, int], ...]
    """Each with how many items it answered; the reference last."""
    form: FormName
    """The one that fits how models judge this benchmark."""
    criteria: bool
    """Whether any of its items has criteria."""
    baseline: str | None
    """Whom every other model met before a judging model, or would meet; None where they met each other."""
    judged: bool
    """Whether a model has judged it."""

    def usual(self) -> Mapping[str, Any]:
        """The fields of a study that can be held against what models judged."""
        return {
            "form": self.form,
            "title": "",
            "category": "",
            "sample": "",
            "items": "",
            "pairs": "all" if self.baseline is None else "against",
            "models": [name for name, _ in self.models if name not in (REFERENCE, self.baseline)],
            "against": self.baseline or self.models[-1][0] if self.models else "",
            "given": "",
            "comparisons": "",
            "people": "2",
            "each": "1",
            "overlap": "20",
            "seed": "0",
            "question": "",
            "guideline": "",
            "examples": "",
            "training": "",
            "gold": "",
            "repeats": "0",
            "offers": [],
        }

    def usual_study(self) -> NewStudy:
        """What those fields ask for."""
        return NewStudy(
            data=self.benchmark.data,
            form=self.form,
            pairs="all" if self.baseline is None else "against",
            models=self.usual()["models"],
            against=self.baseline,
            overlap=0.2,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Counted:
    """How much a study would ask."""

    comparisons: int
    tasks: int
    people: int
    least: int
    """That one person has to compare."""
    most: int
    judged_by_models: int
    """Of the comparisons."""


def counted(ledger: Ledger, asked: AskedStudy) -> Counted:
    """Raises PeopleStudyError."""
    planned: PlannedStudy = plan_people_study(ledger, asked)
    least, most = planned.per_person
    return Counted(
        comparisons=len(planned.comparisons),
        tasks=planned.tasks,
        people=len(planned.shares),
        least=least,
        most=most,
        judged_by_models=judged_by_models(ledger, planned),
    )


def material(ledger: Ledger, data: str) -> Material | None:
    benchmark = next((one for one in benchmarks(ledger) if one.data == data), None)
    if benchmark is None:
        return None
    items = items_of(ledger, data)
    categories: dict[str, int] = {}
    for item in items:
        if item.category:
            categories[item.category] = categories.get(item.category, 0) + 1
    answered: dict[str, int] = {REFERENCE: sum(bool(item.reference) for item in items)}
    for one in answers_for_people(ledger, items):
        if one.model != REFERENCE:
            answered[one.model] = answered.get(one.model, 0) + 1
    models = [(model, count) for model, count in answered.items() if count]
    known = model_studies(ledger, data)
    creative = _is_creative(benchmark, known)
    return Material(
        benchmark=benchmark,
        items=len(items),
        label=items[0].label if items else "",
        categories=tuple(sorted(categories.items())),
        samples=tuple(samples(ledger, data)),
        models=tuple(sorted(models, key=lambda one: (one[0] == REFERENCE, one[0]))),
        form="five-level" if creative else "forced",
        criteria=any(text.strip() for item in items for _, text in item.criteria),
        baseline=_baseline(known, references=creative and bool(answered[REFERENCE])),
        judged=bool(known),
    )


def _is_creative(benchmark: BenchmarkOnRecord, known: Sequence[StudyOnRecord]) -> bool:
    protocols = {one.condition.protocol for one in known}
    return PREFERENCE in protocols if protocols else benchmark.name.startswith("creation-mmbench")


def _baseline(known: Sequence[StudyOnRecord], *, references: bool) -> str | None:
    """Of the latest judging; where a creative benchmark was not judged yet, the one that `evenhand judge` takes."""
    latest = next((one for one in reversed(known) if one.condition.protocol != FACTUALITY), None)
    if latest is None:
        return REFERENCE if references else None
    return latest.against


_SENT = ("form", "title", "category", "sample", "items", "pairs", "against", "given", "comparisons", "people", "each",
    "overlap", "seed", "question", "guideline", "examples", "training", "gold", "repeats")  # fmt: skip
_SENT_MOST = 100_000


def sent_fields(form: SentFields) -> dict[str, Any]:
    """As they were filled in, right or wrong."""
    fields = {name: form.text(name, most=_SENT_MOST) for name in _SENT}
    return {**fields, **{name: list(form.several(name, longest=_SENT_MOST)) for name in ("models", "offers")}}


def sent_study(form: SentFields) -> NewStudy:
    """Raises Refusal where a field does not fit, naming it as the page does."""
    people = form.number("people", least=1, most=PEOPLE_MOST, called="People")
    try:
        return NewStudy.model_validate(
            {
                "data": form.text("data", most=64),
                "form": form.text("form", most=20),
                "title": form.text("title", most=TITLE_LONGEST),
                "category": form.text("category", most=NAME_LONGEST),
                "sample": form.text("sample", most=64, called="Sampled before"),
                "items": _maybe_number(form, "items", "Items at most"),
                "pairs": form.text("pairs", most=20),
                "models": list(form.several("models", longest=NAME_LONGEST)),
                "against": form.text("against", most=NAME_LONGEST),
                "given": _given(form.text("given", most=100_000, called="These pairs")),
                "comparisons": _maybe_number(form, "comparisons", "Comparisons at most"),
                "people": people,
                "people_per_comparison": form.number("each", least=1, most=people, called="People for each comparison"),
                "overlap": form.number("overlap", least=0, most=100, called="Seen by all, %") / 100,
                "seed": form.number("seed", least=0, most=SEED_MOST, called="Seed"),
                "question": form.text("question", most=QUESTION_LONGEST),
                "guideline": form.text("guideline", most=GUIDELINE_LONGEST),
                **{name: _known(form, name) for name in ("examples", "training", "gold")},
                "repeats": _maybe_number(form, "repeats", "Asked a second time", least=0, most=REPEATS_MOST) or 0,
                **{name: True for name in form.several("offers", longest=20) if name in _OFFERS},
            }
        )
    except ValidationError as error:
        words = str(error.errors()[0]["msg"])
        raise Refusal(422, f"{words.removeprefix('Value error, ')}.") from error


_OFFERS = ("both_bad", "skips", "advance")


def _known(form: SentFields, name: str) -> list[dict[str, str | bool]]:
    """One on a line: the item, the better model, the worse one, and why; `tie` before the models where neither is."""
    called = {"examples": "Examples", "training": "Training items", "gold": "Gold items"}[name]
    found: list[dict[str, str | bool]] = []
    for line in filter(None, map(str.strip, form.text(name, most=100_000, called=called).splitlines())):
        plain, ties = _TIE.subn(r"\1", line)
        parts = [part.strip().replace("\\|", "|") for part in _BETWEEN.split(plain, maxsplit=3)]
        if len(parts) < 3 or not all(parts[:3]):
            raise Refusal(
                422,
                f"{called}: a line is the item, the better model and the worse one, with a | between them, and after "
                "a third | why; a | that is part of a name is written \\|. Of two that are equally good: the item, "
                "the word tie, the two models.",
            )
        found.append({**dict(zip(("item", "better", "worse", "why"), parts, strict=False)), "tie": bool(ties)})
    if len(found) > KNOWN_MOST:
        raise Refusal(422, f"{called}: there may be {KNOWN_MOST} of them, not {len(found)}.")
    return found


def _maybe_number(form: SentFields, name: str, called: str, *, least: int = 1, most: int = ITEMS_MOST) -> int | None:
    given = form.text(name, most=_SENT_MOST)
    return form.number(name, least=least, most=most, called=called) if given else None


def _given(words: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for line in filter(None, map(str.strip, words.splitlines())):
        models = [part.strip().replace("\\|", "|") for part in _BETWEEN.split(line)]
        if len(models) != 2 or not all(models):
            raise Refusal(
                422,
                "These pairs: a pair is two models with a | between them, one pair on a line; "
                "a | that is part of a name is written \\|.",
            )
        pairs.append((models[0], models[1]))
    return pairs
