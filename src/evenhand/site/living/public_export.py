"""What everybody may have of a benchmark, as a table: each item's name, instruction, category and images.

Nothing else of an item is ever looked at here, so that what is withheld cannot slip in.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark, Item
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.tables import Shape
from evenhand.files.outputs import Place, Target, path_of, refuse_way_out, write_whole
from evenhand.images import ImageError, ImageStore
from evenhand.ledger.read.projection import benchmarks, items_of, left_out_of
from evenhand.ledger.read.spending import terms_of
from evenhand.ledger.store.record import Ledger
from evenhand.site.living.export import image_file_name
from evenhand.site.living.settings import growing_benchmarks, versions
from evenhand.site.living.versions import grown_version

COLUMNS: Mapping[str, Shape] = {
    "item": "text",
    "instruction": "text",
    "category": "text",
    "images": "texts",
    "image_sha256": "texts",
    "image_licences": "texts",
    "licence": "text",
}
"""The three lists are of one length; a digest or licence that is not known is null. `licence` is the benchmark's."""


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenImages:
    files: Mapping[str, str]
    """Names of the files, by the image's digest."""
    absent: tuple[str, ...]
    """Images that are not available, as the items name them."""


def public_rows(benchmark: Benchmark, *, files: Mapping[str, str] | None = None) -> list[dict[str, Json]]:
    """A row for each item, with the columns above.

    `files`: paths of image files by digest, that stand for images which are named by nothing but their digest.
    """
    return [_row(item, benchmark, files or {}) for item in benchmark.items]


def on_record(ledger: Ledger, data: str) -> Benchmark:
    """The benchmark as the ledger has it, with what is known there of its images."""
    items = items_of(ledger, data)
    terms = terms_of(ledger, data)
    named = {name for item in items for name in item.images}
    fetched, licences = ledger.images.addresses.digests(), ledger.images.addresses.licences(data)
    return Benchmark(
        name=next((one.name for one in benchmarks(ledger) if one.data == data), ""),
        items=tuple(items),
        licence=terms.licence,
        citation=terms.citation,
        protocols=(),
        addresses={name: digest for name, digest in fetched.items() if name in named},
        licences={**{name: said for name, said in licences.items() if name in named}, **_grown(ledger, data)},
        left_out=left_out_of(ledger, data),
    )


def write_images(benchmark: Benchmark, folder: Place, store: ImageStore | None) -> WrittenImages:
    """Every available image, as a file named by its digest; one that is there already stays.

    Raises OSError, OutputRefused where another file has that name, and ExchangeError where a stored image was altered.
    """
    if isinstance(folder, Target):
        refuse_way_out(folder.path / "image")
    path_of(folder).mkdir(parents=True, exist_ok=True)
    files: dict[str, str] = {}
    absent: list[str] = []
    for name in dict.fromkeys(image for item in benchmark.items for image in item.images):
        digest = _digest(name, benchmark)
        data = None if digest is None else _bytes(digest, benchmark, store)
        if digest is None or data is None:
            absent.append(name)
            continue
        files[digest] = image_file_name(digest, data)
        place = folder.below(files[digest]) if isinstance(folder, Target) else folder / files[digest]
        if not _holds(path_of(place), data):
            write_whole(place, data)
    return WrittenImages(files=files, absent=tuple(absent))


def _holds(path: Path, data: bytes) -> bool:
    return path.is_file() and not path.is_symlink() and path.read_bytes() == data


def _row(item: Item, benchmark: Benchmark, files: Mapping[str, str]) -> dict[str, Json]:
    digests: Sequence[str | None] = [_digest(name, benchmark) for name in item.images]
    return {
        "item": item.label,
        "instruction": item.instruction,
        "category": item.category,
        "images": [files.get(name, name) for name in item.images],
        "image_sha256": digests,
        "image_licences": [benchmark.licences.get(name) for name in item.images],
        "licence": benchmark.licence,
    }


def _digest(name: str, benchmark: Benchmark) -> str | None:
    return benchmark.addresses.get(name, None if "://" in name else name)


def _bytes(digest: str, benchmark: Benchmark, store: ImageStore | None) -> bytes | None:
    data = benchmark.pictures.get(digest)
    if data is not None or store is None or store.missing([digest]):
        return data
    try:
        return store.get(digest)
    except ImageError as error:
        raise ExchangeError(str(error)) from error


def _grown(ledger: Ledger, data: str) -> dict[str, str]:
    """Licences of images that people gave, by digest, where the data is a version of a benchmark that grows."""
    for growing in growing_benchmarks(ledger):
        number = next((one.number for one in versions(ledger, growing.id) if one.data == data), None)
        grown = None if number is None else grown_version(ledger, growing, number)
        if grown is not None:
            stands = [one.standing for one in grown.proposals.values()]
            return {image: one.asked.licence for one in stands for image in one.images}
    return {}
