"""Claims about the parts that need no server: buckets, values that take long, the drawing of intervals."""

import asyncio
import inspect
import os
import re
import signal
import threading
from collections.abc import Callable, Coroutine, Iterator
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from hypothesis import given
from hypothesis import strategies as st

from evenhand.domain.estimate import Estimate
from evenhand.format.axis import SHARES
from evenhand.site.app import ROUTERS
from evenhand.site.http.bars import bar
from evenhand.site.http.buckets import MOST, Bucket, Buckets
from evenhand.site.http.computed import Computed, LastMade, StillWorking
from evenhand.site.http.settings import VisitorLimits
from evenhand.site.http.shared_limits import SharedLimits


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize("shared", [False, True])
def test_a_bucket_gives_its_burst_and_then_one_at_a_time(shared: bool):
    clock = Clock()
    buckets = Buckets(per_second=2, burst=3, clock=clock, kept=SharedLimits().table(0) if shared else None)
    assert [buckets.take("a") for _ in range(4)] == [True, True, True, False]
    assert buckets.take("b")
    assert buckets.wait("a") == pytest.approx(0.5)
    clock.now = 0.5
    assert [buckets.take("a") for _ in range(2)] == [True, False]


@given(st.lists(st.floats(0, 10), max_size=60))
def test_no_bucket_gives_more_than_burst_and_rate_allow(pauses: list[float]):
    clock = Clock()
    buckets = Buckets(per_second=0.5, burst=3, clock=clock)
    taken = 0
    for pause in pauses:
        clock.now += pause
        taken += buckets.take("a")
        assert taken <= 3 + clock.now * 0.5 + 1e-6


@pytest.mark.parametrize("shared", [False, True])
def test_a_flood_is_told_of_once_until_it_ebbs(shared: bool):
    clock = Clock()
    buckets = Buckets(per_second=1, burst=4, clock=clock, kept=SharedLimits().table(0) if shared else None)
    for _ in range(4):
        buckets.take("a")
    assert [buckets.first_refusal("a") for _ in range(3)] == [True, False, False]
    clock.now = 1.0
    assert not buckets.first_refusal("a")
    clock.now = 2.0
    assert buckets.first_refusal("a")


def test_buckets_do_not_grow_without_end():
    buckets = Buckets(per_second=0.001, burst=1, most=2, clock=Clock())
    for name in ("a", "b", "c"):
        assert buckets.take(name)
    assert buckets.take("a")  # the oldest was forgotten
    assert not buckets.take("c")


def in_another_process(work: Callable[[], None]) -> int:
    """Its number."""
    if number := os.fork():
        return number
    try:
        work()
    finally:
        os._exit(0)


def test_processes_that_share_their_buckets_take_no_more_together_than_one_may():
    shared, tokens = SharedLimits(), 400

    def take_all() -> None:
        buckets = Buckets(per_second=1e-9, burst=tokens, kept=shared.table(1))
        taken = Buckets(per_second=1e-9, burst=1e9, kept=shared.table(2))
        while buckets.take("a"):
            taken.turn_away("a")

    for one in [in_another_process(take_all) for _ in range(3)]:
        os.waitpid(one, 0)
    assert Buckets(per_second=1e-9, burst=1e9, kept=shared.table(2)).turned_away("a") == tokens
    # Another name, and another kind of the same name, have their own.
    assert Buckets(per_second=1e-9, burst=1, kept=shared.table(1)).take("b")
    assert Buckets(per_second=1e-9, burst=1, kept=shared.table(3)).take("a")


def test_a_process_that_is_killed_while_it_counts_keeps_nobody_waiting():
    shared = SharedLimits()

    def count_and_die() -> None:
        with shared.table(0).bucket("a", Bucket(0.0, 0.0)):
            os.kill(os.getpid(), signal.SIGKILL)

    os.waitpid(in_another_process(count_and_die), 0)
    assert Buckets(per_second=1, burst=1, kept=shared.table(0)).take("a")


def test_of_more_names_than_shared_buckets_have_room_for_the_latest_are_known():
    clock = Clock()
    buckets = Buckets(per_second=1e-9, burst=1, clock=clock, kept=SharedLimits().table(0))
    for number in range(MOST + 5000):
        clock.now += 1
        assert buckets.take(f"{number}")
        assert number % 100 or not buckets.take(f"{number}")


def test_each_of_several_processes_takes_as_many_connections_as_one_alone_and_fewer_of_one_visitor():
    alone = VisitorLimits()
    each = alone.of_each(4)
    assert each.connections == alone.connections
    assert (each.connections_of_one, each.under_way) == (64, 16)


def test_no_request_goes_to_a_thread_only_to_be_told_who_asks():
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)]
    calls = {one.call for route in routes for one in _needed(route.dependant) if one.call is not None}
    assert {call.__name__ for call in calls} >= {"sent_form", "owner_of", "asked_view"}
    plain = [one for one in calls if not (inspect.iscoroutinefunction(one) or inspect.isasyncgenfunction(one))]
    assert plain == []


def _needed(dependant: Dependant) -> Iterator[Dependant]:
    for one in dependant.dependencies:
        yield one
        yield from _needed(one)


async def test_a_value_is_made_once_for_all_who_wait_for_it():
    computed, made = Computed(), list[int]()

    def make() -> int:
        made.append(1)
        return len(made)

    values = await asyncio.gather(*(computed.get("a", make, state=1, patience=60) for _ in range(5)))
    assert values == [1] * 5
    assert await computed.get("a", make, state=1, patience=60) == 1
    assert await computed.get("a", make, state=2, patience=60, moment=60) == 2
    computed.close()


async def test_what_took_long_is_shown_at_once_while_it_is_made_again_and_not_made_all_the_time():
    clock, go, made = Clock(), threading.Event(), list[str]()
    computed = Computed(clock=clock)

    def slow(name: str) -> str:
        if made:
            assert go.wait(timeout=60)
        clock.now += 2.0
        made.append(name)
        return name

    def shown(name: str, state: int) -> Coroutine[Any, Any, str]:
        return computed.get("a", lambda: slow(name), state=state, patience=60)

    assert await shown("first", 1) == "first"
    assert await shown("second", 2) == "first"
    clock.now = 11.9
    assert await shown("third", 3) == "first"
    assert made == ["first"]
    clock.now = 12.0
    with pytest.raises(StopIteration) as at_once:
        shown("fourth", 4).send(None)
    assert at_once.value.value == "first"
    go.set()
    await computed.get("b", lambda: None, state=1, patience=60)  # made after what was asked for before
    assert await shown("fifth", 4) == "fourth"
    assert made == ["first", "fourth"]
    computed.close()


async def test_who_has_no_patience_is_told_that_it_is_being_made():
    computed, go = Computed(), threading.Event()

    def make() -> str:
        go.wait()
        return "made"

    with pytest.raises(StillWorking):
        await computed.get("a", make, state=1, patience=0)
    go.set()
    assert await computed.get("a", make, state=1, patience=60) == "made"
    computed.close()


async def test_the_value_before_is_shown_while_a_new_one_takes_long():
    computed, go = Computed(), threading.Event()

    def slow() -> str:
        go.wait()
        return "new"

    assert await computed.get("a", lambda: "old", state=1, patience=60) == "old"
    assert await computed.get("a", slow, state=2, patience=0) == "old"
    go.set()
    while await computed.get("a", slow, state=2, patience=60) == "old":
        pass
    computed.close()


async def test_closing_does_not_wait_for_a_value_that_is_being_made():
    computed, go = Computed(), threading.Event()
    with pytest.raises(StillWorking):
        await computed.get("a", go.wait, state=1, patience=0)
    computed.close()
    assert not go.is_set()
    go.set()
    assert await computed.get("a", go.wait, state=1, patience=60)


async def test_what_cannot_be_made_is_told_each_time_and_not_kept():
    computed = Computed()
    for _ in range(2):
        with pytest.raises(ZeroDivisionError):
            await computed.get("a", lambda: 1 // 0, state=1, patience=60)
    assert await computed.get("a", lambda: 1, state=1, patience=60) == 1
    computed.close()


async def test_the_values_least_used_are_forgotten():
    computed, made = Computed(most=2), list[str]()

    async def get(key: str) -> None:
        await computed.get(key, lambda: made.append(key), state=1, patience=60)

    for key in ("a", "b", "a", "c", "a", "b"):
        await get(key)
    assert made == ["a", "b", "c", "b"]
    computed.close()


shares = st.floats(0, 1)


@given(st.tuples(shares, shares, shares).map(sorted))
def test_an_interval_is_drawn_inside_its_drawing(bounds: list[float]):
    lower, value, upper = bounds
    drawn = str(bar(Estimate(value=value, lower=lower, upper=upper), SHARES, "words"))
    numbers = {name: float(found) for name, found in _attributes(drawn)}
    assert 0 <= numbers["x"] <= numbers["cx"] + 0.1
    assert numbers["cx"] - 2.1 <= numbers["x"] + numbers["width"] <= 200


def _attributes(drawn: str) -> list[tuple[str, str]]:
    inside = drawn.partition("<rect")[2]
    return re.findall(r' (x|width|cx)="([\d.]+)"', inside)


def test_words_beside_a_drawing_are_text():
    drawn = str(bar(Estimate(value=0.5), SHARES, '"><script>'))
    assert "<script>" not in drawn
    assert "rect" not in drawn  # no interval is known
    assert str(bar(Estimate(value=None, reason="none"), SHARES, "")) == ""


def test_a_side_without_bound_runs_to_the_edge():
    drawn = str(bar(Estimate(value=0.5, lower=0.25, unbounded="upper"), SHARES, ""))
    numbers = dict(_attributes(drawn))
    assert float(numbers["x"]) + float(numbers["width"]) == pytest.approx(194)


def test_the_last_value_of_each_kind_is_made_once_for_those_who_ask_in_turn():
    last, made = LastMade(), list[str]()

    def get(kind: str, key: str) -> str:
        def make() -> str:
            made.append(f"{kind} {key}")
            return made[-1]

        return last.get(kind, key, make)

    assert [get("board", "a"), get("item", "1"), get("board", "a")] == ["board a", "item 1", "board a"]
    assert [get("board", "b"), get("board", "a")] == ["board b", "board a"]
    assert made == ["board a", "item 1", "board b", "board a"]
