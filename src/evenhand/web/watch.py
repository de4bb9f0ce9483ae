"""Watches over the door: counts what each visitor asks and what was refused them, and writes attacks down."""

from starlette.concurrency import run_in_threadpool

from evenhand.ledger.audit_log import Event, write_down
from evenhand.ledger.record import Ledger
from evenhand.web.buckets import Buckets
from evenhand.web.refusal import Refusal
from evenhand.web.site import Limits
from evenhand.web.visitor import Visitor


class Watch:
    def __init__(self, ledger: Ledger, limits: Limits) -> None:
        self._ledger = ledger
        self._requests = Buckets(per_second=limits.requests_per_second, burst=limits.burst)
        self._guesses = Buckets(per_second=limits.guesses_per_minute / 60, burst=limits.guesses_per_minute)

    async def admit(self, visitor: Visitor) -> None:
        """Counts a request; raises Refusal where there were too many, or too many that were refused."""
        if self._guesses.empty(visitor.name):
            raise _later(self._guesses.wait(visitor.name), "Too many requests of yours were refused")
        if self._requests.take(visitor.name):
            return
        if self._requests.first_refusal(visitor.name):
            await self.note(visitor, "refused: too many requests", "")
        raise _later(self._requests.wait(visitor.name), "Too many requests at once")

    async def attacked(self, visitor: Visitor, what: str, about: str) -> None:
        """Counts something that honest use does not bring about, and writes it down unless it comes in floods."""
        if self._guesses.take(visitor.name):
            await self.note(visitor, what, about)
        elif self._guesses.first_refusal(visitor.name):
            await self.note(visitor, "refused: too many refused requests", what)

    async def note(self, visitor: Visitor, what: str, about: str) -> None:
        person = None if visitor.person is None else visitor.person.id
        event = Event(what=what, person=person, address=visitor.address, detail=about)
        await run_in_threadpool(write_down, self._ledger, event)


def _later(seconds: float, why: str) -> Refusal:
    wait = max(1, round(seconds + 0.5))
    return Refusal(429, f"{why}; try again in {wait} s.", headers={"Retry-After": str(wait)})
