"""What people are asked to compare: in which form, and who sees what in which order; all from numbers and a seed."""

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import lru_cache
from itertools import combinations, count
from math import floor
from random import Random
from typing import Any, Generic, Literal, TypeAlias, TypeVar

from evenhand.domain.identity import Json, content_hash, draw
from evenhand.domain.item import Item
from evenhand.domain.study import Answers
from evenhand.domain.trial import Condition
from evenhand.domain.verdict import Levels, Preference
from evenhand.site.people.checks import Known

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
    mark: str = ""
    """What tells it from another choice of the same value."""


BOTH_BAD = FormChoice(code="both-bad", words="Both are bad", value=0, mark="both-bad")
SKIP = "skip"
"""What stands for a comparison passed over, where choices are told by their codes."""
SKIP_REASONS: Mapping[str, str] = {
    "cannot-tell": "I cannot tell which is better",
    "not-my-field": "I do not know enough about it",
    "rather-not": "I would rather not judge this one",
}
FLAGS: Mapping[str, str] = {
    "broken-image": "An image is broken or missing",
    "unsafe": "Something here is unsafe or offensive",
    "not-answerable": "The question cannot be answered",
}


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
    plain: str = ""
    """The question about an item without criteria, where it is another."""
    skips: bool = False
    """Whether a comparison may be passed over."""

    @property
    def cards(self) -> Pair:
        """What stands over the two answers: the words of the buttons that choose them."""
        first, second = self.choices[:2]
        return self.sides if self.explained else (first.words, second.words)

    def asks(self, *, criteria: bool) -> str:
        """The question. `criteria`: whether there are any."""
        return self.question if criteria else self.plain or self.question

    @property
    def condition(self) -> Condition:
        words: list[Json] = [
            self.question,
            list(self.sides),
            [[one.code, one.words] for one in self.choices],
            self.explained,
        ]
        if self.skips:
            words.append(list(SKIP_REASONS.values()))
        return Condition(protocol=self.protocol, prompt_hash=content_hash("form", words), see="images")

    @property
    def ties(self) -> bool:
        return any(one.value == 0 for one in self.choices)

    def preference(self, code: str) -> Preference | None:
        """None for a choice that the form does not offer."""
        found = next((one for one in self.choices if one.code == code), None)
        return None if found is None else Preference(value=found.value, levels=self.levels)

    def mark(self, code: str) -> str:
        return next((one.mark for one in self.choices if one.code == code), "")

    def words(self, code: str) -> str:
        """What the button says."""
        return next(one.words for one in self.choices if one.code == code)

    def code(self, preference: Preference, mark: str = "") -> str:
        return next(one.code for one in self.choices if (one.value, one.mark) == (preference.value, mark))


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
        plain="Which answer serves the question better?",
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
class Conduct:
    """How people are asked, taught and checked. Nothing of it counts on a board."""

    question: str = ""
    """In place of the form's own."""
    both_bad: bool = False
    skips: bool = False
    advance: bool = False
    """Whether a choice leads to the next comparison, unless a person wants it otherwise."""
    guideline: str = ""
    """Markdown; read once before the first comparison."""
    examples: tuple[Known, ...] = ()
    """Shown with the guideline."""
    training: tuple[Known, ...] = ()
    """Asked first, with an answer to what was chosen."""
    gold: tuple[Known, ...] = ()
    """Asked among the others, and marked by nothing."""
    repeats: int = 0
    """How many comparisons each person sees a second time, the other way round."""

    @property
    def known(self) -> tuple[Known, ...]:
        return (*self.examples, *self.training, *self.gold)

    @property
    def to_read(self) -> bool:
        return bool(self.guideline or self.examples)

    def as_json(self) -> dict[str, Json]:
        """Without what is as it always was, so that a study without any of it is written as before."""
        usual = Conduct()
        told: dict[str, Json] = {}
        for one in fields(self):
            value = getattr(self, one.name)
            if value != getattr(usual, one.name):
                told[one.name] = value
        for name in ("examples", "training", "gold"):
            if name in told:
                told[name] = [known.as_json() for known in getattr(self, name)]
        return told

    @classmethod
    def from_json(cls, asked: Mapping[str, Any]) -> "Conduct":
        told = {one.name: asked[one.name] for one in fields(cls) if one.name in asked}
        for name in ("examples", "training", "gold"):
            told[name] = tuple(Known(**one) for one in told.get(name, ()))
        return cls(**told)

    def form(self, name: FormName) -> QuestionForm:
        """The form as this study asks it."""
        form = FORMS[name]
        if self.question:
            form = replace(form, question=self.question, plain="")
        if self.both_bad:
            form = replace(form, choices=(*form.choices, BOTH_BAD), levels=max(form.levels, 3))
        return replace(form, skips=True) if self.skips else form


@lru_cache(maxsize=256)
def conduct_of(asked: str) -> Conduct:
    """Of a study as it is stored: looked up at every click."""
    return Conduct.from_json(json.loads(asked))


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """Two models' answers to one item."""

    item: str
    """Digest."""
    pair: Pair
    probability: float = 1.0
    """With which the draw takes it."""
    turn: int = 0
    """How many comparisons of its item were drawn before it."""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Drawn(Generic[T]):
    thing: T
    probability: float
    turn: int
    """How many of its group were drawn before it."""


def spread(
    things: Sequence[T], *, group: Callable[[T], str], name: Callable[[T], str], most: int | None, seed: int
) -> list[Drawn[T]]:
    """At most so many of them by lot, one of every group before a second of any, in the order given.

    Where the last turn has too few for all groups, a lot of its own says which have one more. So everything in a group
    is drawn with one probability: the number expected of the group, divided by its size.
    """
    groups: dict[str, list[tuple[int, int]]] = {}
    for place, thing in enumerate(things):
        groups.setdefault(group(thing), []).append((draw(seed, name(thing)), place))
    waiting = {one: sorted(lots) for one, lots in groups.items()}
    left = len(things) if most is None else min(most, len(things))
    taken: list[tuple[int, int]] = []
    expected = dict.fromkeys(waiting, 0.0)
    for turn in count():
        there = [one for one, lots in waiting.items() if len(lots) > turn]
        if not there or not left:
            break
        chosen = sorted(there, key=lambda one: draw(seed, "turn", str(turn), one))[:left]
        for one in there:
            expected[one] += len(chosen) / len(there)
        taken += [(waiting[one][turn][1], turn) for one in chosen]
        left -= len(chosen)
    share = {one: expected[one] / len(lots) for one, lots in waiting.items()}
    return [
        Drawn(thing=things[place], probability=share[group(things[place])], turn=turn) for place, turn in sorted(taken)
    ]


def drawn_items(items: Iterable[Item], *, category: str | None, most: int | None, seed: int) -> list[Drawn[Item]]:
    """Of one category or of all, spread over the tasks."""
    there = [item for item in items if category is None or item.category == category]
    return spread(
        there, group=lambda item: item.task or item.category or "", name=lambda item: item.digest, most=most, seed=seed
    )


def comparisons(
    items: Mapping[str, float], pairs: Pairs, answers: Answers, *, most: int | None, seed: int
) -> list[Comparison]:
    """Where both models answered; at most so many, one pair of every item before a second of any.

    `items`: digests, each with the probability of its own draw.
    """
    found = [
        Comparison(item=item, pair=(first, second))
        for first, second in pairs.met()
        for item in items
        if {first, second} <= answers.get(item, {}).keys()
    ]
    drawn = spread(
        found, group=lambda one: one.item, name=lambda one: "\n".join((one.item, *one.pair)), most=most, seed=seed
    )
    return [replace(one.thing, probability=one.probability * items[one.thing.item], turn=one.turn) for one in drawn]


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
    conduct: Conduct = Conduct()

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
            **self.conduct.as_json(),
        }
