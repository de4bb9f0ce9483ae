"""Claims about the judging of submissions: what was approved is asked once, and nothing else."""

import asyncio
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select

from evenhand.domain.identity import draw
from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import (
    FIRST_WAIT,
    Estimated,
    Failed,
    Judged,
    Refused,
    Withdrawn,
    label,
)
from evenhand.engine.run.calling import Pacing
from evenhand.engine.run.retry import RetryRule
from evenhand.ledger.store import schema
from evenhand.ledger.store.claims import claim_one, holder_name
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.placements import PlacementProgress, placing_progress
from evenhand.ledger.submissions.store import receipt_on_record, spent
from evenhand.worker.loop import InPart, Stopping
from tests.database import ledger_in
from tests.engine.contest import PRICE, TEAM, TERMS, founded
from tests.scripted_server import Canned, Script, ScriptedServer

NOTHING = InPart(sentence="")
"""Stood in the way."""
ONE_AT_A_TIME = Pacing(max_connections=1, retry=RetryRule(retries=0))


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


def count(ledger: Ledger, table: Any) -> int:
    with ledger.reading() as connection:
        return connection.execute(select(func.count()).select_from(table)).scalar_one()


async def test_what_is_estimated_is_then_asked_and_judged_once(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        founding = server.stats()["requests"]
        submission = contest.submitted()
        await contest.worked(server.base_url, price=PRICE)
        estimated = contest.stands(submission).estimated
        assert server.stats()["requests"] == founding
        assert estimated
        assert estimated.opponents == ("ann", "ben", REFERENCE)
        assert (estimated.battles, estimated.reference_battles, estimated.trials) == (12, 4, 24)
        assert (estimated.calls_at_least, estimated.calls_at_most) == (24, 48)
        contest.approve(submission, budget=1000.0)
        await contest.worked(server.base_url, price=PRICE)
        await contest.worked(server.base_url, price=PRICE)
        assert server.stats()["requests"] - founding == estimated.calls_at_least
        assert server.stats()["answered_again"] == 0
    stands = contest.stands(submission)
    assert stands.stage == "judged"
    assert stands.judged
    assert not stands.judged.partial
    receipt = receipt_on_record(ledger, submission)
    assert receipt
    assert receipt["submission"] == submission
    assert estimated.cost_usd
    assert 0 < spent(ledger, submission) <= estimated.cost_usd
    assert placing_progress(ledger, contest.intake.board, label(submission)) == PlacementProgress(
        wanted=24, reached=24, decided=24, no_verdict=0
    )
    assert len(contest.said(submission, Judged)) == 1
    assert count(ledger, schema.claims) == 0


async def test_the_founding_models_are_not_judged_again(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        founding = len(server.requests)
        with ledger.reading() as connection:
            before = connection.execute(select(schema.judgements)).all()
        submission = await contest.approved(server.base_url)
        await contest.worked(server.base_url)
        assert len(server.requests) > founding
        assert all(b"Submitted 1 sees" in seen.raw for seen in server.requests[founding:])
    assert contest.stands(submission).stage == "judged"
    with ledger.reading() as connection:
        assert connection.execute(select(schema.judgements)).all()[: len(before)] == before


async def test_fewer_items_than_the_terms_ask_for_give_as_many_battles_as_there_are(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, items=3, terms=replace(TERMS, battles=700))
        submission = contest.submitted(lambda item: "" if item.label == "0" else f"I see {item.label}.")
        await contest.worked(server.base_url)
        estimated = contest.stands(submission).estimated
        assert estimated
        assert (estimated.battles, estimated.reference_battles) == (6, 2)  # two items: the reference, ann and ben each
        contest.approve(submission)
        await contest.worked(server.base_url)
    progress = placing_progress(ledger, contest.intake.board, label(submission))
    assert progress
    assert (progress.wanted, progress.decided) == (12, 12)


async def test_what_the_owner_approved_decides_who_is_met_on_which_items(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = contest.submitted()
        await contest.worked(server.base_url)
        contest.approve(submission, opponents=("ann",), battles=3, reference_battles=0, seed=5)
        before = len(server.requests)
        await contest.worked(server.base_url)
        asked = [seen.raw.decode() for seen in server.requests[before:]]
    lots = sorted(contest.items, key=lambda item: draw(5, item.digest, label(submission)))
    expected = [f"Submitted 1 sees {item.label}." for item in lots[:3]]
    assert sorted(words for one in asked for words in expected if words in one) == sorted(expected * 2)
    assert len(asked) == 6
    assert all("Ann sees" in one for one in asked)
    assert contest.stands(submission).stage == "judged"


async def test_items_that_the_board_leaves_out_are_not_asked_about(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, left_out=4, terms=replace(TERMS, battles=700))
        submission = contest.submitted()
        await contest.worked(server.base_url)
    estimated = contest.stands(submission).estimated
    assert estimated
    assert estimated.battles == 6  # two items: the reference, ann and ben each


async def test_replies_without_a_decision_are_results(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
    async with ScriptedServer(Script(judge="hesitant")) as server:
        submission = await contest.approved(server.base_url)
        await contest.worked(server.base_url)
        extracted = [seen for seen in server.requests if b"extract the final answer" in seen.raw]
    stands = contest.stands(submission)
    assert stands.judged
    assert not stands.judged.partial
    progress = placing_progress(ledger, contest.intake.board, label(submission))
    assert progress
    assert extracted
    assert 0 < progress.no_verdict < len(extracted)
    assert progress.decided + progress.no_verdict == progress.reached == progress.wanted == 24


async def test_what_fails_is_said_and_asked_again_after_a_while_and_nothing_else_is(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url)
        founding = server.stats()["requests"]
        kind = contest.kind(server.base_url, pacing=ONE_AT_A_TIME)
        server.then(*[Canned(status=500, body={"error": {"message": "secret words"}})] * 3)
        assert await kind.act(kind.plan(time.time()), Stopping()) == NOTHING
        stands = contest.stands(submission)
        assert stands.stage == "approved"
        (failed,) = contest.said(submission, Failed)
        assert isinstance(failed.said, Failed)
        assert failed.said.detail.startswith("3 of 24 trials got no reply (api-error 3)")
        assert "secret" not in failed.said.detail
        assert server.stats()["requests"] - founding == 24
        assert not kind.plan(time.time())
        assert await kind.act(kind.plan(time.time() + FIRST_WAIT + 1), Stopping()) == NOTHING
        assert server.stats()["requests"] - founding == 27
    assert contest.stands(submission).stage == "judged"


async def test_withdrawn_while_it_is_judged_it_is_asked_no_further_and_not_judged(ledger: Ledger):
    async with ScriptedServer(Script(latency=0.05)) as server:
        contest = await founded(ledger, server.base_url, items=30, terms=replace(TERMS, battles=60))
        submission = await contest.approved(server.base_url)
        founding = server.stats()["requests"]
        kind = contest.kind(server.base_url, pacing=Pacing(max_connections=1))
        going = asyncio.create_task(kind.act(kind.plan(time.time()), Stopping()))
        while server.stats()["requests"] == founding:  # noqa: ASYNC110  the server tells by this number alone
            await asyncio.sleep(0.005)
        contest.say(submission, Withdrawn(), person=TEAM)
        assert await asyncio.wait_for(going, 60) == NOTHING
        asked = server.stats()["requests"] - founding
        assert 0 < asked < 120
        await contest.worked(server.base_url)
        assert server.stats()["requests"] - founding == asked
    assert contest.stands(submission).stage == "withdrawn"
    assert contest.said(submission, Judged) == []
    assert count(ledger, schema.claims) == 0


async def test_two_workers_at_once_ask_nothing_twice(ledger: Ledger):
    async with ScriptedServer(Script(latency=0.01)) as server:
        contest = await founded(ledger, server.base_url)
        founding = server.stats()["requests"]
        both = await contest.approved_ones(server.base_url, 2)
        await asyncio.gather(*(contest.worked(server.base_url) for _ in range(2)))
        await contest.worked(server.base_url)
        assert server.stats()["requests"] - founding == 48
        assert server.stats()["answered_again"] == 0
    for submission in both:
        assert contest.stands(submission).stage == "judged"
        assert len(contest.said(submission, Judged)) == 1


async def test_what_a_live_worker_holds_is_left_to_it_and_a_dead_ones_is_taken_over(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url)
        founding = server.stats()["requests"]
        kind = contest.kind(server.base_url)
        planned = kind.plan(time.time())
        alive = holder_name("another")
        assert claim_one(ledger, f"submission {submission}", holder=alive)
        assert not kind.plan(time.time())
        assert await kind.act(planned, Stopping()) == NOTHING
        assert server.stats()["requests"] == founding
        with ledger.writing() as connection:
            host, pid, _, run = alive.rsplit("|", 3)
            connection.execute(schema.claims.update().values(holder=f"{host}|{pid}|0|{run}"))  # started at another time
        await contest.worked(server.base_url)
    assert contest.stands(submission).stage == "judged"


async def test_a_worker_whose_submission_was_taken_over_asks_no_further(ledger: Ledger):
    """As when it slept so long that its lease ran out."""
    async with ScriptedServer(Script(latency=0.05)) as server:
        contest = await founded(ledger, server.base_url, items=30, terms=replace(TERMS, battles=60))
        submission = await contest.approved(server.base_url)
        founding = server.stats()["requests"]
        kind = contest.kind(server.base_url, pacing=Pacing(max_connections=1))
        going = asyncio.create_task(kind.act(kind.plan(time.time()), Stopping()))
        while server.stats()["requests"] == founding:  # noqa: ASYNC110  the server tells by this number alone
            await asyncio.sleep(0.005)
        with ledger.writing() as connection:
            claims = schema.claims
            ours = claims.c.what == f"submission {submission}"
            connection.execute(claims.update().where(ours).values(holder="another-host|1|1|run"))
        assert await asyncio.wait_for(going, 60) == NOTHING
        assert server.stats()["requests"] - founding < 120
        assert not kind.plan(time.time())
    assert contest.stands(submission).stage == "approved"


async def test_a_plan_that_has_grown_old_asks_nothing(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url)
        kind = contest.kind(server.base_url)
        planned = kind.plan(time.time())
        await contest.worked(server.base_url)
        asked = server.stats()["requests"]
        runs = count(ledger, schema.runs)
        assert await kind.act(planned, Stopping()) == NOTHING
        assert (server.stats()["requests"], count(ledger, schema.runs)) == (asked, runs)
    assert len(contest.said(submission, Judged)) == 1


async def test_submissions_are_judged_in_the_order_they_were_approved(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        first, second = contest.submitted(), contest.submitted()
        await contest.worked(server.base_url)
        contest.approve(second)
        contest.approve(first)
        await contest.worked(server.base_url)
    (second_judged,), (first_judged,) = contest.said(second, Judged), contest.said(first, Judged)
    assert second_judged.seq < first_judged.seq


@pytest.mark.slow
async def test_a_long_judging_gives_other_work_its_turn_and_goes_on(ledger: Ledger):
    async with ScriptedServer(Script(latency=0.05)) as server:
        contest = await founded(ledger, server.base_url, items=12, terms=replace(TERMS, battles=24))
        founding = server.stats()["requests"]
        submission = await contest.approved(server.base_url)
        runs = count(ledger, schema.runs)
        await contest.worked(server.base_url, turn_seconds=0.0, pacing=Pacing(max_connections=1))
        assert count(ledger, schema.runs) - runs > 1
        assert server.stats()["requests"] - founding == 48
        assert server.stats()["answered_again"] == 0
    assert contest.stands(submission).stage == "judged"


async def test_told_to_stop_it_says_nothing_and_the_next_goes_on(ledger: Ledger):
    stopping = Stopping()
    async with ScriptedServer(Script(latency=0.05)) as server:
        contest = await founded(ledger, server.base_url)
        founding = server.stats()["requests"]
        submission = await contest.approved(server.base_url)
        kind = contest.kind(server.base_url, pacing=Pacing(max_connections=1))
        going = asyncio.create_task(kind.act(kind.plan(time.time()), stopping))
        while server.stats()["requests"] == founding:  # noqa: ASYNC110  the server tells by this number alone
            await asyncio.sleep(0.005)
        stopping.interrupt()
        assert await asyncio.wait_for(going, 60) == NOTHING
        stands = contest.stands(submission)
        assert (stands.stage, stands.failures) == ("approved", ())
        assert count(ledger, schema.claims) == 0
        await contest.worked(server.base_url)
        assert server.stats()["answered_again"] == 0
    assert contest.stands(submission).stage == "judged"


async def test_refused_or_withdrawn_before_it_was_estimated_nothing_is_said(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        kind = contest.kind(server.base_url)
        refused, withdrawn = contest.submitted(), contest.submitted()
        planned = kind.plan(time.time())
        contest.say(refused, Refused(reason="Not this one."))
        contest.say(withdrawn, Withdrawn(), person=TEAM)
        assert await kind.act(planned, Stopping()) == NOTHING
        assert not kind.plan(time.time())
    assert contest.said(refused, Estimated) == contest.said(withdrawn, Estimated) == []


async def test_there_is_no_progress_before_anything_was_planned(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
    assert placing_progress(ledger, contest.intake.board, label(contest.submitted())) is None
