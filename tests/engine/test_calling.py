"""What one call may cost, also where it was in vain."""

from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from evenhand.domain.call import Message, Reply, Request, Usage
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.rater import Settings
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Caller, Pacing
from evenhand.engine.run.limits import Concurrency
from evenhand.engine.run.retry import RetryRule
from evenhand.engine.run.tally import Tally
from evenhand.images import ImageError
from evenhand.images.places import PlaceError

REQUEST = Request(
    endpoint="e", model="m", messages=(Message(role="user", parts=("?",)),), settings=Settings(max_tokens=100)
)
ANSWER = Reply(text="A", usage=Usage(input=1, output=1))


class Scripted:
    """A model at the seam: says these things, one after the other."""

    def __init__(self, *said: Reply | Exception, events: list[str | float]) -> None:
        self._said: Iterator[Reply | Exception] = iter(said)
        self._events = events

    async def complete(self, request: Request) -> Reply:
        self._events.append("try")
        said = next(self._said)
        if isinstance(said, Exception):
            raise said
        return said

    async def close(self) -> None: ...


class Priced:
    """A known usage costs a quarter, or a dollar per thousand tokens; the most a call can cost is 0.6."""

    def cost(self, usage: Usage) -> float | None:
        return None if usage.input is None else max(0.25, max(usage.input, usage.output or 0) / 1000)

    def most(self, request: Request) -> float | None:
        return 0.6

    def shown(self, request: Request, reply: Reply) -> Usage:
        return reply.usage

    def learn(self, request: Request, usage: Usage) -> bool:
        return False

    def tokens(self, request: Request) -> int:
        return 1


def unusable(*, status: int | None = 200, usage: Usage | None = None, unheard: bool = False) -> CallFailure:
    return CallFailure("No.", reason="empty-reply", transient=True, status=status, usage=usage, unheard=unheard)


@dataclass(kw_only=True)
class Told:
    """What came of a call."""

    budget: Budget
    caller: Caller
    tally: Tally
    said: Reply | CallFailure | Misuse
    events: list[str | float]
    """Each try, and each charge that was put on record, as they came."""


async def asked(most: float, *said: Reply | Exception) -> Told:
    budget, tally, events = Budget(most), Tally(), list[str | float]()
    pacing = Pacing(retry=RetryRule(first_wait=0.0))
    context = CallContext(client=Scripted(*said, events=events), pricing=Priced(), budget=budget, pacing=pacing)

    async def charge(usd: float, call: str) -> None:
        assert call == REQUEST.key
        events.append(usd)

    caller = Caller(context, concurrency=Concurrency(4), tally=tally, charge=charge)
    reserved = await caller.reserve(REQUEST)
    assert reserved
    try:
        outcome = await caller.reply(REQUEST, reserved)
    except (CallFailure, Misuse) as failure:
        outcome = failure
    return Told(budget=budget, caller=caller, tally=tally, said=outcome, events=events)


@pytest.mark.parametrize(
    ("in_vain", "spent", "unknown"),
    [
        (unusable(usage=Usage(input=1, output=0)), 0.25, 0),
        (unusable(), 0.6, 1),  # nobody says what it cost: the budget takes the most it can have been
        (unusable(status=500), 0.0, 0),
        (unusable(status=None), 0.0, 0),  # no connection: nothing was sent
        (unusable(status=None, unheard=True), 0.6, 1),  # sent, and what became of it nobody knows
    ],
)
async def test_a_reply_that_cannot_be_used_is_paid_for_where_it_was_billed(
    in_vain: CallFailure, spent: float, unknown: int
) -> None:
    told = await asked(10, in_vain, ANSWER)
    assert isinstance(told.said, Reply)
    assert told.budget.spent == pytest.approx(spent + 0.25)
    assert told.tally.cost_unknown == unknown


async def test_what_a_try_in_vain_cost_is_on_record_before_the_next_try() -> None:
    told = await asked(10, unusable(usage=Usage(input=1, output=0)), unusable(), ANSWER)
    assert told.events == ["try", 0.25, "try", 0.6, "try"]  # the answer's own cost goes on record with the answer


async def test_another_try_needs_room_in_the_budget() -> None:
    told = await asked(1.0, unusable(), ANSWER)
    assert isinstance(told.said, CallFailure)
    assert told.said.reason == "over-budget"
    assert told.budget.spent == pytest.approx(0.6)
    assert told.events == ["try", 0.6]


async def test_a_call_that_costs_more_than_was_set_aside_ends_the_run_where_the_limit_of_tokens_was_not_kept() -> None:
    told = await asked(10, Reply(text="A", usage=Usage(input=1, output=900)))
    assert told.budget.spent == pytest.approx(0.9)
    assert told.budget.overrun.startswith(
        "m wrote 900 tokens where 100 were allowed, and the call cost $0.9 where $0.6"
    )
    assert told.budget.reached
    assert not await told.budget.reserve(0.6)


async def test_a_reply_that_shows_the_endpoint_to_be_of_no_use_is_paid_for() -> None:
    wrong = Misuse("It gives no log-probabilities.")
    wrong.usage = Usage(input=1, output=1)
    told = await asked(10, wrong)
    assert told.said is wrong
    assert told.events == ["try", 0.25]
    assert told.budget.spent == 0.25


async def test_a_place_of_images_that_is_out_of_reach_for_a_while_is_asked_again() -> None:
    told = await asked(10, PlaceError("Away."), PlaceError("Away."), ANSWER)
    assert isinstance(told.said, Reply)
    assert told.said.text == ANSWER.text
    assert told.events.count("try") == 3
    assert told.budget.spent == 0.25


async def test_a_place_of_images_that_lets_nobody_in_ends_the_run_at_the_first_try() -> None:
    gone = PlaceError("No such bucket.")
    gone.lasting = True
    told = await asked(10, gone, ANSWER)
    assert isinstance(told.said, Misuse)
    assert (str(told.said), told.said.code) == ("No such bucket.", "EH-IMAGES-UNREACHABLE")
    assert told.events.count("try") == 1
    assert told.budget.spent == 0


async def test_an_image_that_cannot_be_read_fails_its_own_call_only() -> None:
    told = await asked(10, ImageError("It is gone."))
    assert isinstance(told.said, CallFailure)
    assert told.said.reason == "api-error"
    assert "It is gone." in str(told.said)
