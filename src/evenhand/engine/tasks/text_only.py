"""The text-only variant of a benchmark: a model's descriptions stand for the images (Creation-MMBench-TO)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.benchmarks.creation_mmbench.queries import text_only_query
from evenhand.domain.item import Item

Mode: TypeAlias = Literal["generic", "query-specific"]
"""With which of the paper's two instructions the images were described (Fig. 31)."""

_DESCRIPTION = "description-"
_DESCRIBED_BY = "described by "


def description_variant(mode: Mode) -> str:
    """The variant of the Responses that descriptions are kept as: they answer no item, and are never judged."""
    return f"{_DESCRIPTION}{mode}"


def is_description(variant: str) -> bool:
    return variant.startswith(_DESCRIPTION)


def describer_in(flags: tuple[str, ...]) -> str | None:
    """Whose descriptions an answer was given to, by its flags."""
    return next((flag.removeprefix(_DESCRIBED_BY) for flag in flags if flag.startswith(_DESCRIBED_BY)), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class TextOnly:
    mode: Mode
    describer: str
    descriptions: Mapping[str, str]
    """By the item's digest."""

    @property
    def variant(self) -> str:
        return f"text-only-{self.mode}"

    @property
    def flags(self) -> tuple[str, ...]:
        return (f"{_DESCRIBED_BY}{self.describer}",)

    def question(self, item: Item) -> str:
        return text_only_query(item.instruction, image_description=self.descriptions[item.digest].strip())
