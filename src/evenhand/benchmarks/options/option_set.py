"""A prompt and the answers to it that a judge picks one of, numbered from 0 as the data gave them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from evenhand.domain.identity import draw
from evenhand.domain.item import Item
from evenhand.domain.response import Response

LeftOut: TypeAlias = Literal["one_option", "repeated_prompt", "too_many_options", "too_long"]


@dataclass(frozen=True, slots=True, kw_only=True)
class OptionSet:
    item: Item
    options: tuple[Response, ...]
    best: int | None = None
    """The option that people put first; None where they did not, or put two alike."""

    @property
    def characters(self) -> int:
        return len(self.item.instruction) + sum(len(option.text) for option in self.options)


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which rows are asked about."""

    max_options: int | None = None
    max_characters: int | None = None
    """Of prompt and options together."""
    sample: int | None = None
    limit: int | None = None
    seed: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Selected:
    sets: tuple[OptionSet, ...]
    left_out: Mapping[LeftOut, int]
    """Rows that cannot be asked about, by reason; those that were not drawn or stand beyond the limit are not here."""


def select(sets: Sequence[OptionSet], selection: Selection) -> Selected:
    """In the order given; a larger sample or limit holds the smaller one."""
    left_out: Counter[LeftOut] = Counter()
    fitting: list[OptionSet] = []
    met: set[str] = set()
    for one in sets:
        reason = _unfit(one, selection, met)
        met.add(one.item.digest)
        if reason is None:
            fitting.append(one)
        else:
            left_out[reason] += 1
    if selection.sample is not None:
        seed = selection.seed
        lots = sorted(fitting, key=lambda one: draw(seed, "sample", one.item.digest))[: selection.sample]
        drawn = {one.item.digest for one in lots}
        fitting = [one for one in fitting if one.item.digest in drawn]
    return Selected(sets=tuple(fitting[: selection.limit]), left_out=dict(left_out))


def _unfit(one: OptionSet, selection: Selection, met: set[str]) -> LeftOut | None:
    if one.item.digest in met:
        return "repeated_prompt"
    if len(one.options) < 2:
        return "one_option"
    if selection.max_options is not None and len(one.options) > selection.max_options:
        return "too_many_options"
    if selection.max_characters is not None and one.characters > selection.max_characters:
        return "too_long"
    return None


def repeated_options(sets: Sequence[OptionSet]) -> int:
    """Rows in which two options have the same words: there a judge cannot be wrong between the two."""
    return sum(len({option.text for option in one.options}) < len(one.options) for one in sets)


def sets_of_answers(items: Sequence[Item], answers: Sequence[Response]) -> list[OptionSet]:
    """What several models answered to each item, as options in the order of the models' names."""
    given: dict[str, list[Response]] = {item.digest: [] for item in items}
    for answer in answers:
        if answer.item in given:
            given[answer.item].append(answer)
    return [
        OptionSet(item=item, options=tuple(sorted(given[item.digest], key=lambda one: one.model))) for item in items
    ]
