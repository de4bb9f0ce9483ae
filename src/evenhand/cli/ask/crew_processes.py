"""`--workers`: processes that carry out the very same command as helpers of the one that leads."""

import asyncio
import json
import os
import socket
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Protocol, TypeVar, cast

import click

from evenhand.api.running import run
from evenhand.cli.ask.asking_options import AskingOptions
from evenhand.cli.ask.crew_ray import Meet, RayPlace, RayWorkers
from evenhand.cli.ask.ray_process import LINK, Seal
from evenhand.cli.environment import Environment, WrongUse
from evenhand.cli.notes import say_notes
from evenhand.cli.saying import still
from evenhand.engine.run.crew import ALONE, Crew, Message
from evenhand.engine.run.helping import Helper
from evenhand.engine.run.leading import Leader, Member
from evenhand.ledger.store.opening import sqlite_path

T = TypeVar("T")
Work = Callable[[Crew], Awaitable[T]]

_UNHEARD_MOST = 2
"""Helpers in one place that may end one after the other without a word; then none takes the place."""
_END_SECONDS = 40.0
"""In which helpers end that were told to; calls in flight have 30."""
_UNLIKE = (
    "A worker planned something else than this command, and the others go on without it. Are the files that the "
    "command reads the same there?"
)


def with_workers(ctx: click.Context, asking: AskingOptions, work: "Work[T]") -> T:
    """What the work comes to, shared with as many processes as the flags say. In a helper it does not return: what
    follows is for who leads."""
    if helps(ctx):
        run(_help(cast(Environment, ctx.obj).real[LINK], work))
        ctx.exit(0)
    if asking.alone:
        return run(_alone(work))
    _refuse_mixture(asking)
    if asking.runner is None:
        return run(_lead(_Processes(), asking.workers - 1, work))
    return run(_lead_by_ray(ctx, asking.runner, asking.workers, work))


def helps(ctx: click.Context) -> bool:
    """Whether another process leads, which has put on record what is to be asked about."""
    return LINK in cast(Environment, ctx.obj).real


def _refuse_mixture(asking: AskingOptions) -> None:
    flag = "--workers" if asking.runner is None else "--runner"
    if asking.batching.batch:
        raise WrongUse(f"--batch sends many calls at once already; leave out {flag}.")
    if asking.no_wait:
        raise WrongUse(f"{flag}: workers wait for each other, so --no-wait does not go with them; leave one out.")


async def _alone(work: "Work[T]") -> T:
    return await work(ALONE)


async def _lead_by_ray(ctx: click.Context, runner: str, number: int, work: "Work[T]") -> T:
    variables = cast(Environment, ctx.obj).real
    place = RayPlace.of(runner, variables)
    file = sqlite_path(ctx.params["store"]) is not None
    if file:
        place.refuse_file(others=place.client)
    place.need_extra()
    workers = RayWorkers(place, number, file=file, variables=variables)
    try:
        if workers.needs_asking:
            with still(f"Joining Ray at {place.shown}", quiet=bool(ctx.params.get("quiet"))):
                await workers.ready()
        return await _lead(workers, number, work)
    finally:
        await workers.end()


async def _lead(workers: "_Workers", number: int, work: "Work[T]") -> T:
    helpers = _Helpers(workers, number)
    try:
        return await work(helpers.leader)
    finally:
        await helpers.end()


class _Workers(Protocol):
    """How helpers are started."""

    async def one(self, meet: Meet) -> tuple[bool, int, str]:
        """A helper, until it is gone: whether it said a word, its exit code, and what it said on standard error."""
        ...

    def leaving(self) -> None:
        """All are told to end."""
        ...

    async def end(self) -> None:
        """Those that have not ended by now are killed."""
        ...


class _Helpers:
    """So many of them; one that dies is replaced."""

    def __init__(self, workers: _Workers, number: int) -> None:
        self.leader = Leader(begun=self._begin, dismiss=self.end, unlike=lambda: self._say_once(_UNLIKE))
        self._workers, self._number = workers, number
        self._each: set[asyncio.Task[None]] = set()
        self._ending = False
        self._noted = ""

    def _begin(self) -> None:
        if not self._each and not self._ending:
            self._each = {asyncio.create_task(self._keep_one()) for _ in range(self._number)}

    async def end(self) -> None:
        """They put on record what is in flight, and go."""
        self._ending = True
        self.leader.stop_all()
        self._workers.leaving()
        if self._each:
            await asyncio.wait(self._each, timeout=_END_SECONDS)
        await self._workers.end()
        await asyncio.gather(*self._each, return_exceptions=True)

    async def _keep_one(self) -> None:
        unheard, said = 0, ""
        while not self._ending and unheard < _UNHEARD_MOST:
            heard, code, said = await self._workers.one(self._meet)
            if code == 0:
                return
            unheard = 0 if heard else unheard + 1
        last = " ".join(said.strip().splitlines()[-1:]).removeprefix("Error: ")
        note = f"A worker could not be started, and the others go on without it. {last}".rstrip()
        if not self._ending:
            self._say_once(note)

    def _say_once(self, note: str) -> None:
        if note != self._noted:
            self._noted = note
            say_notes([note])

    async def _meet(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, seal: Seal | None) -> bool:
        """All that it says, until it is gone; whether that was anything."""
        member = self.leader.joined(_sayer(writer, seal))
        if self._ending:
            self.leader.stop_all()
        try:
            await _hear(reader, member, seal)
        finally:
            self.leader.lost(member)
            await _close(writer)
        return member.heard


class _Processes:
    """On this machine, each at the other end of a pair of sockets."""

    def __init__(self) -> None:
        self._running: set[asyncio.subprocess.Process] = set()

    async def one(self, meet: Meet) -> tuple[bool, int, str]:
        ours, theirs = socket.socketpair()
        with theirs:
            process = await asyncio.create_subprocess_exec(
                # Not from the folder where we are, which may hold modules of a stranger.
                *(sys.executable, "-P", "-m", "evenhand", *sys.argv[1:]),
                env={**os.environ, LINK: str(theirs.fileno())},
                pass_fds=[theirs.fileno()],
                stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.DEVNULL,
                stderr=asyncio.subprocess.PIPE,
                start_new_session=True,  # Ctrl-C is for who leads, and passed on
            )
        self._running.add(process)
        try:
            assert process.stderr is not None
            met = meet(*await asyncio.open_connection(sock=ours), None)
            heard, said = await asyncio.gather(met, process.stderr.read())  # which stops it where nobody reads
            code = await process.wait()
        finally:
            self._running.discard(process)
        return heard, code, said.decode(errors="replace")

    def leaving(self) -> None:
        pass

    async def end(self) -> None:
        for process in self._running:
            with suppress(ProcessLookupError):
                process.kill()


async def _help(link: str, work: "Work[object]") -> None:
    """`link`: the number of the socket, and the key of what goes over it, if any."""
    number, _, key = link.partition(" ")
    seal = Seal(key) if key else None
    reader, writer = await asyncio.open_connection(sock=socket.socket(fileno=int(number)))
    helper = Helper(_sayer(writer, seal))

    async def hear() -> None:
        await _hear(reader, helper, seal)
        helper.told_to_stop()

    hearing = asyncio.create_task(hear())
    try:
        await work(helper)
    finally:
        hearing.cancel()
        await _close(writer)


def _sayer(writer: asyncio.StreamWriter, seal: Seal | None) -> Callable[[Message], None]:
    def say(message: Message) -> None:
        if not writer.is_closing():
            line = json.dumps(message).encode()
            writer.write((line if seal is None else seal.sealed(line)) + b"\n")

    return say


async def _hear(reader: asyncio.StreamReader, who: Member | Helper, seal: Seal | None) -> None:
    """Until the other end is gone."""
    with suppress(ConnectionError):
        while (line := await reader.readline()).endswith(b"\n"):
            who.hears(json.loads(line if seal is None else seal.opened(line)))


async def _close(writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        await writer.drain()
    writer.close()
    with suppress(ConnectionError):
        await writer.wait_closed()
