"""A process that helps another at one run: it asks that one for places and starts, and tells it what it has done."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace

from evenhand.domain.errors import code_of
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.crew import CLAIMED_AT_ONCE, ERRORS, PLANNED_AT_ONCE, Message, OnRecord, Say, told
from evenhand.engine.run.limits import Limits
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally

_REPORT_SECONDS = 0.25


class _FarPlaces:
    """Places that who leads hands out."""

    def __init__(self, say: Say, role: str) -> None:
        self.in_flight: int = 0
        self._say, self._role = say, role
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._held_until = float("-inf")

    @property
    def held(self) -> bool:
        return _now() < self._held_until

    async def acquire(self) -> None:
        await self.pass_hold()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        self._tell("want")
        try:
            await turn
        except asyncio.CancelledError:
            if not turn.cancelled():
                self._tell("leave")
            raise
        self.in_flight += 1

    def given(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return
        self._tell("leave")

    def hold(self, seconds: float) -> None:
        self._held_until = max(self._held_until, _now() + seconds)

    def release(self) -> None:
        self.in_flight -= 1
        self._tell("leave")

    def succeeded(self) -> None:
        self._tell("good")

    def throttled(self, retry_after: float | None) -> None:
        if retry_after is not None:
            self.hold(retry_after)
        self._say({"kind": "throttled", "role": self._role, "after": retry_after})

    def server_failed(self) -> None:
        self._tell("fault")

    async def pass_hold(self) -> None:
        wait = self._held_until - _now()
        if wait > 0:
            await asyncio.sleep(wait)
            await self.pass_hold()  # somebody may have been told to wait longer meanwhile

    def _tell(self, kind: str) -> None:
        self._say({"kind": kind, "role": self._role})


class _FarStarts:
    """Starts that who leads lets go, one after the other."""

    def __init__(self, helper: "Helper", role: str, of: str) -> None:
        self._helper, self._role, self._of = helper, role, of

    async def take(self, units: float = 1.0) -> None:
        await self._helper.let_start(self._role, self._of, units)


class Helper:
    """Of a process that helps."""

    leads = False
    claims = CLAIMED_AT_ONCE
    planned = PLANNED_AT_ONCE

    def __init__(self, say: Say) -> None:
        self._say = say
        self.begins = 0.0
        """As who leads says."""
        self._places: dict[str, _FarPlaces] = {}
        self._starts: dict[int, asyncio.Future[None]] = {}
        self._asked: dict[str, asyncio.Future[str | None]] = {}
        self._numbers = 0
        self.stop = StopSign()
        """One for all jobs: once told to stop, it begins no other."""

    def hears(self, message: Message) -> None:
        match message["kind"]:
            case "place":
                self._places[message["role"]].given()
            case "started":
                turn = self._starts.pop(message["number"], None)
                if turn is not None and not turn.done():
                    turn.set_result(None)
            case "hold":
                if message["role"] in self._places:
                    self._places[message["role"]].hold(message["seconds"])
            case "run":
                self.begins = message.get("begins", 0.0)
                self._tell_run(message["job"], message["run"])
            case "stop":
                self.told_to_stop()
            case other:
                raise AssertionError(f"who leads is of the same version and says nothing like {other}")

    def told_to_stop(self) -> None:
        """Also where who leads has ended."""
        self.stop.interrupt()
        for job in list(self._asked):
            self._tell_run(job, None)

    def _tell_run(self, job: str, run: str | None) -> None:
        asked = self._asked.pop(job, None)
        if asked is not None and not asked.done():
            asked.set_result(run)

    def limited(self, context: CallContext) -> CallContext:
        second = context.second and self._limited(context.second, "second")
        return replace(self._limited(context, "first"), second=second)

    def _limited(self, context: CallContext, role: str) -> CallContext:
        places = self._places.setdefault(role, _FarPlaces(self._say, role))
        own = context.pacing.limits()  # where there is no limit, nobody has to be asked
        requests = own.requests if context.pacing.rpm is None else _FarStarts(self, role, "requests")
        tokens = own.tokens if context.pacing.tpm is None else _FarStarts(self, role, "tokens")
        return replace(context, limits=Limits(places=places, requests=requests, tokens=tokens))

    async def let_start(self, role: str, of: str, units: float) -> None:
        self._numbers += 1
        number = self._numbers
        turn = self._starts[number] = asyncio.get_running_loop().create_future()
        self._say({"kind": "start", "role": role, "of": of, "units": units, "number": number})
        try:
            await turn
        finally:
            self._starts.pop(number, None)

    async def run_of(self, job: str, begin: Callable[[], str]) -> str | None:  # noqa: ARG002
        if self.stop.raised:
            return None
        asked = self._asked[job] = asyncio.get_running_loop().create_future()
        self._say({"kind": "job", "job": job})
        return await asked

    @asynccontextmanager
    async def beside(self, job: str, tally: Tally, stop: StopSign) -> AsyncGenerator[None]:  # noqa: ARG002
        """Tells now and then what is done so far."""
        telling = asyncio.create_task(self._report(job, tally))
        try:
            yield
        finally:
            telling.cancel()

    async def _report(self, job: str, tally: Tally) -> None:
        while True:
            await asyncio.sleep(_REPORT_SECONDS)
            self._say({"kind": "done", **self._done(job, tally)})

    def _done(self, job: str, tally: Tally) -> Message:
        return {"job": job, "tally": told(tally)}

    async def ended(self, job: str, tally: Tally, stop: StopSign, overrun: str) -> None:
        error = stop.error
        why: Message = {
            "error": None if error is None else str(error),
            "error_code": None if error is None else code_of(error),
            "error_kind": next((kind for kind, known in ERRORS.items() if isinstance(error, known)), None),
            "overrun": overrun,
        }
        self._say({"kind": "ended", **self._done(job, tally), **why})

    def together(self, tally: Tally, job: str, on_record: OnRecord) -> Tally:  # noqa: ARG002
        return tally

    async def dismissed(self) -> None:
        pass


def _now() -> float:
    return asyncio.get_running_loop().time()
