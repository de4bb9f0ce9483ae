"""How a trial becomes a request and its reply a reading: the protocol's words, the item, the answers in order."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from evenhand.domain.call import Message, Part, Picture, Reply, Request
from evenhand.domain.identity import Json
from evenhand.domain.item import Item
from evenhand.domain.judgement import Judgement
from evenhand.domain.rater import Rater
from evenhand.domain.response import Response
from evenhand.domain.trial import Condition, Trial
from evenhand.domain.verdict import NoVerdict, Verdict
from evenhand.engine.run.task import Circumstances, Due
from evenhand.engine.tasks.extraction import EXTRACTED, Extraction
from evenhand.ledger.store.claims import Claimed, claim
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.record import Ledger
from evenhand.protocols.candidates import Meant
from evenhand.protocols.closing import trial_token
from evenhand.protocols.fence import fence_nonce
from evenhand.protocols.offered import OfferedReading
from evenhand.protocols.protocol import Protocol, candidate_slot


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReading:
    verdict: Verdict | NoVerdict
    notes: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class _ShownOfItem:
    values: Mapping[str, str]
    """By slot."""
    pictures: tuple[Part, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Everything that the trials of one study share: a run's task where a judge is asked."""

    study: str
    protocol: Protocol
    condition: Condition
    rater: Rater
    model: str
    """The model's name as its endpoint knows it."""
    items: Mapping[str, Item]
    responses: Mapping[str, Response]
    addresses: Mapping[str, str] = field(default_factory=dict[str, str])
    """Digests of the images that items name by a URL."""
    fence_secret: bytes = b""
    extraction: Extraction | None = None
    """What is done with a reply that has no readable decision; None: it is left at that."""
    deviations: tuple[str, ...] = ()
    """Sentences: what the user chose otherwise than the paper states."""
    meant: dict[str, Meant] = field(default_factory=dict[str, Meant], init=False, compare=False, repr=False)
    """By digest: what is meant for the judge, of the answers shown so far. The same one is shown in pair after pair."""
    of_items: dict[str, "_ShownOfItem"] = field(
        default_factory=dict[str, "_ShownOfItem"], init=False, compare=False, repr=False
    )
    """By digest: the same of the items."""

    def claim(self, ledger: Ledger, batch: Sequence[Due[Trial]], *, holder: str) -> Claimed:
        claimed = claim(ledger, [due.key for due in batch], reader=self.protocol.reader, holder=holder)
        for due in batch:
            if due.key in claimed.mine:
                self._all_meant(due.subject)  # one after the other it takes half as long as between two replies
        return claimed

    def outcome(self, result: ReplyReading | NoVerdict) -> NoVerdict | None:
        verdict = result.verdict if isinstance(result, ReplyReading) else result
        return verdict if isinstance(verdict, NoVerdict) else None

    def record(self, due: Due[Trial], result: ReplyReading | NoVerdict, now: Circumstances) -> Entries:
        """A judgement in any case: a trial that failed is a record too."""
        reading = result if isinstance(result, ReplyReading) else ReplyReading(verdict=result)
        judgement = Judgement(
            trial=due.key,
            verdict=reading.verdict,
            reader=self.protocol.reader,
            calls=() if isinstance(result, NoVerdict) else now.calls,
            run=now.run,
            at=now.at,
            cost_usd=now.cost_usd,
            notes=reading.notes,
        )
        return Entries(trials=[due.subject], judgements=[judgement])

    def request(self, trial: Trial) -> Request:
        messages = self.protocol.messages(
            self._values(trial),
            readout=self.condition.readout,
            fence=self._fence(trial),
            token=self._token(trial),
        )
        return Request(
            endpoint=self.rater.endpoint,
            model=self.model,
            messages=self._with_pictures(messages, self._item(trial.item).pictures),
            settings=self.rater.settings,
            offer=self.protocol.offer(self.condition.readout, options=len(trial.responses)),
            replicate=trial.replicate,
            attempt=trial.attempt,
        )

    def read(self, due: Due[Trial], replies: Sequence[Reply]) -> ReplyReading | Request:
        return self.read_trial(due.subject, replies)

    def read_trial(self, trial: Trial, replies: Sequence[Reply]) -> ReplyReading | Request:
        """What the reply decides, else what the extractor says of it, who is asked where it has not been.

        A reply that was cut, or that its provider calls a refusal, is not searched for a decision.
        """
        reading = self._read(trial, replies[0])
        lacking = reading.verdict
        whole = replies[0].finish != "refused"
        if self.extraction and whole and isinstance(lacking, NoVerdict) and lacking.reason in EXTRACTED:
            if len(replies) == 1:
                return self.extraction.request(trial, replies[0].text)
            shown, fence = self._shown(trial), self._fence(trial)
            reading = replace(reading, verdict=self.extraction.read(lacking, replies[1], shown=shown, fence=fence))
        notes = dict(reading.notes)
        if adapted := [*self.deviations, *(words for reply in replies for words in reply.adapted)]:
            notes["adapted"] = adapted
        if wrote := self._candidates_wrote(trial):
            notes["candidates_wrote"] = wrote
        return ReplyReading(verdict=reading.verdict, notes=notes) if notes else reading

    def _candidates_wrote(self, trial: Trial) -> dict[str, Json]:
        """The places of the answers that hold a verdict, or an order to the judge, as shown from 0 on."""
        meant = self._all_meant(trial)
        if not any(meant):
            return {}
        found: dict[str, Json] = {
            "verdict": [place for place, one in enumerate(meant) if one.verdict],
            "order": [place for place, one in enumerate(meant) if one.order],
        }
        return {name: places for name, places in found.items() if places}

    def _all_meant(self, trial: Trial) -> list[Meant]:
        for digest in trial.responses:
            if digest not in self.meant:
                self.meant[digest] = self.protocol.meant(self.responses[digest].text)
        return [self.meant[digest] for digest in trial.responses]

    def _read(self, trial: Trial, reply: Reply) -> ReplyReading:
        if reply.finish == "refused":
            return ReplyReading(verdict=NoVerdict(reason="refused", detail=reply.text[:200]))
        if self.condition.readout == "constrained":
            read = self.protocol.read_offered(reply.offered or (), forced=reply.forced, options=len(trial.responses))
            notes: dict[str, Json] = {"log_odds": read.log_odds, "mass": read.mass, "forced": reply.forced}
            return ReplyReading(verdict=read.verdict, notes=notes | _soft_notes(read, reply))
        if reply.finish == "length":
            detail = "The reply was cut at its token limit, so what it holds may not be the final decision."
            return ReplyReading(verdict=NoVerdict(reason="truncated", detail=detail))
        shown, options = self._shown(trial), len(trial.responses)
        fence, token = self._fence(trial), self._token(trial)
        verdict = self.protocol.read(reply.text, shown=shown, options=options, fence=fence, token=token)
        grading = self.protocol.grading if token is None and not isinstance(verdict, NoVerdict) else None
        graded = grading.read(reply.text, options=options) if grading else None
        return ReplyReading(verdict=verdict, notes={"grades": list(graded)} if graded else {})

    def _shown(self, trial: Trial) -> tuple[str, ...]:
        """The answers, and the item's own texts: a judge restates both, and neither speaks for it."""
        return tuple(filter(None, self._values(trial).values()))

    def _fence(self, trial: Trial) -> str | None:
        return fence_nonce(self.fence_secret, trial.key) if self.condition.fenced else None

    def _token(self, trial: Trial) -> str | None:
        return trial_token(self.fence_secret, trial.key) if self.condition.readout == "token" else None

    def _values(self, trial: Trial) -> dict[str, str]:
        responses = enumerate(trial.responses, start=1)
        answers = {candidate_slot(place): self.responses[digest].text for place, digest in responses}
        return {**answers, **self._item(trial.item).values}

    def _item(self, digest: str) -> _ShownOfItem:
        shown = self.of_items.get(digest)
        if shown is None:
            item = self.items[digest]
            shown = _ShownOfItem(values=self._values_of(item), pictures=self._pictures_of(item))
            self.of_items[digest] = shown
        return shown

    def _values_of(self, item: Item) -> dict[str, str]:
        caption = self.protocol.caption(self.condition.see, item.caption)
        values: dict[str, str] = {}
        for slot in self.protocol.of_an_item:
            text: str | None = caption if slot == "caption" else getattr(item, slot)
            if text or slot in self.protocol.slots:
                values[slot] = text or ""
        return values

    def _pictures_of(self, item: Item) -> tuple[Part, ...]:
        if self.condition.see not in ("images", "both"):
            return ()
        return tuple(
            Picture(
                digest=self.addresses.get(name, name),
                detail=self.condition.image_detail,
                max_edge=self.condition.max_image_edge,
            )
            for name in item.images
        )

    @staticmethod
    def _with_pictures(messages: tuple[Message, ...], pictures: tuple[Part, ...]) -> tuple[Message, ...]:
        if not pictures:
            return messages
        last = max(place for place, message in enumerate(messages) if message.role == "user")
        shown = Message(role=messages[last].role, parts=pictures + messages[last].parts)
        return (*messages[:last], shown, *messages[last + 1 :])


def _soft_notes(read: OfferedReading, reply: Reply) -> dict[str, Json]:
    """How likely each offered answer was; not after reasoning, which all but fixes the answer before it is given."""
    if read.probabilities is None or reply.reasoning.strip() or reply.usage.reasoning:
        return {}
    notes: dict[str, Json] = {"offered": {answer: _short(share) for answer, share in read.probabilities.items()}}
    told = {"soft": read.soft, "expected": read.expected}
    return notes | {name: _short(value) for name, value in told.items() if value is not None}


def _short(value: float) -> float:
    return float(f"{value:.6g}")
