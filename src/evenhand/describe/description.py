"""All that is said of one benchmark, and the document it is written as."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evenhand.benchmarks.benchmark import Counts, count
from evenhand.benchmarks.creation_mmbench.tasks import categories
from evenhand.describe.image_kinds import Label
from evenhand.describe.lengths import Lengths, lengths
from evenhand.describe.objects import Detector, ObjectCount, count_objects
from evenhand.describe.pictures import Counted, ImageFacts, at_hand, commonest, counted_json, pictures
from evenhand.describe.verbs import VerbCount, VerbReader, verb_counts
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.images import ImageStore


@dataclass(frozen=True, slots=True, kw_only=True)
class Requests:
    instructions: int
    """Different ones."""
    with_role: int
    """Items that give the model a role to play."""
    roles: Counted
    """Different ones with their items, the commonest first."""

    def as_json(self) -> dict[str, Json]:
        return {
            "different_instructions": self.instructions,
            "with_role": self.with_role,
            "different_roles": len(self.roles),
            "roles": counted_json("role", "items", self.roles),
        }


def instruction_of(item: Item) -> str:
    """What is asked for, without the role and the requirements around it where the data tells them apart."""
    return (item.brief and item.brief.instruction) or item.instruction


def requests(items: Sequence[Item]) -> Requests:
    """Texts that differ only in capitals, spaces and the full stop at the end are one."""
    roles = [_plain(item.brief.role) for item in items if item.brief and item.brief.role]
    spelt: dict[str, str] = {}
    for role in roles:
        spelt.setdefault(role.casefold(), role)
    return Requests(
        instructions=len({_plain(instruction_of(item)).casefold() for item in items}),
        with_role=len(roles),
        roles=commonest(spelt[role.casefold()] for role in roles),
    )


def _plain(text: str) -> str:
    return " ".join(text.split()).rstrip(".")


TEXTS = ("instruction", "reference", "caption", "subjective_criteria", "factuality_criteria")
"""The kinds of text whose lengths are told, as an Item names them."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DescriptionContext:
    """What a description may be made with; None: that part is left out."""

    verbs: VerbReader | None = None
    detector: Detector | None = None
    store: ImageStore | None = None
    """Where fetched images lie."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CategoryTasks:
    category: str
    tasks: Counted
    """As the paper lists them, then others, the commonest first."""

    @property
    def items(self) -> int:
        return sum(number for _, number in self.tasks)

    def as_json(self) -> dict[str, Json]:
        return {"category": self.category, "items": self.items, "tasks": counted_json("task", "items", self.tasks)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    name: str
    """Different from those beside it."""
    benchmark: str
    licence: str
    counts: Counts
    tasks: Counted
    sources: Counted
    """Items of each dataset or address that they were taken from; empty where the data tells none."""
    criteria: tuple[int, int]
    """Items with subjective criteria, and with criteria of factuality."""
    lengths: Mapping[str, Lengths | None]
    """By kind of text; None where there is no such text."""
    requests: Requests
    pictures: ImageFacts
    verbs: tuple[VerbCount, ...] | None
    """None: not read."""
    without_verb: int
    """Instructions in which no verb was found."""
    tasks_by_category: tuple["CategoryTasks", ...]
    """Creation-MMBench's categories in the paper's order, then others, the largest first; items without both are in
    none."""
    objects: tuple[ObjectCount, ...] | None
    """None: not looked for."""
    notes: tuple[str, ...]
    """Sentences about what is not available."""

    def as_json(self) -> dict[str, Json]:
        subjective, factuality = self.criteria
        return {
            "name": self.name,
            "benchmark": self.benchmark,
            "licence": self.licence,
            "items": self.counts.items,
            "images": self.counts.images,
            "captions": self.counts.captions,
            "references": self.counts.references,
            "criteria": {"subjective": subjective, "factuality": factuality},
            "categories": counted_json("category", "items", self.counts.categories),
            "tasks": counted_json("task", "items", self.tasks),
            "sources": counted_json("source", "items", self.sources),
            "requests": self.requests.as_json(),
            "lengths": {kind: one and one.as_json() for kind, one in self.lengths.items()},
            "pictures": self.pictures.as_json(),
            "verbs": None if self.verbs is None else [verb.as_json() for verb in self.verbs],
            "without_verb": None if self.verbs is None else self.without_verb,
            "objects": None if self.objects is None else [one.as_json() for one in self.objects],
            "tasks_by_category": [one.as_json() for one in self.tasks_by_category],
            "notes": list(self.notes),
        }


def describe(
    benchmark: Benchmark,
    context: DescriptionContext,
    *,
    name: str | None = None,
    labels: Mapping[str, Label] | None = None,
) -> Description:
    """`labels`: the kinds of images, by the names that the items give them.

    Raises DescribeError where the detector is none, and ImageError where a fetched image was altered since.
    """
    items = benchmark.items
    shown = pictures(benchmark, store=context.store, kinds={key: one.kind for key, one in (labels or {}).items()})
    asked = context.verbs and context.verbs.read(map(instruction_of, items))
    return Description(
        name=name or benchmark.name,
        benchmark=benchmark.name,
        licence=benchmark.licence,
        counts=count(benchmark),
        tasks=commonest(item.task for item in items if item.task),
        sources=commonest(benchmark.sources[item.label] for item in items if item.label in benchmark.sources),
        criteria=(
            sum(item.subjective_criteria is not None for item in items),
            sum(item.factuality_criteria is not None for item in items),
        ),
        lengths={kind: lengths(getattr(item, kind) for item in items) for kind in TEXTS},
        requests=requests(items),
        pictures=shown,
        verbs=None if asked is None else verb_counts(asked),
        without_verb=0 if asked is None else asked.count(None),
        objects=context.detector and count_objects(context.detector, at_hand(benchmark, context.store)),
        tasks_by_category=_tasks_by_category(items),
        notes=_not_at_hand(shown),
    )


def _tasks_by_category(items: Sequence[Item]) -> tuple[CategoryTasks, ...]:
    published = {one.name: one.tasks for one in categories()}
    found: dict[str, list[str]] = {}
    for item in items:
        if item.category and item.task:
            found.setdefault(item.category, []).append(item.task)
    groups = [
        CategoryTasks(category=name, tasks=_in_order(commonest(tasks), published.get(name, ())))
        for name, tasks in found.items()
    ]
    places = list(published)
    return tuple(
        sorted(
            groups,
            key=lambda one: (
                places.index(one.category) if one.category in published else len(places),
                -one.items,
                one.category,
            ),
        )
    )


def _in_order(counted: Counted, published: Sequence[str]) -> Counted:
    """Those that the paper lists in its order, then the others in theirs."""
    place = {name: number for number, name in enumerate(published)}
    return tuple(sorted(counted, key=lambda pair: place.get(pair[0], len(place))))


def _not_at_hand(shown: ImageFacts) -> tuple[str, ...]:
    missing = shown.different - shown.at_hand
    notes: list[str] = []
    if missing:
        notes.append(
            f"Of {shown.different} different images {missing} are not available, and their types and sizes are "
            f"unknown; "
            "`evenhand benchmarks fetch` gets those that the data names by URL."
        )
    if shown.unreadable:
        notes.append(f"Available images that cannot be decoded: {shown.unreadable}.")
    return tuple(notes)
