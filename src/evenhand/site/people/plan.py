"""What a study for people would ask: worked out from the record, which it leaves as it is."""

from collections import Counter
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from random import Random

from sqlalchemy import exists, func, select

from evenhand.domain.errors import EvenhandError
from evenhand.domain.identity import draw
from evenhand.domain.item import Item
from evenhand.domain.response import REFERENCE, Response
from evenhand.engine.tasks.people_sample import task_of
from evenhand.format.near_names import hint
from evenhand.ledger.read.projection import BenchmarkOnRecord, StudyOnRecord, benchmarks, items_of, studies
from evenhand.ledger.read.results import results_of
from evenhand.ledger.store import rows, schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import kept_back, may_be_shown
from evenhand.site.people.checks import Known, KnownAnswers, PlannedTask, with_checks
from evenhand.site.people.forms import (
    AskedStudy,
    Comparison,
    Drawn,
    ShownComparison,
    comparisons,
    divided,
    drawn_items,
)

MOST_TASKS = 200_000
"""Of all people in one study."""


class PeopleStudyError(EvenhandError):
    """A study that cannot be made or taken part in as asked."""

    code = "EH-STUDY"


@dataclass(frozen=True, slots=True, kw_only=True)
class SampleOnRecord:
    """Questions drawn for people before."""

    key: str
    items: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedStudy:
    benchmark: BenchmarkOnRecord
    comparisons: tuple[Comparison, ...]
    shares: tuple[tuple[PlannedTask, ...], ...]
    """What each person would see."""
    references: tuple[Response, ...]
    """Those among the answers that are not on record as answers yet."""

    @property
    def tasks(self) -> int:
        return sum(map(len, self.shares))

    @property
    def per_person(self) -> tuple[int, int]:
        """The least and the most that one person has to compare."""
        lengths = [len(share) for share in self.shares]
        return min(lengths), max(lengths)


def plan_people_study(ledger: Ledger, asked: AskedStudy) -> PlannedStudy:
    """Raises PeopleStudyError."""
    benchmark = next((one for one in benchmarks(ledger) if one.data == asked.data), None)
    if benchmark is None:
        raise PeopleStudyError("There is no such benchmark on record.")
    there, conduct = items_of(ledger, asked.data), asked.conduct
    told = _known_items(there, conduct.known)
    _each_once(conduct.known)
    if any(one.tie for one in (*conduct.training, *conduct.gold)) and not conduct.form(asked.form).ties:
        raise PeopleStudyError("A training or gold item is a tie, which people cannot choose: offer “Both are bad”.")
    items = _items(ledger, asked, there, given_away=told)
    answers, references = _answers(ledger, [one.thing for one in items], asked)
    known, more = _known_answers(ledger, told, conduct.known)
    wanted = _comparisons(asked, {one.thing.digest: one.probability for one in items}, answers)
    begins = len(conduct.examples)
    training, gold = known[begins : begins + len(conduct.training)], known[begins + len(conduct.training) :]
    shares = [
        with_checks(
            _tasks(share, wanted, answers),
            training=training,
            gold=gold,
            repeats=conduct.repeats,
            lots=Random(draw(asked.sharing.seed, "checks", str(number))),
        )
        for number, share in enumerate(divided(len(wanted), asked.sharing))
    ]
    _bounded(sum(map(len, shares)))
    return PlannedStudy(
        benchmark=benchmark,
        comparisons=tuple(wanted),
        shares=tuple(map(tuple, shares)),
        references=(*references, *more),
    )


def _tasks(
    share: Iterable[ShownComparison], wanted: Sequence[Comparison], answers: Mapping[str, Mapping[str, str]]
) -> list[PlannedTask]:
    """Whoever stops early has seen many items once, not few of them often."""
    found: list[PlannedTask] = []
    for showing in sorted(share, key=lambda one: wanted[one.comparison].turn):
        one = wanted[showing.comparison]
        first, second = (answers[one.item][model] for model in (one.pair[::-1] if showing.swapped else one.pair))
        found.append(PlannedTask(item=one.item, first=first, second=second, probability=one.probability))
    return found


def _known_items(there: Iterable[Item], known: Iterable[Known]) -> dict[str, Item]:
    """By label, the items that the owner gives away: nothing about them is asked for a board."""
    labels = {item.label: item for item in there}
    for one in known:
        if one.item not in labels:
            raise PeopleStudyError(f"There is no item '{one.item}' in this benchmark; {hint(one.item, labels)}")
    return {one.item: labels[one.item] for one in known}


def _each_once(known: Iterable[Known]) -> None:
    """Who was told of a comparison once does not show by it how they work."""
    seen: set[tuple[str, frozenset[str]]] = set()
    for one in known:
        pair = (one.item, frozenset((one.better, one.worse)))
        if pair in seen:
            raise PeopleStudyError(
                f"The item '{one.item}' is given twice with '{one.better}' and '{one.worse}': an example, a training "
                "item and a gold item are three comparisons."
            )
        seen.add(pair)


@dataclass(frozen=True, slots=True, kw_only=True)
class GuidelineExample:
    """A comparison that a guideline explains."""

    known: Known
    item: Item
    better: str
    worse: str
    """Texts."""


def guideline_examples(ledger: Ledger, data: str, known: Sequence[Known], *, at: float) -> list[GuidelineExample]:
    """With the answers that stood for the models at that moment; without those that people may not be given."""
    named = {one.item for one in known}
    items = {item.label: item for item in items_of(ledger, data) if item.label in named}
    choices = schema.response_choices.c
    with ledger.reading() as connection:
        last = connection.execute(select(func.max(choices.seq)).where(choices.at <= at)).scalar()
    held = answers_for_people(ledger, items.values(), until=last or 0)
    texts = {(item.digest, REFERENCE): item.reference for item in items.values() if item.reference}
    texts |= {(one.item, one.model): one.text for one in held}
    return [
        GuidelineExample(known=one, item=item, better=better, worse=worse)
        for one in known
        if (item := items.get(one.item)) is not None
        if (better := texts.get((item.digest, one.better))) is not None
        if (worse := texts.get((item.digest, one.worse))) is not None
    ]


def _known_answers(
    ledger: Ledger, items: Mapping[str, Item], known: Sequence[Known]
) -> tuple[list[KnownAnswers], list[Response]]:
    """With references that would become answers because they are shown."""
    named = {model for one in known for model in (one.better, one.worse)}
    for model in sorted(named - may_be_shown(ledger, named)):
        raise PeopleStudyError(kept_back(model))
    held = {(one.item, one.model): one.digest for one in answers_for_people(ledger, items.values())}
    fresh: dict[str, Response] = {}
    for item in items.values() if REFERENCE in named else ():
        if item.reference and (item.digest, REFERENCE) not in held:
            fresh[item.digest] = Response(item=item.digest, model=REFERENCE, text=item.reference)
            held[item.digest, REFERENCE] = fresh[item.digest].digest
    found: list[KnownAnswers] = []
    for one in known:
        item = items[one.item].digest
        for model in (one.better, one.worse):
            if (item, model) not in held:
                raise PeopleStudyError(f"No answer of '{model}' to the item '{one.item}' is on record.")
        better, worse = held[item, one.better], held[item, one.worse]
        found.append(KnownAnswers(item=item, better=better, worse=worse, why=one.why, tie=one.tie))
    return found, list(fresh.values())


def _bounded(tasks: int) -> None:
    if tasks > MOST_TASKS:
        raise PeopleStudyError(
            f"This study would ask {tasks:,} times, and {MOST_TASKS:,} is the most; draw fewer items or comparisons."
        )


def model_studies(ledger: Ledger, data: str) -> list[StudyOnRecord]:
    """Those in which a model judged answers to this data, the oldest first."""
    return [one for one in studies(ledger, purposes=("board",)) if one.data == data and one.rater.kind == "model"]


def judged_by_models(ledger: Ledger, planned: PlannedStudy) -> int:
    """How many of the comparisons a model has judged too, on the answers that stand: what `align` can hold together."""
    known = model_studies(ledger, planned.benchmark.data)
    if not known:
        return 0
    found = results_of(ledger, [one.key for one in known], items={one.item for one in planned.comparisons})
    read = found.rows(found.pair & found.decided & found.stands)
    met = {(item, frozenset(models)) for item, models, _ in read.each()}
    return sum((one.item, frozenset(one.pair)) in met for one in planned.comparisons)


def samples(ledger: Ledger, data: str) -> list[SampleOnRecord]:
    """What `evenhand sample` drew of a benchmark: people's studies that nobody has judged."""
    table, links = schema.studies, schema.study_trials
    query = (
        select(table.c.content)
        .where(table.c.data == data, table.c.purpose == "people", ~exists().where(links.c.study == table.c.key))
        .order_by(table.c.at)
    )
    with ledger.reading() as connection:
        found = [rows.study_from(content) for content in connection.execute(query).scalars()]
    return [SampleOnRecord(key=one.key, items=one.items) for one in found if one.pairing != "given"]


def answers_for_people(ledger: Ledger, items: Iterable[Item], *, until: int | None = None) -> list[Response]:
    """Those that stand, or stood by that choice of answers, of models whose answers people may be given."""
    held = ledger.responses_to((item.digest for item in items), until=until)
    shown = may_be_shown(ledger, {one.model for one in held})
    return [one for one in held if one.model in shown and not one.empty]


def _items(
    ledger: Ledger, asked: AskedStudy, there: Sequence[Item], *, given_away: Container[str]
) -> list[Drawn[Item]]:
    items, share = [item for item in there if item.label not in given_away], dict[str, float]()
    if asked.sample is not None:
        sample = next((one for one in samples(ledger, asked.data) if one.key == asked.sample), None)
        if sample is None:
            raise PeopleStudyError("There is no such sample of this benchmark on record.")
        among = set(sample.items)
        every, sampled = Counter(map(task_of, there)), Counter(task_of(one) for one in there if one.digest in among)
        share = {task: count / every[task] for task, count in sampled.items()}
        items = [item for item in items if item.digest in among]
    drawn = drawn_items(items, category=asked.category, most=asked.items, seed=asked.sharing.seed)
    if not drawn:
        raise PeopleStudyError("No item of this benchmark is of that category; choose another.")
    # What a sample took of small tasks it took more probably.
    return [replace(one, probability=one.probability * share.get(task_of(one.thing), 1.0)) for one in drawn]


def _answers(
    ledger: Ledger, items: Sequence[Item], asked: AskedStudy
) -> tuple[dict[str, dict[str, str]], list[Response]]:
    """Those that stand, by item and model, and references that would become answers because they are compared."""
    named = {*asked.pairs.models, *(name for pair in asked.pairs.given for name in pair)}
    named |= {asked.pairs.against} if asked.pairs.against is not None else set()
    for model in sorted(named - may_be_shown(ledger, named)):
        raise PeopleStudyError(kept_back(model))
    found: dict[str, dict[str, str]] = {}
    for one in answers_for_people(ledger, items):
        found.setdefault(one.item, {})[one.model] = one.digest
    fresh: list[Response] = []
    for item in items if REFERENCE in named else ():
        if item.reference and REFERENCE not in found.get(item.digest, {}):
            fresh.append(Response(item=item.digest, model=REFERENCE, text=item.reference))
            found.setdefault(item.digest, {})[REFERENCE] = fresh[-1].digest
    here = {model for of_item in found.values() for model in of_item}
    for model in sorted(named - here):
        raise PeopleStudyError(f"No answer of '{model}' to these items is on record; {hint(model, here)}")
    return found, fresh


def _comparisons(
    asked: AskedStudy, items: Mapping[str, float], answers: Mapping[str, Mapping[str, str]]
) -> list[Comparison]:
    pairs = asked.pairs
    if not pairs.models:
        models = {model for of_item in answers.values() for model in of_item if model != REFERENCE}
        pairs = replace(pairs, models=tuple(sorted(models)))
    found = comparisons(items, pairs, answers, most=asked.most, seed=asked.sharing.seed)
    if not found:
        raise PeopleStudyError("No two of these models answered the same item, so there is nothing to compare.")
    sharing = asked.sharing
    shared = sharing.for_all(len(found))
    tasks = shared * sharing.people + (len(found) - shared) * sharing.each
    _bounded(tasks)
    return found
