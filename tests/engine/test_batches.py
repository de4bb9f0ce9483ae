"""Judging through batches: the same record as call by call, whatever becomes of a batch, and every call paid once."""

import asyncio
import tracemalloc
from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select, update

from evenhand.api.asking import BatchTerms, Contact
from evenhand.domain.errors import code_of
from evenhand.engine.run.batches import BatchDesk, BatchDesks
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import Ended, run_study
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import PreparedStudy
from evenhand.ledger.store import schema
from evenhand.ledger.store.batches import open_batches
from evenhand.ledger.store.claims import claim_one, holder_name
from evenhand.ledger.store.runs import charged_by_run
from evenhand.models.batch.record import BatchPauses
from evenhand.models.named import named_model
from evenhand.models.prices import Price, PriceList
from tests.batch_server import Batching, BatchServer, EntryFault, Moment, Wire
from tests.database import ledger_in
from tests.engine.studies import SECONDS, SWIFT, Bench
from tests.scripted_server import Script

WIRES: tuple[Wire, ...] = ("openai", "anthropic", "mistral")
EACH_WIRE = [pytest.param(one, marks=[pytest.mark.slow] if one != "openai" else []) for one in WIRES]
MODELS: Mapping[Wire, str] = {"openai": "openai/gpt-4o", "anthropic": "anthropic/c", "mistral": "mistral/m"}
PAUSES = BatchPauses(quiet=0.1, first_poll=0.02, longest_poll=0.05, unsure=0.2)
WHOLE = replace(PAUSES, quiet=2.0)
"""For all that is asked to go into one batch, also where the machine is held up while it is gathered."""
PRICE = Price(input=1.0, output=2.0, batch=0.5)
TRIALS = 8


@dataclass(frozen=True, kw_only=True)
class Post(Bench):
    """A ledger and a server that takes batches."""

    server: BatchServer
    price: Price = PRICE
    pauses: BatchPauses = PAUSES
    key: str | None = None
    """That the server is asked with."""

    def contact(self, study: PreparedStudy, *, budget: Budget | None, wait: float | None) -> Contact:
        wire = self.server.batching.wire
        model = named_model(
            MODELS[wire], environment={}, cache=Path(), base_url=self.server.base_url, api_key_env=self.key and "KEY"
        )
        return Contact(
            model=replace(model, identity="scripted"),
            settings=study.asking.rater.settings,
            quote=Quote(model.endpoint, PriceList([self.price]), self.ledger.images.get, batch=True),
            budget=budget or Budget(None),
            pacing=Pacing(retry=SWIFT, grace_seconds=5.0),
            environment={"KEY": self.key} if self.key else {},
            proxies={},
            batch=BatchTerms(wait=wait, pauses=self.pauses),
        )

    async def post(
        self,
        study: PreparedStudy,
        *,
        wait: float | None = None,
        budget: Budget | None = None,
        stop: StopSign | None = None,
    ) -> Ended:
        context = self.contact(study, budget=budget, wait=wait).call_context(self.ledger)
        return await self.ask(study, context, stop=stop)

    async def ask(self, study: PreparedStudy, context: CallContext, *, stop: StopSign | None = None) -> Ended:
        async with asyncio.timeout(SECONDS):
            return await run_study(study, ledger=self.ledger, context=context, stop=stop or StopSign())

    def rows(self, table: str) -> list[dict[str, Any]]:
        with self.ledger.reading() as connection:
            return [dict(row._mapping) for row in connection.execute(select(schema.metadata.tables[table]))]

    def verdicts(self) -> list[tuple[str, str | None, str | None]]:
        return sorted((row["trial"], row["verdict"], row["reason"]) for row in self.rows("judgements"))

    def calls(self) -> list[tuple[str, str, str]]:
        return sorted((row["key"], row["request"], row["text"]) for row in self.rows("calls"))

    def spent(self) -> float:
        return sum(charged_by_run(self.ledger, [row["id"] for row in self.rows("runs")]).values())

    def cost(self) -> float:
        return sum(row["cost_usd"] for row in self.rows("calls"))


@asynccontextmanager
async def post(
    folder: Path, script: Script | None = None, *, pauses: BatchPauses = PAUSES, **batching: Any
) -> AsyncGenerator[Post]:
    ledger = ledger_in(folder / "of")
    async with BatchServer(script, batching=Batching(**batching)) as server:
        try:
            yield Post(ledger=ledger, server=server, pauses=pauses)
        finally:
            ledger.close()


def first_time(fault: EntryFault, of: int = 1) -> Any:
    """One entry in `of` fails so when it comes first."""
    return lambda call, before: fault if not before and int(call, 16) % of == 0 else None


@pytest.mark.parametrize("wire", WIRES)
async def test_a_run_by_batch_leaves_the_record_of_a_plain_one(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path / "plain", wire=wire) as plain, post(tmp_path / "batch", wire=wire, polls=3) as batch:
        ended = await plain.run(plain.study())
        by_batch = await batch.post(batch.study())
        assert (ended.tally.verdicts, by_batch.tally.verdicts) == (TRIALS, TRIALS)
        assert batch.calls() == plain.calls()
        assert batch.verdicts() == plain.verdicts()
        assert [row["key"] for row in batch.rows("trials")] == [row["key"] for row in plain.rows("trials")]
        assert batch.rows("study_trials") == plain.rows("study_trials")
        assert batch.server.attempts.total() == 0  # nothing went out call by call
        assert set(batch.server.came.values()) == {1}
        assert {row["key"] for row in batch.rows("calls")} == set(batch.server.came)
        assert min(one.polls for one in batch.server.batches) >= 3


async def test_what_a_call_costs_in_a_batch_is_its_share_of_the_price(tmp_path: Path) -> None:
    async with post(tmp_path / "plain") as plain, post(tmp_path / "batch") as batch:
        await plain.run(plain.study(), price=Price(input=1.0, output=2.0))
        await batch.post(batch.study())
        assert batch.cost() == pytest.approx(plain.cost() / 2)
        assert plain.cost() > 0


async def test_what_message_batches_put_into_a_cache_has_its_own_price_and_is_set_aside(tmp_path: Path) -> None:
    async with post(tmp_path, wire="anthropic", polls=2, cache_written=50) as plain:
        bench = replace(plain, price=Price(input=1.0, output=2.0, written=100.0, batch=0.5))
        study = bench.study()
        await bench.post(study, wait=0.0, budget=Budget(1.0))
        held = sum(row["held"] for row in bench.rows("batch_entries")) / 1e9
        ended = await bench.post(study, budget=Budget(1.0))
        calls = bench.rows("calls")
        paid = sum(row["input_tokens"] - 50 + 50 * 100 + 2 * row["output_tokens"] for row in calls) * 0.5 / 1e6
        assert bench.cost() == pytest.approx(paid)
        assert bench.cost() <= held
        assert ended.tally.tokens["cache_written"] == 50 * TRIALS


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_a_thought_in_a_result_is_no_part_of_the_answer(tmp_path: Path, wire: Wire) -> None:
    script = Script(judge=lambda _: "<think>Overall, Response B is better.</think>Overall, Response A is better.")
    async with (
        post(tmp_path / "plain", script, wire=wire) as plain,
        post(tmp_path / "batch", script, wire=wire) as batch,
    ):
        await plain.run(plain.study())
        await batch.post(batch.study())
        assert batch.calls() == plain.calls()
        assert {row["text"] for row in batch.rows("calls")} == {"Overall, Response A is better."}


@pytest.mark.parametrize("wire", EACH_WIRE)
@pytest.mark.parametrize(
    "fault", ["expired", "500", "missing", "garbled", "twice", None], ids=lambda fault: fault or "out-of-order"
)
async def test_every_entry_ends_in_one_verdict(tmp_path: Path, wire: Wire, fault: EntryFault | None) -> None:
    """Whatever happened to some when they were sent first: only those are sent again."""
    failing = first_time(fault, of=2) if fault else lambda *_: None
    async with post(tmp_path, wire=wire, fault=failing, backwards=True, strangers=3) as bench:
        ended = await bench.post(bench.study())
        assert (ended.tally.verdicts, ended.tally.failed.total()) == (TRIALS, 0)
        assert len(bench.rows("judgements")) == len(bench.rows("calls")) == TRIALS
        again = {call for call in bench.server.came if fault not in (None, "twice") and int(call, 16) % 2 == 0}
        assert {call for call, times in bench.server.came.items() if times == 2} == again
        assert bench.spent() == pytest.approx(bench.cost())
        assert not open_batches(bench.ledger)


@pytest.mark.parametrize("wire", EACH_WIRE)
@pytest.mark.parametrize(("fault", "reason", "times"), [("cancelled", "interrupted", 1), ("400", "api-error", 1)])
async def test_an_entry_that_no_wait_cures_fails_with_its_reason(
    tmp_path: Path, wire: Wire, fault: EntryFault, reason: str, times: int
) -> None:
    async with post(tmp_path, wire=wire, fault=lambda *_: fault) as bench:
        ended = await bench.post(bench.study())
        assert dict(ended.tally.failed) == {reason: TRIALS}
        assert set(bench.server.came.values()) == {times}
        assert {row["reason"] for row in bench.rows("judgements")} == {reason}
        assert bench.spent() == 0
        assert not open_batches(bench.ledger)


async def test_expired_entries_fail_when_the_tries_are_used_up(tmp_path: Path) -> None:
    async with post(tmp_path, fault=lambda *_: "expired", ends="expired") as bench:
        ended = await bench.post(bench.study())
        assert dict(ended.tally.failed) == {"timeout": TRIALS}
        assert set(bench.server.came.values()) == {3}  # no reply has ever come: two retries
        assert not bench.rows("calls")


@pytest.mark.parametrize("wire", EACH_WIRE)
@pytest.mark.parametrize("late", [False, True])
async def test_a_batch_that_is_too_large_is_split(tmp_path: Path, wire: Wire, late: bool) -> None:
    if late and wire == "anthropic":
        pytest.skip("message batches are refused when they are created, or not at all")
    async with post(tmp_path, wire=wire, most=3, late=late) as bench:
        ended = await bench.post(bench.study(), budget=Budget(1.0))
        assert ended.tally.verdicts == TRIALS
        assert set(bench.server.came.values()) == {1}
        taken = [len(one.entries) for one in bench.server.batches if "refused" not in one.document]
        assert max(taken) <= 3
        assert ended.budget is not None
        assert ended.budget.taken == pytest.approx(bench.cost())


@pytest.mark.parametrize("offered", [True, False])
async def test_a_batch_refused_whole_is_told_and_costs_nothing(tmp_path: Path, offered: bool) -> None:
    async with post(tmp_path, pauses=WHOLE, models=frozenset({"other"}), offered=offered) as bench:
        ended = await bench.post(bench.study(), budget=Budget(1.0))
        assert ended.error is not None
        assert code_of(ended.error) == "EH-BATCH-REFUSED"
        assert "--batch" in str(ended.error)
        assert not bench.server.came
        assert not bench.rows("judgements")
        assert ended.budget is not None
        assert ended.budget.taken == 0
        assert not bench.rows("reservations")
        assert not open_batches(bench.ledger)


@pytest.mark.parametrize("metadata", [True, False])
@pytest.mark.parametrize("wire", EACH_WIRE)
@pytest.mark.parametrize("cut", ["uploaded", "creating", "created", "polled", "importing", "imported"])
async def test_an_answer_that_is_never_heard_sends_nothing_twice(
    tmp_path: Path, wire: Wire, cut: Moment, metadata: bool
) -> None:
    """After the creation above all: the batch is found in the provider's list, marked or not."""
    async with post(tmp_path, wire=wire, cut=frozenset({cut}), metadata=metadata, polls=2) as bench:
        ended = await bench.post(bench.study())
        assert ended.tally.verdicts == TRIALS
        assert set(bench.server.came.values()) == {1}


@pytest.mark.parametrize("wire", EACH_WIRE)
async def test_sent_and_left_a_batch_is_collected_by_the_next_run(tmp_path: Path, wire: Wire) -> None:
    async with post(tmp_path, wire=wire, polls=3) as bench:
        study = bench.study()
        first = await bench.post(study, wait=0.0, budget=Budget(1.0))
        assert (first.tally.in_batches, first.tally.called, first.complete) == (TRIALS, 0, False)
        assert not bench.rows("judgements")
        assert first.budget is not None
        held = sum(row["held"] for row in bench.rows("batch_entries")) / 1e9
        assert first.budget.taken == pytest.approx(held)
        assert held > 0
        assert (first.budget.cut_off, first.budget.shared) == (0.0, False)
        second = await bench.post(study, wait=0.0, budget=Budget(1.0))
        assert second.tally.in_batches == TRIALS
        assert second.budget is not None
        assert second.budget.taken == pytest.approx(held)
        third = await bench.post(study, budget=Budget(1.0))
        assert (third.tally.verdicts, third.tally.in_batches, third.complete) == (TRIALS, 0, True)
        assert set(bench.server.came.values()) == {1}
        assert third.budget is not None
        assert third.budget.taken == pytest.approx(bench.cost())
        assert bench.spent() == pytest.approx(bench.cost())
        assert not bench.rows("reservations")
        assert not bench.rows("budgets")  # all is asked: nothing is left to spend it on


async def test_what_a_batch_may_cost_is_not_spent_on_others(tmp_path: Path) -> None:
    async with post(tmp_path, polls=10_000) as bench:
        study = bench.study()
        context = bench.contact(study, budget=Budget(None), wait=0.0)
        requests = [due.request for chunk in study.plan(bench.ledger) for due in chunk.due]
        dearest = max(context.quote.most(request) or 0.0 for request in requests)
        ended = await bench.post(study, wait=0.0, budget=Budget(3.5 * dearest))
        assert ended.over_budget
        assert len(bench.server.came) == 3
        assert ended.tally.in_batches == 3
        ended = await bench.post(study, wait=0.0, budget=Budget(3.5 * dearest))
        assert ended.over_budget
        assert len(bench.server.came) == 3


async def test_what_a_batch_did_not_cost_is_spent_on_the_next(tmp_path: Path) -> None:
    async with post(tmp_path) as bench:
        study = bench.study()
        context = bench.contact(study, budget=Budget(None), wait=None)
        requests = [due.request for chunk in study.plan(bench.ledger) for due in chunk.due]
        dearest = max(context.quote.most(request) or 0.0 for request in requests)
        ended = await bench.post(study, budget=Budget(3.5 * dearest))
        assert not ended.over_budget
        assert ended.tally.verdicts == TRIALS
        assert len(bench.server.batches) > 1
        assert bench.cost() <= 3.5 * dearest


async def test_a_kill_while_a_batch_is_waited_for_cuts_nothing_off(tmp_path: Path) -> None:
    async with post(tmp_path, pauses=WHOLE) as bench:
        study, aside = bench.study(items=6), list[str]()  # more are set aside for than are sent

        def look(_: int) -> None:  # a kill now would leave what stands here
            aside.extend(row["holder"] for row in bench.rows("reservations") if row["held"])

        bench.server.at["uploading"] = bench.server.at["polled"] = look
        await bench.post(study, budget=Budget(1.0))
        assert aside
        assert all(holder.startswith("batch ") for holder in aside)


async def test_an_interrupt_leaves_the_batch_to_the_next_run(tmp_path: Path) -> None:
    async with post(tmp_path, pauses=WHOLE, polls=10_000) as bench:
        study, stop = bench.study(), StopSign()
        bench.server.at["polled"] = lambda times: stop.interrupt() if times == 2 else None
        ended = await bench.post(study, stop=stop, budget=Budget(1.0))
        assert ended.interrupted
        assert ended.tally.in_batches == TRIALS
        assert not bench.rows("judgements")
        assert bench.spent() == 0
        bench.server.batches[0].polls = 10_000
        ended = await bench.post(study, budget=Budget(1.0))
        assert ended.tally.verdicts == TRIALS
        assert set(bench.server.came.values()) == {1}
        assert ended.budget is not None
        assert ended.budget.taken == pytest.approx(bench.cost())


async def test_what_another_live_run_waits_for_is_left_to_it(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2) as bench:
        study = bench.study()
        await bench.post(study, wait=0.0)
        (batch,) = open_batches(bench.ledger)
        assert claim_one(bench.ledger, f"batch {batch.id}", holder=holder_name("another"))
        ended = await bench.post(study)
        assert (ended.tally.in_batches, ended.tally.called) == (TRIALS, 0)
        with bench.ledger.writing() as connection:  # its machine is gone, and so its lease runs out
            connection.execute(update(schema.claims).values(holder="elsewhere|1|1|another", until=1.0))
        ended = await bench.post(study)
        assert ended.tally.verdicts == TRIALS
        assert set(bench.server.came.values()) == {1}


async def test_a_batch_that_two_models_of_one_endpoint_find_is_told_once(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2) as bench:
        await bench.post(bench.study(), wait=0.0)
        desks = [BatchDesk(bench.ledger, endpoint="scripted", wire="openai", budget=Budget(None)) for _ in range(2)]
        for desk in desks:
            assert len(await desk.open()) == 1
        both = BatchDesks.of(*desks)
        assert both is not None
        assert len(both.followed) == 1


async def test_a_plain_run_does_not_ask_what_waits_in_a_batch(tmp_path: Path) -> None:
    async with post(tmp_path, polls=2) as bench:
        few, all_of_it = bench.study(items=2), bench.study(items=4)
        await bench.post(few, wait=0.0)
        ended = await bench.run(all_of_it)
        assert (ended.tally.verdicts, ended.tally.in_batches, ended.complete) == (4, 4, False)
        assert bench.server.attempts.total() == 4
        await bench.post(few)
        ended = await bench.run(all_of_it)
        assert (ended.tally.known, ended.tally.called, ended.complete) == (TRIALS, 0, True)
        assert (bench.server.attempts.total(), set(bench.server.came.values())) == (4, {1})


@pytest.mark.parametrize("wire", EACH_WIRE)
@pytest.mark.parametrize("ended", [True, False])
async def test_what_the_provider_has_lost_is_sent_again(tmp_path: Path, wire: Wire, ended: bool) -> None:
    async with post(tmp_path, wire=wire, polls=2) as bench:
        study = bench.study()
        await bench.post(study, wait=0.0, budget=Budget(1.0))
        before = len(bench.server.batches)
        if ended:
            bench.server.at["importing"] = lambda _: _lost() if len(bench.server.batches) == before else None
        else:
            for one in bench.server.batches:
                one.id = f"another_{one.id}"
        done = await bench.post(study, budget=Budget(1.0))
        assert done.tally.verdicts == TRIALS
        assert len(bench.server.batches) > before
        assert done.budget is not None
        assert done.budget.taken == pytest.approx(bench.cost())


def _lost() -> None:
    raise FileNotFoundError


async def test_second_steps_form_the_next_batch(tmp_path: Path) -> None:
    def judge(body: dict[str, Any]) -> str:
        return "Overall, Response A is better." if _extracts(body) else f"Both have merits: {body['messages']}"

    async with post(tmp_path, Script(judge=judge)) as bench:
        rater = bench.study().asking.rater
        ended = await bench.post(bench.study(extractor=Extractor(rater=rater, model="gpt-4o")))
        assert ended.tally.failed.total() == 0
        steps = [[_extracts(entry["body"]) for entry in one.entries] for one in bench.server.batches]
        assert all(len(set(step)) == 1 for step in steps)
        assert sum(len(step) for step in steps if step[0]) == TRIALS
        assert len(steps) < TRIALS
        assert set(bench.server.came.values()) == {1}
        assert bench.server.attempts.total() == 0


def _extracts(body: dict[str, Any]) -> bool:
    return "FinalAnswerExtractionGPT" in str(body["messages"][0]["content"])


async def test_a_refused_default_is_left_out_of_the_next_batch(tmp_path: Path) -> None:
    """OpenAI's reasoning models refuse a temperature: the entries say so, and go again without it."""
    async with post(tmp_path) as bench:
        study = bench.study()
        requests = [due.request for chunk in study.plan(bench.ledger) for due in chunk.due]
        assert requests[0].settings.temperature is not None
        object.__setattr__(study.asking, "model", "o3")
        ended = await bench.post(study)
        assert ended.tally.verdicts == TRIALS
        assert len(bench.server.batches) >= 2
        assert "temperature" not in bench.server.batches[-1].entries[0]["body"]


@pytest.mark.slow
async def test_results_of_a_hundred_megabytes_are_never_held_whole(tmp_path: Path) -> None:
    async with post(tmp_path, padding=1_000_000) as bench:
        study = bench.study(items=50)
        tracemalloc.start()
        try:
            ended = await bench.post(study)
            _, peak = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert ended.tally.verdicts == 100
        assert peak < 40e6
