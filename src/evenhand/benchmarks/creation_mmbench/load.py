"""Creation-MMBench: creative writing about images, each case with its own criteria and a reference answer."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from tempfile import gettempdir
from typing import cast

from evenhand.benchmarks.benchmark import BenchmarkInfo
from evenhand.benchmarks.creation_mmbench.case_images import CaseImages
from evenhand.benchmarks.creation_mmbench.criteria import Criteria, has_letter, read_criteria
from evenhand.benchmarks.creation_mmbench.queries import PARTS, assembled_query
from evenhand.benchmarks.creation_mmbench.tasks import OTHER, category_name, category_of
from evenhand.benchmarks.data_error import (
    BLANK,
    COLUMN,
    IMAGE,
    BenchmarkError,
    FilePlace,
    Problems,
    listed,
    no_such_file,
    quoted,
)
from evenhand.benchmarks.files.data_file import md5_of
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.items_file import ItemsFile, read_items, refuse_twice
from evenhand.benchmarks.files.rows import Row, kind_of, read_rows, stream_rows
from evenhand.domain.item import Benchmark, Brief, Item

FORMATS = (".tsv", ".parquet", ".jsonl")
_ROWS_AT_ONCE = 50


def case_rows(path: Path, problems: Problems) -> Iterator[Row]:
    """What cannot be read is added to `problems`."""
    if path.suffix.lower() == ".tsv":
        yield from stream_rows(path, problems, delimiter="\t")
    elif path.suffix.lower() == ".parquet":
        yield from _parquet(path, problems)
    else:
        yield from read_rows(path, problems, formats=FORMATS)


def _parquet(path: Path, problems: Problems) -> Iterator[Row]:
    import polars as pl

    try:
        frame = pl.scan_parquet(path)
        height = frame.select(pl.len()).collect().item()
        for start in range(0, height, _ROWS_AT_ONCE):
            batch = frame.slice(start, _ROWS_AT_ONCE).collect()
            for number, fields in enumerate(batch.iter_rows(named=True), start=start + 1):
                yield Row(place=FilePlace(path=path, row=number), fields=fields)
    except FileNotFoundError:
        problems.add(FilePlace(path=path), no_such_file(path), code="EH-FILE-MISSING")
    except (pl.exceptions.PolarsError, OSError) as error:
        problems.add(FilePlace(path=path), f"This is not Parquet that can be read: {error}.")


OFFICIAL_MD5 = "870c0332a9c6a169d0ac9b8574c245fe"
"""Of Creation_MMBench.tsv, as the official code checks it."""

_COLUMNS = (
    "index", "question", "task_name", *PARTS, "ground_truth", "source", "criteria", "image_path", "image",
    "reference_answer_by_gpt4o",
)  # fmt: skip
_NEEDED = (("index",), ("question", "instruction"), ("image", "image_path"))
# What pandas, with which the official code reads its file, takes for a missing value, in any capitals.
_NOTHING = frozenset({"", "nan", "-nan", "na", "n/a", "#n/a", "<na>", "none", "null"})
# Images are texts of megabytes and need not be looked through.
_LONGEST_NOTHING = 64


def load(info: BenchmarkInfo, path: Path) -> Benchmark:
    """Cases of the official TSV or Parquet, of a .jsonl with the same columns, or of our own .jsonl form."""
    if path.suffix.lower() not in FORMATS:
        raise BenchmarkError(f"{path}: files of this kind are not read here; give one of {', '.join(FORMATS)}.")
    try:
        read = _own_form(path) if _is_own_form(path) else _official_form(path)
    except OSError as error:
        raise BenchmarkError(
            f"{path}: its images cannot be unpacked to {gettempdir()} ({error.strerror}); make room there, or name "
            "another folder in the variable TMPDIR."
        ) from error
    return Benchmark(
        name=info.name,
        items=read.items,
        licence=info.licence,
        citation=info.citation,
        protocols=info.protocols,
        sample=info.sample,
        pictures=read.pictures,
        licences=read.licences,
        origins=read.origins,
        sources=read.sources,
        left_out=read.left_out,
        notes=(*read.notes, *_notes(read.items)),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Case:
    row: Row
    """Only the place; the row's fields hold the images and are let go."""
    item: Item
    images_of: str | None
    """The label of the case whose images these are."""
    form: str | None
    """Of the criteria."""


def _is_own_form(path: Path) -> bool:
    if path.suffix.lower() != ".jsonl":
        return False
    first = next(case_rows(path, Problems(BenchmarkError)), None)
    return first is not None and "index" not in first.fields


def _own_form(path: Path) -> ItemsFile:
    read = read_items(path, category=category_name)
    items = tuple(replace(item, category=item.category or category_of(item.task)) for item in read.items)
    return replace(read, items=items)


def _official_form(path: Path) -> ItemsFile:
    problems = Problems(BenchmarkError)
    images = CaseImages(path.parent)
    rows = case_rows(path, problems)
    first = next(rows, None)
    cases: list[_Case] = []
    notes: list[str] = []
    if first is None and not problems.count:
        problems.add(FilePlace(path=path), "The file is empty; at least one row is needed.")
    if first is not None and _columns_fit(first, problems):
        cases = list(_cases(chain([first], rows), images, problems))
        notes = [*_file_notes(path, first), *_criteria_notes(cases)]
    read = _with_pointed_images(cases, problems)
    cases = [case for case in read if case.item.images]
    lacking = [case.item.label for case in read if not case.item.images]
    if lacking:
        notes.append(f"Cases without an image, which were left out: {len(lacking)} (cases {listed(lacking)}).")
    if lacking and not cases:
        sentence = "No case has an image; give them in `image` as base64, or name their files in `image_path`."
        problems.add(FilePlace(path=path), sentence, code=IMAGE)
    refuse_twice([(case.row, case.item) for case in cases], problems)
    problems.raise_any()
    return ItemsFile(
        items=tuple(case.item for case in cases),
        pictures=images.pictures,
        notes=tuple(notes),
        left_out=frozenset(lacking),
    )


def _columns_fit(first: Row, problems: Problems) -> bool:
    missing = [names for names in _NEEDED if not any(name in first.fields for name in names)]
    for names in missing:
        found = quoted(first.fields)
        wanted = " or ".join(f"`{name}`" for name in names)
        problems.add(FilePlace(path=first.place.path), f"The column {wanted} is missing; found {found}.", code=COLUMN)
    return not missing


def _cases(rows: Iterator[Row], images: CaseImages, problems: Problems) -> Iterator[_Case]:
    for row in rows:
        case = _case(FieldReader(row, problems), images)
        if case is not None:
            yield case


def _case(reader: FieldReader, images: CaseImages) -> _Case | None:
    fields = reader.row.fields
    for name in _COLUMNS[1:]:
        if _is_absent(fields.get(name)):
            fields[name] = None
    label = reader.label(["index"])
    task = (reader.text("task_name") or "").strip() or None
    criteria = _criteria(reader)
    parts = {name: reader.text(name) for name in PARTS}
    question = reader.text("question") or _assembled(parts, reader)
    reference, ground_truth = reader.text("reference_answer_by_gpt4o"), reader.text("ground_truth")
    names = images.names(reader) if not reader.faulty else ()
    if reader.faulty:
        return None
    item = Item(
        label=label,
        instruction=question,
        images=() if isinstance(names, str) else names,
        reference=reference,
        ground_truth=ground_truth,
        criteria=criteria.pairs if criteria else (),
        task=task,
        category=category_of(task),
        brief=Brief(**parts) if any(parts.values()) else None,
    )
    return _Case(
        row=Row(place=reader.row.place, fields={}),
        item=item,
        images_of=names if isinstance(names, str) else None,
        form=criteria.form if criteria else None,
    )


def _is_absent(value: object) -> bool:
    return isinstance(value, str) and len(value) <= _LONGEST_NOTHING and value.strip().casefold() in _NOTHING


def _criteria(reader: FieldReader) -> Criteria | None:
    value = reader.row.fields.get("criteria")
    if isinstance(value, dict):
        criteria = read_criteria(cast("dict[str, object]", value))
    elif value is None or isinstance(value, str):
        text = reader.text("criteria")
        criteria = read_criteria(text) if text else None
    else:
        reader.fault(f"The field `criteria` must be the text of a dict, or a text, and is {kind_of(value)}.")
        return None
    for _, text in criteria.pairs if criteria else ():
        reader.checked("criteria", text)
    return criteria


def _assembled(parts: Mapping[str, str | None], reader: FieldReader) -> str:
    if not parts["instruction"]:
        sentence = "The fields `question` and `instruction` are both empty; one of them must say what is asked."
        reader.fault(sentence, code=BLANK)
        return ""
    return assembled_query(parts)


def _with_pointed_images(cases: Sequence[_Case], problems: Problems) -> list[_Case]:
    owners = {case.item.label: case for case in cases if case.images_of is None}
    found: list[_Case] = []
    for case in cases:
        owner = case if case.images_of is None else owners.get(case.images_of)
        if owner is None:
            problems.add(
                case.row.place,
                f"The field `image` is `{case.images_of}`, which is neither an image nor the index of a row "
                "with images of its own.",
            )
        else:
            found.append(replace(case, item=replace(case.item, images=owner.item.images)))
    return found


def _file_notes(path: Path, first: Row) -> Iterator[str]:
    if path.suffix.lower() == ".tsv":
        found = md5_of(path)
        if found != OFFICIAL_MD5:
            yield f"{path.name} is not the official file (MD5 {OFFICIAL_MD5}): its MD5 is {found}."
    unknown = [name for name in first.fields if name not in _COLUMNS]
    if unknown:
        yield f"Columns that are not used were left out: {quoted(unknown)}."


def _criteria_notes(cases: Sequence[_Case]) -> Iterator[str]:
    for form, sentence in (
        ("text", "Criteria that are a plain text and no dict, taken as subjective only"),
        ("damaged", "Criteria that begin like a dict but are not one of texts, taken whole as subjective only"),
    ):
        labels = [case.item.label for case in cases if case.form == form]
        if labels:
            yield f"{sentence}: {len(labels)} (cases {listed(labels)})."


def _notes(items: Sequence[Item]) -> Iterator[str]:
    kinds: tuple[tuple[str, Callable[[Item], bool]], ...] = (
        ("Criteria without a letter, counted as none", _has_letterless_criteria),
        ("Cases without subjective criteria, which creation_preference cannot ask", _has_no_subjective_criteria),
        ("Cases without a reference answer, which cannot meet the baseline", lambda item: item.reference is None),
    )
    for sentence, concerns in kinds:
        labels = [item.label for item in items if concerns(item)]
        if labels:
            yield f"{sentence}: {len(labels)} (cases {listed(labels)})."
    tasks = dict.fromkeys(item.task or "no task" for item in items if item.category == OTHER)
    if tasks:
        yield f"Tasks that are not among the paper's 51, shown under {OTHER}: {listed(tasks)}."


def _has_letterless_criteria(item: Item) -> bool:
    return any(not has_letter(text) for _, text in item.criteria)


def _has_no_subjective_criteria(item: Item) -> bool:
    return item.subjective_criteria is None
