"""Judgements on record read once more from their stored replies: does the reader say today what is stored?"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.domain.call import Request
from evenhand.domain.item import Item
from evenhand.domain.verdict import NoVerdict, verdict_json
from evenhand.engine.tasks.asking import Asking, ReplyReading
from evenhand.engine.tasks.extraction import Extraction, Extractor
from evenhand.ledger.read.fingerprints import Fingerprint
from evenhand.ledger.read.lookup import responses_by_digest, trials_by_key
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import ProtocolError


@dataclass(frozen=True, slots=True, kw_only=True)
class Reread:
    trace: Fingerprint
    now: str | None
    """The reason, or the verdict as JSON; None where it was not read: nobody has its reader, or it has no reply."""

    @property
    def stored(self) -> str:
        return self.trace.reason or _spelled(self.trace.verdict or "")

    @property
    def agrees(self) -> bool:
        return self.now is None or self.now == self.stored


def reader_of(ledger: Ledger, study: StudyOnRecord, items: Mapping[str, Item]) -> Asking | None:
    """What reads the replies of this study's judge; None where nobody has its protocol, or forgot who extracts.

    `items` by digest.
    """
    try:
        protocol = load_protocol(study.condition.protocol)
    except ProtocolError:
        return None
    if study.condition.extractor and not study.extractor:
        return None
    extraction = None
    if protocol.extraction and study.extractor:
        extraction = Extraction(protocol=protocol.extraction, extractor=Extractor(rater=study.extractor, model=""))
    return Asking(
        study=study.key,
        protocol=protocol,
        condition=study.condition,
        rater=study.rater,
        model="",
        items=items,
        responses={},
        fence_secret=ledger.fence_secret(),
        extraction=extraction,
    )


def read_again(ledger: Ledger, some: Sequence[Fingerprint], asking: Asking) -> Iterator[Reread]:
    """In their order. Raises KeyError or ValueError where what they name is not on record or cannot be understood."""
    trials = trials_by_key(ledger, {one.trial for one in some})
    calls = ledger.find_calls({key for one in some for key in one.calls})
    shown = responses_by_digest(ledger, tuple({digest for trial in trials.values() for digest in trial.responses}))
    asking = replace(asking, responses=shown)
    for one in some:
        if one.reader != asking.protocol.reader or not one.calls:
            yield Reread(trace=one, now=None)
        else:
            replies = [calls[key].reply for key in one.calls]
            yield Reread(trace=one, now=_said(asking.read_trial(trials[one.trial], replies)))


def _said(reading: ReplyReading | Request) -> str:
    if isinstance(reading, Request):
        return "a second call that is not on record"
    verdict = reading.verdict
    return verdict.reason if isinstance(verdict, NoVerdict) else _spelled(json.dumps(verdict_json(verdict)))


def _spelled(verdict: str) -> str:
    """However its JSON is written; what is none stays as it is."""
    try:
        return json.dumps(json.loads(verdict), sort_keys=True)
    except ValueError:
        return verdict
