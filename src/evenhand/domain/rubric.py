"""What single answers are graded by: named criteria, each with what it means, on one scale of whole numbers."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from evenhand.domain.identity import Json


@dataclass(frozen=True, slots=True, kw_only=True)
class Rubric:
    criteria: tuple[tuple[str, str], ...]
    """Each one's name and description, in the order in which they are asked about and graded."""
    low: int
    high: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name, _ in self.criteria)

    def as_json(self) -> dict[str, Json]:
        criteria: list[Json] = [{"name": name, "description": description} for name, description in self.criteria]
        return {"scale": [self.low, self.high], "criteria": criteria}

    @classmethod
    def from_json(cls, document: Mapping[str, Any]) -> Self:
        low, high = document["scale"]
        criteria = tuple((one["name"], one["description"]) for one in document["criteria"])
        return cls(criteria=criteria, low=low, high=high)
