"""Worked examples for whoever writes: from the bundled sample, until the owner gives their own."""

from collections.abc import Iterable, Sequence
from functools import cache
from itertools import cycle, islice

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.visit_bench.load import skill_name, skills
from evenhand.domain.item import Benchmark, Item
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.refusal import Refusal
from evenhand.site.living.settings import Example, Skill

SKILL_LONGEST = 100
SKILLS_MOST = 500


def known_skills() -> tuple[str, ...]:
    """The 70 of VisIT-Bench (Table 6)."""
    return skills()


def skills_with_examples(ledger: Ledger, lines: Iterable[str], before: Iterable[Skill] = ()) -> tuple[Skill, ...]:
    """In Table 6's spelling, as they will stand in the items; those that were there `before` keep their examples.

    Raises Refusal where a line is no skill, or there are too many.
    """
    names = tuple(dict.fromkeys(_name(line) for line in lines if line.strip()))
    if not 1 <= len(names) <= SKILLS_MOST:
        raise Refusal(422, f"There may be 1 to {SKILLS_MOST} skills, not {len(names)}.")
    kept = {one.name: one for one in before}
    given = {one.category: one for one in reversed(_items()) if one.category}
    # Those without an example of their own take turns at the others', so that two seldom have the same.
    turns = sum(bool(one.example.skill) for one in kept.values())
    others = islice(cycle(_items()), turns, None)
    found: list[Skill] = []
    for name in names:
        new = name not in kept
        item = given.get(name) or next(others) if new else None
        found.append(kept[name] if item is None else Skill(name=name, example=_example(ledger, item, name)))
    return tuple(found)


def _name(line: str) -> str:
    name = skill_name(line)
    if not name or len(name) > SKILL_LONGEST or not name.isprintable():
        raise Refusal(422, f"A skill is a few words of at most {SKILL_LONGEST} characters, not '{line[:60]}'.")
    return name


def _items() -> Sequence[Item]:
    return [item for item in _sample().items if item.reference and item.images and item.category]


def _example(ledger: Ledger, item: Item, skill: str) -> Example:
    image, category = item.images[0], item.category or ""
    ledger.images.put(_sample().pictures[image])
    other = "" if category == skill else category
    return Example(instruction=item.instruction, output=item.reference or "", image=image, skill=other)


@cache
def _sample() -> Benchmark:
    return load_benchmark("visit-bench-sample")
