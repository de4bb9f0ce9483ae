"""Somebody's own file of items, in whatever table they have it: other names of columns, images where they lie."""

import base64
import json
import re
import shlex
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import cast

from evenhand.benchmarks.data_error import (
    COLUMN,
    IMAGE,
    BenchmarkError,
    FilePlace,
    Problems,
    lmms_eval_fault,
    near,
    quoted,
)
from evenhand.benchmarks.files.cells import is_nothing, read_list
from evenhand.benchmarks.files.items_file import FIELDS, ItemsFile, PictureFiles, items_of
from evenhand.benchmarks.files.rows import READERS, Row, read_rows, renamed
from evenhand.images import ImageError

OWN_FORMATS = tuple(READERS)
"""Endings of the files that are read as items of one's own."""

_TYPED = (".jsonl", ".json", ".parquet")
"""In these a text is a text; in others every cell is one."""
_LISTS = ("images", "captions", "image_licences")
_SHORTEST_BASE64 = 64
_SURELY_BASE64 = 256
"""Characters; of what is shorter, base64 is what begins as an image of a usual kind does."""
_HEADS = ("iVBORw0KGgo", "/9j/", "R0lGOD", "UklGR")
_VLMEVALKIT = {"index": "item", "question": "instruction", "image": "images", "answer": "ground_truth"}
_CHOICES = tuple("ABCDEFGHI")
_PARTING = re.compile(r"[\r\n]|;(?!base64,)", re.IGNORECASE)
_IF_MISSING = "If it has another name there, say so with --columns THEIRS=OURS."


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnForm:
    """How the file is to be read."""

    columns: Mapping[str, str] = field(default_factory=dict[str, str])
    """Our name of a field by the file's own."""
    image_root: Path | None = None
    """The folder that images are named from; None: the file's own."""
    fenced: bool = False
    """None outside of that folder is read."""


AS_IT_IS = OwnForm()


def is_own_file(name: str) -> bool:
    """Whether a benchmark of this name is a file of items."""
    return name.lower().endswith(OWN_FORMATS)


def read_own_items(path: Path, form: OwnForm = AS_IT_IS) -> ItemsFile:
    """Items in the file's order. Raises BenchmarkError with all problems.

    Whoever names the file vouches for what it names: unless it is fenced images may lie anywhere, and the notes count
    those elsewhere.
    """
    if form.image_root is not None and not form.image_root.is_dir():
        raise BenchmarkError(f"{form.image_root}: There is no such folder to look for images in.", code=IMAGE)
    problems = Problems(BenchmarkError)
    rows = read_rows(path, problems)
    pictures = PictureFiles(form.image_root or path.parent, fenced=form.fenced)
    _refuse_unfitting(path, rows, form.columns, problems)
    foreign = _is_vlmevalkit(rows, form.columns)
    named = _vlmevalkit(rows, problems) if foreign else renamed(rows, form.columns)
    plain = (_cells(row) for row in named) if path.suffix.lower() not in _TYPED else named
    read = items_of(_with_images(plain, pictures, problems), pictures, problems, hint=_hint, if_missing=_IF_MISSING)
    return replace(read, notes=(*_notes(pictures, foreign=foreign), *read.notes))


def _hint(theirs: str, ours: str) -> str:
    return f"if it is the {ours}, add --columns {shlex.quote(f'{theirs}={ours}')}."


def _refuse_unfitting(path: Path, rows: list[Row], columns: Mapping[str, str], problems: Problems) -> None:
    """Adds a problem for each name that is neither a column of the file nor a field of ours, or is both."""
    there = dict.fromkeys(name for row in rows for name in row.fields)
    if not columns and (foreign := lmms_eval_fault(there)) is not None:
        problems.add(FilePlace(path=path), foreign, code=COLUMN)
    for theirs, ours in columns.items():
        if ours not in FIELDS:
            close = near(ours, FIELDS)
            hint = f"did you mean {quoted(close)}?" if close else f"there are {quoted(FIELDS)}."
            problems.add(FilePlace(path=path), f"--columns: there is no field `{ours}`; {hint}", code=COLUMN)
        elif rows and theirs not in there:
            sentence = f"--columns: the file has no column `{theirs}`; it has {quoted(there)}."
            problems.add(FilePlace(path=path), sentence, code=COLUMN)
        elif ours in there and ours not in columns:
            sentence = f"--columns calls `{theirs}` `{ours}`, and the file has a column `{ours}` too; rename that one."
            problems.add(FilePlace(path=path), sentence, code=COLUMN)
    problems.raise_any()


def _is_vlmevalkit(rows: list[Row], columns: Mapping[str, str]) -> bool:
    """By the columns: `index`, `question` and `image`, as its datasets have them."""
    return bool(rows) and not columns and {"index", "question", "image"} <= set(rows[0].fields)


def _vlmevalkit(rows: list[Row], problems: Problems) -> Iterator[Row]:
    """The rows in our words: choices stand below the question; where an image is another row's index, that row's."""
    indices = {str(row.fields.get("index")) for row in rows}
    images = {
        str(row.fields.get("index")): row.fields.get("image")
        for row in rows
        if not is_nothing(row.fields.get("image")) and _pointer(row.fields.get("image"), indices) is None
    }
    for row in rows:
        said = {name: value for name, value in row.fields.items() if not is_nothing(value)}
        pointer = _pointer(said.get("image"), indices)
        if pointer is not None:
            if pointer not in images:
                sentence = f"The image `{pointer}` is neither base64 nor the index of a row that has an image."
                problems.add(row.place, sentence, code=IMAGE, kind="an image of no row")
                continue
            said["image"] = images[pointer]
        choices = [f"{letter}. {said.pop(letter)}" for letter in _CHOICES if letter in said]
        fields = {_VLMEVALKIT.get(name, name): value for name, value in said.items() if name != "image_path"}
        if choices:
            fields["instruction"] = "\n".join([str(fields.get("instruction", "")), *choices])
        if "hint" in said:
            fields["instruction"] = f"{fields.pop('hint')}\n{fields.get('instruction', '')}"
        yield Row(place=row.place, fields=fields)


def _pointer(image: object, indices: Collection[str]) -> str | None:
    """The index of the row that has the image; None where this names or is an image itself."""
    if not isinstance(image, int | str):
        return None
    said = str(image)
    return said if said in indices or said.isdecimal() else None


def _cells(row: Row) -> Row:
    """A sheet's cells as what they stand for: nothing, a list, an object, or text."""
    fields: dict[str, object] = {}
    for name, cell in row.fields.items():
        if is_nothing(cell):
            continue
        if name in _LISTS:
            listed = read_list(cell)
            fields[name] = _parted(str(cell)) if listed is None else listed
        elif name == "criteria" and isinstance(cell, str) and cell.lstrip().startswith("{"):
            fields[name] = _object(cell)
        else:
            fields[name] = cell if isinstance(cell, str) else str(cell)
    return Row(place=row.place, fields=fields)


def _parted(cell: str) -> list[object]:
    """One path, address or data URL, or several in lines of their own or with semicolons between them."""
    return [part.strip() for part in _PARTING.split(cell) if part.strip()]


def _object(cell: str) -> object:
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        return cell


def _with_images(rows: Iterable[Row], pictures: PictureFiles, problems: Problems) -> Iterator[Row]:
    """The rows, each image that stands in its row itself kept and known by its place."""
    for row in rows:
        images = row.fields.get("images")
        if images is None or (isinstance(images, str) and len(images) < _SHORTEST_BASE64):
            yield row
            continue
        names: list[object] = []
        listed = read_list(images)
        for number, image in enumerate([images] if listed is None else listed, start=1):
            place = f"image {number} of {row.place}"
            try:
                names.append(_kept(image, place, pictures))
            except ImageError as error:
                problems.add(row.place, f"Image {number} of the row cannot be used: {error}", code=IMAGE)
        yield Row(place=row.place, fields={**row.fields, "images": names})


def _kept(image: object, place: str, pictures: PictureFiles) -> object:
    """The place, if the image stands in the row, as bytes or as base64; else what names it. Raises ImageError."""
    if isinstance(image, dict):  # as datasets write an image into Parquet
        parts = cast("dict[str, object]", image)
        image = parts.get("bytes") or parts.get("path")
    if isinstance(image, str) and (len(image) >= _SURELY_BASE64 or image.startswith(_HEADS)):
        try:
            image = base64.b64decode("".join(image.split()), validate=True)
        except ValueError:
            return image  # a long path, or nothing that is known
    if isinstance(image, bytes):
        pictures.keep(image, place)
        return place
    return image


def _notes(pictures: PictureFiles, *, foreign: bool) -> Iterator[str]:
    if foreign:
        yield (
            "Read as a dataset of VLMEvalKit: `index` is the item, `question` with its choices the instruction, "
            "`image` the images, `answer` the ground truth."
        )
    if pictures.outside:
        yield f"Images read from outside of the folder that they are named from: {pictures.outside}."
