"""Worked examples for whoever writes: from the bundled sample, until the owner gives their own."""

from collections.abc import Mapping
from functools import cache

from evenhand.benchmarks.catalog import load_benchmark
from evenhand.benchmarks.visit_bench.load import skill_name, skills
from evenhand.domain.item import Benchmark
from evenhand.ledger.growing import Example, Skill
from evenhand.ledger.record import Ledger
from evenhand.web.refusal import Refusal

SKILL_LONGEST = 100


def known_skills() -> tuple[str, ...]:
    """The 70 of VisIT-Bench (Table 6)."""
    return skills()


def skill_with_example(ledger: Ledger, line: str, before: Mapping[str, Skill]) -> Skill:
    """In Table 6's spelling, as it will stand in the items. Raises Refusal where the line is no skill."""
    name = skill_name(line)
    if not name or len(name) > SKILL_LONGEST or not name.isprintable():
        raise Refusal(422, f"A skill is a few words of at most {SKILL_LONGEST} characters, not '{line[:60]}'.")
    return before.get(name) or Skill(name=name, example=_example(ledger, name))


def _example(ledger: Ledger, skill: str) -> Example:
    """Of the same skill where the sample has one."""
    sample = _sample()
    items = [item for item in sample.items if item.reference and item.images]
    item = next((one for one in items if one.category == skill), items[0])
    image = item.images[0]
    ledger.images.put(sample.pictures[image])
    return Example(instruction=item.instruction, output=item.reference or "", image=image)


@cache
def _sample() -> Benchmark:
    return load_benchmark("visit-bench-sample")
