"""What a submitted file of answers was found to hold, and what its team must correct before it can be confirmed."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evenhand.benchmarks.data_error import listed, quoted
from evenhand.domain.identity import Json
from evenhand.domain.response import Response

SHOWN = 1_000
"""The most entries of a list, and rows of an entry, that JSON tells; the count beside a list is of all."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unusable:
    """An answer that cannot be judged: blank, or another tool's failure text."""

    item: str
    """The item's label, as everywhere below."""
    row: int
    """The data row, counted from 1."""
    text: str
    """Its beginning."""

    def as_json(self) -> dict[str, Json]:
        return {"item": self.item, "row": self.row, "text": self.text}


@dataclass(frozen=True, slots=True, kw_only=True)
class Doubled:
    """An item with two different answers or more."""

    item: str
    rows: tuple[int, ...]
    """The first answer's, and those that say something else."""

    def as_json(self) -> dict[str, Json]:
        return {"item": self.item, "rows": list(self.rows[:SHOWN])}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unknown:
    """An answer to something that the benchmark does not ask."""

    item: str
    """As the file names it; the beginning of the instruction where the file has no names."""
    rows: tuple[int, ...]
    why: str
    """The rest of a sentence that begins with the benchmark's name."""
    near: tuple[str, ...] = ()
    """Labels that look like it."""

    def as_json(self) -> dict[str, Json]:
        return {"item": self.item, "rows": list(self.rows[:SHOWN]), "why": self.why, "near": list(self.near)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unreadable:
    """Rows that could not be read, or the whole file."""

    sentence: str
    rows: tuple[int, ...] = ()
    """Those of which it is true; none: it is about the file."""

    @property
    def count(self) -> int:
        return max(1, len(self.rows))

    def as_json(self) -> dict[str, Json]:
        return {"sentence": self.sentence, "rows": list(self.rows[:SHOWN])}


Entry = Unusable | Doubled | Unknown | Unreadable


@dataclass(frozen=True, slots=True, kw_only=True)
class Checked:
    benchmark: str
    items: int
    """Of the benchmark."""
    missing_allowed: int
    """How many items may be left without a usable answer."""
    responses: tuple[Response, ...] = ()
    """One for each item with a usable answer, in the file's order; what has two different answers is left out."""
    missing: tuple[str, ...] = ()
    """Labels; none are told where the file was not read to its end."""
    empty: tuple[Unusable, ...] = ()
    failure_texts: tuple[Unusable, ...] = ()
    doubled: tuple[Doubled, ...] = ()
    unknown: tuple[Unknown, ...] = ()
    unreadable: tuple[Unreadable, ...] = ()
    notes: tuple[str, ...] = ()
    """What the team should know and need not correct."""

    @property
    def answered(self) -> int:
        return len(self.responses)

    @property
    def unanswered(self) -> int:
        return len(self.missing) + len(self.empty) + len(self.failure_texts)

    @property
    def faults(self) -> int:
        """What must be corrected; at least 1 where there is nothing to judge."""
        lacking = max(0, self.unanswered - self.missing_allowed)
        found = len(self.doubled) + len(self.unknown) + sum(one.count for one in self.unreadable) + lacking
        return found if self.responses else max(1, found)

    def as_json(self) -> dict[str, Json]:
        return {
            "benchmark": self.benchmark,
            "items": self.items,
            "answered": self.answered,
            "faults": self.faults,
            "missing_allowed": self.missing_allowed,
            "missing": {"count": len(self.missing), "items": list(self.missing[:SHOWN])},
            "empty": _counted(self.empty),
            "failure_texts": _counted(self.failure_texts),
            "doubled": _counted(self.doubled),
            "unknown": _counted(self.unknown),
            "unreadable": _counted(self.unreadable),
            "notes": list(self.notes),
            "sentences": list(self.sentences()),
        }

    def sentences(self) -> tuple[str, ...]:
        """All of it for a terminal: what must be corrected first, the notes last."""
        return (*self._faulty(), *self._lacking(), *self.notes)

    def _faulty(self) -> Iterator[str]:
        for one in self.unreadable:
            rows = f" ({_rows(one.rows)})" if one.rows else ""
            yield f"{one.sentence}{rows}"
        if self.doubled:
            told = listed(f"{one.item} ({_rows(one.rows)})" for one in self.doubled)
            yield f"Items with two different answers: {len(self.doubled)}: {told}. Keep one answer for each."
        for why in dict.fromkeys(one.why for one in self.unknown):
            found = [one for one in self.unknown if one.why == why]
            told = listed(f"{one.item} ({_rows(one.rows)}{_hint(one)})" for one in found)
            yield f"{self.benchmark} {why}: {len(found)}: {told}. Correct or leave them out."

    def _lacking(self) -> Iterator[str]:
        if self.missing:
            yield f"Items without an answer: {len(self.missing)} of {self.items} ({listed(self.missing)})."
        if self.empty:
            yield f"Empty answers: {len(self.empty)} ({in_words('item', (one.item for one in self.empty))})."
        if self.failure_texts:
            first = self.failure_texts[0]
            yield (
                f"Answers that are another tool's failure text: {len(self.failure_texts)} "
                f'({in_words("item", (one.item for one in self.failure_texts))}; the first reads "{first.text}").'
            )
        if 0 < self.unanswered <= self.missing_allowed:
            yield f"Items that may be left without a usable answer: {self.missing_allowed}; these stay unjudged."
        elif self.unanswered:
            allowed = f"at most {self.missing_allowed}" if self.missing_allowed else "none"
            yield f"Of {self.items} items {allowed} may be left without a usable answer; give the others too."
        if not self.responses:
            yield "There is no answer that can be judged."


def _counted(entries: Sequence[Entry]) -> dict[str, Json]:
    return {"count": len(entries), "entries": [one.as_json() for one in entries[:SHOWN]]}


def in_words(noun: str, names: Iterable[str]) -> str:
    """`item dog`, `items dog, cat`."""
    found = tuple(names)
    return f"{noun}{'' if len(found) == 1 else 's'} {listed(found)}"


def _rows(rows: Sequence[int]) -> str:
    return in_words("row", map(str, rows))


def _hint(unknown: Unknown) -> str:
    return f"; near: {quoted(unknown.near)}" if unknown.near else ""
