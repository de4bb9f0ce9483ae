"""Our own form of a benchmark's data: JSON Lines, one item a line, images as files beside it or as URLs."""

import base64
import errno
import os
import re
import stat
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from os.path import realpath
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.benchmarks.data_error import COLUMN, IMAGE, LISTED, TWICE, BenchmarkError, Problems, near
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import Row, read_rows
from evenhand.domain.item import Item
from evenhand.files.private_files import leads_by_folders
from evenhand.images import DEFAULT_LIMITS, ImageError
from evenhand.images.unpacked import UnpackedPictures

_LABEL = ("item", "id")
_NEEDED = ("item", "instruction")
_KNOWN = (
    *_LABEL, "instruction", "images", "caption", "captions",
    "reference", "ground_truth", "criteria", "task", "category",
)  # fmt: skip
_LICENCE = ("licence", "license", "image_licence")
"""Of all of an item's images."""
_LICENCES = "image_licences"
"""Of each image."""
_ORIGIN = ("source", "instance")
"""The dataset or the address that an item was taken from, and what it is called there."""
_BESIDE = (*_LICENCE, _LICENCES, *_ORIGIN)
"""What is no part of an item's identity."""
FIELDS = (*_KNOWN, *_BESIDE)
_OTHER_TOOLS_SAY = {
    "image": "images", "image_url": "images", "image_urls": "images", "image_path": "images",
    "img": "images", "photo": "images", "photos": "images", "picture": "images", "pictures": "images",
    "prompt": "instruction", "question": "instruction", "index": "item",
    "instruction_category": "category", "instruction_conditioned_caption": "caption", "reference_output": "reference",
}  # fmt: skip
_MISSING = "is not there"
_LONGEST_TOLD = 200
"""Characters of an image's name in a sentence: what stands there may be no name at all, and a megabyte long."""
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemsFile:
    items: tuple[Item, ...]
    pictures: Mapping[str, bytes]
    """Bytes of the image files, by SHA-256."""
    notes: tuple[str, ...]
    """Sentences that a user must be told once."""
    licences: Mapping[str, str] = field(default_factory=dict[str, str])
    """Of the images, by their names in the items; and so are the origins."""
    origins: Mapping[str, str] = field(default_factory=dict[str, str])
    sources: Mapping[str, str] = field(default_factory=dict[str, str])
    """By the items' labels."""
    left_out: frozenset[str] = frozenset[str]()
    """Labels of items that cannot be asked."""


def read_items(path: Path, *, category: Callable[[str], str] | None = None) -> ItemsFile:
    """Items in the file's order; images lie below its folder. Raises BenchmarkError with all problems.

    `category` gives a category its usual spelling.
    """
    problems = Problems(BenchmarkError)
    rows = read_rows(path, problems, formats=(".jsonl",))
    return items_of(rows, PictureFiles(path.parent), problems, category=category)


def items_of(
    rows: Iterable[Row],
    pictures: "PictureFiles",
    problems: Problems,
    *,
    category: Callable[[str], str] | None = None,
    hint: Callable[[str, str], str] = "did you mean `{1}`?".format,
    if_missing: str = "",
) -> ItemsFile:
    """The items of rows in our own words. `hint`: what to do where a field's name is not the one that was meant;
    `if_missing`: where no name is near to a needed one."""
    items: list[tuple[Row, Item]] = []
    sources: dict[str, str] = {}
    licences, origins = dict[str, dict[str, None]](), dict[str, dict[str, None]]()
    unknown: Counter[str] = Counter()
    for row in rows:
        reader = FieldReader(row, problems, if_missing=if_missing)
        unknown.update(name for name in row.fields if name not in FIELDS)
        item = _item(reader, pictures, category, hint)
        if item is not None:
            items.append((Row(place=row.place, fields={}), item))
            for image, licence in _licences(reader, item.images).items():
                licences.setdefault(image, {})[licence] = None
            source, instance = (reader.text(name) for name in _ORIGIN)
            if source:
                sources[item.label] = source
                for image in item.images:
                    origins.setdefault(image, {})[origin_words(source, instance)] = None
    refuse_twice(items, problems)
    problems.raise_any()
    return ItemsFile(
        items=tuple(item for _, item in items),
        pictures=pictures.found,
        notes=_notes(unknown, [item for _, item in items]),
        licences=told_together(licences),
        origins=told_together(origins),
        sources=sources,
    )


def origin_words(source: str, instance: str | None) -> str:
    return f"{source}, instance {instance}" if instance else source


def told_together(told: Mapping[str, Collection[str]]) -> dict[str, str]:
    """What was said of each image, which several items may show."""
    return {image: _listed(list(words)) for image, words in told.items()}


def _listed(words: Sequence[str]) -> str:
    more = len(words) - LISTED
    return "; ".join([*words[:LISTED], *([f"and {more} more"] if more > 0 else [])])


def join_captions(captions: Sequence[str | None]) -> str | None:
    """One caption as it is; of several, a line "Image n: …" for each image that has one."""
    if len(captions) == 1:
        return captions[0]
    lines = [f"Image {number}: {text}" for number, text in enumerate(captions, start=1) if text]
    return "\n".join(lines) or None


def _item(
    reader: FieldReader,
    pictures: "PictureFiles",
    category: Callable[[str], str] | None,
    hint: Callable[[str, str], str],
) -> Item | None:
    meant = _refuse_misnamed(reader, hint)
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


def _licences(reader: FieldReader, images: Sequence[str]) -> dict[str, str]:
    """By the images' names; of those alone where each has its own, null where none is known."""
    each = reader.texts(_LICENCES)
    if each and len(each) != len(images):
        reader.fault(f"There are {len(each)} {_LICENCES} for {len(images)} images; give one each, null for none.")
        return {}
    whole = next((said for name in _LICENCE if (said := reader.text(name))), None)
    told = each or [whole] * len(images)
    return {name: licence for name, licence in zip(images, told, strict=True) if licence}


def _refuse_misnamed(reader: FieldReader, hint: Callable[[str, str], str]) -> set[str]:
    """Faults for fields that look like one of ours which the row lacks; the names that were meant."""
    # An `image` passed over as an unknown field would be an item judged without its image.
    fields = reader.row.fields
    labelled = reader.given(_LABEL) is not None
    absent = tuple(name for name in _KNOWN if name not in fields and not (labelled and name in _LABEL))
    every: set[str] = set()
    for name in fields:
        if name in FIELDS:
            continue
        meant = _meant(name, absent)
        if meant in absent:
            reader.fault(f"The field `{name}` is not known here; {hint(name, meant)}", code=COLUMN)
            every.add("item" if meant in _LABEL else meant)
    return every


@lru_cache  # the rows of a file have the same columns
def _meant(name: str, absent: tuple[str, ...]) -> str | None:
    """The field of ours that a field of another name is likely to be."""
    needed = (other for other in near(name, absent, cutoff=0.7) if other in _NEEDED)
    near_by = (*needed, *near(name, absent, cutoff=0.85))
    return _OTHER_TOOLS_SAY.get(name.casefold()) or next(iter(near_by), None)


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
            problems.add(row.place, sentence, code=TWICE, kind="the item's name")
        elif item.digest in contents:
            earlier, other = contents[item.digest]
            first = earlier.place.seen_from(row.place)
            sentence = f"The item `{item.label}` has the same content as `{other.label}` in {first}; keep one of them."
            problems.add(row.place, sentence, code=TWICE, kind="the item's content")
        labels.setdefault(item.label, row)
        contents.setdefault(item.digest, (row, item))


def _notes(unknown: Mapping[str, int], items: Sequence[Item]) -> tuple[str, ...]:
    notes: list[str] = []
    if unknown:
        listed = ", ".join(f"`{name}` (rows: {count})" for name, count in sorted(unknown.items()))
        notes.append(f"Fields that are not used were left out: {listed}.")
    urls = sum(":" in image for item in items for image in item.images)
    if urls:
        notes.append(f"Images given as URLs, kept as text and not fetched: {urls}.")
    return tuple(notes)


class PictureFiles:
    """The images that one data file names, read once each and kept."""

    def __init__(self, folder: Path, found: UnpackedPictures | None = None, *, fenced: bool = True) -> None:
        """`found`: where images of other folders are kept too. `fenced`: none outside of the folder is read."""
        self._folder = folder
        self._from = folder.absolute()
        self._fenced = fenced
        self._digests: dict[str, str] = {}
        self.found = UnpackedPictures() if found is None else found
        self.outside = 0
        """Images read that lie outside of the folder."""

    def name(self, place: str | None, reader: FieldReader) -> str:
        """A URL as it stands, or the SHA-256 of the image's bytes; "" and a fault where neither can be had."""
        if place is None:
            reader.fault("An image is null or empty; take it out or name its file.", code=IMAGE)
            return ""
        if place in self._digests:
            return self._digests[place]
        if place[:5].lower() == "data:":
            fault = self._decoded(place)
        elif _SCHEME.match(place):
            fault = address_fault(place)
        else:
            fault = self._read(place)
        if fault:
            reader.fault(fault, code=IMAGE, kind=_MISSING if _MISSING in fault else fault.replace(_told(place), "…"))
        return self._digests.get(place, place)

    def keep(self, data: bytes, place: str | None = None) -> str:
        """The SHA-256 of bytes that came in the row itself, known by `place` from now on. Raises ImageError where they
        are no image."""
        digest = self.found.keep(data)
        if place is not None:
            self._digests[place] = digest
        return digest

    def _decoded(self, url: str) -> str | None:
        """Keeps the image that stands in a data URL; a sentence where it cannot."""
        head, _, data = url.partition(",")
        shown = f"`{head[:40]},…`"
        if not head.lower().endswith(";base64"):
            return f"The data URL {shown} is not base64; write data:image/png;base64,… or name a file."
        try:
            self.keep(base64.b64decode(data, validate=True), url)
        except ImageError as error:
            return f"The image in the data URL {shown} cannot be used: {error}"
        except ValueError:
            return f"The data URL {shown} does not hold base64; it may have been cut."
        return None

    def _read(self, place: str) -> str | None:
        """Keeps the image file; a sentence where it cannot."""
        path, told = self._folder / place, _told(place)
        if not place.isprintable():
            return f"The image path {told!a} holds a character that cannot be printed."
        if "\\" in place:
            return f"The image path `{told}` has a backslash; write it with /."
        try:
            # Data from strangers must not name any file of this machine: what it names is sent to a model.
            within = _is_within(place, self._from)
            if self._fenced and not (within and _is_named_from_there(place)):
                return (
                    f"The image path `{told}` is absolute or leads out of the file's folder; "
                    "put the image below that folder and name it from there."
                )
            found = _found(path)
            if found is not None and not stat.S_ISREG(found.st_mode):
                return f"The image `{told}` is a folder, a pipe or a device, not a file; name the image's file."
            if found is None:
                root = "" if self._fenced else " --image-root DIR says from which folder images are named."
                return f"The image `{told}` {_MISSING}; looked for {self._folder / told}.{root}"
            with path.open("rb") as file:
                data = file.read(min(found.st_size, DEFAULT_LIMITS.bytes) + 1)
            self.keep(data, place)
        except OSError as error:
            return f"The image `{told}` cannot be read ({error.strerror})."
        except ImageError as error:
            return f"The image `{told}` cannot be used: {error}"
        self.outside += not within
        return None


def _told(place: str) -> str:
    return place if len(place) <= _LONGEST_TOLD else f"{place[:_LONGEST_TOLD]}…"


def _found(path: Path) -> os.stat_result | None:
    """None where nothing is there."""
    try:
        return path.stat()
    except OSError as error:
        if error.errno in (errno.ENOENT, errno.ENOTDIR, errno.ELOOP):
            return None
        raise


def _is_named_from_there(place: str) -> bool:
    """As a file that comes from others must name an image."""
    return not place.startswith("/") and ".." not in place.split("/")


def _is_within(place: str, folder: Path) -> bool:
    path = folder / place
    return leads_by_folders(path, folder) or Path(realpath(path)).is_relative_to(realpath(folder))


def address_fault(address: str) -> str | None:
    """A sentence where this is not an http or https URL that may be kept and shown."""
    scheme = address.partition(":")[0].lower()
    if scheme == "data":
        return "An image is a data URL; save it as a file below this folder and name the file."
    if scheme not in ("http", "https"):
        return f"The image `{_told(address)}` is neither a file below this folder nor an http or https URL."
    try:
        parts = urlsplit(address)
        host, user = parts.hostname, parts.username
    except ValueError:
        host, user = None, None
    # Spaces may stand: the official sheets have them in their URLs.
    if not host or not address.isprintable():
        return f"The image `{_told(address)}` is not a URL that can be fetched."
    if user is not None:
        return "An image URL carries a user name or password; take it out, the URL is stored and shown."
    return None
