"""Which items of a benchmark are asked about."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.domain.errors import USAGE, Misuse
from evenhand.domain.identity import Json, draw
from evenhand.domain.item import Benchmark, Item
from evenhand.format.near_names import hint


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemChoice:
    """All items by default; else those that every field allows. A larger sample or limit holds the smaller one."""

    limit: int | None = None
    """The first so many."""
    sample: int | None = None
    """So many, drawn with the seed of the call."""
    category: Sequence[str] = ()
    items: Sequence[str] = ()
    """By their labels, in this order."""

    @classmethod
    def given(cls, items: "ItemChoice | Sequence[str] | None") -> "ItemChoice":
        """Labels are a choice too."""
        if isinstance(items, ItemChoice):
            return items
        return cls(items=(items,) if isinstance(items, str) else tuple(items or ()))

    def as_json(self) -> dict[str, Json]:
        """What is chosen, as it is kept with a run."""
        chosen: dict[str, Json] = {
            "limit": self.limit,
            "sample": self.sample,
            "category": list(self.category),
            "items": list(self.items),
        }
        return {name: value for name, value in chosen.items() if value}

    def of(self, benchmark: Benchmark, *, seed: int) -> list[Item]:
        """Raises Misuse for an item or a category that the benchmark has not, and for a number below 1."""
        for name, number in (("limit", self.limit), ("sample", self.sample)):
            if number is not None and number < 1:
                raise Misuse(f"{name} is how many items are asked about, 1 or more; not {number}.", code=USAGE)
        items = list(benchmark.items)
        if self.items:
            labels = {item.label: item for item in reversed(items)}
            items = [_named(label, labels) for label in dict.fromkeys(self.items)]
        if self.category:
            categories = {item.category for item in items if item.category}
            for category in self.category:
                if category not in categories:
                    sentence = f"{benchmark.name} has no category '{category}'; {hint(category, categories)}"
                    raise Misuse(sentence, code=USAGE)
            items = [item for item in items if item.category in self.category]
        if self.sample:
            drawn = sorted({item.digest for item in items}, key=lambda digest: draw(seed, "sample", digest))
            kept = set(drawn[: self.sample])
            items = [item for item in items if item.digest in kept]
        return items[: self.limit] if self.limit else items


def _named(label: str, labels: dict[str, Item]) -> Item:
    if label not in labels:
        raise Misuse(f"There is no item '{label}'; {hint(label, labels)}", code=USAGE)
    return labels[label]
