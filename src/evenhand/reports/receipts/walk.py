"""The judgements behind a receipt, one after the other: is each what its name says, and read as it would be today?"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import islice

from evenhand.domain.item import Item
from evenhand.engine.tasks.asking import Asking
from evenhand.engine.tasks.rereading import Reread, read_again, reader_of
from evenhand.ledger.read.fingerprints import Fingerprint, traces
from evenhand.ledger.read.lookup import trials_by_key
from evenhand.ledger.read.projection import StudyOnRecord
from evenhand.ledger.store.record import CHUNK, Ledger
from evenhand.ledger.upkeep.check import misnamed
from evenhand.reports.receipts.damage import DAMAGED, why_unread

_WHAT = {
    "trial": "the trial {name} is not on record as its name says",
    "call": "the request of call {name} is not on record as its name says",
    "response": "the answer {name} does not hold the text that its name says",
    "item": "the item {name} is not on record as its name says",
}


@dataclass(slots=True, kw_only=True)
class Walked:
    hashes: dict[int, bytes] = field(default_factory=dict[int, bytes])
    """Of each judgement found."""
    differs: list[str] = field(default_factory=list[str])
    """Sentences."""
    agreed: int = 0
    """Judgements whose stored replies say today what is stored."""
    not_read: int = 0
    """Judgements without a reply, or by a reader that is not here."""


def walked(ledger: Ledger, numbers: Iterable[int], study: StudyOnRecord, items: Mapping[str, Item]) -> Walked:
    """`numbers` of the judgements, `study` any of their board, `items` by digest."""
    found, walk = Walked(), _Walk(ledger=ledger, asking=reader_of(ledger, study, items))
    each = traces(ledger, numbers)
    while some := list(islice(each, CHUNK)):
        found.hashes.update((one.seq, one.hash) for one in some)
        wrong = walk.misnamed(some)
        found.differs += [sentence for _, sentence in wrong]
        unsound = {number for number, _ in wrong}
        for one in walk.read([one for one in some if one.seq not in unsound]):
            if isinstance(one, str):
                found.differs.append(one)
            elif one.now is None:
                found.not_read += 1
            elif one.agrees:
                found.agreed += 1
            else:
                found.differs.append(
                    f"Judgement {one.trace.seq} (trial {one.trace.trial[:12]}): {one.stored} is stored, and the reply "
                    f"is read as {one.now}."
                )
    return found


@dataclass(frozen=True, slots=True, kw_only=True)
class _Walk:
    ledger: Ledger
    asking: Asking | None
    """None: nobody here can read the replies."""
    seen: set[str] = field(default_factory=set[str])
    """Answers and items that were looked at."""

    def misnamed(self, some: Iterable[Fingerprint]) -> list[tuple[int, str]]:
        """Numbers of judgements, and a sentence each about something behind them."""
        behind: dict[str, dict[str, int]] = {
            "trial": {one.trial: one.seq for one in some},
            "call": {key: one.seq for one in some for key in one.calls},
        }
        wrong = {kind: misnamed(self.ledger, kind, names) for kind, names in behind.items()}
        sound = trials_by_key(self.ledger, behind["trial"].keys() - {*wrong["trial"]})
        number = {key: behind["trial"][key] for key in sound}
        behind["response"] = {digest: number[key] for key, trial in sound.items() for digest in trial.responses}
        behind["item"] = {trial.item: number[key] for key, trial in sound.items()}
        for kind in ("response", "item"):
            wrong[kind] = misnamed(self.ledger, kind, behind[kind].keys() - self.seen)
            self.seen.update(behind[kind])
        return [
            (behind[kind][name], f"Judgement {behind[kind][name]}: {_WHAT[kind].format(name=name[:12])}.")
            for kind, names in wrong.items()
            for name in sorted(names)
        ]

    def read(self, some: list[Fingerprint]) -> Iterator[Reread | str]:
        """A sentence where a reply cannot be read at all."""
        if self.asking is None:
            yield from (Reread(trace=one, now=None) for one in some)
            return
        try:
            yield from list(read_again(self.ledger, some, self.asking))
        except DAMAGED as error:
            if len(some) > 1:
                for one in some:
                    yield from self.read([one])
            else:
                yield f"Judgement {some[0].seq} cannot be read again: {why_unread(error)}."
