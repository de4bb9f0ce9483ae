import asyncio

from hypothesis import given, settings
from hypothesis import strategies as st

from evenhand.engine.run.budget import Budget
from tests.engine.skipping_loop import at_once

CALLS = st.lists(st.tuples(st.floats(0.001, 1), st.floats(0, 1), st.floats(0, 10)), max_size=30)
"""Of each call: the estimate, the share of it that the call really costs, and how long it takes."""


@settings(deadline=None)
@given(st.floats(0, 3), CALLS)
def test_what_is_spent_and_reserved_is_never_above_the_budget(most: float, calls: list[tuple[float, ...]]) -> None:
    async def story() -> None:
        budget = Budget(most)
        reserved = [0.0]

        async def call(estimate: float, cost: float, seconds: float) -> None:
            await asyncio.sleep(seconds)
            reserved[0] -= estimate
            budget.settle(estimate, cost)

        async with asyncio.TaskGroup() as group:
            for estimate, share, seconds in calls:
                if not await budget.reserve(estimate):
                    assert budget.spent + estimate > most - 1e-7, "it stops only where the call might not be paid for"
                    assert budget.reached
                    break
                reserved[0] += estimate
                assert budget.spent + reserved[0] <= most + 1e-9  # it counts in whole billionths of a dollar
                group.create_task(call(estimate, share * estimate, seconds))
        assert budget.spent <= most + 1e-9

    at_once(story())


def test_calls_in_flight_that_turn_out_cheap_leave_room_for_more() -> None:
    async def story() -> None:
        budget = Budget(1.0)
        assert await budget.reserve(0.8)
        asyncio.get_running_loop().call_later(1, budget.settle, 0.8, 0.1)
        assert await budget.reserve(0.8)
        assert not budget.reached

    at_once(story())


def test_without_a_limit_what_is_spent_is_still_counted() -> None:
    async def story() -> None:
        budget = Budget(None)
        assert await budget.reserve(None)
        budget.settle(None, 2.5)
        budget.settle(1.0, None)
        assert budget.spent == 2.5

    at_once(story())
