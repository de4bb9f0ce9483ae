"""Processes that share a run, here in one: what goes between them goes from hand to hand."""

import asyncio
import functools
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

from evenhand.domain.errors import Misuse
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.crew import Message, Standing
from evenhand.engine.run.helping import Helper
from evenhand.engine.run.leading import Leader, Member
from evenhand.engine.run.limits import Limits
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from tests.engine.skipping_loop import at_once


def skipping(story: Callable[[], Coroutine[Any, Any, None]]) -> Callable[[], None]:
    @functools.wraps(story)
    def test() -> None:
        at_once(story())

    return test


@dataclass
class Together:
    """A leader at a job and its helpers."""

    pacing: Pacing
    leader: Leader = field(init=False)
    stop: StopSign = field(init=False)
    begun: int = 0
    unlike: int = 0

    def __post_init__(self) -> None:
        async def dismiss() -> None:
            pass

        def begin() -> None:
            self.begun += 1

        def count_unlike() -> None:
            self.unlike += 1

        self.leader = Leader(begun=begin, dismiss=dismiss, unlike=count_unlike)
        self.stop = StopSign()

    def context(self) -> CallContext:
        nobody: Any = None
        return CallContext(client=nobody, pricing=nobody, budget=Budget(None), pacing=self.pacing)

    def own(self) -> Limits:
        return _limits(self.leader.limited(self.context()))

    def join(self) -> "tuple[Helper, Member]":
        loop = asyncio.get_running_loop()

        def to_helper(message: Message) -> None:
            loop.call_soon(helper.hears, message)

        def to_member(message: Message) -> None:
            loop.call_soon(member.hears, message)

        member, helper = self.leader.joined(to_helper), Helper(to_member)
        return helper, member

    def limits(self, helper: Helper) -> Limits:
        return _limits(helper.limited(self.context()))


def _limits(context: CallContext) -> Limits:
    assert context.limits is not None
    return context.limits


async def settled() -> None:
    for _ in range(20):
        await asyncio.sleep(0)


@skipping
async def test_places_are_those_of_all_and_those_of_the_dead_are_free() -> None:
    together = Together(Pacing(max_connections=3))
    own, (helper, member) = together.own(), together.join()
    theirs = together.limits(helper)
    await own.places.acquire()
    await theirs.places.acquire()
    await theirs.places.acquire()
    assert (own.places.in_flight, theirs.places.in_flight, together.leader.in_flight()) == (1, 2, 3)
    waiting = asyncio.create_task(own.places.acquire())
    await settled()
    assert not waiting.done()
    together.leader.lost(member)
    await waiting
    assert together.leader.in_flight() == 2


@skipping
async def test_a_place_that_came_too_late_is_given_back() -> None:
    together = Together(Pacing(max_connections=1))
    own, (helper, _) = together.own(), together.join()
    theirs = together.limits(helper)
    for steps in range(12):
        await own.places.acquire()
        waiting = asyncio.create_task(theirs.places.acquire())
        await settled()
        own.places.release()  # the place is on its way to the helper
        for _ in range(steps):
            await asyncio.sleep(0)
        if waiting.done():
            theirs.places.release()
        waiting.cancel()
        await settled()
        assert together.leader.in_flight() == theirs.places.in_flight == 0, steps


@skipping
async def test_a_pause_that_one_was_asked_for_holds_all_and_a_429_cuts_once() -> None:
    together = Together(Pacing(max_connections=10))
    own, (first, _), (second, _) = together.own(), together.join(), together.join()
    theirs, others = together.limits(first), together.limits(second)
    theirs.places.throttled(5.0)
    others.places.throttled(None)
    await settled()
    assert [one.places.held for one in (own, theirs, others)] == [True, True, True]
    assert together.leader.shared["first"].places.allowed == 7
    before = asyncio.get_running_loop().time()
    await others.places.acquire()
    assert asyncio.get_running_loop().time() - before >= 5.0


@skipping
async def test_starts_are_those_of_all_whoever_dies() -> None:
    together = Together(Pacing(rpm=61.0, tpm=61.0 * 100))
    own, loop = together.own(), asyncio.get_running_loop()
    begun = loop.time()
    for number in range(10):
        helper, member = together.join()
        await together.limits(helper).requests.take()
        await own.requests.take()
        together.leader.lost(member)
        # One at once, and then one a second, of both together.
        assert loop.time() - begun >= 2 * number
    await together.limits(together.join()[0]).tokens.take(1000.0)
    before = loop.time()
    await own.tokens.take(100.0)
    assert loop.time() - before >= 0.9


@skipping
async def test_a_job_is_begun_by_who_leads_and_is_over_for_who_comes_late() -> None:
    together = Together(Pacing())
    helper, _ = together.join()
    early = asyncio.create_task(helper.run_of("job", lambda: "never"))
    await settled()
    assert not early.done()
    assert await together.leader.run_of("job", lambda: "run 1") == "run 1"
    async with together.leader.beside("job", Tally(), together.stop):
        assert await early == "run 1"
        assert together.begun == 1
        ending = asyncio.create_task(together.leader.ended("job", Tally(), together.stop, ""))
        await settled()
        assert not ending.done(), "a helper is at it still"
        done = Tally(planned=9, called=4, verdicts=3, requests=5)
        done.failed["timeout"] += 1
        await helper.ended("job", done, StopSign(), "")
        await ending
    late, _ = together.join()
    assert await late.run_of("job", lambda: "never") is None
    looked: list[bool] = []

    def on_record(lost: bool) -> Standing:
        looked.append(lost)
        return Standing(results=Counter({"": 7}))

    told = together.leader.together(Tally(planned=9, known=5, called=4, verdicts=4, requests=4), "job", on_record)
    assert looked == [False]
    assert (told.known, told.called, told.verdicts, told.requests, dict(told.failed)) == (2, 7, 7, 9, {})
    assert told.not_reached == 0


@skipping
async def test_a_helper_that_plans_something_else_is_sent_away_and_told_of() -> None:
    together = Together(Pacing())
    (early, _), (helper, _), (late, _) = (together.join() for _ in range(3))
    before = asyncio.create_task(early.run_of("another", lambda: "never"))
    await settled()
    await together.leader.run_of("job", lambda: "run 1")
    async with together.leader.beside("job", Tally(), together.stop):
        assert await before is None
        assert await late.run_of("another", lambda: "never") is None
        assert together.unlike == 2
        assert await helper.run_of("job", lambda: "never") == "run 1"
        ahead = asyncio.create_task(helper.run_of("the next", lambda: "never"))
        await settled()
        assert not ahead.done(), "who leads comes to it later"
        assert together.unlike == 2
        ahead.cancel()


@skipping
async def test_an_interrupt_reaches_the_helpers_and_so_does_a_second_one() -> None:
    together = Together(Pacing())
    helper, member = together.join()
    await together.leader.run_of("job", lambda: "run 1")
    async with together.leader.beside("job", Tally(), together.stop):
        assert await helper.run_of("job", lambda: "never") == "run 1"
        asked = asyncio.create_task(helper.run_of("the next", lambda: "never"))
        await settled()
        together.stop.interrupt()
        await settled()
        assert helper.stop.interrupted
        assert await asked is None
        together.stop.interrupt()
        await asyncio.wait_for(helper.stop.wait_hurried(), 1.0)
        together.leader.lost(member)


@skipping
async def test_what_ends_a_helper_ends_all_but_for_its_own_bad_luck() -> None:
    together = Together(Pacing())
    (unlucky, _), (other, _) = together.join(), together.join()
    await together.leader.run_of("job", lambda: "run 1")
    async with together.leader.beside("job", Tally(), together.stop):
        for helper in (unlucky, other):
            assert await helper.run_of("job", lambda: "never") == "run 1"
        stop = StopSign()
        stop.fail(Misuse("The first 5 trials all failed.", code="EH-NO-REPLIES"))
        heard = Tally(called=1, verdicts=1)
        async with other.beside("job", heard, StopSign()):
            await asyncio.sleep(1.0)
        await unlucky.ended("job", Tally(), stop, "")
        await settled()
        assert not together.stop.raised
        stop = StopSign()
        stop.fail(Misuse("The key is wrong.", code="EH-KEY-REFUSED"))
        await other.ended("job", heard, stop, "")
        await settled()
        error = together.stop.error
        assert isinstance(error, Misuse)
        assert (str(error), error.code) == ("The key is wrong.", "EH-KEY-REFUSED")


@skipping
async def test_each_helper_begins_at_another_part_of_the_plan() -> None:
    together = Together(Pacing())
    await together.leader.run_of("job", lambda: "run 1")
    async with together.leader.beside("job", Tally(), together.stop):
        helpers = [together.join() for _ in range(3)]
        together.leader.lost(helpers[1][1])
        helpers.append(together.join())  # in its place
        for number, (helper, _) in enumerate(helpers):
            if number != 1:
                await helper.run_of("job", lambda: "never")
    begins = [together.leader.begins, *(helper.begins for helper, _ in helpers)]
    assert begins == [0, 1 / 2, 0, 3 / 4, 1 / 8]
