"""Asking a model every item of a benchmark: the images first, then the question; what it says becomes a Response."""

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.domain.answer_flags import REFUSED, TRUNCATED
from evenhand.domain.call import Reply, Request
from evenhand.domain.item import Item
from evenhand.domain.response import Response
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.run.task import Due
from evenhand.engine.tasks.item_task import ItemTask, nothing_said
from evenhand.engine.tasks.text_only import TextOnly

_FLAGS = {"length": (TRUNCATED,), "refused": (REFUSED,)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering(ItemTask):
    """A run's task where a model answers."""

    text_only: TextOnly | None = None
    """Where descriptions stand for the images; None: the images are sent."""

    @property
    def variant(self) -> str:
        return self.text_only.variant if self.text_only else ""

    def request(self, item: Item) -> Request:
        if self.text_only:
            return self.asked.request(self.text_only.question(item))
        return self.asked.request(item.instruction, item.images)

    def read(self, due: Due[Item], replies: Sequence[Reply]) -> Response | NoVerdict:
        """What was said counts, also when it was cut or a refusal; such answers are flagged."""
        reply = replies[0]
        described = self.text_only.flags if self.text_only else ()
        flags = (*_FLAGS.get(reply.finish, ()), *described, *self.asked.flags(replies))
        answer = Response(
            item=due.subject.digest, model=self.asked.name, text=reply.text, variant=self.variant, flags=flags
        )
        return nothing_said(reply) or answer
