"""What the ledger holds for Creation-MMBench's table: showings of one model beside the baseline, and who answered."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeAlias

from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.study import Orders
from evenhand.domain.verdict import Choice, Grades, NoVerdict, Preference, Verdict
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.read.results import results_of
from evenhand.ledger.read.votes import JudgedBattles
from evenhand.ledger.store.record import Ledger
from evenhand.reports.errors import RankError

LEVELS = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderedPair:
    """One item's two answers in one order; its replicates share its weight."""

    item: str
    forward: bool
    """Whether the baseline stood first, as published."""
    read: tuple[Preference | Grades, ...] = ()
    failure: NoVerdict | None = None
    """Why none was read; None too where it was not asked yet."""

    @property
    def asked(self) -> bool:
        return bool(self.read) or self.failure is not None

    @property
    def ending(self) -> Verdict | NoVerdict | None:
        return self.read[0] if self.read else self.failure

    def in_favour(self, verdict: Preference) -> int:
        """The vote as the evaluated model's: 2 is much better than the baseline."""
        return -verdict.value if self.forward else verdict.value

    def grade(self, verdict: Grades, *, baseline: bool = False) -> float:
        first, second = verdict.values
        return first if self.forward is baseline else second


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelRecord:
    """What is known of one model, on all items or on some."""

    model: str
    preference: tuple[OrderedPair, ...]
    factuality: tuple[OrderedPair, ...]
    answers: Mapping[str, Response]
    """By the item's digest."""

    def within(self, items: frozenset[str]) -> "ModelRecord":
        return replace(
            self,
            preference=tuple(one for one in self.preference if one.item in items),
            factuality=tuple(one for one in self.factuality if one.item in items),
            answers={item: answer for item, answer in self.answers.items() if item in items},
        )

    def forward(self) -> "ModelRecord":
        """In the published order alone."""
        return replace(
            self,
            preference=tuple(one for one in self.preference if one.forward),
            factuality=tuple(one for one in self.factuality if one.forward),
        )


def model_records(
    preference: JudgedBattles | None, factuality: JudgedBattles | None, baseline: str, answers: Iterable[Response]
) -> list[ModelRecord]:
    """Of every model that met the baseline, by name. Raises RankError on verdicts that make no Reward or grade."""
    preferred, graded = _by_model(preference, baseline), _by_model(factuality, baseline)
    for judged in (preference, factuality):
        if judged is not None:
            _refuse_others(judged, kind=Preference if judged is preference else Grades)
    answered: dict[str, dict[str, Response]] = {}
    for answer in answers:
        answered.setdefault(answer.model, {})[answer.item] = answer
    return [
        ModelRecord(
            model=model,
            preference=tuple(preferred.get(model, ())),
            factuality=tuple(graded.get(model, ())),
            answers=answered.get(model, {}),
        )
        for model in sorted(preferred.keys() | graded.keys())
    ]


def imports_against(ledger: Ledger, found: Iterable[StudyOnRecord], wanted: str | None) -> list[StudyOnRecord]:
    """The same studies; where an imported one's rows set every model against one, that is its baseline.

    Where rows are of one pair alone it is the benchmark's reference, or what was `wanted`.
    """
    return [one if one.against or one.condition.prompt_hash else _against(ledger, one, wanted) for one in found]


def _against(ledger: Ledger, study: StudyOnRecord, wanted: str | None) -> StudyOnRecord:
    pairs = {models for _, models, _ in results_of(ledger, [study.key]).each()}
    met = set[str].intersection(*map(set[str], pairs)) if pairs else set[str]()
    named = met & {wanted or REFERENCE} or (met if wanted is None and len(met) == 1 else set[str]())
    if not named:
        return study
    (baseline,) = named
    first = {models[0] == baseline for models in pairs}
    orders: Orders = "both" if len(first) == 2 else "published" if True in first else "reversed"
    return replace(study, against=baseline, orders=orders)


_Place: TypeAlias = tuple[str, str, bool]
"""Model, item, and whether the baseline stood first."""


def _by_model(judged: JudgedBattles | None, baseline: str) -> dict[str, list[OrderedPair]]:
    if judged is None:
        return {}
    found: dict[_Place, OrderedPair] = {}
    for item, models, ending in judged.results.each():
        place = _place(item, models, baseline)
        before = found.get(place) or OrderedPair(item=place[1], forward=place[2])
        found[place] = _with(before, ending)
    for one in judged.not_asked:
        place = _place(one.item, one.models, baseline)
        found.setdefault(place, OrderedPair(item=place[1], forward=place[2]))
    by_model: dict[str, list[OrderedPair]] = {}
    for (model, _, _), showing in found.items():
        by_model.setdefault(model, []).append(showing)
    return by_model


def _place(item: str, models: tuple[str, str], baseline: str) -> _Place:
    first, second = models
    return (second, item, True) if first == baseline else (first, item, False)


def _with(showing: OrderedPair, verdict: Verdict | NoVerdict) -> OrderedPair:
    if isinstance(verdict, Preference | Grades):
        return replace(showing, read=(*showing.read, verdict), failure=None)
    assert not isinstance(verdict, Choice)
    return showing if showing.read else replace(showing, failure=verdict)


def refuse_levels(people: JudgedBattles) -> None:
    """Raises RankError where people's verdicts make no Reward."""
    _refuse_others(people, kind=Preference)


def _refuse_others(judged: JudgedBattles, *, kind: type[Preference] | type[Grades]) -> None:
    name = judged.study.condition.protocol
    for verdict in dict.fromkeys(ending for _, _, ending in judged.results.each()):
        if isinstance(verdict, NoVerdict):
            continue
        if not isinstance(verdict, kind):
            wanted = "preferences" if kind is Preference else "grades"
            raise RankError(f"This table needs {wanted} here, and protocol {name} gives something else.")
        if isinstance(verdict, Preference) and verdict.levels != LEVELS:
            # A file of five levels in which nobody happened to choose a 2 is read as one of three.
            again = (
                ""
                if judged.study.condition.prompt_hash
                else " If they were asked at five, import the file again with --levels 5 --replace."
            )
            raise RankError(
                f"Reward is made of five-level verdicts; those of protocol {name} have {verdict.levels}.{again}"
            )
