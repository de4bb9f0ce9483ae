import asyncio
import random

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.engine.run.limits import CUT, CUT_DEBOUNCE_SECONDS, GROWTH_PAUSE_SECONDS, Concurrency, Pace
from tests.engine.skipping_loop import at_once, now
from tests.examples import examples


def succeed(concurrency: Concurrency, times: int) -> None:
    for _ in range(times):
        concurrency.succeeded()


def test_it_starts_low_and_never_above_what_the_user_allows() -> None:
    assert Concurrency(64).allowed == 16
    assert Concurrency(5).allowed == 5


def test_it_grows_slowly_with_success_up_to_what_the_user_allows() -> None:
    async def story() -> None:
        concurrency = Concurrency(21)
        succeed(concurrency, 15)
        assert concurrency.allowed == 16, "not before every place has seen a success"
        succeed(concurrency, 1)
        assert concurrency.allowed == 20
        succeed(concurrency, 100)
        assert concurrency.allowed == 21

    at_once(story())


def test_no_more_than_allowed_are_in_flight_and_everybody_gets_a_turn() -> None:
    async def story() -> None:
        concurrency = Concurrency(2)
        came: list[int] = []

        async def call(number: int) -> None:
            await concurrency.acquire()
            assert concurrency.in_flight <= 2
            came.append(number)
            await asyncio.sleep(1)
            concurrency.release()

        await asyncio.gather(*map(call, range(6)))
        assert sorted(came) == [0, 1, 2, 3, 4, 5]
        assert now() == 3
        assert (concurrency.peak, concurrency.in_flight) == (2, 0)

    at_once(story())


def test_a_429_cuts_once_for_all_the_calls_that_were_sent_before_the_cut() -> None:
    async def story() -> None:
        concurrency = Concurrency(100, start=100)
        for _ in range(30):
            concurrency.throttled(None)
        assert concurrency.allowed == int(100 * CUT)
        await asyncio.sleep(CUT_DEBOUNCE_SECONDS)
        concurrency.throttled(None)
        assert concurrency.allowed == int(100 * CUT * CUT)

    at_once(story())


def test_a_cut_holds_back_new_calls_until_enough_of_the_old_ones_end() -> None:
    async def story() -> None:
        concurrency = Concurrency(10, start=10)
        for _ in range(10):
            await concurrency.acquire()
        concurrency.throttled(None)
        fresh = asyncio.create_task(concurrency.acquire())
        for _ in range(3):
            concurrency.release()
            await asyncio.sleep(0.1)
        assert not fresh.done()
        concurrency.release()
        await asyncio.sleep(0.1)
        assert fresh.done()
        assert concurrency.in_flight == concurrency.allowed == 7

    at_once(story())


def test_one_place_always_remains() -> None:
    async def story() -> None:
        concurrency = Concurrency(2)
        for _ in range(20):
            concurrency.throttled(None)
            await asyncio.sleep(CUT_DEBOUNCE_SECONDS)
        assert concurrency.allowed == 1
        await concurrency.acquire()

    at_once(story())


def test_after_a_429_or_a_server_error_it_does_not_grow_for_a_while() -> None:
    async def story() -> None:
        for trouble in (lambda c: c.throttled(None), Concurrency.server_failed):
            concurrency = Concurrency(64)
            trouble(concurrency)
            allowed = concurrency.allowed
            succeed(concurrency, 200)
            assert concurrency.allowed == allowed
            await asyncio.sleep(GROWTH_PAUSE_SECONDS)
            succeed(concurrency, 1)
            assert concurrency.allowed > allowed

    at_once(story())


def test_a_server_error_cuts_nothing() -> None:
    async def story() -> None:
        concurrency = Concurrency(64)
        concurrency.server_failed()
        assert concurrency.allowed == 16

    at_once(story())


def test_nobody_starts_before_the_pause_that_the_endpoint_asked_for_has_passed() -> None:
    async def story() -> None:
        concurrency = Concurrency(8)
        concurrency.throttled(5)
        later = asyncio.get_running_loop().call_later(3, concurrency.throttled, 7)
        await concurrency.acquire()
        assert now() >= 10, "a longer pause asked for meanwhile counts as well"
        assert not concurrency.held
        later.cancel()

    at_once(story())


@settings(deadline=None, max_examples=examples(40))
@given(st.integers(1, 10_000), st.integers(1, 200))
def test_no_minute_sees_more_requests_than_the_pace_allows(per_minute: int, calls: int) -> None:
    async def story() -> list[float]:
        pace = Pace(per_minute)
        started: list[float] = []

        async def call() -> None:
            await pace.take()
            started.append(now())

        await asyncio.gather(*(call() for _ in range(calls)))
        return started

    started = at_once(story())
    assert started[0] == 0, "the first need not wait"
    for begin in started:
        within = sum(begin <= moment < begin + 60 - 1e-6 for moment in started)
        assert within <= per_minute
    assert started[-1] <= 1 + calls / per_minute * 61, "nor does it dawdle"


def test_an_idle_minute_is_not_saved_up() -> None:
    async def story() -> None:
        pace = Pace(60)
        await pace.take()
        await asyncio.sleep(600)
        begun = now()
        for _ in range(10):
            await pace.take()
        assert now() - begun >= 8

    at_once(story())


def test_a_call_of_many_tokens_waits_for_as_many_to_become_free() -> None:
    async def story() -> None:
        pace = Pace(6100)
        await pace.take(1000)
        assert now() == 0
        await pace.take(1000)
        assert 9.9 < now() < 10.1

    at_once(story())


def test_no_pace_means_no_waiting() -> None:
    async def story() -> None:
        for _ in range(1000):
            await Pace(None).take()
        assert now() == 0

    at_once(story())


def test_an_endpoint_that_throttles_whatever_the_load_does_not_bring_a_run_to_one_call_at_a_time() -> None:
    async def story() -> None:
        concurrency = Concurrency(16)
        lots = random.Random(1)
        lowest = 16
        for _ in range(6000):  # ten minutes, ten answers a second, three in ten of them a 429
            await asyncio.sleep(0.1)
            if lots.random() < 0.3:
                concurrency.throttled(None)
            else:
                concurrency.succeeded()
            lowest = min(lowest, concurrency.allowed)
        assert lowest >= 4

    at_once(story())
