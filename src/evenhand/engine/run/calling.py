"""One call: its turn, its pace, its tries, and what it cost, also where it was in vain."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from evenhand.domain.call import Reply, Request, Usage
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.verdict import NoVerdict
from evenhand.engine.run.batches import BatchDesk, Reserved
from evenhand.engine.run.budget import Budget, in_whole_billionths
from evenhand.engine.run.limits import Limits, Places
from evenhand.engine.run.retry import RetryRule, with_retries
from evenhand.engine.run.tally import Tally
from evenhand.images import ImageError
from evenhand.images.places import PlaceError
from evenhand.ledger.store.record import StoredCall
from evenhand.models.batch.record import NotSent
from evenhand.models.client import ModelClient


class Pricing(Protocol):
    def cost(self, usage: Usage) -> float | None: ...

    def most(self, request: Request) -> float | None:
        """Dollars that the call can cost at most, None where the price is unknown."""
        ...

    def shown(self, request: Request, reply: Reply) -> Usage:
        """What a call used; the least that the reply shows where the endpoint does not say."""
        ...

    def learn(self, request: Request, usage: Usage) -> bool:
        """Whether what a call used shows that calls can cost more than was thought."""
        ...

    def tokens(self, request: Request) -> int:
        """An upper estimate of input and output together."""
        ...


UNREAD_MOST = 20
"""Replies to a judge's first questions of which none could be read: more of them would be paid for nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pacing:
    max_connections: int = 64
    rpm: float | None = None
    tpm: float | None = None
    retry: RetryRule = field(default_factory=RetryRule)
    grace_seconds: float = 30.0
    by_prefix: bool = True
    """Calls whose prompts begin alike follow each other; False: they go out in the order of the plan."""
    in_turn: bool = False
    """What has a reply on record is read when its turn comes and the call before it was answered, not before all calls:
    so that what has a result where a run ends early, or calls fail, does not tell whose replies were there."""
    unread_most: int | None = None
    """Replies of which none could be read, after which the run pauses; None: it goes on."""
    first_connections: int = 16
    """Calls in flight before any reply has come."""
    wait: bool = True
    """Until other runs on the ledger have asked what they hold of all that is wanted; False: it is left to them."""

    def limits(self) -> Limits:
        return Limits.alone(most=self.max_connections, first=self.first_connections, rpm=self.rpm, tpm=self.tpm)


@dataclass(frozen=True, slots=True, kw_only=True)
class CallContext:
    """What a run asks with."""

    client: ModelClient
    pricing: Pricing
    budget: Budget
    pacing: Pacing
    second: "CallContext | None" = None
    """What a second step asks with, where that is another model; the budget is the same."""
    batches: BatchDesk | None = None
    """Where the client's batches are on record; None where it asks call by call."""
    limits: Limits | None = None
    """That other processes share; None: those of its pacing."""

    @property
    def by_batch(self) -> bool:
        """Whether every call of it waits in a batch."""
        return self.batches is not None and (self.second is None or self.second.by_batch)

    async def close(self) -> None:
        await self.client.close()
        if self.second is not None:
            await self.second.close()


FIRST_CALLS = 2
"""In flight on a budget until a reply has shown what the endpoint counts: what it may cost beyond was not set aside."""


Charge: TypeAlias = Callable[[float, str], Awaitable[None]]
"""Puts on record so many dollars that a try in vain of the call of this key took off the budget; returns when they are
on disk."""


def off_the_budget(cost: float | None, estimate: float | None) -> float:
    """Dollars: what a call cost, or the most it can have been where the endpoint does not say what it used."""
    usd = estimate if cost is None else cost
    return in_whole_billionths(usd) if usd else 0.0


class Caller:
    """Sends the requests of one run. The first try's cost is reserved by whoever begins a call."""

    def __init__(self, context: CallContext, *, concurrency: Places, tally: Tally, charge: Charge) -> None:
        self._context = context
        self._charge = charge
        self._concurrency = concurrency
        self._tally = tally
        limits = context.limits or context.pacing.limits()
        self._requests_pace, self._tokens_pace = limits.requests, limits.tokens
        self.heard = False
        """Whether any reply has come."""
        self.failed = 0
        """Calls that got no reply."""
        self.sending: set[asyncio.Task[Any] | None] = set()
        """Tasks whose request is on its way; the others wait for their turn, or to try again."""
        self.sent: set[str] = set()
        """Keys of the requests under way that were sent at least once."""
        self.cut_off: set[str] = set()
        """Keys of the requests that were given up while they were on their way."""
        self._set_aside: dict[Reserved, Request] = {}
        """Tries for which something is set aside, or that wait for it, and that are not over."""
        self._over = asyncio.Event()
        self._priced: tuple[Reply, float | None] | None = None
        """The last reply that was asked about: it is three times for each."""
        self._lessons = 0
        """How many replies have shown that calls can cost more than was thought."""

    async def reserve(self, request: Request) -> "Reserved | None":
        """What the call may cost, set aside; None where it could take the run over its budget."""
        reserved = Reserved()
        desk = self._context.batches
        if desk is not None and (held := await desk.held(request.key)) is not None:
            # It was sent before, and its most is set aside already, unless there was no limit then.
            self._context.budget.adopt()
            reserved.in_batch = True
            if self._context.budget.limited:
                reserved.estimate = held or self._context.pricing.most(request) or 0.0
                self._set_aside[reserved] = request
            return reserved
        return reserved if await self._reserve_try(request, reserved) else None

    async def _reserve_try(self, request: Request, reserved: Reserved) -> bool:
        # Without a limit nobody asks: an estimate counts bytes, and decodes the images that are shown.
        reserved.in_batch = False
        if not self._context.budget.limited:
            return True
        while self._context.batches is None and not self.heard and len(self._set_aside) >= FIRST_CALLS:
            self._over.clear()
            await self._over.wait()
        reserved.estimate = None
        self._set_aside[reserved] = request
        try:
            reserved.estimate = await self._room(request)
        finally:
            if reserved.estimate is None:
                self._end_try(reserved)
        if reserved.estimate is not None and self._context.batches is not None:
            self._context.batches.reserved[request.key] = reserved
        return reserved.estimate is not None

    async def _room(self, request: Request) -> float | None:
        """Dollars that are set aside for the call; None where there are not enough."""
        budget, pricing = self._context.budget, self._context.pricing
        while True:
            lessons = self._lessons
            # Images may be fetched from far away for it.
            most = await asyncio.to_thread(pricing.most, request) if request.pictures else pricing.most(request)
            if not await budget.reserve(most):
                return None
            if lessons == self._lessons:
                return most
            budget.settle(most, 0.0)  # while it waited a reply came that shows it to be too little

    def count_as_refused(self, requests: Iterable[Request]) -> None:
        """Any of them may come first in the next run, whose order is another: what is told must be enough for each."""
        for request in requests:
            self._context.budget.refuse(self._context.pricing.most(request))

    def _end_try(self, reserved: Reserved) -> None:
        del self._set_aside[reserved]
        self._over.set()

    def cost(self, reply: Reply) -> float | None:
        if self._priced is None or self._priced[0] is not reply:
            self._priced = (reply, self._context.pricing.cost(reply.usage))
        return self._priced[1]

    def paid_for(self, request: Request, reply: Reply, estimate: float | None) -> float:
        """Dollars that come off the budget: what the call cost; where that is not known, the most that was thought or,
        where its words show that it was more, that."""
        cost = self.cost(reply)
        if cost is None and estimate is not None:
            least = self._context.pricing.cost(self._context.pricing.shown(request, reply))
            estimate = max(estimate, least or 0.0)
        return off_the_budget(cost, estimate)

    async def reply(self, request: Request, reserved: Reserved) -> Reply:
        """Raises CallFailure where no reply came, Misuse and LongPause where the run should end, NotSent where that is
        because the budget does not allow what an earlier run meant to send.

        `reserved` is for the first try, and then for the one under way.
        """
        tries = 0

        async def once() -> Reply:
            nonlocal tries
            tries += 1
            if tries > 1 and not await self._reserve_try(request, reserved):
                raise CallFailure("The budget does not allow another try.", reason="over-budget")
            try:
                return await self._paid(request, reserved)
            except NotSent:  # what was held for it there is free again
                if not await self._reserve_try(request, reserved):
                    raise
                return await self._paid(request, reserved)

        return await with_retries(
            once, rule=self._context.pacing.retry, concurrency=self._concurrency, heard=lambda: self.heard
        )

    async def _paid(self, request: Request, reserved: Reserved) -> Reply:
        paid, came = 0.0, False
        try:
            reply = await self._in_turn(request)
            paid = self.paid_for(request, reply, reserved.estimate)
            if reserved.estimate is not None:
                self._hold_against(reserved, paid, request, self._context.pricing.shown(request, reply))
            self.heard = came = True
        except (CallFailure, Misuse) as failure:
            paid = self._paid_in_vain(failure, reserved.estimate)
            self._hold_against(reserved, paid, request, failure.usage or Usage())
            # Before another try: what it cost must not be forgotten while the next is under way.
            await self._charge(paid, request.key)
            raise
        except NotSent:
            await self._charge(0.0, request.key)
            raise
        except asyncio.CancelledError:
            paid = off_the_budget(None, reserved.estimate) if request.key in self.cut_off else 0.0
            raise
        finally:
            mine = 0.0 if reserved.in_batch and reserved.estimate is not None else reserved.estimate
            later = came and mine is not None and reserved.in_batch
            self._context.budget.settle(mine, paid, frees=not later)
            if self._context.batches is not None:
                self._context.batches.reserved.pop(request.key, None)
                if later:  # the batch holds it until the reply is on record
                    self._context.batches.held_still.add(request.key)
            if reserved.estimate is not None:
                self._end_try(reserved)
        return reply

    def _hold_against(self, reserved: Reserved, paid: float, request: Request, usage: Usage) -> None:
        """Learns from what a call used, or ends the run where that cannot help."""
        estimate = reserved.estimate
        if estimate is None:
            return
        if self._context.pricing.learn(request, usage):
            self._lessons += 1
            self._set_more_aside(beside=reserved)
        allowed, written = _most_output(request), usage.output or 0
        if allowed is not None and written > allowed and paid > in_whole_billionths(estimate):
            self._context.budget.stop(
                f"{request.model} wrote {written} tokens where {allowed} were allowed, and the call cost ${paid:.4g} "
                f"where ${estimate:.4g} was set aside: no budget can be kept with an endpoint that does not keep to "
                "the limit of tokens."
            )

    def _set_more_aside(self, *, beside: Reserved) -> None:
        """For the other calls under way: what they can cost beyond what was thought must not be spent on new ones."""
        for reserved, request in self._set_aside.items():
            most = self._context.pricing.most(request)
            if reserved is beside or reserved.in_batch:  # what a batch holds was settled when it was sent
                continue
            if reserved.estimate is None or most is None or most <= reserved.estimate:
                continue
            self._context.budget.set_more_aside(reserved.estimate, most)
            reserved.estimate = most

    def _paid_in_vain(self, failure: CallFailure | Misuse, estimate: float | None) -> float:
        """A reply that cannot be used is billed all the same; one that never came may have been."""
        if failure.usage is None and not (isinstance(failure, CallFailure) and failure.maybe_billed):
            return 0.0
        cost = None if failure.usage is None else self._context.pricing.cost(failure.usage)
        self._tally.add_cost(cost)
        return off_the_budget(cost, estimate)

    async def _in_turn(self, request: Request) -> Reply:
        if self._context.batches is not None:
            return await self._gathered(request)
        while True:  # a pause asked for while this call waited for its turn holds it back too
            await self._concurrency.pass_hold()
            await self._requests_pace.take()
            await self._tokens_pace.take(self._context.pricing.tokens(request) if self._context.pacing.tpm else 0.0)
            if not self._concurrency.held:
                return await self._send(request)

    async def _gathered(self, request: Request) -> Reply:
        """Through a batch, which takes as long as it takes; given up here, the call goes on there."""
        try:
            return await self._context.client.complete(request)
        except (ImageError, PlaceError) as error:
            raise _unsendable(error) from error

    async def _send(self, request: Request) -> Reply:
        task = asyncio.current_task()
        self.sending.add(task)
        self.sent.add(request.key)
        try:
            return await self._context.client.complete(request)
        except asyncio.CancelledError:
            self.cut_off.add(request.key)
            raise
        except (ImageError, PlaceError) as error:
            raise _unsendable(error) from error
        finally:
            self.sending.discard(task)


def _unsendable(error: ImageError | PlaceError) -> CallFailure | Misuse:
    """Where images lie may be out of reach for a while; what is not there, or was altered, stays so. A place that
    refuses one image will refuse all."""
    if isinstance(error, PlaceError) and error.lasting:
        return Misuse(str(error), code=error.code)
    away = isinstance(error, PlaceError)
    return CallFailure(f"An image of this item cannot be sent. {error}", reason="api-error", transient=away)


def _most_output(request: Request) -> int | None:
    """Tokens that an endpoint may write, as it is told; None where it is not told."""
    if request.offer is not None:
        return 1 + len(request.offer.begin.encode())
    return request.settings.max_tokens


Answer: TypeAlias = asyncio.Future[StoredCall | NoVerdict]


class SharedCalls:
    """Requests asked of late, so that two trials with the very same words (two models gave one answer) pay once.

    Those of the last two chunks are kept: a plan made before them knows nothing of their replies.
    """

    def __init__(self) -> None:
        self._now: dict[str, Answer] = {}
        self._before: dict[str, Answer] = {}

    def get(self, key: str) -> Answer | None:
        return self._now.get(key) or self._before.get(key)

    def add(self, key: str) -> None:
        self._now[key] = asyncio.get_running_loop().create_future()

    def answer(self, key: str, said: StoredCall | NoVerdict) -> None:
        asked = self.get(key)
        if asked is not None and not asked.done():
            asked.set_result(said)

    def turn_over(self) -> None:
        unanswered = {key: asked for key, asked in self._before.items() if not asked.done()}
        self._now, self._before = unanswered, self._now
