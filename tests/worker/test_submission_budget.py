"""Claims about what judging a submission may cost: the budget holds, and the owner's word counts."""

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import func, select

from evenhand.domain.identity import Json
from evenhand.domain.submission import (
    Closed,
    Judged,
    Raised,
    Stopped,
    label,
)
from evenhand.engine.run.calling import Pacing
from evenhand.engine.run.retry import RetryRule
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.runs import runs
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.ledger.submissions.placements import PlacementProgress, placing_progress
from evenhand.ledger.submissions.store import run_command, spent
from tests.database import ledger_in
from tests.engine.contest import PRICE, TERMS, at_work, founded
from tests.refusals import tells
from tests.scripted_server import Body, Canned, Script, ScriptedServer

ONE_AT_A_TIME = Pacing(max_connections=1, retry=RetryRule(retries=0))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


async def test_without_a_price_the_cost_is_not_known_and_a_budget_is_refused_in_a_sentence(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url, budget=5.0)
        estimated = contest.stands(submission).estimated
        assert estimated
        assert estimated.cost_usd is None
        before = server.stats()["requests"]
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == before
    said = worker_notes(ledger)["submissions"].sentence
    assert submission in said
    tells(said, "openai/gpt-4o", "--price")
    assert contest.stands(submission).stage == "approved"


async def test_at_the_budget_it_stops_and_asks_and_goes_on_when_it_is_raised(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        founding = server.stats()["requests"]
        submission = await contest.approved(server.base_url, price=PRICE, budget=3.0)
        await contest.worked(server.base_url, price=PRICE)
        stands = contest.stands(submission)
        assert stands.stage == "stopped"
        (stopped,) = contest.said(submission, Stopped)
        asked = server.stats()["requests"] - founding
        assert 0 < asked < 24
        assert isinstance(stopped.said, Stopped)
        assert stopped.said.spent == pytest.approx(spent(ledger, submission))
        assert 0 < spent(ledger, submission) <= 3.0
        await contest.worked(server.base_url, price=PRICE)
        assert server.stats()["requests"] - founding == asked
        least = contest.stands(submission).least
        assert least
        contest.say(submission, Raised(budget=least - 0.001))
        await contest.worked(server.base_url, price=PRICE)
        # Calls go out by their prompts, so that a cheaper one than was refused may come first and fit.
        assert contest.stands(submission).stage == "stopped"
        assert spent(ledger, submission) <= least - 0.001
        asked, least = server.stats()["requests"] - founding, contest.stands(submission).least
        assert least
        contest.say(submission, Raised(budget=least))
        await contest.worked(server.base_url, price=PRICE)
        assert contest.stands(submission).stage == "stopped"
        assert server.stats()["requests"] - founding > asked
        assert stopped.said.spent < spent(ledger, submission) <= least
        contest.say(submission, Raised(budget=None))
        await contest.worked(server.base_url, price=PRICE)
        assert server.stats()["requests"] - founding == 24
    stands = contest.stands(submission)
    assert stands.judged
    assert not stands.judged.partial


async def test_what_is_told_to_be_the_least_is_enough_for_the_dearest_call_that_may_come_next(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        last = max(item.label for item in contest.items)
        long = contest.submitted(lambda item: "It sees a lamp. " * 400 if item.label == last else "It sees a lamp.")
        await contest.worked(server.base_url, price=PRICE, pacing=ONE_AT_A_TIME)
        contest.approve(long, budget=3.2)
        await contest.worked(server.base_url, price=PRICE, pacing=ONE_AT_A_TIME)
        stands = contest.stands(long)
        assert stands.stage == "stopped"
        assert stands.least
        assert 0 < spent(ledger, long) < 3.2
        tokens_at_least = 400
        assert stands.least - spent(ledger, long) > 2.445 + tokens_at_least * 0.001
        before = server.stats()["requests"]
        contest.say(long, Raised(budget=stands.least))
        await contest.worked(server.base_url, price=PRICE)
        assert server.stats()["requests"] > before


async def test_closed_it_is_judged_by_what_is_there_without_a_call_and_without_a_judge(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url, price=PRICE, budget=3.0)
        await contest.worked(server.base_url, price=PRICE)
        before = server.stats()["requests"]
        contest.say(submission, Closed())
        await at_work(replace(contest.kind(server.base_url), judge=None))
        assert server.stats()["requests"] == before
        stands = contest.stands(submission)
        assert stands.stage == "judged"
        assert stands.judged
        assert stands.judged.partial
        contest.say(submission, Raised(budget=None))
        await contest.worked(server.base_url)
        assert server.stats()["requests"] > before
    stands = contest.stands(submission)
    assert stands.judged
    assert not stands.judged.partial


async def test_closed_before_anything_was_asked_it_has_a_study_and_nothing_decided(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url)
        contest.say(submission, Closed())
        await contest.worked(server.base_url)
    assert contest.stands(submission).stage == "judged"
    assert placing_progress(ledger, contest.intake.board, label(submission)) == PlacementProgress(
        wanted=24, reached=0, decided=0, no_verdict=0
    )


async def test_the_owners_word_in_the_very_moment_of_the_receipt_counts(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url)
        contest.say(submission, Closed())

        def too_slow(*_: object) -> dict[str, Json]:
            if contest.stands(submission).closing:
                contest.say(submission, Raised(budget=None))
            return {}

        await at_work(replace(contest.kind(server.base_url), receipt=too_slow))
    (judged,) = [one.said for one in contest.said(submission, Judged)]
    assert judged == Judged(receipt={}, partial=False)


async def test_a_budget_that_is_raised_meanwhile_and_a_closing_are_heeded(ledger: Ledger):
    async with ScriptedServer(Script(latency=0.05)) as server:
        contest = await founded(ledger, server.base_url, items=30, terms=replace(TERMS, battles=60))
        submission = await contest.approved(server.base_url)
        founding = server.stats()["requests"]
        kind = contest.kind(server.base_url, pacing=Pacing(max_connections=1))
        going = asyncio.create_task(at_work(kind))
        while server.stats()["requests"] == founding:  # noqa: ASYNC110  the server tells by this number alone
            await asyncio.sleep(0.005)
        contest.say(submission, Closed())
        await asyncio.wait_for(going, 60)
        assert server.stats()["requests"] - founding < 120
    stands = contest.stands(submission)
    assert stands.judged
    assert stands.judged.partial


async def test_the_budget_holds_over_turns_where_the_endpoint_does_not_say_what_it_used(ledger: Ledger):
    said = "Overall, Response A is better."
    silent = {"choices": [{"message": {"role": "assistant", "content": said}, "finish_reason": "stop"}]}
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url, price=PRICE)
        estimated = contest.stands(submission).estimated
        assert estimated
        assert estimated.cost_usd
        founding = server.stats()["requests"]
        contest.say(submission, Raised(budget=3.0))
        server.then(*[Canned(body=silent)] * 24)
        await contest.worked(server.base_url, price=PRICE, pacing=ONE_AT_A_TIME)
        asked = server.stats()["requests"] - founding
        contest.say(submission, Raised(budget=3.0001))
        await contest.worked(server.base_url, price=PRICE, pacing=ONE_AT_A_TIME)
        assert 0 < asked < 24
        assert server.stats()["requests"] - founding == asked
    assert contest.stands(submission).stage == "stopped"


EMPTY = Canned(
    body={
        "choices": [{"message": {"role": "assistant", "content": ""}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 100},
    }
)
"""Costs 20 cents."""


async def test_replies_of_no_use_are_billed_and_stay_in_what_was_spent(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url, price=PRICE, budget=1000.0)
        server.then(*[EMPTY] * 3)
        await contest.worked(server.base_url, price=PRICE, pacing=ONE_AT_A_TIME)
    assert contest.stands(submission).failures
    with ledger.reading() as connection:
        useful = connection.execute(select(func.sum(schema.calls.c.cost_usd))).scalar_one()
    assert spent(ledger, submission) == pytest.approx(useful + 3 * 0.2)
    (run,) = runs(ledger, command=run_command(submission))
    assert run.outcome
    assert run.outcome["charged_usd"] == pytest.approx(spent(ledger, submission))


async def test_a_reply_of_no_use_is_on_record_when_it_is_asked_again(ledger: Ledger):
    """So that a kill at any moment forgets no more than the calls in flight."""
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url, price=PRICE, budget=1000.0)
    seen: list[float] = []

    def judge(_: Body) -> str:
        seen.append(spent(ledger, submission))
        return "Overall, Response A is better."

    retrying = Pacing(max_connections=1, retry=RetryRule(first_wait=0.0))
    async with ScriptedServer(Script(judge=judge)) as server:
        server.then(EMPTY, EMPTY)
        await contest.worked(server.base_url, price=PRICE, pacing=retrying)
    assert contest.stands(submission).stage == "judged"
    assert seen[0] == pytest.approx(0.4)
    assert seen == sorted(set(seen))  # what each further call cost, before the next was asked
    with ledger.reading() as connection:
        dearest = connection.execute(select(func.max(schema.calls.c.cost_usd))).scalar_one()
    assert seen[-1] < spent(ledger, submission) <= seen[-1] + dearest


async def test_calls_of_a_killed_worker_whose_price_is_unknown_count_as_the_most_they_can_have_cost(ledger: Ledger):
    silent = {"choices": [{"message": {"role": "assistant", "content": "Response A is better."}}]}
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url, price=PRICE, budget=3.0)
        server.then(*[Canned(body=silent)] * 24)
        await contest.worked(server.base_url, price=PRICE, pacing=ONE_AT_A_TIME)
        assert contest.stands(submission).stage == "stopped"
        with ledger.writing() as connection:  # as if it had been killed just before the end of its run
            connection.execute(schema.run_ends.delete())
        before = server.stats()["requests"]
        contest.say(submission, Raised(budget=3.0001))
        await contest.worked(server.base_url, price=PRICE, pacing=ONE_AT_A_TIME)
        assert server.stats()["requests"] == before
    first, last = [one.said for one in contest.said(submission, Stopped)]
    assert isinstance(first, Stopped)
    assert isinstance(last, Stopped)
    assert last.spent == pytest.approx(first.spent)
    assert first.spent > 2
