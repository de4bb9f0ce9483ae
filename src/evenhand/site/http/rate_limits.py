"""Watches over the door: counts what each visitor asks and what was refused them, and writes attacks down."""

import math
from itertools import count

from starlette.concurrency import run_in_threadpool

from evenhand.format.words import counted
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.audit_log import LogEvent, write_down
from evenhand.site.http.buckets import Buckets
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.settings import VisitorLimits
from evenhand.site.http.shared_limits import SharedLimits
from evenhand.site.http.visitor import Visitor, site_network

_ALL = "all"
"""The one bucket of what is counted for all together."""
_SITE = 4
"""Times what one visitor may, all networks of one IPv6 site may together: it has 65,536 of them."""


class RateLimits:
    def __init__(self, ledger: Ledger, limits: VisitorLimits, *, shared: SharedLimits | None = None) -> None:
        """`shared`: with the other processes of the server."""
        self._ledger = ledger
        tables = count()

        def buckets(per_second: float, burst: float) -> Buckets:
            kept = None if shared is None else shared.table(next(tables))
            return Buckets(per_second=per_second, burst=burst, clock=limits.clock, kept=kept)

        self._requests = buckets(limits.requests_per_second, limits.burst)
        self._guesses = buckets(limits.guesses_per_minute / 60, limits.guesses_per_minute)
        self._site_requests = buckets(_SITE * limits.requests_per_second, _SITE * limits.burst)
        self._site_guesses = buckets(_SITE * limits.guesses_per_minute / 60, _SITE * limits.guesses_per_minute)
        self._uploads = buckets(limits.uploads_per_minute / 60, limits.uploads_per_minute)
        self._answers = buckets(limits.answers_per_hour / 3600, limits.answers_per_hour)
        self._letters = buckets(limits.letters_per_hour / 3600, limits.letters_per_hour)
        self._passing = buckets(limits.passing_per_second, limits.passing_burst)
        self._all_letters = buckets(limits.letters_in_all / 3600, limits.letters_in_all)
        self._wrote = buckets(1 / 3600, 1)
        self._kept_letters = limits.letters_in_all / 3

    async def admit(self, visitor: Visitor, *, harmless: bool = False) -> None:
        """Counts a request; raises Refusal where there were too many, or too many that were refused.

        `harmless`: nothing can be guessed with it, so it is answered however many were refused; else the very page
        that says why would come without its styles.
        """
        if not harmless:
            await self._admit_guess(visitor)
        await self._admit(visitor, self._requests, "requests", "Too many requests at once")
        if (site := _site_of(visitor)) is not None:
            await self._admit(
                visitor, self._site_requests, "requests of a site", "Too many requests at once", name=site
            )
        # Whoever asks little stays served: else ten addresses that flood would shut out everybody who passes by.
        if visitor.person is None and not harmless and not self._requests.nearly_full(visitor.name):
            await self._admit(visitor, self._passing, "requests of all", "Too many ask at once here", name=_ALL)

    async def _admit_guess(self, visitor: Visitor) -> None:
        """Raises Refusal while they are locked out; when that is over, the log hears how many were."""
        name = visitor.name
        if self._guesses.empty(name):
            self._guesses.turn_away(name)
            raise _later(self._guesses.wait(name), "Too many requests of yours were refused")
        site = _site_of(visitor)
        if site is not None and self._site_guesses.empty(site):
            raise _later(self._site_guesses.wait(site), "Too many requests from your networks were refused")
        # Before that the next attack's line tells it: an attacker who keeps on would have two lines for each.
        if not self._guesses.told(name) and (number := self._guesses.turned_away(name)):
            await self.note(visitor, "refused: while locked out", counted(number, "request"))

    async def admit_letter(self, visitor: Visitor) -> None:
        """Counts something that the owner is asked to read; raises Refusal where there was too much of it."""
        await self._admit(visitor, self._letters, "letters", "You have written to the owner often enough for now")
        many = "Many write to the owner just now"
        # The last third is for those who did not write within the hour: else three addresses would use all of it up.
        name = site_network(visitor.address)
        if self._all_letters.left(_ALL) < self._kept_letters + 1:
            await self._admit(visitor, self._wrote, "letters of all", many, name=name)
        else:
            self._wrote.take(name)
        await self._admit(visitor, self._all_letters, "letters of all", many, name=_ALL)

    async def admit_upload(self, visitor: Visitor) -> None:
        """Counts an image that is to be decoded; raises Refusal where there were too many."""
        await self._admit(visitor, self._uploads, "uploads", "You have sent many images in a short time")

    async def admit_answers(self, visitor: Visitor) -> None:
        """Counts a file of answers that is to be checked and kept; raises Refusal where there were too many."""
        await self._admit(visitor, self._answers, "files of answers", "You have uploaded many files in a short time")

    async def _admit(self, visitor: Visitor, counted: Buckets, what: str, why: str, name: str | None = None) -> None:
        """`name`: whose bucket, where it is not the visitor's own."""
        name = name or visitor.name
        if counted.take(name):
            return
        if counted.first_refusal(name):
            await self.note(visitor, f"refused: too many {what}", "")
        raise _later(counted.wait(name), why)

    async def attacked(self, visitor: Visitor, what: str, about: str) -> None:
        """Counts something that honest use does not bring about, and writes it down unless it comes in floods."""
        name, site = visitor.name, _site_of(visitor)
        if not self._guesses.take(name):
            self._guesses.turn_away(name)  # of several at once, one came after the last that was counted
            return
        if site is not None and not self._site_guesses.take(site):
            return
        number = self._guesses.turned_away(name)
        before = f"{about}; {counted(number, 'request')} turned away before" if number else about
        await self.note(visitor, what, before.removeprefix("; "))
        await self._note_lock(visitor, self._guesses, name)
        if site is not None:
            await self._note_lock(visitor, self._site_guesses, site, f"all of {site} ")

    async def _note_lock(self, visitor: Visitor, guesses: Buckets, name: str, whom: str = "") -> None:
        if guesses.empty(name) and guesses.first_refusal(name):
            wait = math.ceil(guesses.wait(name))
            await self.note(visitor, "locked out: too many refused requests", f"{whom}for {wait} s at least")

    async def note(self, visitor: Visitor, what: str, about: str) -> None:
        await run_in_threadpool(write_down, self._ledger, line(visitor, what, about))


def _site_of(visitor: Visitor) -> str | None:
    """The IPv6 site of somebody passing by; None where their network is all that they may have."""
    site = site_network(visitor.address)
    return site if visitor.person is None and site != visitor.name else None


def line(visitor: Visitor, what: str, about: str) -> LogEvent:
    """Of the audit log."""
    person = None if visitor.person is None else visitor.person.id
    return LogEvent(what=what, person=person, address=visitor.address, detail=about)


def _later(seconds: float, why: str) -> Refusal:
    wait = max(1, round(seconds + 0.5))
    return Refusal(429, f"{why}; try again in {wait} s.", headers={"Retry-After": str(wait)})
