"""Files of preferences by themselves: what raters said of pairs of models, with no benchmark to check them against."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from unicodedata import normalize

from evenhand.benchmarks.data_error import CELL, COLUMN, EMPTY, TWICE, FilePlace, Problems, quoted
from evenhand.benchmarks.files.rows import Row, read_rows, renamed, unpacked_name
from evenhand.domain.rater import Rater
from evenhand.domain.verdict import Levels, NoVerdict, Preference
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.file_form import (
    ModelNames,
    RaterKind,
    columns_of_file,
    plain_id,
    raters_of_files,
    read_model_names,
)
from evenhand.exchange.judgements.file import VerdictScale, columns_fit
from evenhand.exchange.judgements.preference_words import NO_VERDICTS, UNTOLD, Stated, is_blank, showings_in
from evenhand.exchange.judgements.row import RATER_COLUMNS, Kinds, PreferenceReader
from evenhand.exchange.judgements.visit_preferences import CHOSEN
from evenhand.exchange.winners import WinnerAs, WinnerColumn
from evenhand.format.words import counted, spelling_notes
from evenhand.stats.ratings.codes import respelled

_JOINED = ("votes", "shown_first")
"""Columns in which `export --battles` lists what it joined to one row."""
_SIDES = {"left": "model_a", "right": "model_b"}
"""What files of battles call the two models otherwise."""
_LABELS = (*RATER_COLUMNS, "item", "id")
_MODEL_CELLS = ("model_a", "model_b", "winner", "first_shown")
_SYMBOLS = {1: "A>B", 0: "A=B", -1: "B>A"}


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceForm:
    """How files are to be read, where they have names and words of their own."""

    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """Our name of a column by the files' own."""
    winner_words: Mapping[str, str] = field(default_factory=dict[str, str])
    """Our word for a winner (model_a, model_b, tie) by the files' own."""
    winner_as: WinnerAs | None = None
    """Whether winners are models' names or words for a side; None: what all rows together say."""
    names: ModelNames | None = None
    """What models are called, where the files have ids."""
    raters: tuple[str, ...] = ()
    """Who judged: one for each file that does not say it, in their order."""
    rater_kind: RaterKind | None = None
    """What those are; where none is named, all of whom the files do not say it."""

    @property
    def kind_otherwise(self) -> RaterKind | None:
        """Of raters whom a file names without saying what they are."""
        return None if self.raters else self.rater_kind


AS_IT_IS = PreferenceForm()


def form_of_files(
    columns: Mapping[str, str] | None = None,
    winner_words: Mapping[str, str] | None = None,
    winner_as: WinnerAs | None = None,
    names: str | None = None,
    rater: str | Sequence[str] = (),
    rater_kind: RaterKind | None = None,
) -> PreferenceForm:
    """Of what a user says; `names` is FILE:ID:NAME. Raises ExchangeError where that table does not fit, Misuse."""
    return PreferenceForm(
        columns=columns or {},
        winner_words=winner_words or {},
        winner_as=winner_as,
        names=None if names is None else read_model_names(names),
        raters=(rater,) if isinstance(rater, str) else tuple(rater),
        rater_kind=rater_kind,
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class GivenPreference:
    item: str
    models: tuple[str, str]
    """In the order shown."""
    rater: Rater
    replicate: int
    verdict: Preference | NoVerdict
    """A preference is positive for the model shown first."""
    path: Path = field(default_factory=Path, compare=False)
    """The file it was first read from."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Preferences:
    given: tuple[GivenPreference, ...]
    notes: tuple[str, ...] = ()
    """How the files were read, where they could have been read otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Row:
    place: FilePlace
    item: str
    models: tuple[str, str]
    rater: Rater
    replicate: int
    stated: Stated | NoVerdict
    about: Mapping[str, object]
    """Benchmark and variant, where an export says them."""
    named_by_file: bool
    """Whether no column says who judged."""
    numbered: bool
    """Whether the file itself tells repeats apart."""

    @property
    def showing(self) -> tuple[str, tuple[str, str], str, int]:
        return self.item, self.models, self.rater.name, self.replicate


@dataclass(frozen=True, slots=True, kw_only=True)
class _Met:
    """What is known so far of all files together."""

    kinds: Kinds = field(default_factory=Kinds)
    spellings: set[str] = field(default_factory=set[str])
    """Of models' names."""
    winners: dict[str, str] = field(default_factory=dict[str, str])
    """How those of a file were read, where that could be told otherwise."""
    counted: Counter[str] = field(default_factory=Counter[str])
    """Rows without a verdict that another of the same showing stands for (`tries`), and rows of showings with two
    verdicts (`repeats`)."""


def read_preference_files(
    paths: Sequence[Path], *, levels: Levels | None = None, form: PreferenceForm = AS_IT_IS
) -> Preferences:
    """All rows of all files, or ExchangeError with all that is wrong with them; rows that say the same again once.

    A `winner` is a verdict of three levels, and where no column says who judged, the file's name does. `levels` None:
    of each file 5 where a 2 occurs in it, else 3. A row without a verdict is a failed try where another row of the same
    showing has one. Rows of one showing with two verdicts are repeats, unless the file numbers those itself.
    """
    problems, met = Problems(ExchangeError), _Met()
    found: dict[tuple[str, tuple[str, str], str, int], list[tuple[GivenPreference, _Row]]] = {}
    files = [_read(file, problems, met) for file in prepared_files(paths, form, problems)]
    _refuse_namesakes(files, problems)
    _refuse_unlike((row for rows in files for row in rows), problems)
    for rows in files:
        scale = VerdictScale.of((row.stated for row in rows), levels)
        for row in rows:
            verdict = scale.verdict(row.stated, row.place, problems)
            if verdict is None:
                continue
            given = GivenPreference(
                item=row.item,
                models=row.models,
                rater=row.rater,
                replicate=row.replicate,
                verdict=verdict,
                path=row.place.path,
            )
            found.setdefault(row.showing, []).append((given, row))
    kept = tuple(one for rows in found.values() for one in _of_showing(rows, problems, met))
    problems.raise_any()
    return Preferences(given=kept, notes=_notes(met, files=len(files)))


def _of_showing(rows: Sequence[tuple[GivenPreference, _Row]], problems: Problems, met: _Met) -> list[GivenPreference]:
    """What counts of the rows of one showing."""
    read = [(given, row) for given, row in rows if not isinstance(given.verdict, NoVerdict)] or list(rows[:1])
    given = [one for one, _ in read]
    met.counted["tries"] += sum(one != given[0] for one, _ in rows if isinstance(one.verdict, NoVerdict))
    if all(one == given[0] for one in given):
        return given[:1]
    (_, before), (_, row) = read[0], next(other for other in read if other[0] != given[0])
    if any(one.numbered for _, one in read):
        problems.add(
            row.place,
            f"`{row.rater.name}` already judged {quoted(row.models)} on item `{row.item}` in this order with another "
            f"verdict ({before.place.seen_from(row.place)}), and both rows have the same `replicate`; keep one of the "
            "two, or number them.",
            code=TWICE,
        )
    met.counted["repeats"] += len(read)
    return [replace(one, replicate=number) for number, one in enumerate(given)]


def _notes(met: _Met, *, files: int) -> tuple[str, ...]:
    notes = [f"{path}: {note}" if files > 1 else note for path, note in met.winners.items()]
    if tries := met.counted["tries"]:
        told = counted(tries, "row without a verdict is a failed try", "rows without a verdict are failed tries")
        notes.append(f"{told}: another row of the same item, pair, rater and order counts.")
    if repeats := met.counted["repeats"]:
        notes.append(
            f"{repeats:,} rows repeat an item, pair, rater and order with another verdict: the mean of each showing's "
            "counts."
        )
    return (*notes, *spelling_notes(respelled(met.spellings)))


def _refuse_unlike(rows: Iterable[_Row], problems: Problems) -> None:
    """Items of two benchmarks may bear the same name, and answers of two variants differ; told once."""
    first: dict[str, tuple[object, FilePlace]] = {}
    for row in rows:
        for what, value in row.about.items():
            before, place = first.setdefault(what, (value, row.place))
            if before != value:
                problems.add(
                    row.place,
                    f"The row is of the {what} `{value}`, and that at {place.seen_from(row.place)} of `{before}`, "
                    f"which are never mixed; export one with --{what}.",
                    code=TWICE,
                )
                return


def _refuse_namesakes(files: Sequence[Sequence[_Row]], problems: Problems) -> None:
    """Two files that are called alike and have no rater's column would be one rater's."""
    unnamed: dict[str, Path] = {}
    for path in (rows[0].place.path for rows in files if rows and rows[0].named_by_file):
        other = unnamed.setdefault(unpacked_name(path).stem, path)
        if other != path:
            sentence = f"No column says who judged, and {other} has the same name; add a column `rater`, or rename one."
            problems.add(FilePlace(path=path), sentence, code=COLUMN)


@dataclass(frozen=True, slots=True, kw_only=True)
class PreparedFile:
    """A file of verdicts under our names: columns, models, who judged, and a verdict for each winner."""

    path: Path
    rows: Sequence[Row]
    named_by_file: bool
    """Whether neither a column nor the user says who judged."""
    note: str | None = None
    """How winners were read, where that could be told otherwise."""


def prepared_files(
    paths: Sequence[Path], form: PreferenceForm, problems: Problems, *, named_by_file: bool = True
) -> list[PreparedFile]:
    """What is wrong with them is added to `problems`; a file that cannot be used has no rows. Raises Misuse.

    `named_by_file`: whether a rater of whom nothing says it is called as the file is.
    """
    given = {path: read_rows(path, problems) for path in dict.fromkeys(paths)}
    anywhere = {name for rows in given.values() for row in rows for name in row.fields}
    ours = {
        path: _renamed(
            path,
            rows,
            columns_of_file(form.columns, {name for row in rows for name in row.fields}, anywhere),
            problems,
        )
        for path, rows in given.items()
    }
    found = {path: {name for row in rows for name in row.fields} for path, rows in ours.items()}
    told = [(path, bool(names & set(RATER_COLUMNS)) or not ours[path]) for path, names in found.items()]
    named = raters_of_files(told, form.raters)
    if named_by_file:
        named = {path: unpacked_name(path).stem for path, _ in told} | named
    return [_prepared(path, rows, found[path], form, named.get(path), problems) for path, rows in ours.items()]


def _prepared(
    path: Path, rows: list[Row], found: set[str], form: PreferenceForm, rater: str | None, problems: Problems
) -> PreparedFile:
    if any(name in found for name in CHOSEN):
        return PreparedFile(path=path, rows=rows, named_by_file=False)
    silent = not found & set(RATER_COLUMNS)
    if silent and rater is not None:
        kind = {} if form.rater_kind is None else {"rater_kind": form.rater_kind}
        rows = [_with(row, {"rater": rater, **kind}) for row in rows]
    elif form.kind_otherwise is not None:
        otherwise = form.kind_otherwise
        rows = [
            _with(row, {"rater_kind": otherwise}) if is_blank(row.fields.get("rater_kind")) else row for row in rows
        ]
    if form.names is not None:
        rows = _called(path, rows, form.names, problems)
    note: str | None = None
    if {"winner", *_JOINED} <= found and "verdict" not in found:
        rows = [one for row in rows for one in _showings(row, problems)]
    elif "winner" in found and not found & {"verdict", "votes"}:
        rows, note = _with_verdicts(rows, form, problems)
    return PreparedFile(path=path, rows=rows, named_by_file=silent and not form.raters, note=note)


def _with(row: Row, more: Mapping[str, object]) -> Row:
    return Row(place=row.place, fields={**row.fields, **more})


def _called(path: Path, rows: Sequence[Row], names: ModelNames, problems: Problems) -> list[Row]:
    """Models by their names; winners and what was shown first may be words too."""
    made: list[Row] = []
    alike = names.alike(plain_id(row.fields.get(name)) for row in rows for name in _MODEL_CELLS[:2])
    if alike is not None:
        problems.add(FilePlace(path=path), alike, code=TWICE)
        return []
    for row in rows:
        ids = {name: plain_id(row.fields[name]) for name in _MODEL_CELLS if row.fields.get(name) is not None}
        for name in _MODEL_CELLS[:2]:
            if ids.get(name) and ids[name] not in names.by_id:
                problems.add(row.place, names.lacking(ids[name]), code=CELL)
        made.append(_with(row, {name: names.by_id.get(one, one) for name, one in ids.items()}))
    return made


def _read(file: PreparedFile, problems: Problems, met: _Met) -> list[_Row]:
    if file.rows and any(name in file.rows[0].fields for name in CHOSEN):
        sentence = "These are choices between two texts; `evenhand import --judgements` takes them into the ledger."
        problems.add(FilePlace(path=file.path), sentence, code="EH-FILE-OTHER")
        return []
    if not file.rows or not columns_fit(file.path, file.rows, problems, added=("rater",) if file.named_by_file else ()):
        return []
    if file.note is not None:
        met.winners[str(file.path)] = file.note
    rows = _with_reasons(file.rows, file.path, problems)
    return [one for row in rows if (one := _row(row, problems, met, named_by_file=file.named_by_file))]


def _renamed(path: Path, rows: Sequence[Row], columns: Mapping[str, str], problems: Problems) -> list[Row]:
    found = dict.fromkeys(name for row in rows for name in row.fields)
    lacking = [theirs for theirs in columns if rows and theirs not in found]
    if lacking:
        sentence = f"--columns: the file has no column {quoted(lacking)}; it has {quoted(found)}."
        problems.add(FilePlace(path=path), sentence, code=COLUMN)
        return []
    # What the user calls so is meant, whatever else the file calls so: as `rank` takes it.
    unmeant = {ours for ours in columns.values() if ours not in columns}
    rows = [
        Row(place=row.place, fields={name: cell for name, cell in row.fields.items() if name not in unmeant})
        for row in rows
    ]
    sides = {theirs: ours for theirs, ours in _SIDES.items() if ours not in found and ours not in columns.values()}
    return renamed(rows, sides | dict(columns))


def _showings(row: Row, problems: Problems) -> list[Row]:
    """Of a battle as `export --battles` writes it, a row for each vote that it joins."""
    told = showings_in(*(row.fields.get(name) for name in _JOINED))
    if told is None:
        sentence = (
            "The fields `votes` and `shown_first` must be lists of equal length, of model_a, model_b, and in `votes` "
            "tie or null."
        )
        problems.add(row.place, sentence, code=CELL)
        return []
    kept = {name: value for name, value in row.fields.items() if name not in ("winner", *_JOINED)}
    return [
        Row(
            place=row.place,
            fields={
                **kept,
                "first_shown": kept.get("model_b" if turned else "model_a"),
                "replicate": number,
                # For model_a, as the rest of the row is.
                **(
                    {"verdict": -said if turned else said}
                    if isinstance(said, int)
                    else {"verdict": None, "reason": said}
                ),
            },
        )
        for turned, votes in told
        for number, said in enumerate(votes)
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Rows:
    rows: Sequence[Row]

    def fault(self, sentence: str, *, row: int | None = None, code: str | None = None) -> "_Refusal":
        place = self.rows[0].place if row is None else self.rows[row - 1].place
        return _Refusal(place, sentence, code or CELL)


class _Refusal(Exception):
    """Of one row: its place, the sentence and the code."""


def _with_verdicts(rows: Sequence[Row], form: PreferenceForm, problems: Problems) -> tuple[list[Row], str | None]:
    """With what each `winner` says as a verdict, read as a board of the file reads it, and how where that could be told
    otherwise; none, and a problem, where one says nothing or two things."""
    import polars as pl

    told = [row for row in rows if not is_blank(row.fields.get("winner"))]
    if not told:
        return [_with(row, {"verdict": None}) for row in rows], None
    said, one, other = (
        pl.Series([str(row.fields.get(name) or "") for row in told]) for name in ("winner", "model_a", "model_b")
    )
    models = tuple({*one.str.strip_chars(), *other.str.strip_chars()})
    column = WinnerColumn(table=_Rows(rows=told), said=said, sides=(one, other), models=models, words=form.winner_words)
    try:
        winners = column.read(form.winner_as)
    except _Refusal as refusal:
        place, sentence, code = refusal.args
        problems.add(place, sentence, code=code)
        return [], None
    stated = dict(zip((row.place for row in told), winners.sign.tolist(), strict=True))
    read = [
        _with(row, {"verdict": _SYMBOLS[stated[row.place]]})
        if row.place in stated
        else _with(row, {"verdict": None, "reason": row.fields.get("reason") or UNTOLD})
        for row in rows
    ]
    return read, winners.note


def _with_reasons(rows: Sequence[Row], path: Path, problems: Problems) -> list[Row]:
    """A row without a verdict that does not say why is one that could not be read; a file of only such rows is none."""
    if rows and all(is_blank(row.fields.get("verdict")) and is_blank(row.fields.get("reason")) for row in rows):
        named = "winner" if any("winner" in row.fields for row in rows) else "verdict"
        problems.add(FilePlace(path=path), NO_VERDICTS.format(named), code=EMPTY)
        return []
    return [
        Row(place=row.place, fields={**row.fields, "reason": UNTOLD})
        if is_blank(row.fields.get("verdict")) and is_blank(row.fields.get("reason"))
        else row
        for row in rows
    ]


class _OneSpelling(PreferenceReader):
    """A name whose letters with marks are one character each or two is one name (NFC), as on a board."""

    def __init__(self, row: Row, problems: Problems, met: _Met) -> None:
        texts = ((name, row.fields.get(name)) for name in _LABELS)
        plain = {name: normalize("NFC", text) for name, text in texts if isinstance(text, str)}
        super().__init__(Row(place=row.place, fields={**row.fields, **plain}), problems, met.kinds)
        self._spellings = met.spellings

    def known_name(self, model: str) -> str:
        self._spellings.add(model)
        return super().known_name(normalize("NFC", model))


def _row(row: Row, problems: Problems, met: _Met, *, named_by_file: bool) -> _Row | None:
    reader = _OneSpelling(row, problems, met)
    rater, item, models = reader.rater(), reader.label(("item", "id")), reader.models()
    shown = reader.shown(models)
    stated = reader.stated(turned=shown != models)
    replicate = reader.replicate()
    if reader.faulty or shown is None or stated is None:
        return None
    return _Row(
        place=row.place,
        item=item,
        models=shown,
        rater=rater,
        replicate=replicate,
        stated=stated,
        about=reader.exported("benchmark", "variant"),
        named_by_file=named_by_file,
        numbered=not is_blank(row.fields.get("replicate")),
    )
