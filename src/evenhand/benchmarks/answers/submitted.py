"""A submitted file of one model's answers, checked whole against its benchmark, whatever its bytes are."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.benchmarks.answers.checked import Checked, Doubled, Unknown, Unreadable, Unusable, in_words
from evenhand.benchmarks.answers.collected import ANSWER, ITEM, MODEL, CollectedAnswer, CollectedAnswers, column_fault
from evenhand.benchmarks.answers.predictions import model_of_column
from evenhand.benchmarks.answers.upload import TooMuch, text_lines, why_misnamed, why_no_text
from evenhand.benchmarks.data_error import FilePlace, Problems, ResponsesError, listed, near, quoted
from evenhand.benchmarks.files.cells import is_nothing
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row, cell_rows, json_row
from evenhand.benchmarks.files.sheet import CELL_LIMIT
from evenhand.domain.item import Benchmark, Item
from evenhand.format.printable import is_formula

_NO_SUCH_ITEM = "has no such item"
_EMPTY = "The file is empty; at least one row is needed."

_LINES_OF_A_ROW = 20
_MOST_FIELDS = 500
_MOST_UNREADABLE = 1_000
_LONGEST_SENTENCE = 400
_LONGEST_NAME = 80
_HINTED = 10
"""Looking for near names takes long; the first few teach what is wrong with the others."""


@dataclass(frozen=True, slots=True, kw_only=True)
class UploadLimits:
    rows: int = 100_000
    characters: int = 1_000_000
    """Of one row as it is written, and so of its cells."""


def check_submitted(
    data: bytes,
    name: str,
    benchmark: Benchmark,
    *,
    label: str,
    missing_allowed: int,
    limits: UploadLimits | None = None,
) -> Checked:
    """Never raises. `name` says by its ending how the file is read; `label` is the model's name in the responses."""
    collected = _Collected(benchmark, limits or UploadLimits(), name)
    collected.read(data)
    return collected.checked(label=label, missing_allowed=missing_allowed)


class _Told(Problems):
    """Problems of one file, short each and not too many. Raises TooMuch."""

    def __init__(self) -> None:
        super().__init__(ResponsesError)

    def add(self, place: FilePlace, sentence: str, *, code: str | None = None, kind: str | None = None) -> None:
        super().add(place, _shown(sentence, _LONGEST_SENTENCE), code=code, kind=kind)
        if self.count >= _MOST_UNREADABLE:
            raise TooMuch(f"{self.count:,} rows could not be read.")


class _Collected(CollectedAnswers):
    """Of one file, whose model goes by another name here: whatever the file calls it, it is one."""

    def __init__(self, benchmark: Benchmark, limits: UploadLimits, name: str) -> None:
        super().__init__(benchmark)
        self._benchmark = benchmark
        self._limits = limits
        self._path = Path("".join(filter(str.isprintable, name.replace("\\", "/").rpartition("/")[2])) or "file")
        self._problems = _Told()
        self._of_file: list[str] = []
        self._whole = False
        self._models: dict[str, int] = {}

    def read(self, data: bytes) -> None:
        """Takes in all that can be read, and what is wrong with the rest."""
        ending = self._path.suffix.lower()
        if ending not in (".csv", ".jsonl"):
            found = f"ends {_shown(ending, _LONGEST_NAME)}" if ending else "has no ending"
            self._of_file.append(f"The file's name says how it is read and {found}; give a .csv or a .jsonl file.")
            return
        sentence = why_no_text(data)
        if sentence is None and not data.strip():
            sentence = _EMPTY
        sentence = sentence or why_misnamed(data, ending)
        if sentence is not None:
            self._of_file.append(sentence)
            return
        lines = text_lines(data, longest=self._limits.characters, most=self._limits.rows * _LINES_OF_A_ROW)
        try:
            self._take(self._cells(lines) if ending == ".csv" else self._objects(lines))
        except TooMuch as error:
            self._whole = False
            self._of_file.append(f"{error} What comes after was not looked at.")

    def _cells(self, lines: Iterator[str]) -> Iterator[Row]:
        self._whole = yield from cell_rows(self._path, lines, self._problems, longest=self._limits.characters)

    def _objects(self, lines: Iterator[str]) -> Iterator[Row]:
        number = 0
        for line in lines:
            too_long = len(line.rstrip("\r\n")) > self._limits.characters
            if not line.strip() and not too_long:
                continue
            number += 1
            place = FilePlace(path=self._path, row=number)
            if too_long:
                self._problems.add(place, f"The row is longer than {self._limits.characters:,} characters; shorten it.")
            else:
                yield from json_row(line.strip(), place, self._problems)
        self._whole = True

    def _take(self, rows: Iterator[Row]) -> None:
        taken = 0
        for row in rows:
            taken += 1
            if taken > self._limits.rows:
                raise TooMuch(f"The file has more than {self._limits.rows:,} rows.")
            self._add(FieldReader(row, self._problems))
        if not taken and not self._problems.count:
            self._whole = False
            self._of_file.append(_EMPTY)

    def _add(self, reader: FieldReader) -> None:
        if len(reader.row.fields) > _MOST_FIELDS:
            reader.fault(f"The row has more than {_MOST_FIELDS} fields; leave out those that are not needed.")
            return
        column = self._answer_column(reader)
        text = reader.answer([column]) if column else ""
        if column not in ANSWER and is_nothing(text):
            text = ""  # VisIT-Bench's own form writes a missing answer as NaN
        model = self._model(reader, column)
        if reader.faulty:
            return
        if model:
            self._models.setdefault(_shown(model, _LONGEST_NAME), reader.row.place.row or 0)
        item = self._item(reader)
        if item is not None:
            self.keep(CollectedAnswer(item=item, model="", text=text, place=reader.row.place))

    def _item(self, reader: FieldReader) -> Item | None:
        fields = reader.row.fields
        if "instruction" in fields and not any(name in fields for name in ITEM):
            return self.by_content.find(reader.row)
        column = _column(reader, ITEM)
        label = reader.label([column]) if column else ""
        if reader.faulty:
            return None
        if label not in self.items and not self.passes_over(label):
            self.unknown.setdefault(_shown(label, _LONGEST_NAME), []).append(reader.row.place)
        return self.items.get(label)

    def _answer_column(self, reader: FieldReader) -> str | None:
        fields = reader.row.fields
        if any(name in fields for name in ANSWER):
            return _column(reader, ANSWER)
        columns = [name for name in fields if model_of_column(name) is not None]
        if len(columns) > 1:
            reader.fault(f"The columns {quoted(columns)} hold the answers of several models; keep one model's.")
            return None
        return columns[0] if columns else _column(reader, ANSWER)

    def _model(self, reader: FieldReader, column: str | None) -> str | None:
        """As the file calls it, where it does."""
        name = reader.given(MODEL)
        called = reader.row.fields[name] if name else column and model_of_column(column)
        return None if is_nothing(called) else str(called).strip()

    def checked(self, *, label: str, missing_allowed: int) -> Checked:
        found = self.sorted_out()
        answered = {item for item, _ in self.answers}
        return Checked(
            benchmark=self._benchmark.name,
            items=len(self.items),
            missing_allowed=missing_allowed,
            responses=tuple(one.response(model=label) for one in found.usable),
            missing=tuple(one for one in self.items if one not in answered) if self._whole else (),
            empty=tuple(map(_unusable, found.empty)),
            failure_texts=tuple(map(_unusable, found.failure_texts)),
            doubled=tuple(Doubled(item=item, rows=_rows(places)) for (item, _), places in self.contradicted.items()),
            unknown=tuple(self._unknown_items()),
            unreadable=tuple(self._unreadable()),
            notes=tuple(self._notes(found.usable)),
        )

    def _unknown_items(self) -> Iterator[Unknown]:
        for number, (name, places) in enumerate(self.unknown.items()):
            close = near(name, self.items) if number < _HINTED else ()
            yield Unknown(item=name, rows=_rows(places), why=_NO_SUCH_ITEM, near=close)
        unlike: dict[tuple[str, str], list[FilePlace]] = {}
        for one in self.by_content.misfits:
            unlike.setdefault((one.why, one.words), []).append(one.place)
        for (why, words), places in unlike.items():
            yield Unknown(item=_shown(words, _LONGEST_NAME), rows=_rows(places), why=why)

    def _unreadable(self) -> Iterator[Unreadable]:
        for sentence in self._of_file:
            yield Unreadable(sentence=sentence)
        if len(self._models) > 1:
            named = listed(f"`{model}` (row {row})" for model, row in self._models.items())
            sentence = (
                f"The file names {len(self._models)} models: {named}. A submission is of one model; keep its rows."
            )
            yield Unreadable(sentence=sentence)
        alike: dict[str, list[int]] = {}
        for place, sentence in self._problems.met:
            alike.setdefault(sentence, []).extend([] if place.row is None else [place.row])
        for sentence, rows in alike.items():
            yield Unreadable(sentence=sentence, rows=tuple(rows))

    def _notes(self, usable: Sequence[CollectedAnswer]) -> Iterator[str]:
        if not self._whole and self._problems.count and not self._of_file:
            yield "The file could not be read to its end; what comes after was not looked at."
        if len(self._models) == 1:
            yield f"The file calls the model {quoted(self._models)}; it stands under the name given for the submission."
        if self.repeated:
            yield (
                f"Rows that say the same again were passed over: {len(self.repeated)} "
                f"({in_words('row', map(str, _rows(self.repeated)))})."
            )
        yield from self.told_passed_over()
        formulas = [one.item.label for one in usable if is_formula(one.text)]
        if formulas:
            yield (
                f"Answers that begin like a spreadsheet's formula: {len(formulas)} "
                f"({in_words('item', formulas)}); "
                "they are kept as the text they are."
            )
        cut = [one.item.label for one in usable if one.cut]
        if cut:
            yield (
                f"Answers of exactly {CELL_LIMIT:,} characters, where spreadsheets cut a text: {len(cut)} "
                f"({in_words('item', cut)}); if they were cut, write the file without a spreadsheet."
            )
        yield from (_shown(one, _LONGEST_SENTENCE) for one in self.by_content.miscalled())


def _column(reader: FieldReader, names: tuple[str, ...]) -> str | None:
    """The column that is meant; None and a fault where there is none, or more than one and not the first."""
    fields = reader.row.fields
    if fault := column_fault(fields, names, opening="There is no column", searched=_HINTED):
        reader.fault(fault)
        return None
    return next(name for name in names if name in fields)


def _rows(places: Sequence[FilePlace]) -> tuple[int, ...]:
    return tuple(place.row or 0 for place in places)


def _unusable(answer: CollectedAnswer) -> Unusable:
    return Unusable(item=answer.item.label, row=answer.place.row or 0, text=_shown(answer.text.strip(), _LONGEST_NAME))


def _shown(text: str, longest: int) -> str:
    """On one line, and without what no page or terminal can show."""
    kept = text if len(text) <= longest else f"{text[: longest - 1]}…"
    return "".join(char if char.isprintable() else " " if char.isspace() else "\ufffd" for char in kept)
