"""Watches over the door: counts what each visitor asks and what was refused them, and writes attacks down."""

import math
import time
from collections.abc import Callable

from starlette.concurrency import run_in_threadpool

from evenhand.format.words import counted
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.audit_log import LogEvent, write_down
from evenhand.site.http.buckets import Buckets
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.settings import VisitorLimits
from evenhand.site.http.visitor import Visitor


class RateLimits:
    def __init__(self, ledger: Ledger, limits: VisitorLimits, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._ledger = ledger
        self._requests = Buckets(per_second=limits.requests_per_second, burst=limits.burst, clock=clock)
        self._guesses = Buckets(per_second=limits.guesses_per_minute / 60, burst=limits.guesses_per_minute, clock=clock)
        self._uploads = Buckets(per_second=limits.uploads_per_minute / 60, burst=limits.uploads_per_minute, clock=clock)
        self._answers = Buckets(per_second=limits.answers_per_hour / 3600, burst=limits.answers_per_hour, clock=clock)
        self._letters = Buckets(per_second=limits.letters_per_hour / 3600, burst=limits.letters_per_hour, clock=clock)

    async def admit(self, visitor: Visitor, *, harmless: bool = False) -> None:
        """Counts a request; raises Refusal where there were too many, or too many that were refused.

        `harmless`: nothing can be guessed with it, so it is answered however many were refused; else the very page
        that says why would come without its styles.
        """
        if not harmless:
            await self._admit_guess(visitor)
        if self._requests.take(visitor.name):
            return
        if self._requests.first_refusal(visitor.name):
            await self.note(visitor, "refused: too many requests", "")
        raise _later(self._requests.wait(visitor.name), "Too many requests at once")

    async def _admit_guess(self, visitor: Visitor) -> None:
        """Raises Refusal while they are locked out; when that is over, the log hears how many were."""
        name = visitor.name
        if self._guesses.empty(name):
            self._guesses.turn_away(name)
            raise _later(self._guesses.wait(name), "Too many requests of yours were refused")
        # Before that the next attack's line tells it: an attacker who keeps on would have two lines for each.
        if not self._guesses.told(name) and (number := self._guesses.turned_away(name)):
            await self.note(visitor, "refused: while locked out", counted(number, "request"))

    async def admit_letter(self, visitor: Visitor) -> None:
        """Counts something that the owner is asked to read; raises Refusal where there was too much of it."""
        await self._admit(visitor, self._letters, "letters", "You have written to the owner often enough for now")

    async def admit_upload(self, visitor: Visitor) -> None:
        """Counts an image that is to be decoded; raises Refusal where there were too many."""
        await self._admit(visitor, self._uploads, "uploads", "You have sent many images in a short time")

    async def admit_answers(self, visitor: Visitor) -> None:
        """Counts a file of answers that is to be checked and kept; raises Refusal where there were too many."""
        await self._admit(visitor, self._answers, "files of answers", "You have uploaded many files in a short time")

    async def _admit(self, visitor: Visitor, counted: Buckets, what: str, why: str) -> None:
        if counted.take(visitor.name):
            return
        if counted.first_refusal(visitor.name):
            await self.note(visitor, f"refused: too many {what}", "")
        raise _later(counted.wait(visitor.name), why)

    async def attacked(self, visitor: Visitor, what: str, about: str) -> None:
        """Counts something that honest use does not bring about, and writes it down unless it comes in floods."""
        name = visitor.name
        if not self._guesses.take(name):
            self._guesses.turn_away(name)  # of several at once, one came after the last that was counted
            return
        number = self._guesses.turned_away(name)
        before = f"{about}; {counted(number, 'request')} turned away before" if number else about
        await self.note(visitor, what, before.removeprefix("; "))
        if self._guesses.empty(name) and self._guesses.first_refusal(name):
            wait = math.ceil(self._guesses.wait(name))
            await self.note(visitor, "locked out: too many refused requests", f"for {wait} s at least")

    async def note(self, visitor: Visitor, what: str, about: str) -> None:
        await run_in_threadpool(write_down, self._ledger, line(visitor, what, about))


def line(visitor: Visitor, what: str, about: str) -> LogEvent:
    """Of the audit log."""
    person = None if visitor.person is None else visitor.person.id
    return LogEvent(what=what, person=person, address=visitor.address, detail=about)


def _later(seconds: float, why: str) -> Refusal:
    wait = max(1, round(seconds + 0.5))
    return Refusal(429, f"{why}; try again in {wait} s.", headers={"Retry-After": str(wait)})
