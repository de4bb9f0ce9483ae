"""A case's images: base64 in the row, bytes in a struct, the index of another row, or files beside the data."""

import base64
import binascii
from pathlib import Path
from typing import cast

from evenhand.benchmarks.data_error import IMAGE
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.items_file import PictureFiles
from evenhand.benchmarks.files.literals import plain_literal
from evenhand.images import ImageError

_LONGEST_POINTER = 64
"""The official code's bound: what is no longer is another row's index, which saves the image a second time."""


class CaseImages:
    """The images of one data file, kept on the disk by their SHA-256."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._files = PictureFiles(folder)
        self.pictures = self._files.found

    def names(self, reader: FieldReader) -> tuple[str, ...] | str:
        """Digests in order, none where the row names no image; or the label of the row that has the images."""
        value = reader.row.fields.get("image")
        if isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if isinstance(value, str) and 0 < len(value.strip()) <= _LONGEST_POINTER:
            return value.strip()
        embedded = _embedded(value, reader)
        if embedded:
            return tuple(self._kept(number, one, reader) for number, one in enumerate(embedded, start=1))
        if not reader.faulty:
            return self._of_files(reader)
        return ()

    def _of_files(self, reader: FieldReader) -> tuple[str, ...]:
        value = reader.row.fields.get("image_path")
        literal = plain_literal(value) if isinstance(value, str) and value.lstrip().startswith("[") else value
        places = cast("list[object]", literal) if isinstance(literal, list) else [literal]
        names = [place for place in places if isinstance(place, str) and place.strip()]
        if names and len(names) < len(places):
            reader.fault("An image of the case is named by nothing; name its file in `image_path`.", code=IMAGE)
            return ()
        # The official file names the images of every row, which lie nowhere: a row without its own has none.
        if "image" in reader.row.fields and not any(map(self._may_be_there, names)):
            return ()
        return tuple(self._files.name(name, reader) for name in names)

    def _may_be_there(self, name: str) -> bool:
        path = Path(name)
        return ":" in name or path.is_absolute() or ".." in path.parts or (self._folder / path).exists()

    def _kept(self, number: int, image: str | bytes, reader: FieldReader) -> str:
        try:
            data = base64.b64decode(image.strip(), validate=True) if isinstance(image, str) else image
            return self.pictures.keep(data)
        except (binascii.Error, ValueError) as error:
            said = str(error) if isinstance(error, ImageError) else f"it is not base64 ({error})."
            reader.fault(f"Image {number} of the case cannot be used: {said}", code=IMAGE)
            return ""


def _embedded(value: object, reader: FieldReader) -> list[str | bytes]:
    """The images that stand in the row itself; empty where there are none."""
    if isinstance(value, str):
        return _base64_texts(value.strip(), reader)
    if not isinstance(value, list):
        return []
    found: list[str | bytes] = []
    for place in cast("list[object]", value):
        data = cast("dict[str, object]", place).get("bytes") if isinstance(place, dict) else place
        if isinstance(data, (str, bytes)) and data:
            found.append(data)
        else:
            reader.fault(f"Image {len(found) + 1} of the case is empty.")
    return found


def _base64_texts(text: str, reader: FieldReader) -> list[str | bytes]:
    """One base64 text, or those of a list's text. Base64 holds neither commas nor quotes, so splitting is exact."""
    if not text.startswith("["):
        return [text] if text else []
    quoted = [part.strip() for part in text.removeprefix("[").removesuffix("]").split(",")]
    if not text.endswith("]") or any(len(part) < 3 or part[0] not in "'\"" or part[-1] != part[0] for part in quoted):
        reader.fault("The field `image` begins like a list and is none of quoted base64 texts.")
        return []
    return [part[1:-1] for part in quoted]
