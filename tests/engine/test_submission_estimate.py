"""Claims about what the owner is told before approving: it follows the price, the terms and the board as they are."""

import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import Estimated, Published, Withdrawn, label
from evenhand.engine.session import register
from evenhand.engine.tasks.joining import Draw, joined_board, placing
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.ledger.submissions.intakes import set_terms
from tests.database import ledger_in
from tests.engine.contest import OWNER, PRICE, TEAM, TERMS, Contest, at_work, founded
from tests.scripted_server import ScriptedServer

DEARER = "input=2000,output=2000"


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


def estimates(contest: Contest, submission: str) -> list[Estimated]:
    return [one.said for one in contest.said(submission, Estimated) if isinstance(one.said, Estimated)]


async def test_once_a_price_is_known_the_cost_is_estimated_and_a_budget_can_be_kept(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = contest.submitted()
        await contest.worked(server.base_url)
        await contest.worked(server.base_url, price=PRICE)
        before, now = estimates(contest, submission)
        assert before.cost_usd is None
        assert now.cost_usd
        assert now.unpriced == before
        assert now.likely_usd
        assert now.likely_lower is not None
        assert now.likely_upper is not None
        assert 0 < now.likely_lower <= now.likely_usd <= now.likely_upper <= now.cost_usd
        assert "of this judge under this protocol and readout on record" in now.likely_by
        assert now.reach
        assert now.reach > 0
        contest.approve(submission, budget=1000.0)
        await contest.worked(server.base_url, price=PRICE)
    assert contest.stands(submission).stage == "judged"


async def test_on_a_ladder_no_interval_of_a_rating_is_promised(ledger: Ledger):
    """A submission stands on no board of ratings there; the same one to a board as in the paper is promised one."""
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, terms=replace(TERMS, feedback="ladder"))
        submission = contest.submitted()
        await contest.worked(server.base_url, price=PRICE)
        (said,) = estimates(contest, submission)
    assert said.battles
    assert (said.reach, said.reach_by) == (None, "")


async def test_what_is_known_already_is_said_once_and_a_worker_without_a_price_takes_nothing_back(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = contest.submitted()
        kind = contest.kind(server.base_url, price=PRICE)
        await at_work(kind)
        assert not kind.plan(time.time())
        await contest.worked(server.base_url, price=PRICE)
        await contest.worked(server.base_url)
        (said,) = estimates(contest, submission)
        await contest.worked(server.base_url, price=DEARER)
    first, dearer = estimates(contest, submission)
    assert first == said
    assert said.cost_usd
    assert dearer.cost_usd == pytest.approx(2 * said.cost_usd)


async def test_changed_terms_are_estimated_by_the_worker_that_is_there_even_where_it_knows_no_price(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = contest.submitted()
        await contest.worked(server.base_url, price=PRICE)
        kind = contest.kind(server.base_url)
        await at_work(kind)
        assert len(estimates(contest, submission)) == 1
        set_terms(ledger, contest.id, replace(TERMS, battles=6, reference_battles=2, seed=7), by=OWNER)
        await at_work(kind)
    now = contest.stands(submission).estimated
    assert now
    assert (now.battles, now.reference_battles, now.seed, now.trials, now.cost_usd) == (6, 2, 7, 12, None)


async def test_what_is_approved_is_not_estimated_again(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url)
        set_terms(ledger, contest.id, replace(TERMS, battles=6), by=OWNER)
        kind = contest.kind(server.base_url, price=PRICE)
        assert [job.submission.standing.stage for job in kind.plan(time.time())] == ["approved"]
        await at_work(kind)
    assert contest.stands(submission).stage == "judged"
    assert len(estimates(contest, submission)) == 1


async def test_whoever_is_published_or_withdrawn_meanwhile_is_met_or_not_any_more(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        first = await contest.approved(server.base_url)
        kind = contest.kind(server.base_url)
        await at_work(kind)
        waiting = contest.submitted()
        met: list[tuple[str, ...]] = []
        for said in (None, Published(), Withdrawn()):
            if said is not None:
                contest.say(first, said, person=TEAM)
            await at_work(kind)
            stands = contest.stands(waiting).estimated
            assert stands
            met.append(stands.opponents)
    old = ("ann", "ben", REFERENCE)
    assert met == [old, ("ann", "ben", label(first), REFERENCE), old]


async def test_a_model_that_joins_the_board_meanwhile_is_met(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = contest.submitted()
        kind = contest.kind(server.base_url)
        await at_work(kind)
        cat = tuple(Response(item=item.digest, model="cat", text="Cat sees.") for item in contest.items)
        ledger.add_responses(cat)
        draw = Draw(new="cat", opponents=("ann",), battles=4, reference_battles=0, seed=0)
        board = joined_board(ledger, contest.intake)
        register(placing(ledger, board, cat, draw), ledger)
        await at_work(kind)
    stands = contest.stands(submission).estimated
    assert stands
    assert stands.opponents == ("ann", "ben", "cat", REFERENCE)


async def test_where_it_cannot_be_estimated_again_the_old_one_stands_and_a_sentence_says_why(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = contest.submitted()
        await contest.worked(server.base_url, price=PRICE)
        await at_work(replace(contest.kind(server.base_url), judge=None))
    assert len(estimates(contest, submission)) == 1
    assert "given no judge" in worker_notes(ledger)["submissions"].sentence
