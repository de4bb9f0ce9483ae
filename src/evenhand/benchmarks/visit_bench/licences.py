"""What a sheet's `public_images_metadata` says of each image: its licence by name, and whose it is and where from."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import cast

from evenhand.benchmarks.files.literals import plain_literal

_LICENCE = ("license", "licence", "licensename", "licencename", "licensetype", "licenseshortname", "rights")
_LICENCE_URL = ("licenseurl", "licenceurl")
_AUTHOR = ("author", "creator", "artist", "attribution", "credit", "owner")
_SOURCE = ("originallandingurl", "landingurl", "pageurl", "sourceurl", "source", "originalurl", "imageurl", "url")
_CREATIVE_COMMONS = re.compile(r"creativecommons\.org/(licenses|publicdomain)/([a-z+-]+)/?(\d\.\d)?", re.IGNORECASE)
_LONGEST = 200
"""Characters of a licence's name; more is a text about it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ImageTerms:
    licence: str | None = None
    """Its usual name, or the data's own word for it; None where it states none."""
    origin: str | None = None
    """Author and address, as far as they are told."""


def read_terms(value: object, images: Sequence[str]) -> dict[str, ImageTerms]:
    """Of the images that something is said of, by name.

    The sheets do not say how the field is laid out: one document for all images, one under each image's name, or a list
    in their order; JSON, a Python literal, or a plain name.
    """
    found = _parsed(value)
    if isinstance(found, list):
        each = cast("list[object]", found)
        if len(each) == len(images):
            return _told({name: _terms(one) for name, one in zip(images, each, strict=True)})
        found = each[0] if len(each) == 1 else None
    document: dict[str, object] = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    named = {name: _terms(document[key]) for name in images if (key := _key_of(name, document)) is not None}
    return _told(named or dict.fromkeys(images, _terms(document or cast("object", found))))


def _told(terms: Mapping[str, ImageTerms]) -> dict[str, ImageTerms]:
    return {name: one for name, one in terms.items() if one.licence or one.origin}


def _key_of(image: str, document: Mapping[str, object]) -> str | None:
    """An image's entry stands under its address or its file's name."""
    return next((key for key in (image, image.rpartition("/")[2]) if isinstance(document.get(key), dict | str)), None)


def _parsed(value: object) -> object:
    if not isinstance(value, str):
        return value
    text = value.strip()
    if not text.startswith(("{", "[")):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return plain_literal(text)


def _terms(value: object) -> ImageTerms:
    if isinstance(value, str):
        return ImageTerms(licence=licence_name(value))
    if not isinstance(value, dict):
        return ImageTerms()
    fields = dict(_texts(cast("dict[str, object]", value)))
    named = next((fields[key] for key in (*_LICENCE, *_LICENCE_URL) if key in fields), None)
    parts = [next((fields[key] for key in keys if key in fields), None) for keys in (_AUTHOR, _SOURCE)]
    return ImageTerms(licence=licence_name(named) if named else None, origin=", ".join(filter(None, parts)) or None)


def _texts(document: Mapping[str, object]) -> Iterator[tuple[str, str]]:
    """Texts by the letters of their names; of a document within, such as a licence with name and address, its own."""
    for name, value in document.items():
        letters = "".join(char for char in name.casefold() if char.isalnum())
        if isinstance(value, str) and value.strip():
            yield letters, " ".join(value.split())
        elif isinstance(value, dict) and letters in _LICENCE:
            inner = dict(_texts(cast("dict[str, object]", value)))
            if said := inner.get("name") or inner.get("shortname") or inner.get("url"):
                yield letters, said


def licence_name(text: str) -> str | None:
    """`CC BY-SA 2.0` for Creative Commons' addresses; another text as it is, without line breaks."""
    words = " ".join(text.split())
    if not words or not words.isprintable() or len(words) > _LONGEST:
        return None
    found = _CREATIVE_COMMONS.search(words)
    if found is None:
        return words
    kind, name, version = found[1].lower(), found[2].lower(), found[3] or ""
    if kind == "publicdomain":
        name = {"zero": "CC0", "mark": "Public Domain Mark"}.get(name, name)
        return f"{name} {version}".strip()
    return f"CC {name.upper()} {version}".strip()
