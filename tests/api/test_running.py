"""In which event loop commands and plain calls ask."""

import asyncio

import uvloop

from evenhand.api.running import plain, run


async def loop_async() -> asyncio.AbstractEventLoop:
    return asyncio.get_running_loop()


loop_of_a_call = plain(loop_async)


def test_what_asks_runs_in_uvloops_loop() -> None:
    assert isinstance(run(loop_async()), uvloop.Loop)
    assert isinstance(loop_of_a_call(), uvloop.Loop)


async def test_within_a_loop_a_plain_call_has_one_of_its_own() -> None:
    found = await asyncio.to_thread(loop_of_a_call)
    assert isinstance(found, uvloop.Loop)
    here = loop_of_a_call()
    assert isinstance(here, uvloop.Loop)
    assert here is not asyncio.get_running_loop()
