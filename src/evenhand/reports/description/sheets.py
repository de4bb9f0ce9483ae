"""What benchmarks hold, side by side, as tables; and all of it as one long table for other programs."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from evenhand.describe.description import TEXTS, Description
from evenhand.describe.lengths import LONG, Lengths
from evenhand.describe.pictures import UNSTATED, Counted
from evenhand.format.sheet import MISSING, Sheet
from evenhand.format.words import count, per_cent

SHOWN = 20
"""Rows of a table of verbs, roles or objects; the others are counted."""

TEXT_WORDS: Mapping[str, str] = {kind: kind.replace("_", " ") for kind in TEXTS}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Counting:
    """What is counted in every benchmark."""

    title: str
    heading: str
    of: Callable[[Description], Counted]
    most: int | None = SHOWN
    """Rows shown; None: all, because the benchmark itself names them."""
    numbers: bool = False
    """What is counted are numbers, told in their order and not the commonest first."""


def sheets(described: Sequence[Description]) -> list[Sheet]:
    """Tables of which nothing is known are left out."""
    before, behind = _countings()
    return [
        _overview(described),
        _lengths(described),
        *(sheet for one in before if (sheet := _side_by_side(described, one)) is not None),
        *_verbs(described),
        *(sheet for one in behind if (sheet := _side_by_side(described, one)) is not None),
    ]


def _countings() -> tuple[list[_Counting], list[_Counting]]:
    """Before what the instructions ask for, and behind it."""
    before = [
        _Counting(title="Items of each category", heading="category", of=lambda one: one.counts.categories, most=None),
        _Counting(title="Items of each task", heading="task", of=lambda one: one.tasks, most=None),
        _Counting(title="Items from each source", heading="source", of=lambda one: one.sources),
        _Counting(title="Roles", heading="role", of=lambda one: one.requests.roles),
    ]
    behind = [
        _Counting(title="Items with so many images", heading="images", of=_per_item, most=None, numbers=True),
        _Counting(title="Images of each type", heading="type", of=lambda one: one.pictures.types),
        _Counting(title="Images of each kind", heading="kind", of=lambda one: one.pictures.kinds),
        _Counting(title="Images under each licence", heading="licence", of=_stated_licences),
        _Counting(title="Objects in the images", heading="object", of=_objects),
    ]
    return before, behind


def long_sheet(described: Sequence[Description]) -> Sheet:
    """A row for each number."""
    rows = [
        (one.name, part, name, measure, value)
        for one in described
        for part, name, measure, value in [*_counted_rows(one), *_length_rows(one), *_verb_rows(one)]
    ]
    return Sheet(title="Description", headings=("benchmark", "part", "name", "measure", "value"), rows=tuple(rows))


def _overview(described: Sequence[Description]) -> Sheet:
    facts: dict[str, Callable[[Description], str]] = {
        "items": lambda one: f"{one.counts.items:,}",
        "categories": lambda one: f"{len(one.counts.categories):,}",
        "tasks": lambda one: f"{len(one.tasks):,}",
        "different instructions": lambda one: f"{one.requests.instructions:,}",
        "different roles": lambda one: f"{len(one.requests.roles):,}",
        "items with a caption": lambda one: f"{one.counts.captions:,}",
        "items with a reference": lambda one: f"{one.counts.references:,}",
        "items with subjective criteria": lambda one: f"{one.criteria[0]:,}",
        "items with factuality criteria": lambda one: f"{one.criteria[1]:,}",
        "images shown": lambda one: f"{one.counts.images:,}",
        "different images": lambda one: f"{one.pictures.different:,}",
        "of these available": lambda one: f"{one.pictures.at_hand:,}",
        "median size of an image": _median_size,
        "smallest and largest": _extreme_sizes,
        "licence": lambda one: one.licence,
    }
    rows = [(fact, *(told(one) for one in described)) for fact, told in facts.items()]
    return Sheet(title="What the data holds", headings=("", *_names(described)), rows=tuple(rows))


def _median_size(one: Description) -> str:
    sizes = one.pictures.sizes
    return MISSING if sizes is None else f"{count(sizes.width_median)} × {count(sizes.height_median)}"


def _extreme_sizes(one: Description) -> str:
    sizes = one.pictures.sizes
    if sizes is None:
        return MISSING
    return ", ".join(f"{width} × {height}" for width, height in (sizes.smallest, sizes.largest))


def _lengths(described: Sequence[Description]) -> Sheet:
    headings = (
        "texts", "number", "words, mean", "median", "most", "tokens, mean", "median", "most", f"over {LONG:,} tokens",
    )  # fmt: skip
    several = len(described) > 1
    rows = [
        (f"{TEXT_WORDS[kind]}: {one.name}" if several else TEXT_WORDS[kind], *_length_cells(found))
        for kind in TEXTS
        for one in described
        if (found := one.lengths[kind]) is not None
    ]
    return Sheet(title="Lengths", headings=headings, rows=tuple(rows))


def _length_cells(one: Lengths) -> tuple[str, ...]:
    return (
        f"{one.texts:,}",
        f"{one.words_mean:,.1f}",
        count(one.words_median),
        f"{one.words_most:,}",
        f"{one.tokens_mean:,.1f}",
        count(one.tokens_median),
        f"{one.tokens_most:,}",
        per_cent(one.long_share),
    )


def _side_by_side(described: Sequence[Description], counting: _Counting) -> Sheet | None:
    """A column for each benchmark, the commonest first; a dash where it has none."""
    columns = [dict(counting.of(one)) for one in described]
    names = list(dict.fromkeys(name for column in columns for name in column))
    if not names:
        return None
    if counting.numbers:
        names.sort(key=int)
    else:
        names.sort(key=lambda name: (-sum(column.get(name, 0) for column in columns), name))
    most = counting.most or len(names)
    rows = [(name, *(_number(column.get(name)) for column in columns)) for name in names[:most]]
    if len(names) > most:
        rest = [sum(column.get(name, 0) for name in names[most:]) for column in columns]
        rows.append((f"{len(names) - most} others", *(_number(number or None) for number in rest)))
    return Sheet(title=counting.title, headings=(counting.heading, *_names(described)), rows=tuple(rows))


def _number(value: int | None) -> str:
    return MISSING if value is None else f"{value:,}"


def _per_item(one: Description) -> Counted:
    return tuple((str(images), items) for images, items in one.pictures.per_item)


def _stated_licences(one: Description) -> Counted:
    """Empty where the data says nothing of any image's."""
    licences = one.pictures.licences
    return () if all(name == UNSTATED for name, _ in licences) else licences


def _objects(one: Description) -> Counted:
    return tuple((found.name, found.count) for found in one.objects or ())


def _verbs(described: Sequence[Description]) -> Iterator[Sheet]:
    for one in described:
        if not one.verbs:
            continue
        rows = [
            (f"{verb.verb}{_nouns(verb.nouns)}", f"{verb.count:,}", per_cent(verb.count / one.counts.items))
            for verb in one.verbs[:SHOWN]
        ]
        rest = sum(verb.count for verb in one.verbs[SHOWN:])
        if rest:
            rows.append((f"{len(one.verbs) - SHOWN} other verbs", f"{rest:,}", per_cent(rest / one.counts.items)))
        if one.without_verb:
            share = per_cent(one.without_verb / one.counts.items)
            rows.append(("no verb found", f"{one.without_verb:,}", share))
        headings = ("verb (its commonest nouns)", "instructions", "share")
        yield Sheet(title=f"What the instructions of {one.name} ask for", headings=headings, rows=tuple(rows))


def _nouns(nouns: Counted) -> str:
    return f" ({', '.join(f'{noun} {number}' for noun, number in nouns)})" if nouns else ""


def _names(described: Sequence[Description]) -> list[str]:
    return [one.name for one in described]


_Long = tuple[str, str, str, str]


def _counted_rows(one: Description) -> Iterator[_Long]:
    subjective, factuality = one.criteria
    totals = {
        "items": one.counts.items,
        "captions": one.counts.captions,
        "references": one.counts.references,
        "subjective criteria": subjective,
        "factuality criteria": factuality,
        "different instructions": one.requests.instructions,
        "different roles": len(one.requests.roles),
        "images": one.counts.images,
        "different images": one.pictures.different,
        "images available": one.pictures.at_hand,
    }
    for name, number in totals.items():
        yield "totals", name, "count", str(number)
    parts: dict[str, tuple[str, Counted]] = {
        "category": ("items", one.counts.categories),
        "task": ("items", one.tasks),
        "source": ("items", one.sources),
        "role": ("items", one.requests.roles),
        "images per item": ("items", _per_item(one)),
        "image type": ("images", one.pictures.types),
        "image kind": ("images", one.pictures.kinds),
        "image licence": ("images", one.pictures.licences),
        "object": ("count", _objects(one)),
    }
    for part, (measure, counted) in parts.items():
        for name, number in counted:
            yield part, name, measure, str(number)


def _length_rows(one: Description) -> Iterator[_Long]:
    for kind, found in one.lengths.items():
        for measure, value in (found.as_json() if found else {}).items():
            yield "length", kind, measure, str(value)


def _verb_rows(one: Description) -> Iterator[_Long]:
    for verb in one.verbs or ():
        yield "verb", verb.verb, "instructions", str(verb.count)
        for noun, number in verb.nouns:
            yield "verb and noun", f"{verb.verb} {noun}", "instructions", str(number)
