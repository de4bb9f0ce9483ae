"""The process that leads others at one run: its limits are those of all, and it hears what they have done."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.counting import counted_up, seen_so_far
from evenhand.engine.run.crew import (
    CLAIMED_AT_ONCE,
    ERRORS,
    PLANNED_AT_ONCE,
    Message,
    OnRecord,
    Say,
    heard,
)
from evenhand.engine.run.limits import Concurrency, Limits, Pace
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.ledger.store.claims import LEASE_SECONDS
from evenhand.ledger.store.opening import LedgerError

_PATIENCE_SECONDS = 5.0
"""Beyond the grace time, in which a helper that was told to stop tells what it has done."""
_LOOK_SECONDS = 1.0


@dataclass(slots=True, kw_only=True)
class _Shared:
    """Limits as who leads keeps them, for all."""

    places: Concurrency
    requests: Pace
    tokens: Pace

    @classmethod
    def of(cls, pacing: Pacing) -> "_Shared":
        places = Concurrency(pacing.max_connections, start=pacing.first_connections)
        return cls(places=places, requests=Pace(pacing.rpm), tokens=Pace(pacing.tpm))


class _OwnPlaces:
    """Those of the shared places that the process has which leads."""

    def __init__(self, leader: "Leader", role: str, shared: Concurrency) -> None:
        self.in_flight: int = 0
        self._leader, self._role, self._shared = leader, role, shared

    @property
    def held(self) -> bool:
        return self._shared.held

    async def acquire(self) -> None:
        await self._shared.acquire()
        self.in_flight += 1

    def release(self) -> None:
        self.in_flight -= 1
        self._shared.release()

    def succeeded(self) -> None:
        self._shared.succeeded()

    def throttled(self, retry_after: float | None) -> None:
        self._leader.throttled(self._role, retry_after)

    def server_failed(self) -> None:
        self._shared.server_failed()

    async def pass_hold(self) -> None:
        await self._shared.pass_hold()


class Member:
    """A helper as who leads knows it."""

    def __init__(self, leader: "Leader", say: Say, number: int) -> None:
        """`number`: it is the first, second, ... that joined."""
        self._leader = leader
        self.say = say
        self._number = number
        self.heard = False
        """Whether it has ever said anything."""
        self.looked = 0
        """How often it was looked since whether it did."""
        self.job: str | None = None
        """That it is at."""
        self.alike = False
        """Whether it plans what who leads does."""
        self.begun: set[str] = set()
        self.ended: set[str] = set()
        """Jobs."""
        self.reports: dict[str, Tally] = {}
        """What it has done of each job, as it last said."""
        self._held: Counter[str] = Counter()
        self._giving: set[asyncio.Task[None]] = set()

    @property
    def silent(self) -> bool:
        """Whether it has stopped telling what it has done, which one that runs does several times a second."""
        return self.job is not None and self.looked * _LOOK_SECONDS > LEASE_SECONDS

    @property
    def begins(self) -> float:
        """In the midst of the longest part that nobody has begun before: 1/2, 1/4, 3/4, 1/8, 5/8, ..."""
        share, number, found = 1.0, self._number, 0.0
        while number:
            share /= 2
            found += share * (number % 2)
            number //= 2
        return found

    def hears(self, message: Message) -> None:
        if self not in self._leader.members:
            return
        self.heard, self.looked = True, 0
        match message.get("kind"):
            case "want":
                self._do(self._give_place(message["role"]))
            case "start":
                self._do(self._let_start(message))
            case "leave":
                self._held[message["role"]] -= 1
                self._places(message["role"]).release()
            case "good":
                self._places(message["role"]).succeeded()
            case "throttled":
                self._leader.throttled(message["role"], message["after"])
            case "fault":
                self._places(message["role"]).server_failed()
            case "job":
                self._leader.asked_for(self, message["job"])
            case "done" | "ended":
                self._take_in(message)
            case other:
                raise AssertionError(f"a helper of the same version says nothing like {other}")

    def gone(self) -> None:
        """It has ended: what it held is free, but for what it may have spent."""
        for task in self._giving:
            task.cancel()
        for role, number in self._held.items():
            for _ in range(number):
                self._places(role).release()
        self._held.clear()
        self.job = None
        self._leader.looks.set()

    def _take_in(self, message: Message) -> None:
        if message["job"] in self.ended:
            return
        self.reports[message["job"]] = heard(message["tally"])
        if message["kind"] == "ended":
            self.job = None
            self.ended.add(message["job"])
            self._leader.looks.set()
            self._leader.learns(message)

    def _places(self, role: str) -> Concurrency:
        return self._leader.shared[role].places

    def _do(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._giving.add(task)
        task.add_done_callback(self._giving.discard)

    async def _give_place(self, role: str) -> None:
        await self._places(role).acquire()
        self._held[role] += 1
        self.say({"kind": "place", "role": role})

    async def _let_start(self, message: Message) -> None:
        shared = self._leader.shared[message["role"]]
        pace = shared.tokens if message["of"] == "tokens" else shared.requests
        await pace.take(message["units"])
        self.say({"kind": "started", "number": message["number"]})


class Leader:
    """Of the process that leads."""

    leads = True
    claims = CLAIMED_AT_ONCE
    planned = PLANNED_AT_ONCE
    begins = 0.0

    def __init__(
        self,
        *,
        begun: Callable[[], None],
        dismiss: Callable[[], Awaitable[None]],
        unlike: Callable[[], None] = lambda: None,
    ) -> None:
        """`begun` is told when a job begins: from then on helpers have something to do. `dismiss` lets them go.
        `unlike` is told of a helper that plans something else."""
        self.shared: dict[str, _Shared] = {}
        self.members: set[Member] = set()
        self.left: list[Member] = []
        """Those that have ended."""
        self.looks = asyncio.Event()
        self._begun, self._dismiss, self._unlike = begun, dismiss, unlike
        self._own: dict[str, Limits] = {}
        self._runs: dict[str, str] = {}
        self._over: set[str] = set()
        self._asking: list[tuple[Member, str]] = []
        self._stop: StopSign | None = None
        self.job = ""
        """That was begun last."""
        self._budget: Budget | None = None

    def joined(self, say: Say) -> Member:
        member = Member(self, say, len(self.members) + len(self.left) + 1)
        self.members.add(member)
        return member

    def lost(self, member: Member) -> None:
        if member in self.members:
            self.members.discard(member)
            self.left.append(member)
            member.gone()

    def limited(self, context: CallContext) -> CallContext:
        self._budget = context.budget
        second = context.second and self._limited(context.second, "second")
        return replace(self._limited(context, "first"), second=second)

    def _limited(self, context: CallContext, role: str) -> CallContext:
        if role not in self.shared:
            shared = self.shared[role] = _Shared.of(context.pacing)
            places = _OwnPlaces(self, role, shared.places)
            self._own[role] = Limits(places=places, requests=shared.requests, tokens=shared.tokens)
        return replace(context, limits=self._own[role])

    def throttled(self, role: str, after: float | None) -> None:
        self.shared[role].places.throttled(after)
        if after is not None:
            self._tell_all({"kind": "hold", "role": role, "seconds": after})

    async def run_of(self, job: str, begin: Callable[[], str]) -> str | None:
        self._runs[job], self.job = begin(), job
        return self._runs[job]

    @asynccontextmanager
    async def beside(self, job: str, tally: Tally, stop: StopSign) -> AsyncGenerator[None]:  # noqa: ARG002
        """Helpers may come, and are stopped as it is."""
        self._stop = stop
        waiting, self._asking = self._asking, []
        for member, job in waiting:
            self.asked_for(member, job)
        self._begun()
        relay = asyncio.create_task(self._relay(stop))
        leaving = asyncio.create_task(self._leave_the_silent())
        try:
            yield
        finally:
            relay.cancel()
            leaving.cancel()

    async def dismissed(self) -> None:
        await self._dismiss()

    def asked_for(self, member: Member, job: str) -> None:
        """The first that a helper asks for has been begun, if any was: all plan the same, in the same order."""
        if member not in self.members:
            return
        member.alike |= job in self._runs
        if self._runs and not member.alike:
            member.say({"kind": "run", "job": job, "run": None})
            self._unlike()
        elif job in self._over:
            member.say({"kind": "run", "job": job, "run": None})
        elif job in self._runs and self._stop is not None:
            member.job = job
            member.begun.add(job)
            member.say({"kind": "run", "job": job, "run": self._runs[job], "begins": member.begins})
        else:
            self._asking.append((member, job))

    def learns(self, message: Message) -> None:
        """How a helper ended."""
        if message["overrun"] and self._budget is not None:
            self._budget.stop(message["overrun"])
        kind, stop = message["error_kind"], self._stop
        if kind is None or stop is None:
            return
        if message["error_code"] == "EH-NO-REPLIES" and self._heard_any():
            return  # its own bad luck
        stop.fail(ERRORS[kind](message["error"], code=message["error_code"]))

    def _heard_any(self) -> bool:
        everyone = (*self.members, *self.left)
        return any(one.verdicts for member in everyone for one in member.reports.values())

    async def ended(self, job: str, tally: Tally, stop: StopSign, overrun: str) -> None:  # noqa: ARG002
        self._over.add(job)
        self._stop = None
        patience = asyncio.create_task(_end_of_patience(stop))
        try:
            while any(member.job == job for member in self.members) and not patience.done():
                self.looks.clear()
                looking = asyncio.create_task(self.looks.wait())
                await asyncio.wait((looking, patience), return_when=asyncio.FIRST_COMPLETED)
                looking.cancel()
        finally:
            patience.cancel()

    def together(self, tally: Tally, job: str, on_record: OnRecord) -> Tally:
        try:
            standing = on_record(self._lost_any(job))
        except LedgerError:  # which has ended the run, and is told
            return self.so_far(tally, job, others=0)
        return counted_up(tally, self._reports(job), standing)

    def so_far(self, tally: Tally, job: str, *, others: int) -> Tally:
        return seen_so_far(tally, self._reports(job), others=others)

    def _lost_any(self, job: str) -> bool:
        return any(job in member.begun - member.ended for member in self.left)

    def in_flight(self) -> int:
        return sum(shared.places.in_flight for role, shared in self.shared.items() if role == "first")

    def _reports(self, job: str) -> list[Tally]:
        return [member.reports[job] for member in (*self.members, *self.left) if job in member.reports]

    async def _relay(self, stop: StopSign) -> None:
        await stop.wait_pressing()
        self.stop_all()
        await stop.wait_hurried()
        self.stop_all()

    async def _leave_the_silent(self) -> None:
        """One that was stopped: what it has claimed is free by then. Nobody waits for it; when it goes on, it ends."""
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            for member in list(self.members):
                member.looked += 1  # not by the clock: this process may have been stopped itself
                if member.silent:
                    member.say({"kind": "stop"})
                    self.lost(member)

    def stop_all(self) -> None:
        self._tell_all({"kind": "stop"})

    def _tell_all(self, message: Message) -> None:
        for member in self.members:
            member.say(message)


async def _end_of_patience(stop: StopSign) -> None:
    """For ever where nothing presses: a helper whose calls are in flight puts them on record."""
    await stop.end_of_patience(Pacing().grace_seconds)
    await asyncio.sleep(_PATIENCE_SECONDS)
