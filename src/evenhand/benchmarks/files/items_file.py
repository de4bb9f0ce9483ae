"""Our own form of a benchmark's data: JSON Lines, one item a line, images as files beside it or as URLs."""

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from os.path import realpath
from pathlib import Path, PurePosixPath
from urllib.parse import urlsplit

from evenhand.benchmarks.data_error import COLUMN, IMAGE, TWICE, BenchmarkError, Problems, near
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.benchmarks.files.unpacked_pictures import UnpackedPictures
from evenhand.domain.item import Item
from evenhand.images import DEFAULT_LIMITS, ImageError, inspect

_LABEL = ("item", "id")
_NEEDED = ("item", "instruction")
_KNOWN = (
    *_LABEL, "instruction", "images", "caption", "captions",
    "reference", "ground_truth", "criteria", "task", "category",
)  # fmt: skip
_OTHER_TOOLS_SAY = {
    "image": "images", "image_url": "images", "image_urls": "images", "image_path": "images",
    "prompt": "instruction", "question": "instruction", "index": "item",
    "instruction_category": "category", "instruction_conditioned_caption": "caption", "reference_output": "reference",
}  # fmt: skip
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsFile:
    items: tuple[Item, ...]
    pictures: Mapping[str, bytes]
    """Bytes of the image files, by SHA-256."""
    notes: tuple[str, ...]
    """Sentences that a user must be told once."""


def read_items(path: Path, *, category: Callable[[str], str] | None = None) -> ItemsFile:
    """Items in the file's order. Raises BenchmarkError with all problems.

    `category` gives a category its usual spelling.
    """
    problems = Problems(BenchmarkError)
    rows = read_rows(path, problems, formats=(".jsonl",))
    pictures = PictureFiles(path.parent)
    items: list[tuple[Row, Item]] = []
    for row in rows:
        item = _item(FieldReader(row, problems), pictures, category)
        if item is not None:
            items.append((row, item))
    refuse_twice(items, problems)
    problems.raise_any()
    return ItemsFile(
        items=tuple(item for _, item in items),
        pictures=pictures.found,
        notes=_notes(rows, [item for _, item in items]),
    )


def join_captions(captions: Sequence[str | None]) -> str | None:
    """One caption as it is; of several, a line "Image n: …" for each image that has one."""
    if len(captions) == 1:
        return captions[0]
    lines = [f"Image {number}: {text}" for number, text in enumerate(captions, start=1) if text]
    return "\n".join(lines) or None


def _item(reader: FieldReader, pictures: "PictureFiles", category: Callable[[str], str] | None) -> Item | None:
    meant = _refuse_misnamed(reader)
    label = "" if "item" in meant else reader.label(_LABEL)
    instruction = "" if "instruction" in meant else reader.needed_text("instruction")
    images = tuple(pictures.name(place, reader) for place in reader.texts("images"))
    caption = _caption(reader, len(images))
    group = reader.text("category")
    fields = {name: reader.text(name) for name in ("reference", "ground_truth", "task")}
    criteria = reader.pairs("criteria")
    if reader.faulty:
        return None
    return Item(
        label=label,
        instruction=instruction,
        images=images,
        caption=caption,
        criteria=criteria,
        category=category(group) if category and group else group,
        reference=fields["reference"],
        ground_truth=fields["ground_truth"],
        task=fields["task"],
    )


def _refuse_misnamed(reader: FieldReader) -> set[str]:
    """Faults for fields that look like one of ours which the row lacks; the names that were meant."""
    # An `image` passed over as an unknown field would be an item judged without its image.
    fields = reader.row.fields
    absent = [name for name in _KNOWN if name not in fields]
    if reader.given(_LABEL):
        absent = [name for name in absent if name not in _LABEL]
    every: set[str] = set()
    for name in fields:
        if name in _KNOWN:
            continue
        close = [other for other in near(name, absent) if other in _NEEDED] or near(name, absent, cutoff=0.85)
        meant = _OTHER_TOOLS_SAY.get(name) or next(iter(close), None)
        if meant in absent:
            reader.fault(f"The field `{name}` is not known here; did you mean `{meant}`?", code=COLUMN)
            every.add("item" if meant in _LABEL else meant)
    return every


def _caption(reader: FieldReader, images: int) -> str | None:
    fields = reader.row.fields
    if fields.get("caption") is not None and fields.get("captions") is not None:
        reader.fault("The fields `caption` and `captions` are both given; keep one.", code=TWICE)
    captions = reader.texts("captions")
    if not captions:
        return reader.text("caption")
    if images and len(captions) != images:
        reader.fault(
            f"There are {len(captions)} captions for {images} images; give one each, null where there is none."
        )
    return join_captions(captions)


def refuse_twice(items: Sequence[tuple[Row, Item]], problems: Problems) -> None:
    """Adds a problem for each item whose label or whole content an earlier one has."""
    labels: dict[str, Row] = {}
    contents: dict[str, tuple[Row, Item]] = {}
    for row, item in items:
        if item.label in labels:
            first = labels[item.label].place.seen_from(row.place)
            sentence = f"The item `{item.label}` was already given in {first}; each needs its own name."
            problems.add(row.place, sentence, code=TWICE)
        elif item.digest in contents:
            earlier, other = contents[item.digest]
            first = earlier.place.seen_from(row.place)
            sentence = f"The item `{item.label}` has the same content as `{other.label}` in {first}; keep one of them."
            problems.add(row.place, sentence, code=TWICE)
        labels.setdefault(item.label, row)
        contents.setdefault(item.digest, (row, item))


def _notes(rows: Sequence[Row], items: Sequence[Item]) -> tuple[str, ...]:
    notes: list[str] = []
    unknown = Counter(name for row in rows for name in row.fields if name not in _KNOWN)
    if unknown:
        listed = ", ".join(f"`{name}` (rows: {count})" for name, count in sorted(unknown.items()))
        notes.append(f"Fields that are not used were left out: {listed}.")
    urls = sum(":" in image for item in items for image in item.images)
    if urls:
        notes.append(f"Images given as URLs, kept as text and not fetched: {urls}.")
    return tuple(notes)


class PictureFiles:
    """The image files below one folder, read once each and kept on the disk."""

    def __init__(self, folder: Path, found: UnpackedPictures | None = None) -> None:
        """`found`: where images of other folders are kept too."""
        self._folder = folder
        self._digests: dict[str, str] = {}
        self.found = UnpackedPictures() if found is None else found

    def name(self, place: str | None, reader: FieldReader) -> str:
        """A URL as it stands, or the SHA-256 of the file's bytes; "" and a fault where neither can be had."""
        if place is None:
            reader.fault("An image is null or empty; take it out or name its file.", code=IMAGE)
            return ""
        if place in self._digests:
            return self._digests[place]
        fault = address_fault(place) if _SCHEME.match(place) else None
        if fault is None and not _SCHEME.match(place):
            fault = self._read(place)
        if fault:
            reader.fault(fault, code=IMAGE)
        return self._digests.get(place, place)

    def keep(self, data: bytes) -> str:
        """The SHA-256 of bytes that came in the row itself. Raises ImageError where they are no image."""
        info = inspect(data)
        self.found.add(info.digest, data)
        return info.digest

    def _read(self, place: str) -> str | None:
        """Keeps the image file; a sentence where it cannot."""
        path = self._folder / place
        if not place.isprintable():
            return f"The image path {place!a} holds a character that cannot be printed."
        if "\\" in place:
            return f"The image path `{place}` has a backslash; write it with /."
        # Data from strangers must not name any file of this machine: what it names is sent to a model.
        outside = (
            f"The image path `{place}` is absolute or leads out of the file's folder; "
            "put the image below that folder and name it from there."
        )
        if place.startswith("/") or ".." in PurePosixPath(place).parts:
            return outside
        try:
            if not Path(realpath(path)).is_relative_to(realpath(self._folder)):
                return outside
            if not path.is_file():
                return f"The image `{place}` is not there; looked for {path}."
            with path.open("rb") as file:
                data = file.read(DEFAULT_LIMITS.bytes + 1)
            info = inspect(data)
        except OSError as error:
            return f"The image `{place}` cannot be read ({error.strerror})."
        except ImageError as error:
            return f"The image `{place}` cannot be used: {error}"
        self._digests[place] = info.digest
        self.found.add(info.digest, data)
        return None


def address_fault(address: str) -> str | None:
    """A sentence where this is not an http or https URL that may be kept and shown."""
    scheme = address.partition(":")[0].lower()
    if scheme == "data":
        return "An image is a data URL; save it as a file below this folder and name the file."
    if scheme not in ("http", "https"):
        return f"The image `{address}` is neither a file below this folder nor an http or https URL."
    try:
        parts = urlsplit(address)
        host, user = parts.hostname, parts.username
    except ValueError:
        host, user = None, None
    # Spaces may stand: the official sheets have them in their URLs.
    if not host or not address.isprintable():
        return f"The image `{address}` is not a URL that can be fetched."
    if user is not None:
        return "An image URL carries a user name or password; take it out, the URL is stored and shown."
    return None
