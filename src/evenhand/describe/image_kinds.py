"""What kind each image is, photograph or drawing, as the user labelled it in a table: Creation-MMBench's Fig. 10c."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from evenhand.benchmarks.data_error import COLUMN, BenchmarkError, FilePlace, Problems, listed, quoted
from evenhand.benchmarks.files.fields import FieldReader
from evenhand.benchmarks.files.rows import read_rows
from evenhand.domain.item import Benchmark
from evenhand.images.inspection import digest as digest_of

_COLUMNS = ("image", "kind")


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    image: str
    """A URL, the last part of one, a file below the table's folder, or the SHA-256 of an image's bytes."""
    digest: str | None
    """Where `image` is a file."""
    kind: str


def read_labels(path: Path) -> tuple[Label, ...]:
    """From a table with the columns image and kind. Raises BenchmarkError with all that is wrong with it."""
    problems = Problems(BenchmarkError)
    labels: dict[str, tuple[Label, FilePlace]] = {}
    rows = read_rows(path, problems)
    problems.raise_any()
    missing = [name for name in _COLUMNS if name not in rows[0].fields]
    if missing:
        found = quoted(rows[0].fields)
        problems.add(FilePlace(path=path), f"The columns `image` and `kind` are expected; found {found}.", code=COLUMN)
        problems.raise_any()
    for row in rows:
        reader = FieldReader(row, problems)
        image, kind = reader.label(["image"]), reader.label(["kind"])
        known, place = labels.setdefault(image, (Label(image=image, digest=_digest(path, image), kind=kind), row.place))
        if known.kind != kind:
            reader.fault(f"The image `{image}` is called `{known.kind}` in {place.seen_from(row.place)}.")
    problems.raise_any()
    return tuple(label for label, _ in labels.values())


def labels_of(benchmark: Benchmark, labels: Iterable[Label]) -> dict[str, Label]:
    """By the names that the items give their images."""
    by_name = {name: label for label in labels for name in (label.image, label.digest) if name}
    shown = {name for item in benchmark.items for name in item.images}
    tails = Counter(_tail(name) for name in shown)
    names_of = {name: [name, benchmark.addresses.get(name, name)] for name in shown}
    for address, digest in benchmark.addresses.items():
        if digest in shown:
            names_of[digest].append(address)
    # Two images whose addresses end alike cannot be told apart by that end.
    for name, others in names_of.items():
        others.extend([_tail(name)] if tails[_tail(name)] == 1 else [])
    found = {name: [by_name[other] for other in others if other in by_name] for name, others in names_of.items()}
    return {name: several[0] for name, several in found.items() if several}


def unknown_note(labels: Sequence[Label], used: Iterable[Label]) -> str | None:
    """A sentence on the names that are no image's of any benchmark."""
    known = {label.image for label in used}
    unknown = [label.image for label in labels if label.image not in known]
    if not unknown:
        return None
    return (
        f"Of the {len(labels)} images in the table of kinds {len(unknown)} are unknown ({listed(unknown)}): give an "
        "image's URL, the last part of it, its file's path from the table, or its SHA-256."
    )


def _tail(name: str) -> str:
    return urlsplit(name).path.rpartition("/")[2]


def _digest(table: Path, image: str) -> str | None:
    path = table.parent / image
    try:
        return digest_of(path.read_bytes()) if path.is_file() else None
    except (OSError, ValueError):
        return None
