"""A grown benchmark as files: items that `--data` takes, their images beside them, and who did what."""

import json
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, cast

from evenhand.benchmarks.grown_name import ABOUT
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.exchange.errors import ExchangeError
from evenhand.exchange.tables import ExchangeTable, jsonl_lines
from evenhand.files.outputs import refuse_way_out, write_whole
from evenhand.images import ImageError, sniff
from evenhand.ledger.store.record import Ledger
from evenhand.site.living.events import Instruction
from evenhand.site.living.store import Proposal
from evenhand.site.living.versions import BenchmarkVersion

ITEMS, HISTORY = "items.jsonl", "history.jsonl"
IMAGES = "images/"

_SUFFIXES = {"image/jpeg": ".jpg"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportedFile:
    name: str
    """With / between folder and file."""
    data: bytes


def exported_files(ledger: Ledger, grown: BenchmarkVersion) -> Iterator[ExportedFile]:
    """All files of a version, the same bytes whenever it is exported, unless an item of it was taken out since: its
    history tells that. Raises ExchangeError where an image is gone."""
    names: dict[str, str] = {}
    for digest in dict.fromkeys(image for item in grown.items for image in item.images if ":" not in image):
        try:
            data = ledger.images.get(digest)
        except ImageError as error:
            raise ExchangeError(str(error)) from error
        names[digest] = f"{IMAGES}{image_file_name(digest, data)}"
        yield ExportedFile(name=names[digest], data=data)
    rows = [_item_row(item, names, grown.proposals.get(item.label)) for item in grown.items]
    yield ExportedFile(name=ITEMS, data=_jsonl(rows))
    yield ExportedFile(name=HISTORY, data=_jsonl([_history_row(k, one) for k, one in grown.proposals.items()]))
    yield ExportedFile(name=ABOUT, data=(json.dumps(_about(grown), indent=2) + "\n").encode("ascii"))


def image_file_name(digest: str, data: bytes) -> str:
    """The digest with the ending of the image's kind."""
    kind = sniff(data)
    return f"{digest}{_SUFFIXES.get(kind, '.' + kind.removeprefix('image/'))}"


def write_folder(ledger: Ledger, grown: BenchmarkVersion, folder: Path) -> Path:
    """The items file; a folder that is there already must be empty. Raises ExchangeError, OSError."""
    refuse_way_out(folder / ITEMS)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise ExchangeError(f"{folder} exists and is not an empty folder; name another one.")
    for file in exported_files(ledger, grown):
        path = folder / file.name
        path.parent.mkdir(parents=True, exist_ok=True)
        write_whole(path, file.data)
    return folder / ITEMS


def zipped(ledger: Ledger, grown: BenchmarkVersion) -> Iterator[bytes]:
    """An archive bit by bit, one image in memory at a time. Raises ExchangeError at once where an image is missing."""
    missing = ledger.images.missing(image for item in grown.items for image in item.images)
    if missing:
        raise ExchangeError(f"There is no image {missing[0]} in the store; import the files it came with again.")
    return _zipped(exported_files(ledger, grown))


def _zipped(files: Iterable[ExportedFile]) -> Iterator[bytes]:
    outlet = _Outlet()
    with zipfile.ZipFile(cast("IO[bytes]", outlet), "w") as archive:
        for file in files:
            # A fixed date: the same version is the same archive.
            info = zipfile.ZipInfo(file.name, date_time=(1980, 1, 1, 0, 0, 0))
            # Images are packed already: to pack them again takes long and saves nothing.
            image = file.name.startswith(IMAGES)
            archive.writestr(info, file.data, zipfile.ZIP_STORED if image else zipfile.ZIP_DEFLATED)
            yield outlet.taken()
    yield outlet.taken()


class _Outlet:
    """Holds what an archive wrote until it is taken; it cannot be sought in, so that nothing need be held longer."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        pass

    def taken(self) -> bytes:
        parts, self._parts = self._parts, []
        return b"".join(parts)


def _jsonl(rows: list[dict[str, Json]]) -> bytes:
    return b"".join(jsonl_lines(ExchangeTable(columns={}, rows=rows)))


def _item_row(item: Item, names: Mapping[str, str], proposal: Proposal | None) -> dict[str, Json]:
    content = item.content()
    caption = None if proposal is None else proposal.standing.caption
    if caption is not None and caption.texts and caption.text == item.caption:
        # Joined when they are read, as they were when the item was made.
        content = {"captions" if name == "caption" else name: value for name, value in content.items()}
        content["captions"] = list(caption.texts)
    if proposal is not None:
        asked = proposal.standing.asked
        content |= {"licence": asked.licence, "source": asked.origin, "instance": asked.instance}
    content["images"] = [names.get(image, image) for image in item.images]
    content["criteria"] = dict(item.criteria)
    return {"item": item.label, **{name: value for name, value in content.items() if value}}


def _history_row(label: str, proposal: Proposal) -> dict[str, Json]:
    stands = proposal.standing
    events: list[dict[str, Json]] = []
    for event in proposal.events:
        nobody = "intake" if isinstance(event.said, Instruction) else "worker"
        who: str = nobody if event.person is None else f"person-{event.person}"
        said: dict[str, Any] = asdict(event.said)
        events.append({"seq": event.seq, "at": event.at, "by": who, "what": type(event.said).__name__, **said})
    return {
        "item": label,
        "image": stands.image,
        "images": list(stands.images),
        "image_licence": stands.asked.licence,
        "image_url": stands.asked.url,
        "version": None if stands.joined is None else stands.joined.version,
        "taken_out": stands.reason if stands.stage == "removed" else None,
        "events": events,
    }


def _about(grown: BenchmarkVersion) -> dict[str, Json]:
    return {
        "schema": 1,
        "name": grown.growing.name,
        "version": grown.version.number,
        "licence": grown.growing.licence,
        "data": grown.version.data,
        "items": len(grown.items),
        "at": grown.version.at,
    }
