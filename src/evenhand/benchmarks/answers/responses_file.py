"""Files of model answers, checked against a benchmark; all faults are told together and nothing is half imported."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import ClassVar, Literal, TypeAlias, cast

from evenhand.benchmarks.answers.collected import ANSWER, ITEM, MODEL, CollectedAnswer, CollectedAnswers, column_fault
from evenhand.benchmarks.answers.predictions import as_responses, is_predictions, predicting_models, sheets_own
from evenhand.benchmarks.data_error import (
    COLUMN,
    ITEM_UNKNOWN,
    LISTED,
    OTHER_NAMES,
    RESERVED,
    TWICE,
    FilePlace,
    Problems,
    ResponsesError,
    listed,
    lmms_eval_fault,
    near,
    quoted,
)
from evenhand.benchmarks.files.by_content import ItemsByContent
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Frame, Row, given_rows, read_rows, renamed, unpacked_name
from evenhand.benchmarks.files.sheet import CELL_LIMIT
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.domain.reserved import reserved_for
from evenhand.domain.response import REFERENCE, Response
from evenhand.format.result import Result

_WIDE = "If each model has a column of its own, write a row for each answer instead, with its `item` and `model`."


def is_named_by_file(columns: Collection[str]) -> bool:
    """By the columns: rows are matched by `index`, answers are `prediction`, and no column names a model."""
    return {"index", "prediction"} <= set(columns) and not {"model", "generator"} & set(columns)


def model_in_name(path: Path, benchmark: Benchmark) -> str:
    """What stands before the benchmark's name in the file's name: `qwen` of qwen_Creation_MMBench.xlsx."""
    model, _ = _around(path, benchmark)
    return model or unpacked_name(path).stem


def is_reversed(path: Path, benchmark: Benchmark) -> bool:
    """Whether it is the second file of a dual evaluation, in which VLMEvalKit exchanges answers and references."""
    _, behind = _around(path, benchmark)
    return "rev" in behind


def _around(path: Path, benchmark: Benchmark) -> tuple[str, tuple[str, ...]]:
    """What stands before the benchmark's name, "" where nothing does or it is not there, and the words behind it."""
    wanted = _letters(benchmark.name.removesuffix("-sample"))
    words = unpacked_name(path).stem.split("_")
    for begin in range(1, len(words)):
        for end in range(begin + 1, len(words) + 1):
            if _letters("".join(words[begin:end])) == wanted:
                return "_".join(words[:begin]), tuple(words[end:])
    return "", ()


def as_answers(rows: Iterable[Row], model: str) -> Iterator[Row]:
    """The rows with the model's name in them."""
    for row in rows:
        yield Row(place=row.place, fields={**row.fields, "model": model})


def _letters(text: str) -> str:
    return "".join(char for char in text.casefold() if char.isalnum())


def is_outputs(columns: Collection[str]) -> bool:
    """By the columns: items are named by their instruction, the answer is `output`."""
    return {"instruction", "output"} <= set(columns) and not set(ITEM) & set(columns)


def matched_outputs(path: Path, rows: Sequence[Row], items: ItemsByContent, problems: Problems) -> Iterator[Row]:
    """The rows with their item's label in them; those that fit no item are left to `items`."""
    if not any(name in row.fields for row in rows for name in MODEL):
        sentence = f"No column `{MODEL[1]}` says whose outputs these are; add it with the model's name."
        problems.add(FilePlace(path=path), sentence, code=COLUMN)
        return
    for row in rows:
        item = items.find(row)
        if item is not None:
            yield Row(place=row.place, fields={**row.fields, "item": item.label})


Gaps: TypeAlias = Literal["note", "refuse", "allow"]
"""Items without an answer are noted, or refused with the whole file; `allow` takes what can be taken, and leaves out
with a warning also the answers to unknown items and those of which an item has two."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Unjudged:
    """A row that holds no answer: blank, or another tool's failure text."""

    item: str
    """The item's label."""
    model: str
    text: str
    place: FilePlace


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCount:
    """Items by what a model gave for them; the four add up to the benchmark's items."""

    model: str
    answered: int
    missing: int
    empty: int
    failure_text: int


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ResponseSet(Result):
    table: ClassVar[str] = "models"
    shown: ClassVar[tuple[str, ...]] = ("model", "answered", "missing", "empty", "failure_text")

    responses: tuple[Response, ...]
    """What can be judged, in the files' order."""
    counts: tuple[ModelCount, ...]
    empty: tuple[Unjudged, ...]
    failure_texts: tuple[Unjudged, ...]
    warnings: tuple[str, ...]
    """Sentences that a user must be told."""
    variant: str = ""
    """That they are of."""

    @property
    def headline(self) -> str:
        return f"Answers: {len(self.responses):,} to judge, of {listed(self.models)}"

    @property
    def sentences(self) -> tuple[str, ...]:
        return self.warnings

    def as_json(self) -> dict[str, Json]:
        models: list[Json] = [asdict(count) for count in self.counts]
        return {"schema": 1, "answers": len(self.responses), "models": models, "warnings": list(self.warnings)}

    @property
    def models(self) -> tuple[str, ...]:
        """In the order they first appear."""
        return tuple(count.model for count in self.counts)


GivenResponses: TypeAlias = "str | Path | Sequence[str | Path] | Frame | Iterable[Mapping[str, object]]"
"""A path, several, a polars or pandas frame, or records; a text is a path."""


def read_responses(
    given: GivenResponses,
    benchmark: Benchmark,
    *,
    variant: str = "",
    gaps: Gaps = "note",
    needed: Sequence[Item] | None = None,
    columns: Mapping[str, str] | None = None,
) -> ResponseSet:
    """The answers in one file or several, in a polars or pandas frame, or in records; a text is a path.

    Columns are item, model and response, or another tool's; `columns` gives ours by those of yours. `needed`: the
    items of which none may lack; None: all of the benchmark's.

    >>> bench = eh.load_benchmark("visit-bench-sample")
    >>> records = [{"item": item.label, "model": "mine", "response": "A red kite."} for item in bench.items]
    >>> answers = eh.read_responses(records, bench)
    >>> answers
    Answers: 22 to judge, of mine

    Raises ResponsesError with all problems of all files.
    """
    problems = Problems(ResponsesError)
    collected = _Collected(benchmark, problems, gaps=gaps, needed=benchmark.items if needed is None else needed)
    by_content = collected.by_content
    for path, given_as in _sources(given, problems):
        had = {name for row in given_as for name in row.fields}
        # Files beside each other may differ: a name that one has already is not given to another column of it.
        rows = renamed(given_as, {theirs: ours for theirs, ours in (columns or {}).items() if ours not in had})
        found = dict.fromkeys(name for row in rows for name in row.fields)
        if is_predictions(found):
            models = predicting_models(path, found, problems)
            collected.note(f"{path.name}: the sheet's own column `{one}` is no model's." for one in sheets_own(found))
            rows = list(as_responses(rows, models, by_content))
        elif is_outputs(found):
            rows = list(matched_outputs(path, rows, by_content, problems))
        elif is_named_by_file(found):
            rows = list(as_answers(rows, collected.named_by_file(path)))
        elif not rows or not _columns_fit(path, found, problems):
            rows = []
        for row in rows:
            collected.add(row)
    collected.report_unknown()
    collected.report_missing()
    for place, sentence in by_content.unmatched():
        collected.report(place, sentence)
    collected.note(by_content.miscalled())
    problems.raise_any()
    return collected.response_set(variant)


def _sources(given: object, problems: Problems) -> Iterator[tuple[Path, list[Row]]]:
    if isinstance(given, str | Path):
        yield Path(given), read_rows(Path(given), problems)
    elif hasattr(type(given), "columns"):
        yield Path("a frame"), given_rows(cast("Frame", given), problems)
    else:
        several = list(cast("Iterable[Mapping[str, object]]", given))
        paths = [Path(one) for one in several if isinstance(one, str | Path)]
        if paths and len(paths) < len(several):
            raise ResponsesError("Answers are given as paths or as records, not as a mixture of both.")
        if not paths:
            yield Path("the records"), given_rows(several, problems)
        for path in paths:
            yield path, read_rows(path, problems)


def reference_responses(benchmark: Benchmark) -> tuple[Response, ...]:
    """The references as answers of the reserved model, for the items that have one."""
    return tuple(
        Response(item=item.digest, model=REFERENCE, text=item.reference) for item in benchmark.items if item.reference
    )


class _Collected(CollectedAnswers):
    """With the notes and problems that a reader of several files is told."""

    def __init__(self, benchmark: Benchmark, problems: Problems, *, gaps: Gaps, needed: Sequence[Item]) -> None:
        super().__init__(benchmark)
        self._benchmark = benchmark
        self._needed = [item.label for item in needed]
        self._problems = problems
        self._gaps: Gaps = gaps
        self._unknown_columns: set[str] = set()
        self._notes: list[str] = []
        self._named: dict[bool, list[tuple[str, str]]] = {}

    def named_by_file(self, path: Path) -> str:
        model = model_in_name(path, self._benchmark)
        if is_reversed(path, self._benchmark):
            sentence = (
                "VLMEvalKit exchanges the answers and the references in its files named _rev, so these are not the "
                "model's own; give the file of that name without it."
            )
            self._problems.add(FilePlace(path=path), sentence, code="EH-ANSWERS-EXCHANGED")
        self._named.setdefault(model != unpacked_name(path).stem, []).append((path.name, model))
        return model

    def _told_named(self) -> Iterator[str]:
        """Of files without a column for it, whose answers they are taken for: one sentence for all of a kind."""
        for after_benchmark, files in self._named.items():
            one = len(files) == 1
            who = f"{files[0][0]} has" if one else f"{len(files)} files have"
            models = listed([f"`{model}`" for _, model in files])
            its, names, do = ("its", "name", "does") if one else ("their", "names", "do")
            called = f"as {'the file is' if one else 'the files are'} called, for {its} {names} {do} not hold"
            where = f"after {its} {names}" if after_benchmark else f"{called} the benchmark's"
            yield f"{who} no column `model`; {its} answers are those of {models}, {where}."

    def add(self, row: Row) -> None:
        reader = FieldReader(row, self._problems)
        label, model, text = reader.label(ITEM), reader.label(MODEL), reader.answer(ANSWER)
        if (meaning := reserved_for(model)) is not None:
            reader.fault(f"The model name `{model}` is reserved for {meaning}; rename the model.", code=RESERVED)
        if reader.faulty:
            return
        if self.passes_over(label):
            return
        if label not in self.items:
            self.unknown.setdefault(label, []).append(row.place)
            self._unknown_columns.add(reader.given(ITEM) or "")
            return
        first = self.keep(CollectedAnswer(item=self.items[label], model=model, text=text, place=row.place))
        if first is not None and self._gaps != "allow":
            reader.fault(
                f"`{model}` already answered item `{label}` with another text "
                f"({first.place.seen_from(row.place)}); keep one of the two, or leave the item "
                "out for this model with --allow-partial.",
                code=TWICE,
                kind=f"already answered by {model}",
            )

    def report_unknown(self) -> None:
        self._notes.extend(self.told_passed_over())
        if not self.unknown:
            return
        shown: list[str] = []
        first = next(iter(self.unknown.values()))[0]
        for label, places in list(self.unknown.items())[:LISTED]:
            close = near(label, self.items)
            hint = f"; near: {quoted(close)}" if close else ""
            shown.append(f"`{label}` ({places[0].seen_from(first)}{hint})")
        more = len(self.unknown) - len(shown)
        sentence = (
            f"{self._benchmark.name} has no such item: {', '.join(shown)}{f' and {more} more' if more else ''}. "
            f"Unknown items: {len(self.unknown)}, in {sum(map(len, self.unknown.values()))} rows, "
            f"by the column {quoted(sorted(self._unknown_columns))}."
        )
        if self._gaps != "allow":
            sentence += " Leave them out, or take the rest with --allow-partial."
        self.report(first, sentence)

    def note(self, sentences: Iterable[str]) -> None:
        self._notes.extend(sentences)

    def report(self, place: FilePlace, sentence: str) -> None:
        """A problem about answers to unknown items; a note where what can be taken is taken."""
        if self._gaps == "allow":
            self._notes.append(f"{place}: {sentence}")
        else:
            self._problems.add(place, sentence, code=ITEM_UNKNOWN)

    def report_missing(self) -> None:
        """A problem for each model with items unanswered, where that is refused."""
        files = {one.model: one.place.path for one in reversed(self.answers.values())}
        for model, path in files.items() if self._gaps == "refuse" else ():
            if missing := self._missing(model, usable=True):
                given = {label: self.answers.get((label, model)) for label in self._needed}
                useless = [label for label, one in given.items() if one is not None and not one.usable]
                also = f" Of these, empty or another tool's failure text: {len(useless)} ({listed(useless)})."
                sentence = (
                    f"{missing}{also if useless else ''} Give them too, or judge what is there with --allow-partial."
                )
                self._problems.add(FilePlace(path=path), sentence, code="EH-ANSWERS-MISSING")

    def _missing(self, model: str, *, usable: bool = False) -> str | None:
        """A sentence, where items lack this model's answer; `usable`: or have one that cannot be judged."""
        given = {label for (label, other), one in self.answers.items() if other == model and (one.usable or not usable)}
        missing = [label for label in self._needed if label not in given]
        if not missing:
            return None
        return f"`{model}`: items without a response: {len(missing)} of {len(self._needed)} ({listed(missing)})."

    def response_set(self, variant: str) -> ResponseSet:
        found = self.sorted_out()
        answered = [one.response(model=one.model, variant=variant) for one in found.usable]
        empty, failures = (
            [Unjudged(item=one.item.label, model=one.model, text=one.text, place=one.place) for one in some]
            for some in (found.empty, found.failure_texts)
        )
        models = dict.fromkeys(one.model for one in self.answers.values())
        return ResponseSet(
            responses=tuple(answered),
            counts=_counts(models, len(self.items), answered, empty, failures),
            empty=tuple(empty),
            failure_texts=tuple(failures),
            warnings=(*self._warnings(models, empty, failures),),
            variant=variant,
        )

    def _warnings(
        self, models: Iterable[str], empty: Sequence[Unjudged], failures: Sequence[Unjudged]
    ) -> Iterable[str]:
        for model in models:
            lost = [one for one in failures if one.model == model]
            if lost:
                yield (
                    f"`{model}`: responses that are another tool's failure text and are not judged: {len(lost)} "
                    f'({_items([one.item for one in lost])}; the first reads "{lost[0].text.strip()[:80]}").'
                )
            blank = [one.item for one in empty if one.model == model]
            if blank:
                yield f"`{model}`: empty responses, not judged: {len(blank)} ({_items(blank)})."
            cut = [one.item.label for one in self.answers.values() if one.model == model and one.cut]
            if cut:
                yield (
                    f"`{model}`: responses of exactly {CELL_LIMIT} characters, where sheets cut a text: {len(cut)} "
                    f"({_items(cut)}); if they were cut, export them in another format."
                )
            twice = [label for label, other in self.contradicted if other == model]
            if twice:
                yield f"`{model}`: items with two different responses, not judged: {len(twice)} ({listed(twice)})."
            if missing := self._missing(model):
                yield missing
        yield from self._told_named()
        yield from self._notes
        if self.repeated:
            first = self.repeated[0]
            yield f"Rows that repeat an earlier row were dropped: {len(self.repeated)} (the first is {first})."


def _items(labels: Sequence[str]) -> str:
    return f"{'item' if len(labels) == 1 else 'items'} {listed(labels)}"


def _columns_fit(path: Path, found: Collection[str], problems: Problems) -> bool:
    """False where a needed column is nowhere in the file; that is told once and not for every row."""
    if (foreign := lmms_eval_fault(found)) is not None:
        problems.add(FilePlace(path=path), foreign, code=COLUMN)
        return False
    faults = [fault for names in (ITEM, MODEL, ANSWER) if (fault := column_fault(found, names)) is not None]
    wide = not {*MODEL, *ANSWER} & set(found)
    for fault in faults:
        instead = _WIDE if wide and fault is faults[-1] else OTHER_NAMES
        problems.add(FilePlace(path=path), f"{fault} {instead}", code=COLUMN)
    return not faults


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
