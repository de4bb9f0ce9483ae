"""Batches whose money, maker or file is in doubt: no limit is passed, and nothing is sent while it may be there."""

import asyncio
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import update

from evenhand.api.asking import BatchTerms
from evenhand.domain.call import Reply
from evenhand.domain.errors import code_of
from evenhand.engine.run.batches import BatchDesk, Reserved
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.task import Due, PlannedChunk
from evenhand.engine.session import Ended, register, run_task
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store import schema
from evenhand.ledger.store.batches import open_batches
from evenhand.ledger.store.claims import holder_name
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.record import Ledger
from evenhand.models.batch.client import BatchClient
from evenhand.models.batch.record import OpenBatch
from tests.batch_server import Made, Moment, Refusal, Wire
from tests.engine.studies import SECONDS
from tests.engine.test_batches import EACH_WIRE, PAUSES, TRIALS, WHOLE, Post, _extracts, first_time, post
from tests.engine.test_batches_attacked import all_once, asked, at_first
from tests.engine.test_batches_taken_over import Second, outlasted
from tests.engine.test_waiting import ONE_TRY, another, hold, recorded
from tests.scripted_server import Canned, Script


async def came(bench: Post, moment: Moment, times: int) -> None:
    async with asyncio.timeout(SECONDS):
        while bench.server.moments[moment] < times:  # noqa: ASYNC110  the server is not to know of the test
            await asyncio.sleep(0.01)


def undecided(body: dict[str, Any]) -> str:
    """A judge whose replies another has to read."""
    return "Overall, Response A is better." if _extracts(body) else f"Both have merits: {body['messages']}"


async def test_the_model_that_reads_replies_leaves_alone_what_the_judge_is_sending(tmp_path: Path) -> None:
    async with post(tmp_path, Script(judge=undecided)) as bench:
        rater = bench.study().asking.rater
        study = bench.study(extractor=Extractor(rater=rater, model="gpt-4o"))
        register(study, bench.ledger)

        def chunks() -> Iterator[PlannedChunk[Any]]:
            (whole,) = study.plan(bench.ledger)
            yield replace(whole, due=whole.due[:4])
            while not bench.server.moments["polled"]:
                time.sleep(0.01)
                yield replace(whole, known=(), due=())
            yield replace(whole, known=(), due=whole.due[4:])

        async def uploading(times: int) -> None:
            if times == 2:  # of the judge; the third is of the model that reads
                await came(bench, "uploading", 3)

        async def importing(times: int) -> None:
            if times == 1:
                await came(bench, "uploading", 2)

        bench.server.at["uploading"], bench.server.at["importing"] = uploading, importing
        budget = Budget(1.0)
        contact = bench.contact(study, budget=budget, wait=None)
        context = replace(contact.call_context(bench.ledger), second=contact.call_context(bench.ledger))
        run = bench.ledger.begin_run("judge", {}, study=study.study.key, version="0")
        budget.open(bench.ledger, "b")
        async with asyncio.timeout(SECONDS):
            ended = await run_task(
                study.asking, chunks(), planned=TRIALS, run=run, ledger=bench.ledger, context=context, stop=StopSign()
            )
        assert ended.error is None
        assert (ended.tally.called, ended.tally.in_batches) == (TRIALS, 0)
        assert len(bench.server.came) == 2 * TRIALS
        assert set(bench.server.came.values()) == {1}
        assert bench.spent() == pytest.approx(bench.cost())


async def by_another(bench: Post, **given: Any) -> None:
    """As another process does it, in a loop of its own."""
    own = Post(ledger=Ledger(bench.ledger.url), server=bench.server)
    try:
        await own.post(own.study(), **given)
    finally:
        own.ledger.close()


def dearest(bench: Post) -> float:
    study = bench.study()
    quote = bench.contact(study, budget=None, wait=0.0).quote
    return max(quote.most(due.request) or 0.0 for chunk in study.plan(bench.ledger) for due in chunk.due)


async def test_what_another_run_has_sent_frees_what_was_set_aside_for_it_here(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2) as bench:
        study = bench.study()
        register(study, bench.ledger)

        def chunks() -> Iterator[PlannedChunk[Any]]:
            (whole,) = study.plan(bench.ledger)
            yield replace(whole, due=whole.due[:4])
            outlasted(bench)  # nothing of them is on record yet: the batch waits for this thread
            asyncio.run(by_another(bench, wait=0.0, budget=Budget(4.5 * dearest(bench))))
            yield replace(whole, known=(), due=whole.due[4:])

        ended = await asked(bench, study, chunks(), by_batch=True, budget=Budget(4.5 * dearest(bench)))
        assert (ended.error, ended.over_budget) == (None, False)
        assert ended.tally.verdicts + ended.tally.in_batches == TRIALS
        assert set(bench.server.came.values()) == {1}
        await bench.post(study)
        all_once(bench)


async def test_what_failed_for_another_run_is_sent_again_with_its_most_set_aside(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2, fault=first_time("cancelled")) as bench:
        study = bench.study(items=5)
        register(study, bench.ledger)
        await bench.post(bench.study(), wait=0.0)
        context = bench.contact(study, budget=Budget(1.0), wait=None).call_context(bench.ledger)
        few = replace(context.pacing, max_connections=2, first_connections=2)
        sent = {row["call"] for row in bench.rows("batch_entries")}

        def chunks() -> Iterator[PlannedChunk[Any]]:
            (whole,) = study.plan(bench.ledger)
            yield replace(whole, due=[due for due in whole.due if due.request.key not in sent])
            asyncio.run(by_another(bench))
            yield replace(whole, known=(), due=[due for due in whole.due if due.request.key in sent])

        run = bench.ledger.begin_run("judge", {}, study=study.study.key, version="0")
        async with asyncio.timeout(SECONDS):
            ended = await run_task(
                study.asking, chunks(), planned=TRIALS, run=run, ledger=bench.ledger,
                context=replace(context, pacing=few), stop=StopSign(),
            )  # fmt: skip
        assert ended.error is None
        own = {row["id"] for row in bench.rows("batches") if row["run"] == run}
        held = [row["held"] for row in bench.rows("batch_entries") if row["batch"] in own]
        assert min(held) > 0
        assert len(held) > 2  # some of the eight are sent by this run
        assert ended.tally.verdicts + ended.tally.in_batches == TRIALS


async def test_nothing_goes_into_a_batch_that_nothing_is_set_aside_for(tmp_path: Path) -> None:
    async with post(tmp_path) as bench:
        budget = Budget(1.0)
        assert budget.open(bench.ledger, "b")
        desk = BatchDesk(bench.ledger, endpoint="scripted", wire="openai", budget=budget)
        desk.start("r", holder_name("r"), asyncio.to_thread)
        desk.reserved["a"] = Reserved(estimate=0.5)
        assert await budget.reserve(0.5)
        assert await desk.begin(OpenBatch(id="x", state="uploading", calls={"a", "b"})) == {"b"}
        assert not desk.reserved["a"].in_batch
        assert not bench.rows("batches")
        assert await desk.begin(OpenBatch(id="x", state="uploading", calls={"a"})) == set()
        assert [row["held"] for row in bench.rows("batch_entries")] == [500_000_000]


async def test_what_another_run_has_sent_again_is_settled_by_that_one_only(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2, fault=first_time("500")) as bench:
        Second(bench, "imported", wait=0.0)
        study = bench.study()
        first = await bench.post(study, budget=Budget(1.0))
        assert first.error is None
        await bench.post(study, budget=Budget(1.0))
        assert set(bench.server.came.values()) == {2}
        assert set(bench.server.paid.values()) == {1}
        trials = [row["trial"] for row in bench.rows("judgements") if row["reason"] is None]
        assert len(trials) == len(set(trials)) == TRIALS
        assert bench.spent() == pytest.approx(bench.cost())
        assert not bench.rows("reservations")


@pytest.mark.parametrize("wire", [pytest.param("mistral", marks=pytest.mark.slow), "openai"])
async def test_a_creation_that_goes_through_when_the_batch_was_sent_anew_makes_nothing(
    tmp_path: Path, wire: Wire
) -> None:
    async with post(tmp_path, wire=wire, tardy=True) as bench:
        bench.server.at["polled"] = lambda _: bench.server.go_on.set()
        assert (await bench.post(bench.study(), budget=Budget(1.0))).tally.verdicts == TRIALS
        async with asyncio.timeout(SECONDS):
            while bench.server.creations < 2:  # noqa: ASYNC110  the server is not to know of the test
                await asyncio.sleep(0.01)
        all_once(bench)


@pytest.mark.parametrize("status", [403, 404, 501])
async def test_a_batch_is_sent_anew_where_no_file_can_be_deleted(tmp_path: Path, status: int) -> None:
    async with post(tmp_path, cut=frozenset({"creating"}), deletion=status) as bench:
        assert (await bench.post(bench.study())).tally.verdicts == TRIALS
        all_once(bench)


def of_another_account(bench: Post) -> Post:
    """With a key that the batches on record were not sent with: one in 65,536 cannot be told from theirs."""
    for number in range(20):
        other = replace(bench, key=f"another-account-{number}")
        context = other.contact(other.study(), budget=None, wait=None).call_context(bench.ledger)
        assert isinstance(context.client, BatchClient)
        if not any(context.client._wire.is_marked(one.id) for one in open_batches(bench.ledger)):
            return other
    raise AssertionError("every key is taken for theirs")


async def test_many_batches_tell_no_more_of_a_key_than_one(tmp_path: Path) -> None:
    """Else a word that serves as a key could be found by trying others on each of them."""
    async with post(tmp_path) as plain:
        bench = replace(plain, key="a-word-that-serves")
        for items in (1, 2, 3):
            await bench.post(bench.study(items=items))
        marks = [row["id"] for row in bench.rows("batches")]
        assert len(marks) == len({mark[:28] for mark in marks}) == 3
        assert len({mark[28:] for mark in marks}) == 1


@pytest.mark.parametrize("wire", EACH_WIRE)
@pytest.mark.parametrize("named", [True, False])
async def test_a_batch_of_another_account_is_not_sent_anew(tmp_path: Path, wire: Wire, named: bool) -> None:
    async with post(tmp_path, pauses=WHOLE, wire=wire, polls=2) as bench:
        study = bench.study()
        if named:
            await bench.post(study, wait=0.0, budget=Budget(1.0))
        else:
            bench.server.at["creating"] = at_first(1, Refusal(503, wait=3600))
            await bench.post(study, budget=Budget(1.0))
        own, bench.server.batches = bench.server.batches, []
        before = bench.server.moments["creating"]
        other = of_another_account(bench)
        for _ in range(2):
            ended = await other.post(study, budget=Budget(1.0))
            assert ended.error is not None
            assert code_of(ended.error) == "EH-BATCH-UNREACHABLE"
            assert "sent with another key" in str(ended.error)
            assert (ended.tally.called, ended.tally.failed.total()) == (0, 0)
        assert bench.server.moments["creating"] == before
        bench.server.batches = own
        assert (await bench.post(study, budget=Budget(1.0))).tally.verdicts == TRIALS
        all_once(bench)


@pytest.mark.parametrize("named", [True, False])
async def test_a_batch_of_a_key_that_is_gone_is_sent_again_where_that_is_wanted(tmp_path: Path, named: bool) -> None:
    async with post(tmp_path, polls=2) as bench:
        study = bench.study()
        if not named:
            bench.server.at["creating"] = at_first(1, Refusal(503, wait=3600))
        await bench.post(study, wait=0.0, budget=Budget(1.0))
        bench.server.batches.clear()
        bench.server.came.clear()
        other = of_another_account(bench)
        contact = other.contact(study, budget=Budget(1.0), wait=None)
        terms = BatchTerms.of(contact.model, batch=True, wait=None, resend=True)
        assert terms is not None
        resending = replace(contact, batch=replace(terms, pauses=PAUSES))
        assert (await other.ask(study, resending.call_context(bench.ledger))).tally.verdicts == TRIALS
        all_once(bench)


async def test_a_batch_that_no_provider_keeps_any_more_is_sent_anew_with_any_key(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2) as bench:
        study = bench.study()
        await bench.post(study, wait=0.0)
        bench.server.batches.clear()
        bench.server.came.clear()
        with bench.ledger.writing() as connection:
            connection.execute(update(schema.batches).values(at=time.time() - 31 * 86_400))
        assert (await of_another_account(bench).post(study)).tally.verdicts == TRIALS
        all_once(bench)


@pytest.mark.parametrize("moment", ["importing", "imported"])
async def test_what_another_run_has_read_in_two_steps_is_judged_once(tmp_path: Path, moment: Moment) -> None:
    def extracting(bench: Post) -> PreparedStudy:
        return bench.study(extractor=Extractor(rater=bench.study().asking.rater, model="gpt-4o"))

    async with post(tmp_path, Script(judge=undecided), polls=2) as bench:
        second = Second(bench, moment, study=extracting)
        study = extracting(bench)
        first = await bench.post(study, budget=Budget(1.0))
        assert second.ended is not None
        assert (first.error, second.ended.error) == (None, None)
        await bench.post(study, budget=Budget(1.0))
        trials = [row["trial"] for row in bench.rows("judgements")]
        assert len(trials) == len(set(trials)) == TRIALS
        assert len(bench.server.came) == 2 * TRIALS
        assert set(bench.server.came.values()) == {1}
        assert bench.spent() == pytest.approx(bench.cost())
        assert not bench.rows("reservations")


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_a_batch_is_found_on_the_last_page_of_a_list(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, wire=wire, cut=frozenset({"created"}), oldest_first=True) as bench:

        def older(_: int) -> None:
            """Forty batches of somebody else."""
            document = {"endpoint": "", "input_file_id": "other", "input_files": ["other"], "model": "m"}
            for number in range(40):
                made = Made(id=f"older_{number}", entries=[{"custom_id": "x"}], document=document, faults={"x": None})
                bench.server.batches.insert(0, made)

        bench.server.at["created"] = older
        assert (await bench.post(bench.study())).tally.verdicts == TRIALS
        all_once(bench)


@pytest.mark.parametrize("wire", [pytest.param("mistral", marks=pytest.mark.slow), "openai"])
@pytest.mark.parametrize("refusal", [FileNotFoundError(), Refusal(429)], ids=["unknown-file", "429"])
async def test_what_was_not_made_for_sure_is_made_later_of_the_same_file(
    tmp_path: Path, wire: Wire, refusal: Exception
) -> None:
    """A file may not be known yet when its batch is created: another one would not be either."""
    async with post(tmp_path, pauses=WHOLE, wire=wire) as bench:
        bench.server.at["creating"] = at_first(2, refusal)
        ended = await bench.post(bench.study(), budget=Budget(1.0))
        assert (ended.error, ended.tally.verdicts) == (None, TRIALS)
        assert (bench.server.moments["uploading"], bench.server.moments["listed"]) == (1, 0)
        all_once(bench)


@pytest.mark.parametrize("moment", ["polled", "listed"])
async def test_whoever_waits_can_be_told_that_a_batch_is_looked_for(tmp_path: Path, moment: Moment) -> None:
    cut: frozenset[Moment] = frozenset({"created"} if moment == "listed" else ())
    async with post(tmp_path, polls=4, cut=cut, hides=moment == "listed") as bench:
        contact = bench.contact(bench.study(), budget=None, wait=None)
        patient = BatchTerms(pauses=replace(PAUSES, unsure=60.0))
        context = replace(contact, batch=patient).call_context(bench.ledger)
        missed: list[bool] = []

        def come(times: int) -> None:
            assert context.batches is not None
            missed.append(context.batches.followed[0].missed)
            bench.server.batching = replace(bench.server.batching, hides=times < 3)
            if moment == "polled" and times < 3:
                raise FileNotFoundError

        bench.server.at[moment] = come
        assert (await bench.ask(bench.study(), context)).tally.verdicts == TRIALS
        assert missed[:3] == [False, True, True]
        assert not any(missed[3:])
        all_once(bench)


async def test_a_server_that_knows_no_uploads_is_said_to_offer_no_batches(tmp_path: Path) -> None:
    """Some call any address that they do not know a file that is not found."""
    async with post(tmp_path) as bench:
        bench.server.at["uploading"] = at_first(1, FileNotFoundError())
        ended = await bench.post(bench.study())
        assert ended.error is not None
        assert code_of(ended.error) == "EH-BATCH-REFUSED"


async def test_whoever_waits_for_other_runs_does_not_wait_for_their_batches(tmp_path: Path) -> None:
    async with post(tmp_path, polls=10**9) as bench:
        other = asyncio.create_task(bench.post(bench.study()))
        await came(bench, "polled", 1)
        async with asyncio.timeout(SECONDS):
            ended = await bench.run(bench.study(items=5), waits=True)
        tally = ended.tally
        assert (tally.called, tally.in_batches, tally.not_reached, tally.elsewhere) == (2, TRIALS, TRIALS, 0)
        bench.server.batching = replace(bench.server.batching, polls=1)
        assert (await other).tally.verdicts == TRIALS
        assert bench.server.attempts.total() == 2
        assert set(bench.server.came.values()) == {1}


async def test_what_failed_and_waits_in_the_batch_of_another_run_since_is_not_waited_for(tmp_path: Path) -> None:
    async with post(tmp_path, polls=10**9) as bench:
        study = bench.study(items=1)
        bench.server.then(Canned(status=400, body={"error": {"message": "No."}}))
        with another() as (holder, process):
            hold(bench, study, [[trial.key for trial in study.trials()][-1]], holder)
            run = asyncio.create_task(bench.run(study, waits=True, pacing=ONE_TRY))
            await recorded(bench, 1)
            other = asyncio.create_task(bench.post(study))
            await came(bench, "polled", 1)
            process.kill()
            process.wait()
            async with asyncio.timeout(SECONDS):
                ended = await run
        assert (ended.tally.called, ended.tally.failed.total(), ended.tally.verdicts) == (2, 1, 1)
        bench.server.batching = replace(bench.server.batching, polls=1)
        assert (await other).tally.verdicts == 1


async def part_of(
    bench: Post, study: PreparedStudy, chunks: Iterable[PlannedChunk[Any]], budget: Budget, *, wait: float | None
) -> Ended:
    run = bench.ledger.begin_run("judge", {}, study=study.study.key, version="0")
    context = bench.contact(study, budget=budget, wait=wait).call_context(bench.ledger)
    async with asyncio.timeout(60):
        return await run_task(
            study.asking, chunks, planned=TRIALS, run=run, ledger=bench.ledger, context=context, stop=StopSign(),
            budget_name=f"judge {study.study.key}",
        )  # fmt: skip


async def test_what_batches_hold_of_a_budget_is_collected_also_where_other_calls_come_first(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2) as bench:
        study, most = bench.study(), 4.5 * dearest(bench)
        register(study, bench.ledger)
        (whole,) = study.plan(bench.ledger)
        last = sorted(whole.due, key=lambda due: due.request.canonical)[4:]
        sent = await part_of(bench, study, [replace(whole, due=last)], Budget(most), wait=0.0)
        assert sent.tally.in_batches == 4
        ended = await bench.post(study, budget=Budget(most))
        assert (ended.tally.verdicts, ended.tally.not_reached, ended.over_budget) == (4, 4, True)
        assert (await bench.post(study, budget=Budget(most))).tally.verdicts == 4
        all_once(bench)


def half_read(bench: Post, dues: Sequence[Due[Any]], study: PreparedStudy) -> None:
    """As a run leaves them that ends between the two steps."""
    run, entries = bench.ledger.begin_run("judge", {}, study=study.study.key, version="0"), Entries()
    for due in dues:
        reply = Reply(text=f"Both have merits: {due.request.key}")
        entries.add_call(due.request, reply, run=run, at=time.time(), cost_usd=0.0)
    bench.ledger.commit(entries)


async def test_whoever_waits_for_other_runs_does_not_wait_for_second_steps_in_their_batches(tmp_path: Path) -> None:
    async with post(tmp_path, Script(judge=undecided), polls=10**9) as bench:
        study = bench.study()
        register(study, bench.ledger)
        half_read(bench, [due for chunk in study.plan(bench.ledger) for due in chunk.due], study)
        other = asyncio.create_task(bench.post(study))
        async with asyncio.timeout(30):
            while bench.server.came.total() < TRIALS:  # noqa: ASYNC110  the server is not to know of the test
                await asyncio.sleep(0.01)
            tally = (await bench.run(study, waits=True)).tally
        assert (tally.called, tally.in_batches, tally.elsewhere) == (0, TRIALS, 0)
        bench.server.batching = replace(bench.server.batching, polls=1)
        assert (await other).tally.called == TRIALS
        assert set(bench.server.came.values()) == {1}
        assert not bench.server.attempts


async def test_a_second_step_without_room_leaves_nothing_uncollected(tmp_path: Path) -> None:
    async with post(tmp_path, Script(judge=undecided), polls=2) as bench:
        study, most = bench.study(), 4.5 * dearest(bench)
        register(study, bench.ledger)
        (whole,) = study.plan(bench.ledger)
        due = sorted(whole.due, key=lambda due: due.request.canonical)
        half_read(bench, due[:4], study)
        sent = await part_of(bench, study, [replace(whole, due=due[4:])], Budget(most), wait=0.0)
        assert (sent.tally.in_batches, len(bench.calls())) == (4, 4)
        budget = Budget(most)

        def chunks() -> Iterator[PlannedChunk[Any]]:
            yield replace(whole, due=[replace(one, stored=found[one.request.key]) for one in due[:4]])
            while budget.refused is None:
                time.sleep(0.01)
                yield replace(whole, known=(), due=())
            yield replace(whole, known=(), due=due[4:])

        found = bench.ledger.find_calls([one.request.key for one in due[:4]])
        await part_of(bench, study, chunks(), budget, wait=None)
        assert {one.request.key for one in due} <= {key for key, *_ in bench.calls()}


async def test_nor_where_the_first_replies_have_come_since_it_made_its_plan(tmp_path: Path) -> None:
    async with post(tmp_path, Script(judge=undecided), polls=10**9) as bench:
        study = bench.study()
        register(study, bench.ledger)
        planned = list(study.plan(bench.ledger))
        half_read(bench, [due for chunk in planned for due in chunk.due], study)
        other = asyncio.create_task(bench.post(study))
        async with asyncio.timeout(60):
            while bench.server.came.total() < TRIALS:  # noqa: ASYNC110  the server is not to know of the test
                await asyncio.sleep(0.01)
            tally = (await plain_part_of(bench, study, planned)).tally
        assert (tally.called, tally.in_batches, tally.elsewhere) == (0, TRIALS, 0)
        bench.server.batching = replace(bench.server.batching, polls=1)
        assert (await other).tally.called == TRIALS
        assert set(bench.server.came.values()) == {1}
        assert not bench.server.attempts


async def test_first_replies_that_have_come_since_the_plan_are_not_asked_for_again(tmp_path: Path) -> None:
    async with post(tmp_path, Script(judge=undecided), polls=10**9) as bench:
        study = bench.study()
        register(study, bench.ledger)
        planned = list(study.plan(bench.ledger))
        half_read(bench, [due for chunk in planned for due in chunk.due], study)
        assert (await bench.post(study, wait=0.0)).tally.in_batches == TRIALS
        tally = (await plain_part_of(bench, study, planned)).tally
        assert (tally.called, tally.in_batches, tally.not_reached) == (0, TRIALS, TRIALS)
        assert not bench.server.attempts


async def plain_part_of(bench: Post, study: PreparedStudy, chunks: Iterable[PlannedChunk[Any]]) -> Ended:
    run = bench.ledger.begin_run("judge", {}, study=study.study.key, version="0")
    context = replace(bench.contact(study, budget=None, wait=None), batch=None).call_context(bench.ledger)
    async with asyncio.timeout(60):
        return await run_task(
            study.asking, chunks, planned=TRIALS, run=run, ledger=bench.ledger, context=context, stop=StopSign(),
            waits=True,
        )  # fmt: skip


async def test_second_steps_without_room_are_not_said_to_have_failed_while_batches_hold_more(tmp_path: Path) -> None:
    """Nor one by one where what the batches hold is another study's, so that it is not collected here."""
    async with post(tmp_path, Script(judge=undecided), polls=10**9) as bench:
        other = bench.study(models=("cat", "dan"))
        assert (await bench.post(other, wait=0.0)).tally.in_batches == TRIALS
        study = bench.study()
        register(study, bench.ledger)
        half_read(bench, [due for chunk in study.plan(bench.ledger) for due in chunk.due], study)
        ended = await bench.post(study, budget=Budget(1e-9))
        assert (ended.tally.failed, ended.tally.called, ended.tally.not_reached) == ({}, 0, TRIALS)
        assert ended.over_budget
        assert not bench.rows("judgements")


async def test_trials_that_wait_for_one_call_in_a_batch_are_each_counted_there_and_none_has_failed(
    tmp_path: Path,
) -> None:
    def in_the_same_words(body: dict[str, Any]) -> str:
        return "Overall, Response A is better." if _extracts(body) else "Both have merits."

    async with post(tmp_path, Script(judge=in_the_same_words), polls=10**9) as bench:
        study = bench.study()
        register(study, bench.ledger)
        (whole,) = study.plan(bench.ledger)
        run, entries = bench.ledger.begin_run("judge", {}, study=study.study.key, version="0"), Entries()
        for due in whole.due[:4]:
            reply = Reply(text="Both have merits.")
            entries.add_call(due.request, reply, run=run, at=time.time(), cost_usd=0.0)
        bench.ledger.commit(entries)
        (half,) = study.plan(bench.ledger)
        read = [due for due in half.due if due.stored is not None]
        sent = await part_of(bench, study, [replace(half, due=read)], Budget(None), wait=0.0)
        assert (sent.tally.in_batches, bench.server.came.total()) == (4, 1)
        tally = (await plain_part_of(bench, study, study.plan(bench.ledger))).tally
        assert (tally.in_batches, tally.not_reached, tally.failed, tally.requests) == (TRIALS, TRIALS, {}, 4)
        assert bench.server.came.total() == 1
        assert not bench.rows("judgements")
