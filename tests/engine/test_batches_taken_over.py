"""Batches that a run was held up over, or that a provider denies for a while: nothing is sent or charged twice."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from evenhand.domain.call import Request
from evenhand.engine.run.batches import BatchDesk
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.task import PlannedChunk
from evenhand.engine.session import Ended, register
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store import schema
from evenhand.ledger.store.batches import begin_batch, change_batch, open_batches
from evenhand.ledger.store.budgets import BY_BATCH
from evenhand.ledger.store.claims import holder_name, release_all
from evenhand.ledger.store.record import Ledger
from evenhand.models.batch.client import BatchClient
from evenhand.models.batch.wire import BatchWire
from tests.batch_server import Moment, Refusal, Wire
from tests.engine.studies import SECONDS
from tests.engine.test_batches import EACH_WIRE, PAUSES, TRIALS, WHOLE, Post, first_time, post
from tests.engine.test_batches_attacked import all_once, asked, at_first


def outlasted(bench: Post) -> None:
    """Every lease runs out: whoever has it was held up for longer."""
    with bench.ledger.writing() as connection:
        connection.execute(update(schema.claims).values(until=1.0))


class Second:
    """A second run on everything, the first time that a moment comes, when the first run's leases have run out."""

    def __init__(
        self,
        bench: Post,
        moment: Moment,
        *,
        wait: float | None = None,
        study: Callable[[Post], PreparedStudy] = Post.study,
    ) -> None:
        self.ended: Ended | None = None
        self._bench, self._wait, self._study = bench, wait, study
        bench.server.at[moment] = self._come

    async def _come(self, times: int) -> None:
        if times == 1:
            outlasted(self._bench)
            own = Post(ledger=Ledger(self._bench.ledger.url), server=self._bench.server)
            try:
                self.ended = await own.post(self._study(own), wait=self._wait, budget=Budget(1.0))
            finally:
                own.ledger.close()


@pytest.mark.parametrize("wait", [None, 0.0])
@pytest.mark.parametrize("moment", ["uploading", "uploaded"])
async def test_what_another_run_has_sent_meanwhile_is_not_sent_on_by_the_first(
    tmp_path: Path, moment: Moment, wait: float | None
) -> None:
    """With no wait the second run has ended when the first goes on, and holds nothing any more."""
    async with post(tmp_path, polls=2) as bench:
        second = Second(bench, moment, wait=wait)
        study = bench.study()
        first = await bench.post(study, budget=Budget(1.0))
        assert second.ended is not None
        assert second.ended.tally.verdicts + second.ended.tally.in_batches == TRIALS
        assert (first.error, first.tally.failed.total()) == (None, 0)
        await bench.post(study, budget=Budget(1.0))
        all_once(bench)


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_what_another_run_has_read_meanwhile_is_charged_and_judged_once(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, pauses=WHOLE, wire=wire, polls=2) as bench:
        second = Second(bench, "imported")
        study = bench.study()
        first = await bench.post(study, budget=Budget(1.0))
        assert second.ended is not None
        assert (first.error, second.ended.error) == (None, None)
        all_once(bench)
        assert (await bench.post(study)).tally.known == TRIALS


async def test_what_another_run_sends_again_meanwhile_is_sent_again_by_that_one_only(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2, fault=first_time("500")) as bench:
        Second(bench, "imported")
        study = bench.study()
        await bench.post(study, budget=Budget(1.0))
        await bench.post(study, budget=Budget(1.0))
        assert set(bench.server.came.values()) == {2}
        assert set(bench.server.paid.values()) == {1}
        assert sorted(row["trial"] for row in bench.rows("judgements")) == sorted(
            {row["trial"] for row in bench.rows("judgements")}
        )
        assert bench.spent() == pytest.approx(bench.cost())
        assert not bench.rows("reservations")


@pytest.mark.parametrize("wait", [None, 0.0])
async def test_what_another_run_has_sent_since_it_was_gathered_is_not_sent(tmp_path: Path, wait: float | None) -> None:
    async with post(tmp_path, polls=2) as bench:
        study = bench.study()
        register(study, bench.ledger)

        def chunks() -> Iterator[PlannedChunk[Any]]:
            yield from study.plan(bench.ledger)
            outlasted(bench)  # nothing of the first is on record: its batch waits for this thread
            asyncio.run(_by_another(bench, wait))

        first = await asked(bench, study, chunks(), by_batch=True)
        assert (first.error, first.tally.failed.total()) == (None, 0)
        await bench.post(study)
        assert set(bench.server.came.values()) == {1}
        assert {row["key"] for row in bench.rows("calls")} == set(bench.server.came)
        assert len(bench.rows("judgements")) == TRIALS
        assert bench.spent() == pytest.approx(bench.cost())


async def _by_another(bench: Post, wait: float | None) -> None:
    own = Post(ledger=Ledger(bench.ledger.url), server=bench.server)
    try:
        await own.post(own.study(), wait=wait)
    finally:
        own.ledger.close()


async def test_a_batch_is_taken_up_as_it_is_by_then(tmp_path: Path) -> None:
    """Its sender goes on with it after it was looked at."""
    async with post(tmp_path) as bench:
        sender = holder_name("sender")
        row = {"id": "x", "endpoint": "scripted", "wire": "openai", "run": "r", "state": "uploaded", "file": "f"}
        begin_batch(bench.ledger, row, {"a": 0, "b": 0}, purse=None, holder=sender)
        desk = BatchDesk(bench.ledger, endpoint="scripted", wire="openai", budget=Budget(None))
        desk.start("another", holder_name("another"), asyncio.to_thread)
        (found,) = await desk.open()
        assert (found.state, found.name) == ("uploaded", None)
        assert change_batch(bench.ledger, "x", {"state": "created", "name": "batch_7"}, holder=sender)
        release_all(bench.ledger, holder=sender)
        assert await desk.take(found) == {"a", "b"}
        assert (found.state, found.name) == ("created", "batch_7")


def _denied(times: int) -> None:
    if times <= 10:
        raise FileNotFoundError


@pytest.mark.parametrize("wire", EACH_WIRE)
@pytest.mark.parametrize("moment", ["polled", "importing"])
async def test_what_a_provider_denies_for_a_while_is_not_sent_again(tmp_path: Path, wire: Wire, moment: Moment) -> None:
    async with post(tmp_path, wire=wire, polls=2) as bench:
        bench.server.at[moment] = _denied
        ended = await bench.post(bench.study(), budget=Budget(1.0))
        assert (ended.tally.verdicts, ended.tally.failed.total()) == (TRIALS, 0)
        all_once(bench)


@pytest.mark.parametrize("wire", ["openai", pytest.param("mistral", marks=pytest.mark.slow)])
async def test_files_of_results_that_are_named_late_are_waited_for(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, wire=wire, files_late=3) as bench:
        assert (await bench.post(bench.study())).tally.verdicts == TRIALS
        all_once(bench)


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_results_of_nobody_do_not_hide_that_a_file_ends_too_early(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, wire=wire, short=1, strangers=TRIALS) as bench:
        assert (await bench.post(bench.study())).tally.verdicts == TRIALS
        all_once(bench)


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_a_batch_that_is_told_by_another_name_is_followed_by_its_own(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, wire=wire, polls=3, misnamed=True) as bench:
        assert (await bench.post(bench.study())).tally.verdicts == TRIALS
        all_once(bench)


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_a_creation_that_is_refused_because_it_is_there_already_is_looked_for(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, wire=wire, cut=frozenset({"created"}), hides=True) as bench:

        def exists(times: int) -> None:
            if times == 2:
                bench.server.batching = replace(bench.server.batching, hides=False)
                raise Refusal(409)

        bench.server.at["creating"] = exists
        ended = await bench.post(bench.study(), budget=Budget(1.0))
        assert (ended.error, ended.tally.verdicts) == (None, TRIALS)
        all_once(bench)


async def test_a_batch_of_which_no_counts_are_told_is_found_by_its_results(tmp_path: Path) -> None:
    async with post(tmp_path, wire="anthropic", cut=frozenset({"created"}), counts=False, polls=3) as bench:
        assert (await bench.post(bench.study())).tally.verdicts == TRIALS
        all_once(bench)


@pytest.mark.parametrize(
    ("moment", "status", "state"),
    [("uploading", 429, "uploading"), ("creating", 429, "uploaded"), ("creating", 503, "creating")],
)
async def test_what_was_never_sent_is_asked_within_the_limit_that_holds_now(
    tmp_path: Path, moment: Moment, status: int, state: str
) -> None:
    async with post(tmp_path, polls=1000) as bench:
        study = bench.study()
        bench.server.at[moment] = at_first(1, Refusal(status, wait=3600))
        assert (await bench.post(study)).error is not None
        assert [one.state for one in open_batches(bench.ledger)] == [state]
        quote = bench.contact(study, budget=None, wait=0.0).quote
        dearest = max(quote.most(due.request) or 0.0 for chunk in study.plan(bench.ledger) for due in chunk.due)
        limited = await bench.post(study, wait=0.0, budget=Budget(3.5 * dearest))
        assert (limited.over_budget, limited.tally.in_batches, limited.tally.failed.total()) == (True, 3, 0)
        assert len(bench.server.came) == 3
        assert not bench.rows("judgements")


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_what_was_lost_is_sent_again_within_the_limit_that_holds_now(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, wire=wire, polls=1000) as bench:
        study = bench.study()
        await bench.post(study, wait=0.0)
        bench.server.batches[0].id = "another"
        bench.server.came.clear()
        quote = bench.contact(study, budget=None, wait=0.0).quote
        dearest = max(quote.most(due.request) or 0.0 for chunk in study.plan(bench.ledger) for due in chunk.due)
        limited = await bench.post(study, wait=0.0, budget=Budget(3.5 * dearest))
        assert (limited.over_budget, limited.tally.in_batches, limited.tally.failed.total()) == (True, 3, 0)
        assert len(bench.server.came) == 3
        assert limited.budget is not None
        assert limited.budget.taken <= limited.budget.most


class Interrupted:
    """A wire that a call is given up at while it is written."""

    given_up: "asyncio.Task[Any]"

    def __init__(self, wire: BatchWire) -> None:
        self._wire = wire

    def __getattr__(self, name: str) -> Any:
        return getattr(self._wire, name)

    def entry(self, request: Request) -> Sequence[bytes]:
        self.given_up.get_loop().call_soon_threadsafe(self.given_up.cancel)
        deadline = time.monotonic() + SECONDS
        while not self.given_up.done():
            assert time.monotonic() < deadline, "it was not given up"
            time.sleep(0.01)
        return self._wire.entry(request)


async def test_what_is_given_up_while_its_batch_is_written_is_not_sent(tmp_path: Path) -> None:
    """What was set aside for it is free again: a batch would hold nothing for it."""
    async with post(tmp_path) as bench:
        study = bench.study()
        context = bench.contact(study, budget=None, wait=None).call_context(bench.ledger)
        assert isinstance(context.client, BatchClient)
        assert context.batches is not None
        context.batches.start("r", holder_name("r"), asyncio.to_thread)
        given_up, stays = [due.request for chunk in study.plan(bench.ledger) for due in chunk.due][:2]
        wire: Any = Interrupted(context.client._wire)
        client = BatchClient(wire, context.batches, pauses=PAUSES)
        wire.given_up = asyncio.create_task(client.complete(given_up))
        try:
            async with asyncio.timeout(SECONDS):
                await client.complete(stays)
        finally:
            await client.close()
        assert set(bench.server.came) == {stays.key}


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_what_was_lost_is_sent_again_whenever_it_is_asked_for(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, wire=wire) as bench:
        study = bench.study()
        await bench.post(study, wait=0.0)
        bench.server.batches[0].id = "another"
        bench.server.came.clear()
        context = bench.contact(study, budget=Budget(1.0), wait=None).call_context(bench.ledger)
        few = replace(context.pacing, max_connections=2, first_connections=2)
        ended = await bench.ask(study, replace(context, pacing=few))
        assert (ended.tally.verdicts, ended.tally.failed.total()) == (TRIALS, 0)
        assert {len(one.entries) for one in bench.server.batches[1:]} <= {1, 2}
        all_once(bench)


async def test_a_run_leaves_batches_alone_that_it_asks_nothing_of(tmp_path: Path) -> None:
    async with post(tmp_path, polls=1) as bench:
        few, others = bench.study(items=1), bench.study(models=("cat", "dog"))
        await bench.post(few, wait=0.0)
        seen: list[str] = []

        def claimed(_: int) -> None:
            seen.extend(row["what"] for row in bench.rows("claims") if row["what"].startswith("batch "))

        bench.server.at["importing"] = claimed
        waiting = {f"batch {one.id}" for one in open_batches(bench.ledger)}
        assert (await bench.post(others)).tally.verdicts == TRIALS
        assert seen
        assert waiting.isdisjoint(seen)


async def test_a_call_that_is_too_large_alone_fails_and_is_told_so(tmp_path: Path) -> None:
    async with post(tmp_path, most=0) as bench:
        ended = await bench.post(bench.study(), budget=Budget(1.0))
        assert dict(ended.tally.failed) == {"api-error": TRIALS}
        assert {row["reason"] for row in bench.rows("judgements")} == {"api-error"}
        assert not open_batches(bench.ledger)
        assert ended.budget is not None
        assert ended.budget.taken == 0


async def test_what_is_gathered_is_not_counted_as_on_its_way(tmp_path: Path) -> None:
    async with post(tmp_path, pauses=WHOLE) as bench:
        held: list[str] = []
        bench.server.at["uploading"] = lambda _: held.extend(row["run"] or "" for row in bench.rows("reservations"))
        await bench.post(bench.study(), budget=Budget(1.0))
        (run,) = [row["id"] for row in bench.rows("runs")]
        assert sorted(held) == sorted([run, f"{BY_BATCH}{run}"])  # the batch's, and the process's
