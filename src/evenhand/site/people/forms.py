"""What people are asked to compare: in which form, and who sees what in which order; all from numbers and a seed."""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import floor
from random import Random
from typing import Literal, TypeAlias, TypeVar

from evenhand.domain.identity import Json, content_hash, draw
from evenhand.domain.item import Item
from evenhand.domain.study import Answers
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import Levels, Preference

FormName: TypeAlias = Literal["forced", "five-level"]
Who: TypeAlias = Literal["all", "against", "given"]
Pair: TypeAlias = tuple[str, str]
"""Two models by name, whichever will be shown first."""

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class FormChoice:
    """One answer that a form offers."""

    code: str
    """As forms, files and scripts write it."""
    words: str
    value: int
    """In favour of the response shown first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionForm:
    """How a person is asked, word for word."""

    name: FormName
    protocol: str
    """What boards call it."""
    question: str
    sides: Pair
    """What the two answers are called, the one shown first first."""
    choices: tuple[FormChoice, ...]
    levels: Levels
    explained: bool
    """Whether the task and the criteria are shown too."""

    @property
    def condition(self) -> Condition:
        words = [self.question, list(self.sides), [[one.code, one.words] for one in self.choices], self.explained]
        return Condition(protocol=self.protocol, prompt_hash=content_hash("form", words), see="images")

    def preference(self, code: str) -> Preference | None:
        """None for a choice that the form does not offer."""
        found = next((one for one in self.choices if one.code == code), None)
        return None if found is None else Preference(value=found.value, levels=self.levels)

    def code(self, preference: Preference) -> str:
        return next(one.code for one in self.choices if one.value == preference.value)


FORMS: Mapping[FormName, QuestionForm] = {
    "forced": QuestionForm(
        name="forced",
        protocol="visit_people",
        # VisIT-Bench, Figure 15.
        question=(
            "Which model better fully follows the instruction, providing factual, helpful and accurate response, and "
            "adhering to all of the instruction details?"
        ),
        sides=("A", "B"),
        choices=(FormChoice(code="A", words="Model A", value=1), FormChoice(code="B", words="Model B", value=-1)),
        levels=2,
        explained=False,
    ),
    "five-level": QuestionForm(
        name="five-level",
        protocol="creation_people",
        # The symbols are those of Creation-MMBench, Figure 11, which asks nothing in words.
        question="Which answer serves the question better, by its criteria?",
        sides=("Left", "Right"),
        choices=(
            FormChoice(code="Left>>Right", words="Left is much better", value=2),
            FormChoice(code="Left>Right", words="Left is better", value=1),
            FormChoice(code="Left=Right", words="Equally good", value=0),
            FormChoice(code="Left<Right", words="Right is better", value=-1),
            FormChoice(code="Left<<Right", words="Right is much better", value=-2),
        ),
        levels=5,
        explained=True,
    ),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two models' answers to one item."""

    item: str
    """Digest."""
    pair: Pair


@dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Which models meet."""

    who: Who = "all"
    models: tuple[str, ...] = ()
    """Of whom all pairs are made, or who meet `against`."""
    against: str | None = None
    given: tuple[Pair, ...] = ()

    def met(self) -> list[Pair]:
        """Each once."""
        if self.who == "given":
            return list(dict.fromkeys((min(pair), max(pair)) for pair in self.given))
        if self.who == "against":
            assert self.against is not None
            return [(model, self.against) for model in self.models if model != self.against]
        return list(combinations(self.models, 2))


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharing:
    """How comparisons are divided among people."""

    people: int
    """How many take part."""
    each: int
    """How many people see a comparison that is not for all; at most `people`."""
    overlap: float = 0.0
    """Share, from 0 to 1, of the comparisons that everybody sees."""
    seed: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.each <= self.people or not 0.0 <= self.overlap <= 1.0:
            raise ValueError(f"{self.each} of {self.people} people and an overlap of {self.overlap} cannot be divided.")

    def for_all(self, comparisons: int) -> int:
        """How many of so many comparisons everybody sees; a half is rounded up."""
        return floor(self.overlap * comparisons + 0.5)


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownComparison:
    """One comparison as one person sees it."""

    comparison: int
    """Its index."""
    swapped: bool
    """Whether the second model's answer stands first."""


def spread(
    things: Sequence[T], *, group: Callable[[T], Hashable], name: Callable[[T], str], most: int | None, seed: int
) -> list[T]:
    """At most so many of them, by lot and as evenly from all groups as can be, in the order given."""
    if most is None or most >= len(things):
        return list(things)
    groups: dict[Hashable, list[tuple[int, int]]] = {}
    for place, thing in enumerate(things):
        groups.setdefault(group(thing), []).append((draw(seed, name(thing)), place))
    rounds = sorted((turn, lot, place) for lots in groups.values() for turn, (lot, place) in enumerate(sorted(lots)))
    return [things[place] for place in sorted(place for _, _, place in rounds[:most])]


def drawn_items(items: Iterable[Item], *, category: str | None, most: int | None, seed: int) -> list[Item]:
    """Of one category or of all, spread over the tasks."""
    there = [item for item in items if category is None or item.category == category]
    return spread(
        there, group=lambda item: item.task or item.category, name=lambda item: item.digest, most=most, seed=seed
    )


def comparisons(
    items: Sequence[str], pairs: Pairs, answers: Answers, *, most: int | None, seed: int
) -> list[Comparison]:
    """Where both models answered; at most so many, spread over the pairs."""
    found = [
        Comparison(item=item, pair=(first, second))
        for first, second in pairs.met()
        for item in items
        if {first, second} <= answers.get(item, {}).keys()
    ]
    return spread(
        found, group=lambda one: one.pair, name=lambda one: "\n".join((one.item, *one.pair)), most=most, seed=seed
    )


def divided(comparisons: int, sharing: Sharing) -> list[list[ShownComparison]]:
    """What each person sees, in their own order.

    Nobody sees a comparison twice, nobody has more than one comparison more than another, and of those who see a
    comparison as many see it one way round as the other, or one more.
    """
    lots = Random(draw(sharing.seed, "people"))
    for_all = set(lots.sample(range(comparisons), sharing.for_all(comparisons)))
    places: list[list[ShownComparison]] = [[] for _ in range(sharing.people)]
    turns = _turns(sharing, lots)
    for number in lots.sample(range(comparisons), comparisons):
        who = lots.sample(range(sharing.people), sharing.people) if number in for_all else next(turns)
        swapped = lots.random() < 0.5
        for place in who:
            places[place].append(ShownComparison(comparison=number, swapped=swapped))
            swapped = not swapped
    for place in places:
        lots.shuffle(place)
    return places


def _turns(sharing: Sharing, lots: Random) -> Iterator[list[int]]:
    """Who sees the next comparison, without end: nobody has a second turn before everybody had the first."""
    waiting: list[int] = []
    while True:
        who, waiting = waiting[: sharing.each], waiting[sharing.each :]
        if len(who) < sharing.each:
            line = lots.sample(range(sharing.people), sharing.people)
            again = set(who)
            more = [place for place in line if place not in again][: sharing.each - len(who)]
            served = set(more)
            waiting = [place for place in line if place not in served]
            who += more
        yield who


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedStudy:
    """What an owner asks of people."""

    data: str
    """Digest of the benchmark's data."""
    form: FormName
    pairs: Pairs
    sharing: Sharing
    title: str = ""
    category: str | None = None
    sample: str | None = None
    """Key of a study on record, such as `evenhand sample` makes: only its items are asked about."""
    items: int | None = None
    """At most so many, drawn by the seed; None is all."""
    most: int | None = None
    """At most so many comparisons; None is all."""

    def as_json(self) -> dict[str, Json]:
        pairs, sharing = self.pairs, self.sharing
        return {
            "pairs": pairs.who,
            "models": list(pairs.models),
            "against": pairs.against,
            "given": [list(pair) for pair in pairs.given],
            "category": self.category,
            "sample": self.sample,
            "items": self.items,
            "most": self.most,
            "people": sharing.people,
            "people_per_comparison": sharing.each,
            "overlap": sharing.overlap,
            "seed": sharing.seed,
        }
