"""Asking a model every item of a benchmark: the images first, then the question; what it says becomes a Response."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from evenhand.domain.call import Message, Picture, Reply, Request
from evenhand.domain.item import Item
from evenhand.domain.rater import Settings
from evenhand.domain.response import Response
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.errand import Circumstances, Due, PlannedChunk
from evenhand.ledger.record import CHUNK, Entries, Ledger
from evenhand.ledger.work import Claimed, claim_calls

GREEDY = Settings(temperature=0.0, max_tokens=4096)
"""As Creation-MMBench's authors let models answer; used where the user sets nothing else."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """A run's errand where a model answers."""

    name: str
    """The model's name on the boards."""
    endpoint: str
    model: str
    """As its endpoint knows it."""
    settings: Settings
    image_detail: str | None = None
    max_image_edge: int | None = None
    variant: str = ""
    study: None = None

    def request(self, item: Item) -> Request:
        pictures = (
            Picture(digest=name, detail=self.image_detail, max_edge=self.max_image_edge) for name in item.images
        )
        return Request(
            endpoint=self.endpoint,
            model=self.model,
            messages=(Message(role="user", parts=(*pictures, item.instruction)),),
            settings=self.settings,
        )

    def claim(self, ledger: Ledger, batch: Sequence[Due[Item]], *, holder: str) -> Claimed:
        # A reply that is on record has only to be written down under this name.
        at_hand = {due.key for due in batch if due.stored is not None}
        claimed = claim_calls(ledger, [due.key for due in batch if due.key not in at_hand], holder=holder)
        return replace(claimed, mine=claimed.mine | at_hand)

    def read(self, due: Due[Item], reply: Reply) -> Response | NoVerdict:
        """What was said counts, also when it was cut or a refusal; such answers are flagged."""
        flags = {"length": ("truncated",), "refused": ("refused",)}.get(reply.finish, ())
        if not reply.text.strip():
            return NoVerdict(reason="refused" if reply.finish == "refused" else "truncated", detail="No text came.")
        item = due.subject.digest
        return Response(item=item, model=self.name, text=reply.text, variant=self.variant, flags=flags)

    def record(self, due: Due[Item], result: Response | NoVerdict, now: Circumstances) -> Entries:  # noqa: ARG002
        return Entries(responses=[result] if isinstance(result, Response) else [])

    def outcome(self, result: Response | NoVerdict) -> NoVerdict | None:
        return result if isinstance(result, NoVerdict) else None

    def plan(
        self, items: Sequence[Item], answered: Mapping[str, Response], ledger: Ledger
    ) -> Iterator[PlannedChunk[Item]]:
        """Items that the model has answered on record are known; `answered` is by the item's digest."""
        for start in range(0, len(items), CHUNK):
            chunk = items[start : start + CHUNK]
            requests = {item.digest: self.request(item) for item in chunk if item.digest not in answered}
            stored = ledger.find_calls(request.key for request in requests.values())
            yield PlannedChunk(
                known=tuple(item.digest for item in chunk if item.digest in answered),
                due=tuple(
                    Due(
                        key=request.key,
                        subject=item,
                        request=request,
                        stored=stored.get(request.key),
                    )
                    for item in chunk
                    if (request := requests.get(item.digest)) is not None
                ),
            )
