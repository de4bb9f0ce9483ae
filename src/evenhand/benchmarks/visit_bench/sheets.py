"""The sheets that VisIT-Bench's authors released, row by row as Items; what does not fit is told, not raised."""

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, TypeAlias, cast

from evenhand.benchmarks.data_error import COLUMN, IMAGE, TYPE, FilePlace, Problems, quoted
from evenhand.benchmarks.files.cells import is_nothing, read_list, read_truth
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.items_file import PictureFiles, address_fault, join_captions
from evenhand.benchmarks.files.rows import Row, kind_of
from evenhand.benchmarks.visit_bench.licences import ImageTerms, read_terms
from evenhand.domain.item import Item
from evenhand.images import ImageError
from evenhand.images.unpacked import UnpackedPictures

SUFFIXES = (".csv", ".tsv", ".parquet")

Chosen: TypeAlias = Literal["given", "verified-gpt4"]
"""What plays as the reference: the sheet's own, or GPT-4's answer where people rated it correct."""

Rating: TypeAlias = Literal["right", "wrong", "unrated", "no ratings"]

_IMAGES = ("images", "image_url", "image")
_CAPTIONS = ("instruction_conditioned_caption", "images_dense_captions", "image_dense_caption")
_REFERENCES = (
    "reference_output", "output_human_annotated", "human_verified_reference", "human verified reference",
)  # fmt: skip
_CORRECT = "human_ratings_gpt4_correct"
_TERMS = "public_images_metadata"
_RATINGS = (_CORRECT, "human_ratings_problem_in_caption", "human_ratings_problem_in_gpt4")


@dataclass(frozen=True, slots=True, kw_only=True)
class SheetRow:
    place: FilePlace
    item: Item
    rating: Rating
    has_reference: bool
    """Whether the row gives one, be it kept or not."""
    terms: Mapping[str, ImageTerms]
    """Of its images, by their names."""
    terms_unread: bool
    """It says something of its images, and no licence could be read from it."""


def is_sheet(rows: Sequence[Row]) -> bool:
    """By its columns: the files of predictions have no captions."""
    columns = {name for row in rows for name in row.fields}
    return "instruction" in columns and all(any(name in columns for name in names) for names in (_IMAGES, _CAPTIONS))


class Sheets:
    """What the sheets brought so far; each row of them once."""

    def __init__(self, problems: Problems, *, skill: Callable[[str], str], chosen: Chosen = "given") -> None:
        """`skill` gives a category its usual spelling."""
        self.pictures = UnpackedPictures()
        self.addresses: dict[str, str] = {}
        """SHA-256 of embedded images, by their URL or file name."""
        self._problems = problems
        self._skill = skill
        self._chosen: Chosen = chosen
        self._rows: dict[str, SheetRow] = {}
        self._repeated = 0
        self._numbers: Counter[str] = Counter()

    @property
    def items(self) -> tuple[Item, ...]:
        return tuple(row.item for row in self._rows.values())

    @property
    def licences(self) -> dict[str, str]:
        """By the image's name, and so are the origins."""
        return {name: one.licence for name, one in self._terms() if one.licence}

    @property
    def origins(self) -> dict[str, str]:
        return {name: one.origin for name, one in self._terms() if one.origin}

    def _terms(self) -> Iterator[tuple[str, ImageTerms]]:
        return (pair for row in self._rows.values() for pair in row.terms.items())

    def add(self, path: Path, rows: Sequence[Row]) -> None:
        if not rows or not _columns_fit(path, rows, self._problems, self._chosen):
            return
        pictures = PictureFiles(path.parent, self.pictures)
        for row in rows:
            read = _RowReader(row, self._problems, pictures, self.addresses).read(self._skill, self._chosen)
            if read is not None and read.item.digest in self._rows:
                self._repeated += 1
            elif read is not None:
                label = self._label(read.item.category, several="images" in row.fields)
                self._rows[read.item.digest] = replace(read, item=replace(read.item, label=label))

    def notes(self) -> Iterator[str]:
        """Sentences that a user must be told once."""
        rows = list(self._rows.values())
        if self._repeated:
            yield f"Rows that repeat an earlier row word for word were left out: {self._repeated}."
        played = sum(row.item.reference is not None for row in rows)
        if self._chosen == "verified-gpt4":
            yield f"GPT-4's answer is the reference on the rows that people rated correct: {played} of {len(rows)}."
        else:
            yield from _reference_notes(rows)
        unread = sum(row.terms_unread for row in rows)
        if unread:
            yield f"Rows whose `{_TERMS}` names no licence that could be read: {unread} of {len(rows)}."
        urls = sum(":" in image for row in rows for image in row.item.images if image not in self.addresses)
        if urls:
            yield f"Images given as URLs, kept as text and not fetched: {urls} (`evenhand benchmarks fetch` gets them)."

    def _label(self, skill: str | None, *, several: bool) -> str:
        """The sheets name no rows: the skill and its how-manieth row, apart for the two sheets."""
        words = "".join(char if char.isalnum() else " " for char in skill or "uncategorised").split()
        stem = "-".join(["multi", *words] if several else words or ["item"])
        self._numbers[stem] += 1
        return f"{stem}-{self._numbers[stem]}"


def _reference_notes(rows: Sequence[SheetRow]) -> Iterator[str]:
    without = sum(not row.has_reference for row in rows)
    if without:
        yield f"Items without a reference, on which none plays and none guides a judge: {without} of {len(rows)}."
    wrong = sum(row.has_reference and row.item.reference is None for row in rows)
    if wrong:
        yield f"References that people rated wrong, which neither play nor guide a judge: {wrong} of {len(rows)}."
    unrated = sum(row.rating == "unrated" and row.item.reference is not None for row in rows)
    if unrated:
        yield f"References that nobody rated, which play like the others: {unrated} of {len(rows)}."


def _columns_fit(path: Path, rows: Sequence[Row], problems: Problems, chosen: Chosen) -> bool:
    """False where the sheet cannot be one of the released; that is told once and not for every row."""
    columns = dict.fromkeys(name for row in rows for name in row.fields)
    before = problems.count
    for names in (("instruction",), ("instruction_category",), _IMAGES, _CAPTIONS, _REFERENCES):
        if not any(name in columns for name in names):
            wanted = " or ".join(f"`{name}`" for name in names)
            problems.add(FilePlace(path=path), f"No column {wanted}; found {quoted(columns)}.", code=COLUMN)
    if chosen == "verified-gpt4" and _CORRECT not in columns:
        sentence = f"GPT-4's verified answers were asked for, and no column `{_CORRECT}` says which are right."
        problems.add(FilePlace(path=path), sentence, code=COLUMN)
    return problems.count == before


class _RowReader(FieldReader):
    def __init__(self, row: Row, problems: Problems, pictures: PictureFiles, addresses: dict[str, str]) -> None:
        super().__init__(row, problems)
        self._pictures = pictures
        self._addresses = addresses
        self._several = "images" in row.fields

    def read(self, skill: Callable[[str], str], chosen: Chosen) -> SheetRow | None:
        """None where anything is wrong with the row; the problems then tell what."""
        instruction = self.needed_text("instruction")
        category = self._said("instruction_category")
        images = self._image_names()
        caption = self._caption(len(images))
        rating = self._rating()
        given = self._first_said(_REFERENCES)
        reference = self._reference(given, rating, chosen)
        terms = self._terms(images)
        if self.faulty:
            return None
        name = skill(category) if category else None
        return SheetRow(
            place=self.row.place,
            item=Item(
                label="",
                instruction=instruction,
                images=images,
                caption=caption,
                reference=reference,
                category=name,
            ),
            rating=rating,
            has_reference=given is not None,
            terms=terms,
            terms_unread=self._says_terms() and not any(one.licence for one in terms.values()),
        )

    def _said(self, name: str) -> str | None:
        return None if is_nothing(self.row.fields.get(name)) else self.text(name)

    def _first_said(self, names: Sequence[str]) -> str | None:
        return next((said for name in names if (said := self._said(name)) is not None), None)

    def _image_names(self) -> tuple[str, ...]:
        if self._several:
            return self._listed_images()
        url = self._said("image_url")
        embedded = self.row.fields.get("image")
        if url is None:
            return (self._embedded(embedded),)
        self._check_address(url)
        if isinstance(embedded, dict):
            digest = self._embedded(cast("dict[str, object]", embedded))
            self._addresses[url] = digest
        return (url,)

    def _listed_images(self) -> tuple[str, ...]:
        listed = read_list(self.row.fields["images"])
        names = [one for one in listed or () if isinstance(one, str) and one.strip()]
        if not listed or len(names) != len(listed):
            self.fault("The field `images` must be a list of URLs.", code=TYPE)
        for name in names:
            self._check_address(name)
        return tuple(names)

    def _check_address(self, url: str) -> None:
        fault = address_fault(url)
        if fault is not None:
            self.fault(fault, code=IMAGE)

    def _embedded(self, value: object) -> str:
        """The image's name where its bytes are in the row or a file beside the sheet."""
        if isinstance(value, str) and not is_nothing(value):
            return self._pictures.name(value, self)
        parts: Mapping[str, object] = cast("dict[str, object]", value) if isinstance(value, dict) else {}
        data, path = parts.get("bytes"), parts.get("path")
        if isinstance(data, bytes):
            try:
                digest = self._pictures.keep(data)
            except ImageError as error:
                self.fault(f"The field `image` cannot be used: {error}", code=IMAGE)
                return ""
            if isinstance(path, str) and path:
                self._addresses[path] = digest
            return digest
        if isinstance(path, str) and path:
            return self._pictures.name(path, self)
        held = kind_of(cast("object", value))
        self.fault(f"No image: `image_url` is empty and `image` holds {held}.", code=IMAGE)
        return ""

    def _caption(self, images: int) -> str | None:
        name = next((name for name in _CAPTIONS if not is_nothing(self.row.fields.get(name))), None)
        if name is None:
            return None
        listed = read_list(self.row.fields[name]) if self._several else None
        if listed is None:
            return self.text(name)
        captions = [self.checked(name, one) if isinstance(one, str) and one.strip() else None for one in listed]
        # The list is padded to ten places whatever the number of images.
        if any(captions[images:]):
            self.fault(f"The field `{name}` has captions for more images than the {images} there are.")
        return join_captions(captions[:images])

    def _rating(self) -> Rating:
        if not any(name in self.row.fields for name in _RATINGS):
            return "no ratings"
        said = {name: read_truth(self.row.fields.get(name)) for name in _RATINGS}
        for name, truth in said.items():
            if truth == "unclear":
                self.fault(f"The field `{name}` is `{self.row.fields[name]}`; expected True or False.")
        correct = said[_CORRECT]
        if correct is None:
            return "wrong" if True in said.values() else "unrated"
        return "right" if correct is True else "wrong"

    def _reference(self, given: str | None, rating: Rating, chosen: Chosen) -> str | None:
        """In the multi-image sheet the ratings speak of another text than its reference: of GPT-4's prediction."""
        if chosen == "verified-gpt4":
            verified = self._said("gpt4_prediction" if self._several else "reference_output")
            return verified if rating == "right" else None
        return given if self._several or rating != "wrong" else None

    def _terms(self, images: Sequence[str]) -> dict[str, ImageTerms]:
        if not self._says_terms():
            return {}
        found = read_terms(self.row.fields[_TERMS], images)
        for one in found.values():
            self.checked(_TERMS, f"{one.licence or ''}{one.origin or ''}")
        return found

    def _says_terms(self) -> bool:
        value = self.row.fields.get(_TERMS)
        return not is_nothing(value) and (str(value).strip() if isinstance(value, str) else value) not in (
            "{}", "[]", {}, [],
        )  # fmt: skip
