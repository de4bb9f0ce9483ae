import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.call import Reply
from evenhand.domain.errors import CallFailure
from evenhand.engine.run.limits import Concurrency
from evenhand.engine.run.retry import LongPause, RetryRule, with_retries
from tests.engine.skipping_loop import at_once, now
from tests.refusals import refused


def failure(*, transient: bool = True, retry_after: float | None = None, status: int | None = 500) -> CallFailure:
    return CallFailure("No.", reason="api-error", transient=transient, retry_after=retry_after, status=status)


@given(st.integers(1, 6), st.floats(0, 600), st.sampled_from([429, 500, 503]))
def test_a_wait_is_what_the_endpoint_asked_for_and_a_backoff_between_nothing_and_its_cap(
    tries: int, asked: float, status: int
) -> None:
    rule = RetryRule()
    wait = rule.wait(failure(retry_after=asked, status=status), tries, heard=True)
    assert wait is not None
    assert asked <= wait <= asked + min(rule.longest_wait, rule.first_wait * 2 ** (tries - 1))


@given(st.integers(1, 50))
def test_no_backoff_is_longer_than_the_longest(tries: int) -> None:
    wait = RetryRule(retries=50, longest_wait=3).wait(failure(), tries, heard=True)
    assert wait is not None
    assert 0 <= wait <= 3


def test_calls_that_failed_together_do_not_come_back_together() -> None:
    waits = {RetryRule().wait(failure(), 5, heard=True) for _ in range(20)}
    assert len(waits) == 20


@given(st.integers(1, 20), st.booleans())
def test_what_a_wait_cannot_cure_is_not_tried_again(tries: int, heard: bool) -> None:
    assert RetryRule().wait(failure(transient=False), tries, heard=heard) is None


@given(st.integers(0, 10), st.integers(1, 20))
def test_retries_stop_at_the_cap(retries: int, tries: int) -> None:
    wait = RetryRule(retries=retries).wait(failure(), tries, heard=True)
    assert (wait is None) == (tries > retries)


def test_an_endpoint_that_asks_for_an_hour_ends_the_run_and_holds_nobody_back() -> None:
    async def story() -> None:
        concurrency = Concurrency(8)

        async def call() -> Reply:
            raise failure(retry_after=3600, status=429)

        with refused(LongPause, "3600 s"):
            await with_retries(call, rule=RetryRule(), concurrency=concurrency, heard=lambda: True)
        assert not concurrency.held

    at_once(story())


@pytest.mark.parametrize("status", [None, 200])
def test_an_address_from_which_no_reply_ever_came_is_not_tried_for_long(status: int | None) -> None:
    rule = RetryRule()
    assert rule.wait(failure(status=status), 2, heard=False) is not None
    assert rule.wait(failure(status=status), 3, heard=False) is None
    assert rule.wait(failure(status=status), 3, heard=True) is not None
    assert rule.wait(failure(status=503), 3, heard=False) is not None, "a busy server is there"


def test_the_reply_says_how_many_requests_it_took() -> None:
    async def story() -> None:
        answers = [failure(), failure(status=429, retry_after=20), Reply(text="B", requests=2)]

        async def call() -> Reply:
            answer = answers.pop(0)
            if isinstance(answer, CallFailure):
                raise answer
            return answer

        reply = await with_retries(call, rule=RetryRule(), concurrency=Concurrency(4), heard=lambda: True)
        assert (reply.text, reply.requests) == ("B", 4)
        assert now() >= 20

    at_once(story())


def test_the_last_failure_is_raised_with_the_number_of_requests() -> None:
    async def story() -> None:
        async def call() -> Reply:
            await asyncio.sleep(0)
            raise failure()

        with pytest.raises(CallFailure) as caught:
            await with_retries(call, rule=RetryRule(retries=3), concurrency=Concurrency(4), heard=lambda: True)
        assert caught.value.requests == 4

    at_once(story())


@pytest.mark.parametrize(("no_room", "allowed"), [(False, 5), (True, 8)])
def test_a_tier_without_room_is_tried_again_and_cuts_no_calls_in_flight(no_room: bool, allowed: int) -> None:
    concurrency, tries = Concurrency(8), 0

    async def call() -> Reply:
        nonlocal tries
        tries += 1
        if tries == 1:
            refusal = failure(status=429)
            refusal.no_room = no_room
            raise refusal
        return Reply(text="Yes.")

    async def asked() -> Reply:
        rule = RetryRule(first_wait=0.001)
        return await with_retries(call, rule=rule, concurrency=concurrency, heard=lambda: True)

    assert asyncio.run(asked()).requests == 2
    assert concurrency.allowed == allowed
