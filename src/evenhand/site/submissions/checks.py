"""Keeps submitted files and checks them: off the event loop, two at once at most, the last findings at hand."""

import hashlib
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import BinaryIO, TypeAlias

from anyio import CapacityLimiter, to_thread

from evenhand.benchmarks.answers.submitted import check_submitted
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.submission import Uploaded
from evenhand.ledger.store.record import Ledger

AT_ONCE = 2
_KEPT = 64
_LABEL = "submitted"
"""For the answers while they are checked; they go on record under their own when they are judged."""
_Key: TypeAlias = tuple[str, str, str, frozenset[str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class WantedCheck:
    benchmark: Benchmark
    missing_allowed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundProblem:
    upload: Uploaded
    document: Mapping[str, Json]
    """What `evenhand.benchmarks.answers.checked` tells, without the answers."""


class Checks:
    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._threads = CapacityLimiter(AT_ONCE)
        self._kept: OrderedDict[_Key, Mapping[str, Json]] = OrderedDict()

    async def take(self, file: BinaryIO, name: str, wanted: WantedCheck) -> FoundProblem:
        """Reads the file where it stands and keeps it byte for byte."""
        found = await to_thread.run_sync(self._taken, file, name, wanted, limiter=self._threads)
        self._keep(found.upload, wanted, found.document)
        return found

    async def again(self, upload: Uploaded, wanted: WantedCheck) -> Mapping[str, Json] | None:
        """What was found in a file that was taken before; None where the file is gone or was altered."""
        kept = self._kept.get(_key(upload, wanted))
        if kept is not None:
            return kept
        found = await to_thread.run_sync(self._reread, upload, wanted, limiter=self._threads)
        if found is not None:
            self._keep(upload, wanted, found)
        return found

    def keep(self, file: BinaryIO) -> None:
        """Byte for byte; again is no change."""
        file.seek(0)
        self._ledger.submitted.add(file.read())

    def _keep(self, upload: Uploaded, wanted: WantedCheck, document: Mapping[str, Json]) -> None:
        self._kept[_key(upload, wanted)] = document
        while len(self._kept) > _KEPT:
            self._kept.popitem(last=False)

    def _taken(self, file: BinaryIO, name: str, wanted: WantedCheck) -> FoundProblem:
        file.seek(0)
        data = file.read()
        checked = check_submitted(data, name, wanted.benchmark, label=_LABEL, missing_allowed=wanted.missing_allowed)
        upload = Uploaded(
            file=self._ledger.submitted.add(data),
            name=name,
            size=len(data),
            answered=checked.answered,
            faults=checked.faults,
        )
        return FoundProblem(upload=upload, document=checked.as_json())

    def _reread(self, upload: Uploaded, wanted: WantedCheck) -> Mapping[str, Json] | None:
        try:
            data = self._ledger.submitted.get(upload.file)
        except KeyError:
            return None
        if hashlib.sha256(data).hexdigest() != upload.file:
            return None
        checked = check_submitted(
            data, upload.name, wanted.benchmark, label=_LABEL, missing_allowed=wanted.missing_allowed
        )
        return checked.as_json()


def _key(upload: Uploaded, wanted: WantedCheck) -> _Key:
    against = wanted.benchmark
    return upload.file, upload.name, against.digest, against.left_out, wanted.missing_allowed
