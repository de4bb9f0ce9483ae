"""Which items of a benchmark a command is about."""

from collections.abc import Mapping
from typing import Any

from evenhand.cli.environment import WrongUse
from evenhand.domain.identity import draw
from evenhand.domain.item import Benchmark, Item
from evenhand.format.near_names import hint


def chosen_items(benchmark: Benchmark, flags: Mapping[str, Any]) -> list[Item]:
    items = list(benchmark.items)
    if flags["items"]:
        labels = [item.label for item in items]
        items = [_named(label, labels, items) for label in dict.fromkeys(flags["items"])]
    if flags["category"]:
        categories = {item.category for item in items if item.category}
        for category in flags["category"]:
            if category not in categories:
                raise WrongUse(f"{benchmark.name} has no category '{category}'; {hint(category, categories)}")
        items = [item for item in items if item.category in flags["category"]]
    if flags["sample"]:
        seed = flags["seed"]
        drawn = sorted(items, key=lambda item: draw(seed, "sample", item.digest))[: flags["sample"]]
        items = [item for item in items if item in drawn]
    if flags["limit"]:
        items = items[: flags["limit"]]
    return items


def _named(label: str, labels: list[str], items: list[Item]) -> Item:
    if label not in labels:
        raise WrongUse(f"There is no item '{label}'; {hint(label, labels)}")
    return items[labels.index(label)]
