"""Several runs on one ledger: each goes on until all that is wanted is asked, whoever asks it."""

import asyncio
import json
import subprocess
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TypeAlias

import pytest
from aiohttp import ClientSession
from sqlalchemy import Table, func, select, update

from evenhand.domain.call import Reply
from evenhand.domain.item import Item
from evenhand.domain.verdict import Preference
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.others import Others
from evenhand.engine.run.retry import RetryRule
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.run.tally import Tally
from evenhand.engine.session import Ended, run_task
from evenhand.engine.tasks.answering import Answering
from evenhand.engine.tasks.describing import Describing
from evenhand.engine.tasks.item_task import GREEDY, Addressee
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store import schema
from evenhand.ledger.store.budgets import BILLION, BudgetAccountOnDisk
from evenhand.ledger.store.claims import claim, claim_calls, holder_name, release_all
from evenhand.ledger.store.entries import Entries
from evenhand.ledger.store.rows import verdict_text
from evenhand.models.prices import Price
from evenhand.models.wire.openai import OpenAIWire
from tests.engine.studies import Bench, bench
from tests.scripted_server import Body, Canned, Script

ONE_TRY = Pacing(retry=RetryRule(retries=0))
PREFERRED = "Overall, Response A is better."
NEVER = 1e12
"""When a lease ends that no test could wait for."""


@contextmanager
def another() -> "Generator[tuple[str, subprocess.Popen[bytes]]]":
    """A live process of this machine, and its name as a holder of claims."""
    here, _, started, _ = holder_name("ours").rsplit("|", 3)
    with subprocess.Popen(["cat"], stdin=subprocess.PIPE) as process:
        if started != "alive":
            started = Path(f"/proc/{process.pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()[19]
        try:
            yield f"{here}|{process.pid}|{started}|other", process
        finally:
            process.kill()


def hold(it: Bench, study: PreparedStudy, keys: list[str], holder: str) -> None:
    """For ever, if nobody sees that the holder is dead."""
    assert claim(it.ledger, keys, reader=study.asking.protocol.reader, holder=holder).mine == set(keys)
    with it.ledger.writing() as connection:
        connection.execute(update(schema.claims).values(until=NEVER))


def judgements(it: Bench) -> int:
    return rows_of(it, schema.judgements)


def rows_of(it: Bench, table: Table) -> int:
    with it.ledger.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


async def released(it: Bench) -> None:
    """What the server holds back."""
    async with ClientSession() as session, session.get(f"{it.server.base_url.removesuffix('/v1')}/_go"):
        pass


async def recorded(it: Bench, number: int, table: Table = schema.judgements) -> None:
    async with asyncio.timeout(60):
        while await asyncio.to_thread(rows_of, it, table) < number:  # noqa: ASYNC110  the run is not to know of the test
            await asyncio.sleep(0.01)


async def test_what_another_run_holds_is_waited_for_and_asked_when_it_is_killed(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study = it.study(items=2)
        keys = [trial.key for trial in study.trials()]
        with another() as (holder, process):
            hold(it, study, keys[:3], holder)
            run = asyncio.create_task(it.run(study, waits=True))
            await recorded(it, 1)
            assert not run.done()
            process.kill()
            process.wait()
            ended = await run
        assert ended.complete
        assert (ended.tally.known, ended.tally.called, ended.tally.elsewhere) == (0, 4, 0)
        assert it.server.attempts.total() == 4


async def test_what_another_run_has_asked_meanwhile_is_known(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study = it.study(items=2)
        keys = [trial.key for trial in study.trials()]
        with another() as (holder, _):
            hold(it, study, keys[:3], holder)
            run = asyncio.create_task(it.run(study, waits=True))
            await recorded(it, 1)
            release_all(it.ledger, holder=holder)
            other = await it.run(study)
            ended = await run
        assert ended.complete
        assert ended.tally.called + other.tally.called == it.server.attempts.total() == 4
        assert ended.tally.planned == ended.tally.known + ended.tally.called == 4
        assert judgements(it) == 4


@pytest.mark.parametrize("waits", [True, False])
async def test_what_another_run_takes_over_and_leaves_is_judged_by_the_reply_that_came(
    tmp_path: Path, waits: bool
) -> None:
    with another() as (holder, process):
        process.kill()
        process.wait()

    def judge(_: object) -> str:
        with it.ledger.writing() as connection:
            connection.execute(update(schema.claims).values(holder=holder, until=NEVER))
        return PREFERRED

    async with bench(tmp_path, Script(judge=judge)) as it:
        ended = await it.run(it.study(items=2), waits=waits)
        assert ended.complete
        assert judgements(it) == it.server.attempts.total() == ended.tally.requests == 4
        assert ended.tally.known + ended.tally.called == ended.tally.verdicts == 4


Run: TypeAlias = Callable[[Bench, bool], Awaitable[Ended]]


async def both(it: Bench, run: Run, *, waits: bool) -> tuple[Tally, Tally]:
    """Of two runs that make the same two calls: the leases of the first run out while these are under way."""
    first = asyncio.ensure_future(run(it, waits))
    await it.seen(2)
    with it.ledger.writing() as connection:
        connection.execute(update(schema.claims).values(until=1.0))
    second = asyncio.ensure_future(run(it, False))
    await it.seen(4)
    await released(it)
    return (await first).tally, (await second).tally


async def judged(it: Bench, waits: bool) -> Ended:
    return await it.run(it.study(items=1), waits=waits)


@pytest.mark.parametrize("waits", [True, False])
async def test_what_another_run_takes_over_is_counted_by_that_one(tmp_path: Path, waits: bool) -> None:
    async with bench(tmp_path, Script(held=True)) as it:
        tally, other = await both(it, judged, waits=waits)
        assert (other.called, other.verdicts, judgements(it)) == (2, 2, 2)
        assert (tally.called, tally.verdicts, tally.requests) == (0, 0, 2)
        assert tally.known + tally.elsewhere == 2
        assert tally.elsewhere == 0 or not waits


async def test_what_another_run_asked_meanwhile_is_counted_as_such_with_what_holds_no_decision(tmp_path: Path) -> None:
    async with bench(tmp_path, Script(held=True, judge="says Who knows?")) as it:
        tally, other = await both(it, judged, waits=True)
        assert (tally.known, tally.meanwhile, tally.by_crew) == (2, 2, 0)
        assert tally.known_no_verdict == other.no_verdict
        assert other.no_verdict.total() == 2
        later = (await judged(it, True)).tally
        assert (later.known, later.meanwhile) == (2, 0)
        assert later.known_no_verdict == other.no_verdict


def contradicting(otherwise: str) -> Script:
    """Whoever asks a second time, and is heard later, is told otherwise."""
    asked: Counter[str] = Counter()

    def judge(body: Body) -> str:
        words = str(body["messages"])
        asked[words] += 1
        return PREFERRED if asked[words] == 1 else otherwise

    return Script(judge=judge, held=True, stalls={3: 0.5, 4: 0.5})


def replies(it: Bench) -> dict[str, str]:
    with it.ledger.reading() as connection:
        return {row.key: row.text for row in connection.execute(select(schema.calls))}


@pytest.mark.parametrize("waits", [True, False])
@pytest.mark.parametrize("otherwise", ["Overall, Response B is better.", "Who knows?"])
async def test_a_judgement_rests_on_the_reply_that_is_on_record(tmp_path: Path, otherwise: str, waits: bool) -> None:
    """Also where only one of two replies has to be read by another call."""
    async with bench(tmp_path, contradicting(otherwise)) as it:
        await both(it, judged, waits=waits)
        with it.ledger.reading() as connection:
            found = connection.execute(select(schema.judgements)).all()
        texts = replies(it)
        assert len(found) == 2
        for row in found:
            assert (texts[json.loads(row.calls)[0]] == PREFERRED) == (
                row.verdict == verdict_text(Preference(value=1, levels=2))
            )


async def answered(it: Bench, waits: bool) -> Ended:
    items = [Item(label=str(number), instruction=f"What is in picture {number}?") for number in range(2)]
    asked = Addressee(name="cat", endpoint="scripted", model=it.endpoint.model, settings=GREEDY)
    task = Answering(asked=asked)
    context = CallContext(
        client=OpenAIWire(it.endpoint, environment={}), pricing=it.quote(None), budget=Budget(None), pacing=ONE_TRY
    )
    run = it.ledger.begin_run("answer", {}, study=None, version="0")
    chunks = task.plan(items, {}, it.ledger)
    return await run_task(
        task, chunks, planned=2, run=run, ledger=it.ledger, context=context, stop=StopSign(), waits=waits
    )


@pytest.mark.parametrize("waits", [True, False])
async def test_an_answer_is_the_reply_that_is_on_record(tmp_path: Path, waits: bool) -> None:
    async with bench(tmp_path, contradicting("Who knows?")) as it:
        first, second = await both(it, answered, waits=waits)
        assert first.known + first.called == second.known + second.called == 2
        with it.ledger.reading() as connection:
            texts = {row.text for row in connection.execute(select(schema.responses))}
        assert texts == set(replies(it).values())


async def described(
    it: Bench, items: Sequence[Item], *, waits: bool = True, amid: Callable[[], object] = lambda: None
) -> Ended:
    """In two calls each. `amid`: done when it is planned, and nothing is claimed yet."""
    asked = Addressee(name="cat", endpoint="scripted", model=it.endpoint.model, settings=GREEDY)
    task = Describing(asked=asked, mode="query-specific")
    context = CallContext(
        client=OpenAIWire(it.endpoint, environment={}), pricing=it.quote(None), budget=Budget(None), pacing=ONE_TRY
    )
    run = it.ledger.begin_run("describe-images", {}, study=None, version="0")
    chunks = [*task.plan(items, {}, it.ledger)]
    amid()
    return await run_task(
        task, chunks, planned=len(items), run=run, ledger=it.ledger, context=context, stop=StopSign(), waits=waits
    )


@pytest.mark.parametrize("planned_before", [True, False])
async def test_the_second_call_is_not_made_while_another_run_is_at_it(tmp_path: Path, planned_before: bool) -> None:
    items = [Item(label=str(number), instruction=f"What is in picture {number}?") for number in range(2)]
    async with bench(tmp_path, Script(held=planned_before)) as it:
        asked = Addressee(name="cat", endpoint="scripted", model=it.endpoint.model, settings=GREEDY)
        first = Describing(asked=asked, mode="query-specific").request(items[0])
        entries = Entries()
        entries.add_call(first, Reply(text="The roof."), run="other", at=0.0, cost_usd=0.0)
        with another() as (holder, process):
            assert claim_calls(it.ledger, [first.key], holder=holder).mine == {first.key}
            if not planned_before:
                it.ledger.commit(entries)
            run = asyncio.create_task(described(it, items))
            if planned_before:  # the other run has its first reply when this one has planned
                await it.seen(1)
                it.ledger.commit(entries)
                await released(it)
            await it.seen(2)
            await recorded(it, 1, schema.responses)
            await asyncio.wait({run}, timeout=3.0)
            assert not run.done()
            process.kill()
            process.wait()
            ended = await run
        assert ended.complete
        assert (ended.tally.known, ended.tally.called, ended.tally.requests) == (0, 2, 3)
        assert it.server.attempts.total() == 3


@pytest.mark.parametrize("waits", [True, False])
async def test_a_first_call_that_another_run_made_since_it_was_planned_is_not_made_again(
    tmp_path: Path, waits: bool
) -> None:
    item, entries = Item(label="1", instruction="What is in the picture?"), Entries()
    async with bench(tmp_path) as it:
        asked = Addressee(name="cat", endpoint="scripted", model=it.endpoint.model, settings=GREEDY)
        first = Describing(asked=asked, mode="query-specific").request(item)
        entries.add_call(first, Reply(text="The roof."), run="other", at=0.0, cost_usd=0.0)
        ended = await described(it, [item], waits=waits, amid=lambda: it.ledger.commit(entries))
        assert ended.complete
        assert ended.tally.requests == it.server.attempts.total() == 1


async def test_two_items_that_ask_the_same_are_both_waited_for(tmp_path: Path) -> None:
    """They share a call, and so a claim."""
    items = [Item(label=it, instruction="What is in the picture?", ground_truth=it) for it in ("A roof.", "A cat.")]
    async with bench(tmp_path) as it:
        asked = Addressee(name="cat", endpoint="scripted", model=it.endpoint.model, settings=GREEDY)
        call = Describing(asked=asked, mode="query-specific").request(items[0])
        with another() as (holder, process):
            assert claim_calls(it.ledger, [call.key], holder=holder).mine == {call.key}
            run = asyncio.create_task(described(it, items))
            await asyncio.wait({run}, timeout=3.0)
            assert not run.done()
            process.kill()
            process.wait()
            ended = await run
        assert ended.complete
        assert rows_of(it, schema.responses) == len(items)


async def test_what_other_runs_put_on_record_of_the_study_is_seen_as_it_comes(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study, more = it.study(items=1), it.study(items=3)
        await it.run(study)
        others = Others(it.ledger, study=more.study.key, run="ours")
        others.begin()
        others.look()
        assert others.results.total() == 0
        other = await it.run(more)
        others.look()
        others.look()
        assert list(others.results.values()) == [other.tally.called]
        assert Others(it.ledger, study=study.study.key, run="ours").results == Counter()
        of_itself = Others(it.ledger, study=more.study.key, run=next(iter(others.results)))
        of_itself.look()
        assert sum(of_itself.results.values()) == 2


async def test_whoever_waits_for_another_run_can_be_interrupted(tmp_path: Path) -> None:
    async with bench(tmp_path) as it:
        study, stop = it.study(items=1), StopSign()
        with another() as (holder, _):
            hold(it, study, [next(study.trials()).key], holder)
            run = asyncio.create_task(it.run(study, waits=True, stop=stop))
            await recorded(it, 1)
            stop.interrupt()
            ended = await run
        assert (ended.interrupted, ended.complete) == (True, False)
        assert (ended.tally.called, ended.tally.elsewhere, ended.tally.not_reached) == (1, 1, 1)


async def test_what_failed_here_and_was_asked_by_another_run_since_is_no_failure(tmp_path: Path) -> None:
    refused = Canned(status=400, body={"error": {"message": "No."}})
    async with bench(tmp_path, None, refused) as it:
        study = it.study(items=1)
        last = [trial.key for trial in study.trials()][-1]
        with another() as (holder, process):
            hold(it, study, [last], holder)
            run = asyncio.create_task(it.run(study, waits=True, pacing=ONE_TRY))
            await recorded(it, 1)
            other = await it.run(study)
            assert (other.tally.called, other.tally.verdicts, other.tally.elsewhere) == (1, 1, 1)
            process.kill()
            process.wait()
            ended = await run
        assert ended.complete
        assert (ended.tally.known, ended.tally.called, dict(ended.tally.failed)) == (1, 1, {})


async def test_what_fails_everywhere_stays_a_failure_and_is_asked_once_by_a_run(tmp_path: Path) -> None:
    refused = Canned(status=400, body={"error": {"message": "No."}})
    async with bench(tmp_path, None, refused) as it:
        ended = await it.run(it.study(items=1), waits=True, pacing=ONE_TRY)
        assert not ended.complete
        assert (ended.tally.called, dict(ended.tally.failed)) == (2, {"api-error": 1})
        assert it.server.attempts.total() == 2
        with it.ledger.reading() as connection:
            assert connection.execute(select(schema.claims)).all() == []


@pytest.mark.parametrize("waits", [True, False])
async def test_a_budget_that_another_run_has_set_aside_is_waited_for(tmp_path: Path, waits: bool) -> None:
    price = Price(input=1e6 - 1, output=1e6 - 1)
    async with bench(tmp_path) as it:
        study, budget = it.study(items=2), Budget(50_000.0)
        with another() as (holder, _):
            other = BudgetAccountOnDisk(it.ledger, f"judge {study.study.key}", most=50_000.0, lasts=False)
            assert other.take(50_000 * BILLION)
            with it.ledger.writing() as connection:
                connection.execute(update(schema.reservations).values(holder=holder, until=NEVER))
            run = asyncio.create_task(it.run(study, budget=budget, price=price, waits=waits))
            if not waits:
                assert (await run).over_budget
                return
            await asyncio.sleep(1.0)
            assert not run.done()
            with it.ledger.writing() as connection:
                connection.execute(update(schema.budgets).values(taken=0))
                connection.execute(
                    update(schema.reservations).where(schema.reservations.c.holder == holder).values(held=0)
                )
            ended = await run
        assert ended.complete
        assert ended.tally.called == 4


async def test_what_another_run_frees_between_two_looks_is_there_to_be_spent(tmp_path: Path) -> None:
    """First it is seen that nothing is left, and then that nobody holds anything."""
    async with bench(tmp_path) as it:
        budget, freed = Budget(1.0), False
        other = BudgetAccountOnDisk(it.ledger, "judge all", most=1.0, lasts=False)
        other.begin("other")
        assert other.take(BILLION)

        async def work(do: Callable[..., object], *given: object) -> object:
            nonlocal freed
            done = await asyncio.to_thread(do, *given)
            if done is False and not freed:
                freed = True
                await asyncio.to_thread(other.give_back, keep=False)
            return done

        budget.open(it.ledger, "judge all")
        budget.begin("ours", work, by_batch=False, waits=True)
        assert await budget.reserve(1.0)
        assert freed


async def test_a_run_that_waits_and_has_no_call_under_way_sets_nothing_aside(tmp_path: Path) -> None:
    """Others may wait for it, and hold what this run waits for."""
    price = Price(input=1e6 - 1, output=1e6 - 1)

    def held(it: Bench) -> int:
        with it.ledger.reading() as connection:
            return connection.execute(select(func.sum(schema.reservations.c.held))).scalar_one()

    async with bench(tmp_path) as it:
        study = it.study(items=1)
        with another() as (holder, process):
            hold(it, study, [next(study.trials()).key], holder)
            run = asyncio.create_task(it.run(study, budget=Budget(50_000.0), price=price, waits=True))
            await recorded(it, 1)
            async with asyncio.timeout(60):
                while await asyncio.to_thread(held, it):  # noqa: ASYNC110  the run is not to know of the test
                    await asyncio.sleep(0.05)
            assert not run.done()
            process.kill()
            process.wait()
            ended = await run
        assert ended.complete
        assert ended.tally.called == 2
