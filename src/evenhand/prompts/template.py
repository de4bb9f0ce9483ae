"""Prompt files with `{{name}}` slots, filled in one pass: what goes into a slot is never read for slots again."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Self

from evenhand.domain.errors import EvenhandError

_MARK = re.compile(r"\{\{(?:(?P<escaped>\{\{)|(?P<name>[a-z][a-z0-9_]*)\}\})?")
_SLOT_RULE = "A slot is {{name}} in lower-case letters, digits and underscores; a literal {{ is written {{{{."


class TemplateError(EvenhandError, ValueError):
    """A prompt file, or the values given for it, that do not fit."""

    code = "EH-TEMPLATE"


@dataclass(frozen=True, slots=True, kw_only=True)
class Template:
    """A parsed prompt file. A literal `{{` is written `{{{{`; `}}` outside a slot stands for itself."""

    source: str
    """The file's name, for messages."""
    pieces: tuple[str, ...]
    """Text, with an empty string where a slot's value goes."""
    holes: tuple[tuple[int, str], ...]
    """Index into `pieces` and the slot's name, in the order of the file."""
    slots: frozenset[str]

    @classmethod
    def parse(cls, text: str, *, source: str) -> Self:
        pieces: list[str] = []
        holes: list[tuple[int, str]] = []
        literal_from = 0
        for mark in _MARK.finditer(text):
            pieces.append(text[literal_from : mark.start()])
            literal_from = mark.end()
            if mark["escaped"]:
                pieces.append("{{")
            elif mark["name"]:
                holes.append((len(pieces), mark["name"]))
                pieces.append("")
            else:
                line = text.count("\n", 0, mark.start()) + 1
                raise TemplateError(f"{source}, line {line}: a {{{{ opens no slot. {_SLOT_RULE}")
        pieces.append(text[literal_from:])
        return cls(source=source, pieces=tuple(pieces), holes=tuple(holes), slots=frozenset(name for _, name in holes))

    def settled(self, values: Mapping[str, str]) -> Self:
        """With these slots, as far as it has them, filled for good: what goes in is text like the file's own."""
        pieces = list(self.pieces)
        for index, name in self.holes:
            pieces[index] = values.get(name, "")
        holes = tuple(hole for hole in self.holes if hole[1] not in values)
        return replace(self, pieces=tuple(pieces), holes=holes, slots=self.slots - values.keys())

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with every slot replaced. Raises TemplateError unless the names given are the names in the file."""
        if frozenset(values) != self.slots:
            raise TemplateError(
                f"{self.source} has the slots {_listed(self.slots)}, but values were given for {_listed(values)}."
            )
        pieces = list(self.pieces)
        for index, name in self.holes:
            pieces[index] = values[name]
        return "".join(pieces)


def _listed(names: Mapping[str, str] | frozenset[str]) -> str:
    return ", ".join(sorted(names)) or "nothing"
