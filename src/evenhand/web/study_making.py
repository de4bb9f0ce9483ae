"""What an owner asks of people, as a script or a form says it."""

from dataclasses import dataclass

from pydantic import BaseModel, Field, ValidationError, model_validator

from evenhand.domain.comparing import AskedStudy, FormName, Pairs, Sharing, Who
from evenhand.domain.response import REFERENCE
from evenhand.ledger.people_studies import SampleOnRecord, samples
from evenhand.ledger.projection import BenchmarkOnRecord, benchmarks, items_of
from evenhand.ledger.record import Ledger
from evenhand.web.refusal import Refusal
from evenhand.web.service import Form

TITLE_LONGEST = 120
NAME_LONGEST = 1000
PEOPLE_MOST = 500
ITEMS_MOST = 100_000
SEED_MOST = 999_999_999
_BETWEEN = "|"


class NewStudy(BaseModel):
    data: str = Field(max_length=64, description="Digest of the benchmark's data, as /api/benchmarks lists it.")
    form: FormName
    title: str = Field(default="", max_length=TITLE_LONGEST)
    category: str | None = Field(default=None, max_length=NAME_LONGEST)
    sample: str | None = Field(default=None, max_length=64, description="Key of a study that `evenhand sample` made.")
    items: int | None = Field(default=None, ge=1, le=ITEMS_MOST, description="At most so many; all where null.")
    pairs: Who = "all"
    models: list[str] = Field(default=[], max_length=1000, description="Empty: all that answered, but the reference.")
    against: str | None = Field(default=None, max_length=NAME_LONGEST, description="With pairs `against`.")
    given: list[tuple[str, str]] = Field(default=[], max_length=1000, description="With pairs `given`.")
    comparisons: int | None = Field(default=None, ge=1, le=ITEMS_MOST, description="At most so many; all where null.")
    people: int = Field(default=2, ge=1, le=PEOPLE_MOST)
    people_per_comparison: int = Field(default=1, ge=1, le=PEOPLE_MOST)
    overlap: float = Field(default=0.0, ge=0.0, le=1.0, description="Share of the comparisons that everybody sees.")
    seed: int = Field(default=0, ge=0, le=SEED_MOST)

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
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Material:
    """What a study can be made of."""

    benchmark: BenchmarkOnRecord
    items: int
    categories: tuple[tuple[str, int], ...]
    """Each with how many items it has."""
    samples: tuple[SampleOnRecord, ...]
    models: tuple[tuple[str, int], ...]
    """Each with how many items it answered; the reference last."""


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
    for one in ledger.responses_to(item.digest for item in items):
        if one.model != REFERENCE:
            answered[one.model] = answered.get(one.model, 0) + 1
    models = [(model, count) for model, count in answered.items() if count]
    return Material(
        benchmark=benchmark,
        items=len(items),
        categories=tuple(sorted(categories.items())),
        samples=tuple(samples(ledger, data)),
        models=tuple(sorted(models, key=lambda one: (one[0] == REFERENCE, one[0]))),
    )


def sent_study(form: Form) -> NewStudy:
    """Raises Refusal where a field does not fit."""
    people = form.number("people", least=1, most=PEOPLE_MOST)
    try:
        return NewStudy.model_validate(
            {
                "data": form.text("data", most=64),
                "form": form.text("form", most=20),
                "title": form.text("title", most=TITLE_LONGEST),
                "category": form.text("category", most=NAME_LONGEST),
                "sample": form.text("sample", most=64),
                "items": _maybe_number(form, "items"),
                "pairs": form.text("pairs", most=20),
                "models": list(form.several("models", longest=NAME_LONGEST)),
                "against": form.text("against", most=NAME_LONGEST),
                "given": _given(form.text("given", most=100_000)),
                "comparisons": _maybe_number(form, "comparisons"),
                "people": people,
                "people_per_comparison": form.number("each", least=1, most=people),
                "overlap": form.number("overlap", least=0, most=100) / 100,
                "seed": form.number("seed", least=0, most=SEED_MOST),
            }
        )
    except ValidationError as error:
        words = str(error.errors()[0]["msg"])
        raise Refusal(422, f"{words.removeprefix('Value error, ')}.") from error


def _maybe_number(form: Form, name: str) -> int | None:
    return form.number(name, least=1, most=ITEMS_MOST) if form.text(name, most=9) else None


def _given(words: str) -> list[tuple[str, str]]:
    pairs: list[tuple[str, str]] = []
    for line in filter(None, map(str.strip, words.splitlines())):
        first, bar, second = (part.strip() for part in line.partition(_BETWEEN))
        if not bar or not first or not second:
            raise Refusal(422, f"A pair is two models with a {_BETWEEN} between them, one pair on a line.")
        pairs.append((first, second))
    return pairs
