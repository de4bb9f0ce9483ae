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
from evenhand.engine.errand import Circumstances, Due
from evenhand.ledger.record import Entries, Ledger
from evenhand.ledger.work import Claimed, claim
from evenhand.protocols.fence import fence_nonce
from evenhand.protocols.protocol import CANDIDATE_SLOT, Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    verdict: Verdict | NoVerdict
    notes: Mapping[str, Json] = field(default_factory=dict[str, Json])


@dataclass(frozen=True, slots=True, kw_only=True)
class Asking:
    """Everything that the trials of one study share: a run's errand where a judge is asked."""

    study: str
    protocol: Protocol
    condition: Condition
    rater: Rater
    model: str
    """The model's name as its endpoint knows it."""
    items: Mapping[str, Item]
    responses: Mapping[str, Response]
    fence_secret: bytes = b""

    def claim(self, ledger: Ledger, batch: Sequence[Due[Trial]], *, holder: str) -> Claimed:
        return claim(ledger, [due.key for due in batch], reader=self.protocol.reader, holder=holder)

    def outcome(self, result: Reading | NoVerdict) -> NoVerdict | None:
        verdict = result.verdict if isinstance(result, Reading) else result
        return verdict if isinstance(verdict, NoVerdict) else None

    def record(self, due: Due[Trial], result: Reading | NoVerdict, now: Circumstances) -> Entries:
        """A judgement in any case: a trial that failed is a record too."""
        reading = result if isinstance(result, Reading) else Reading(verdict=result)
        judgement = Judgement(
            trial=due.key,
            verdict=reading.verdict,
            reader=self.protocol.reader,
            calls=() if isinstance(result, NoVerdict) else (due.request.key,),
            run=now.run,
            at=now.at,
            cost_usd=now.cost_usd,
            notes=reading.notes,
        )
        return Entries(trials=[due.subject], judgements=[judgement])

    def request(self, trial: Trial) -> Request:
        messages = self.protocol.messages(self._values(trial), readout=self.condition.readout, fence=self._fence(trial))
        return Request(
            endpoint=self.rater.endpoint,
            model=self.model,
            messages=self._with_pictures(messages, self.items[trial.item]),
            settings=self.rater.settings,
            offer=self.protocol.offer(self.condition.readout),
            replicate=trial.replicate,
            attempt=trial.attempt,
        )

    def read(self, due: Due[Trial], reply: Reply) -> Reading:
        """What the reply decides. A reply that was cut or refused is not searched for a decision."""
        reading = self._read(due.subject, reply)
        return replace(reading, notes={**reading.notes, "adapted": list(reply.adapted)}) if reply.adapted else reading

    def _read(self, trial: Trial, reply: Reply) -> Reading:
        if reply.finish == "refused":
            return Reading(verdict=NoVerdict(reason="refused", detail=reply.text[:200]))
        if self.condition.readout == "constrained":
            read = self.protocol.read_offered(reply.offered or (), forced=reply.forced)
            notes: dict[str, Json] = {"log_odds": read.log_odds, "mass": read.mass, "forced": reply.forced}
            return Reading(verdict=read.verdict, notes=notes)
        if reply.finish == "length":
            detail = "The reply was cut at its token limit, so what it holds may not be the final decision."
            return Reading(verdict=NoVerdict(reason="truncated", detail=detail))
        shown = tuple(self.responses[digest].text for digest in trial.responses)
        verdict = self.protocol.read(reply.text, shown=shown, options=len(shown), fence=self._fence(trial))
        return Reading(verdict=verdict)

    def _fence(self, trial: Trial) -> str | None:
        return fence_nonce(self.fence_secret, trial.key) if self.condition.fenced else None

    def _values(self, trial: Trial) -> dict[str, str]:
        item = self.items[trial.item]
        known = {
            "caption": self.protocol.caption(self.condition.see, item.caption) or "",
            "instruction": item.instruction,
            "reference": item.reference or "",
            "ground_truth": item.ground_truth or "",
        }
        for place, digest in enumerate(trial.responses, start=1):
            known[f"{CANDIDATE_SLOT}{place}"] = self.responses[digest].text
        return {slot: known[slot] for slot in self.protocol.slots}

    def _with_pictures(self, messages: tuple[Message, ...], item: Item) -> tuple[Message, ...]:
        if self.condition.see not in ("images", "both") or not item.images:
            return messages
        pictures: tuple[Part, ...] = tuple(
            Picture(digest=name, detail=self.condition.image_detail, max_edge=self.condition.max_image_edge)
            for name in item.images
        )
        last = max(place for place, message in enumerate(messages) if message.role == "user")
        shown = replace(messages[last], parts=pictures + messages[last].parts)
        return (*messages[:last], shown, *messages[last + 1 :])
