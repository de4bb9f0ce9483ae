"""Every figure that a terminal, a document, a report or a page shows: under which name, of what, and where."""

import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from html.parser import HTMLParser
from typing import Any

_NUMBER = re.compile(r"[-–]?∞|(?<![\w.])[<>]?[-+]?\d[\d,]*(?:\.\d+)?")
_INTERVAL = re.compile(r"^(its|95.%).interval$")
_MATRIX = re.compile(r"row against the column|head to head", re.IGNORECASE)
_RULE = re.compile(r"^─{10,}$")
_LARGE = 200
"""Points from which a page may round to tens and hundreds."""
_SHARES = {
    "swap consistency": "swap_consistency",
    "swap consistency without ties": "swap_consistency_without_ties",
    "first-position share": "first_position_share",
    "first-position share without ties": "first_position_share_without_ties",
}
_NAMES = {
    "keeps its verdict when the answers swap positions": "swap consistency",
    "chooses the answer shown first (fair: 50 %)": "first-position share",
    "#": "rank",
    "simultaneous range": "simultaneous",
    "ranks": "simultaneous",
}
"""What a page calls what a terminal shortens."""
_SENTENCES = (
    (r"(\S+) leads with ([\d.]+) by", "rating"),
    (r"be it a tie, in [\d,.]+ of [\d,.]+ pairs? \(([^()]*)\)", "swap consistency"),
    (r"Ties aside, [^.:]*: it kept its verdict in [\d,.]+ of [\d,.]+ pairs? \(([^()]*)\)",
     "swap consistency without ties"),
    (r"swap positions: it kept its verdict in [\d,.]+ of [\d,.]+ pairs? \(([^()]*)\)", "swap consistency"),
    (r"Ties counted half, the first shown won [\d,.]+ of [\d,.]+ verdicts? \(([^()]*)\)", "first-position share"),
    (r"ties aside, the first shown won [\d,.]+ of [\d,.]+ verdicts? \(([^()]*)\)", "first-position share without ties"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Shown:
    where: str
    numbers: tuple[str, ...]
    """As they stand there: a value, and where it is shown its interval."""


@dataclass
class FiguresShown:
    """By name and subject."""

    found: dict[tuple[str, str], list[Shown]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, subject: str, cell: str, where: str) -> None:
        name = " ".join(name.replace("\u00a0", " ").lower().split())
        numbers = tuple(_NUMBER.findall(cell.replace("\u00a0", " ").replace("95 % interval", "")))
        if numbers and name:
            self.found[_NAMES.get(name, name), subject].append(Shown(where, numbers))

    def of_terminal(self, words: str, where: str) -> None:
        lines = words.splitlines()
        for place, line in enumerate(lines):
            if _RULE.match(line.strip()) and place:
                above = [one.strip() for one in lines[: place - 1] if one.strip()]
                self._table(
                    above[-1] if above else "", _cells(lines[place - 1]), map(_cells, lines[place + 1 :]), where
                )
        for place, line in enumerate(lines):
            name, _, rest = line.strip().partition("  ")
            if name == "without ties":
                name = f"{lines[place - 1].strip().partition('  ')[0]} without ties"
            if name in _SHARES:
                self.add(name, "judge", rest.rpartition("  ")[0], where)
        self._sentences(" ".join(words.split()), where)

    def of_page(self, page: str, where: str) -> None:
        reader = _Page()
        reader.feed(page)
        for title, headings, rows in reader.tables:
            self._table(title, headings, rows, where)
        for name, told in reader.terms:
            self.add(name, "judge", told, where)
        self._sentences(" ".join(" ".join(reader.words).split()), where)

    def of_document(self, document: Mapping[str, Any], where: str) -> None:
        for row in document["models"]:
            model, share = row["model"], 100 if document.get("method") == "win-rate" else 1
            self.add("rating", model, _estimate(row, "rating", share), where)
            self.add("rating 95 % interval", model, _estimate(row, "rating", share).partition(" ")[2], where)
            self.add("win rate", model, _estimate(row, "win_rate", 100), where)
            self.add("rank", model, str(row["rank"]), where)
        for name, key in _SHARES.items():
            if document.get("reliability"):
                self.add(name, "judge", _estimate(document["reliability"], key, 100), where)

    def _table(self, title: str, headings: Sequence[str], rows: Iterable[Sequence[str]], where: str) -> None:
        """Where rows are no models, a heading alone is no name: it may be a model's. A heading "model, on some items"
        says that all of the table is of these alone."""
        named = [heading.lower().partition(", ")[0] for heading in headings]
        whose = named.index("model") if "model" in named else 0
        apart = headings[whose].lower().partition(", ")[2] if "model" in named else ""
        start = "" if "model" in named and named.count("model") == 1 and not _MATRIX.search(title) else f"{title}: "
        for row in rows:
            if len(row) != len(headings):
                return
            for place, (name, cell) in enumerate(zip(headings, row, strict=True)):
                of = f"{headings[place - 1]} " if _INTERVAL.search(name) else ""
                self.add(f"{start}{of}{name}", f"{row[whose]}, {apart}" if apart else row[whose], cell, where)

    def _sentences(self, words: str, where: str) -> None:
        for pattern, name in _SENTENCES:
            for told in re.finditer(pattern, words):
                *whose, cell = told.groups()
                self.add(name, whose[0] if whose else "judge", cell, where)

    def differing(self) -> list[str]:
        """Sentences about names that have two values of one subject; roundings of one number do not differ."""
        return [
            f"{name} of {subject}: {first.numbers} in {first.where}, {other.numbers} in {other.where}"
            for (name, subject), every in self.found.items()
            for place, first in enumerate(every)
            for other in every[place + 1 :]
            if not all(map(_alike, first.numbers, other.numbers))
        ]

    def places(self, name: str) -> set[str]:
        return {one.where for (of, _), every in self.found.items() if of == name for one in every}


def _estimate(row: Mapping[str, Any], name: str, times: float) -> str:
    values = (row.get(name), row.get(f"{name}_lower"), row.get(f"{name}_upper"))
    return "" if values[0] is None else " ".join(f"{times * one:.9f}" for one in values if one is not None)


def _alike(one: str, other: str) -> bool:
    one, other = one.replace(",", "").replace("–", "-"), other.replace(",", "").replace("–", "-")
    if "∞" in one + other:
        return one == other
    if one[0] in "<>" or other[0] in "<>":
        return _beyond(one, other) if one[0] in "<>" else _beyond(other, one)
    return abs(float(one) - float(other)) <= 0.5000001 * max(_unit(one), _unit(other))


def _beyond(told: str, other: str) -> bool:
    """Whether the other is where `<1` or `>99` says that it is."""
    if other[0] in "<>":
        return told[0] == other[0]
    return float(other) < float(told[1:]) if told[0] == "<" else float(other) > float(told[1:])


def _unit(number: str) -> float:
    whole, _, decimals = number.partition(".")
    if decimals:
        return 10.0 ** -len(decimals)
    if abs(float(whole)) < _LARGE:
        return 1.0
    return 10.0 ** (len(whole) - len(whole.rstrip("0")))


def _cells(line: str) -> list[str]:
    return re.split(r"\s{2,}", line.strip())


class _Page(HTMLParser):
    """Tables as headings and rows, terms with what is told of them, and all words."""

    def __init__(self) -> None:
        super().__init__()
        self.tables: list[tuple[str, list[str], list[list[str]]]] = []
        self.terms: list[tuple[str, str]] = []
        self.words: list[str] = []
        self._into: list[str] = []
        self._term = self._part = ""
        self._settings = False
        self._row: list[str] = []
        self._skipped = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self.tables.append(("", [], []))
        if tag == "tr":
            self._row = []
        if tag == "section":
            self._settings, self._part = ("id", "settings") in attrs, ""
        if tag in ("th", "td", "dt", "dd", "caption", "h3"):
            self._into = []
        self._skipped += tag in ("script", "style", "svg")

    def handle_endtag(self, tag: str) -> None:
        told = " ".join("".join(self._into).split())
        self._skipped -= tag in ("script", "style", "svg")
        if tag in ("th", "td"):
            self._row.append(told)
        if tag == "dt":
            self._term = told
        if tag == "caption":
            self.tables[-1] = (told, *self.tables[-1][1:])
        if tag == "h3":
            self._part = f"{told}: " if self._settings else ""
        if tag == "dd":
            self.terms.append((f"{self._part}{self._term}", told))
        if tag == "tr" and self.tables:
            _, headings, rows = self.tables[-1]
            if headings:
                rows.append(self._row)
            else:
                headings.extend(self._row)

    def handle_data(self, data: str) -> None:
        if self._skipped <= 0:
            self._into.append(f"{data} ")
            self.words.append(data)
