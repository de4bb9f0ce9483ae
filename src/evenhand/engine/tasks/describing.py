"""Asking a model to describe the images of items, once for all models that are to answer without them."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.benchmarks.creation_mmbench.queries import description_instruction, query_specific_part_prompt
from evenhand.domain.answer_flags import QUERIED_BY, REFUSED, TRUNCATED
from evenhand.domain.call import Reply, Request
from evenhand.domain.item import Item
from evenhand.domain.response import Response
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.run.quote import UNLIMITED_OUTPUT
from evenhand.engine.run.task import Due
from evenhand.engine.tasks.item_task import Addressee, ItemTask, nothing_said
from evenhand.engine.tasks.text_only import Mode, description_variant
from evenhand.ledger.store.record import Ledger


@dataclass(frozen=True, slots=True, kw_only=True)
class Describing(ItemTask):
    """A run's task where images are described; query-specific, a model first says what to look at (Fig. 32)."""

    mode: Mode
    query: Addressee | None = None
    """Who says what to look at; None: the model that describes."""

    @property
    def variant(self) -> str:
        return description_variant(self.mode)

    @property
    def queried_by(self) -> tuple[str, ...]:
        return () if self.query is None else (f"{QUERIED_BY}{self.query.name}",)

    def request(self, item: Item) -> Request:
        if self.mode == "query-specific":
            # Fig. 32 ends the question with a full stop of its own.
            return (self.query or self.asked).request(query_specific_part_prompt(item.instruction.removesuffix(".")))
        return self.asked.request(description_instruction(), item.images)

    def read(self, due: Due[Item], replies: Sequence[Reply]) -> Response | NoVerdict | Request:
        """A refusal describes nothing, and a list of aspects that was cut short asks for something else."""
        reply = replies[-1]
        if (lacking := _lacking(reply)) is not None:
            return lacking
        if self.mode == "query-specific" and len(replies) == 1:
            if reply.finish == "length":
                return NoVerdict(reason=TRUNCATED, detail="What to look at was cut at the token limit.")
            return self._looking_at(due.subject, reply.text)
        flags = (*((TRUNCATED,) if reply.finish == "length" else ()), *self.asked.flags(replies), *self.queried_by)
        return Response(
            item=due.subject.digest, model=self.asked.name, text=reply.text, variant=self.variant, flags=flags
        )

    @property
    def two_steps(self) -> bool:
        return self.mode == "query-specific"

    def to_come(self, due: Due[Item], ledger: Ledger, *, written: int | None = None) -> Sequence[Request]:
        if not self.two_steps:
            return ItemTask.to_come(self, due, ledger)
        if due.stored is None:
            longest = (self.query or self.asked).settings.max_tokens or UNLIMITED_OUTPUT
            return (due.request, self._looking_at(due.subject, "word" * (longest if written is None else written)))
        following = self.read(due, (due.stored.reply,))
        return (following,) if isinstance(following, Request) and not ledger.find_calls([following.key]) else ()

    def _looking_at(self, item: Item, part: str) -> Request:
        # Fig. 31 ends the sentence itself.
        return self.asked.request(description_instruction(part.strip().removesuffix(".")), item.images)


def queried_by(flags: Sequence[str]) -> str | None:
    """Who wrote what to look at, of a description with these flags; None where it was the model that described."""
    return next((flag.removeprefix(QUERIED_BY) for flag in flags if flag.startswith(QUERIED_BY)), None)


def _lacking(reply: Reply) -> NoVerdict | None:
    if reply.finish == "refused":
        return NoVerdict(reason=REFUSED, detail=reply.text[:200])
    return nothing_said(reply)
