"""Files of model answers, checked against a benchmark; all faults are told together and nothing is half imported."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.data_error import Place, Problems, ResponsesError, near, quoted
from evenhand.benchmarks.failure_text import is_failure_text
from evenhand.benchmarks.fields import FieldReader
from evenhand.benchmarks.rows import Row, kind_of, read_rows
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.response import REFERENCE, Response

# The first name is ours; the others are VLMEvalKit's and AlpacaEval's.
_COLUMNS = (("item", "id", "index"), ("model", "generator"), ("response", "output", "prediction"))
_LISTED = 5


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """A row that holds no answer: blank, or another tool's failure text."""

    item: str
    """The item's label."""
    model: str
    text: str
    place: Place


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCount:
    """Items by what a model gave for them; the four add up to the benchmark's items."""

    model: str
    answered: int
    missing: int
    empty: int
    failure_text: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ResponseSet:
    responses: tuple[Response, ...]
    """What can be judged, in the files' order."""
    counts: tuple[ModelCount, ...]
    empty: tuple[Unjudged, ...]
    failure_texts: tuple[Unjudged, ...]
    warnings: tuple[str, ...]
    """Sentences that a user must be told."""

    @property
    def models(self) -> tuple[str, ...]:
        """In the order they first appear."""
        return tuple(count.model for count in self.counts)


def read_responses(paths: Path | Sequence[Path], benchmark: Benchmark, *, variant: str = "") -> ResponseSet:
    """The answers in one file or several. Raises ResponsesError with all problems of all files."""
    problems = Problems(ResponsesError)
    collected = _Collected(benchmark, problems)
    for path in [paths] if isinstance(paths, Path) else paths:
        rows = read_rows(path, problems)
        if rows and _columns_fit(path, rows, problems):
            for row in rows:
                collected.add(row)
    collected.report_unknown()
    problems.raise_any()
    return collected.response_set(variant)


def reference_responses(benchmark: Benchmark) -> tuple[Response, ...]:
    """The references as answers of the reserved model, for the items that have one."""
    return tuple(
        Response(item=item.digest, model=REFERENCE, text=item.reference) for item in benchmark.items if item.reference
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    item: Item
    model: str
    text: str
    place: Place


class _Collected:
    """The answers met so far, one for each item and model."""

    def __init__(self, benchmark: Benchmark, problems: Problems) -> None:
        self._benchmark = benchmark
        self._problems = problems
        self._items = {item.label: item for item in benchmark.items}
        self._answers: dict[tuple[str, str], _Answer] = {}
        self._unknown: dict[str, Place] = {}
        self._unknown_rows = 0
        self._unknown_columns: set[str] = set()
        self._repeated: list[Place] = []

    def add(self, row: Row) -> None:
        reader = FieldReader(row, self._problems)
        label, model = reader.label(_COLUMNS[0]), reader.label(_COLUMNS[1])
        text = _answer_text(reader)
        if model.casefold() == REFERENCE:
            reader.fault(f"The model name `{model}` is reserved for the benchmark's own references; rename the model.")
        if reader.faulty:
            return
        if label not in self._items:
            self._unknown.setdefault(label, row.place)
            self._unknown_rows += 1
            self._unknown_columns.add(reader.given(_COLUMNS[0]) or "")
            return
        self._keep(_Answer(item=self._items[label], model=model, text=text, place=row.place), reader)

    def _keep(self, answer: _Answer, reader: FieldReader) -> None:
        first = self._answers.setdefault((answer.item.label, answer.model), answer)
        if first is answer:
            return
        if first.text == answer.text or not (first.text.strip() or answer.text.strip()):
            self._repeated.append(answer.place)
        else:
            reader.fault(
                f"`{answer.model}` already answered item `{answer.item.label}` with another text "
                f"({first.place.seen_from(answer.place)}); keep one of the two."
            )

    def report_unknown(self) -> None:
        if not self._unknown:
            return
        shown: list[str] = []
        first = next(iter(self._unknown.values()))
        for label, place in list(self._unknown.items())[:_LISTED]:
            close = near(label, self._items)
            hint = f"; near: {quoted(close)}" if close else ""
            shown.append(f"`{label}` ({place.seen_from(first)}{hint})")
        more = len(self._unknown) - len(shown)
        self._problems.add(
            first,
            f"{self._benchmark.name} has no such item: {', '.join(shown)}{f' and {more} more' if more else ''}. "
            f"Unknown items: {len(self._unknown)}, in {self._unknown_rows} rows, "
            f"by the column {quoted(sorted(self._unknown_columns))}.",
        )

    def response_set(self, variant: str) -> ResponseSet:
        answered: list[Response] = []
        empty: list[Unjudged] = []
        failures: list[Unjudged] = []
        for one in self._answers.values():
            unjudged = Unjudged(item=one.item.label, model=one.model, text=one.text, place=one.place)
            if not one.text.strip():
                empty.append(unjudged)
            elif is_failure_text(one.text):
                failures.append(unjudged)
            else:
                answered.append(Response(item=one.item.digest, model=one.model, text=one.text, variant=variant))
        models = dict.fromkeys(one.model for one in self._answers.values())
        return ResponseSet(
            responses=tuple(answered),
            counts=_counts(models, len(self._items), answered, empty, failures),
            empty=tuple(empty),
            failure_texts=tuple(failures),
            warnings=(*self._warnings(models, empty, failures),),
        )

    def _warnings(
        self, models: Iterable[str], empty: Sequence[Unjudged], failures: Sequence[Unjudged]
    ) -> Iterable[str]:
        for model in models:
            lost = [one for one in failures if one.model == model]
            if lost:
                yield (
                    f"`{model}`: responses that are another tool's failure text and are not judged: {len(lost)} "
                    f'(items {_listed(one.item for one in lost)}; the first reads "{lost[0].text.strip()[:80]}").'
                )
            blank = [one.item for one in empty if one.model == model]
            if blank:
                yield f"`{model}`: empty responses, not judged: {len(blank)} (items {_listed(blank)})."
            missing = [label for label in self._items if (label, model) not in self._answers]
            if missing:
                yield f"`{model}`: items without a response: {len(missing)} of {len(self._items)} ({_listed(missing)})."
        if self._repeated:
            first = self._repeated[0]
            yield f"Rows that repeat an earlier row were dropped: {len(self._repeated)} (the first is {first})."


def _columns_fit(path: Path, rows: Sequence[Row], problems: Problems) -> bool:
    """False where a needed column is nowhere in the file; that is told once and not for every row."""
    found = dict.fromkeys(name for row in rows for name in row.fields)
    fits = True
    for names in _COLUMNS:
        given = [name for name in names if name in found]
        if not given:
            close = [close for name in names for close in near(name, found, cutoff=0.7)]
            hint = f" Did you mean {quoted(dict.fromkeys(close))}?" if close else ""
            sentence = f"No column `{names[0]}` (or {quoted(names[1:])}); found {quoted(found)}.{hint}"
            problems.add(Place(path=path), sentence)
            fits = False
        elif len(given) > 1 and names[0] not in given:
            sentence = f"The columns {quoted(given)} could each be `{names[0]}`; rename the one meant to `{names[0]}`."
            problems.add(Place(path=path), sentence)
            fits = False
    return fits


def _answer_text(reader: FieldReader) -> str:
    """The answer as text; a number or truth value is written as JSON writes it, a null is blank."""
    name = reader.given(_COLUMNS[2])
    if name is None:
        reader.missing(_COLUMNS[2])
        return ""
    value = reader.row.fields[name]
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, str):
        reader.fault(f"The field `{name}` must be text and is {kind_of(value)}.")
        return ""
    return reader.checked(name, value)


def _counts(
    models: Iterable[str],
    items: int,
    answered: Sequence[Response],
    empty: Sequence[Unjudged],
    failures: Sequence[Unjudged],
) -> tuple[ModelCount, ...]:
    good, blank, lost = (Counter(one.model for one in kind) for kind in (answered, empty, failures))
    return tuple(
        ModelCount(
            model=model,
            answered=good[model],
            empty=blank[model],
            failure_text=lost[model],
            missing=items - good[model] - blank[model] - lost[model],
        )
        for model in models
    )


def _listed(labels: Iterable[str]) -> str:
    every = list(labels)
    more = len(every) - _LISTED
    return ", ".join(every[:_LISTED]) + (f" and {more} more" if more > 0 else "")
