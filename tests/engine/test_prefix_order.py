"""Claims about the order in which calls go out: prompts that begin alike follow each other, and caches find them."""

import random
from dataclasses import replace

import pytest

from bench.caching import cached_share
from bench.generated import generated
from evenhand.domain.call import Message, Reply, Request
from evenhand.domain.rater import Settings
from evenhand.engine.run.prefix_order import in_prefix_order
from evenhand.engine.run.task import Due
from evenhand.ledger.store.record import StoredCall

LONG = 300


def due(words: str) -> Due[str]:
    request = Request(
        endpoint="e", model="m", messages=(Message(role="user", parts=(words,)),), settings=Settings(max_tokens=5)
    )
    return Due(key=words, subject=words, request=request, stored=None)


@pytest.mark.parametrize("connections", [1, 3, 64])
@pytest.mark.parametrize("count", [0, 1, 7, 8, 100])
def test_all_that_is_due_goes_out_once(connections: int, count: int) -> None:
    asked = [due(f"{number % 9} {number}") for number in range(count)]
    random.Random(1).shuffle(asked)
    ordered = in_prefix_order(asked, connections=connections)
    assert sorted(one.key for one in ordered) == sorted(one.key for one in asked)


def test_within_a_lane_prompts_follow_each_other_by_their_words() -> None:
    asked = [due(f"item {item}, answer {answer}") for answer in range(8) for item in range(4)]
    ordered = in_prefix_order(asked, connections=4)
    for lane in range(4):
        assert [one.key for one in ordered[lane::4]] == [f"item {lane}, answer {answer}" for answer in range(8)]


@pytest.mark.parametrize("connections", [1, 3, 64])
@pytest.mark.parametrize("on_record", [0, 1, 50, 100])
def test_in_turn_the_order_is_the_same_whatever_has_a_reply_on_record(connections: int, on_record: int) -> None:
    said = StoredCall(reply=Reply(text="A"), cost_usd=None)
    asked = [due(f"{number % 9} {number}") for number in range(100)]
    known = {one.key for one in random.Random(2).sample(asked, on_record)}
    some = [replace(one, stored=said) if one.key in known else one for one in asked]
    plain, first, in_turn = (
        [one.key for one in in_prefix_order(given, connections=connections, in_turn=waits)]
        for given, waits in ((asked, False), (some, False), (some, True))
    )
    assert in_turn == plain
    assert {*first[:on_record]} == known


@pytest.mark.slow
async def test_the_order_raises_the_share_of_tokens_that_a_prefix_cache_holds() -> None:
    study = generated(items=12, models=4, caption=LONG, answer=(LONG, LONG + 50))
    before, after = [
        await cached_share(study, by_prefix=by_prefix, connections=16, blocks=20_000, latency=0.1)
        for by_prefix in (False, True)
    ]
    assert after > before + 0.1


async def test_a_cache_that_forgets_at_once_finds_nothing() -> None:
    study = generated(items=2, models=2, caption=3 * LONG, answer=(LONG, LONG + 50))
    assert await cached_share(study, by_prefix=True, connections=1, blocks=1, latency=0.0) == 0.0
    assert await cached_share(study, by_prefix=True, connections=1, blocks=1000, latency=0.0) > 0.2
