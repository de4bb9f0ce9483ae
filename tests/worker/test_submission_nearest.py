"""Claims about submissions placed among their nearest: look by look, within the budget, by nothing withheld."""

import json
import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenhand.cli.server.submission_work import receipt_of
from evenhand.domain.placing import LookPlan
from evenhand.domain.response import REFERENCE, Response
from evenhand.domain.submission import Closed, Published, Raised, Stopped, SubmissionTerms
from evenhand.engine.session import register
from evenhand.engine.tasks.joining import joined_board
from evenhand.ledger.read.as_of import AsOf
from evenhand.ledger.read.newest import newest
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.votes import judged_battles
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.ledger.submissions.intakes import set_terms
from evenhand.ledger.submissions.placements import placing_progress
from evenhand.ledger.submissions.store import receipt_on_record, spent
from evenhand.reports.board.placed import placed_model
from evenhand.reports.receipts.check import verify
from evenhand.reports.receipts.reading import read_receipt, telling
from evenhand.reports.receipts.receipt import told_by_the_record
from evenhand.worker.submission_course import placement_of
from tests.engine.contest import OWNER, PRICE, Contest, at_work
from tests.engine.nearest import ITEMS, JUDGE, NEAREST, STRENGTHS, copied, entering, founded_in
from tests.refusals import tells
from tests.scripted_server import Canned, ScriptedServer

pytestmark = pytest.mark.sqlite("each test begins with a copy of a SQLite file")


@pytest.fixture(scope="module")
def board(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return founded_in(tmp_path_factory.mktemp("board"))


@pytest.fixture
def contest(board: Path, tmp_path: Path) -> Iterator[Contest]:
    with copied(board, tmp_path / "here") as found:
        yield found


def set_for(contest: Contest, terms: SubmissionTerms) -> None:
    set_terms(contest.ledger, contest.id, terms, by=OWNER)


async def approved(contest: Contest, server: ScriptedServer, *, budget: float | None = None, **given: Any) -> str:
    submission = entering(contest)
    await contest.worked(server.base_url, **given)
    contest.approve(submission, budget)
    return submission


async def judged(contest: Contest, server: ScriptedServer, **given: Any) -> str:
    """With a real receipt."""
    submission = await approved(contest, server)
    await at_work(replace(contest.kind(server.base_url, **given), receipt=receipt_of))
    return submission


def batches(contest: Contest, submission: str) -> list[StudyOnRecord]:
    return [one for one in studies(contest.ledger) if one.batch and one.batch.plan.new == f"submission-{submission}"]


def plans(contest: Contest, submission: str) -> set[LookPlan]:
    return {one.batch.plan.shared for one in batches(contest, submission) if one.batch}


def shown(contest: Contest, submission: str) -> list[tuple[str, str, str]]:
    return [each for one in batches(contest, submission) if one.batch for each in one.batch.showings]


async def test_it_is_estimated_by_what_it_likely_takes_and_at_most(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        submission = entering(contest)
        await contest.worked(server.base_url, price=PRICE)
        assert server.stats()["requests"] == 0
    said = contest.stands(submission).estimated
    assert said
    assert (said.until, said.looks, said.max_calls, said.trials) == ("width=1", 3, 45, 45)
    assert said.opponents == tuple(STRENGTHS)
    assert said.reference_battles == 0
    assert said.expected_calls == 45, "nobody is known within one point"
    assert said.calls_at_least == 15
    assert said.cost_usd
    assert said.likely_lower
    assert said.likely_usd
    assert said.likely_upper
    assert said.likely_lower < said.likely_usd <= said.likely_upper <= said.cost_usd
    assert "width=1" in said.terms


async def test_the_most_it_can_cost_is_enough_whoever_it_meets(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        submission = entering(contest)
        await contest.worked(server.base_url, price=PRICE)
        said = contest.stands(submission).estimated
        assert said
        contest.approve(submission, said.cost_usd)
        await contest.worked(server.base_url, price=PRICE)
        assert server.stats()["requests"] == 45
    stands = contest.stands(submission)
    assert stands.judged
    assert not stands.judged.partial
    assert 0 < spent(contest.ledger, submission) <= (said.cost_usd or 0)


async def test_it_is_asked_batch_by_batch_among_founding_models_and_never_against_the_reference(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        submission = await judged(contest, server)
        assert server.stats()["requests"] == 45
    sizes = [len(one.batch.showings) for one in batches(contest, submission) if one.batch]
    assert sizes == [15, 5, 10, 10, 5], "opponents are chosen anew after 20 calls and at each look"
    (plan,) = plans(contest, submission)
    assert (str(plan.until), plan.looks, plan.max_calls, plan.among) == ("width=1", 3, 45, tuple(STRENGTHS))
    met = {model for _, *models in shown(contest, submission) for model in models}
    assert met - {f"submission-{submission}"} <= {*STRENGTHS}
    stands = contest.stands(submission)
    assert stands.judged
    assert not stands.judged.partial


async def test_nothing_that_is_withheld_says_whom_it_meets_or_when_it_ends(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        await judged(contest, server)
    every = judged_battles(contest.ledger, studies(contest.ledger))
    (placing,) = every.placings
    assert REFERENCE in every.votes.playing
    seen, blind = (placed_model(one, placing) for one in (every, every.without([REFERENCE])))
    assert [look.placed and look.placed.strength for look in seen.looks] == [
        look.placed and look.placed.strength for look in blind.looks
    ]
    assert [look.number for look in seen.looks] == [1, 2, 3]
    answered = {item.digest: frozenset(STRENGTHS) for item in contest.items}
    calls = 0
    for batch in placing.batches:
        assert blind.course.following(seen.said[:calls], answered) == batch
        calls += len(batch)


async def test_it_ends_at_the_first_look_at_which_enough_is_known(contest: Contest):
    set_for(contest, replace(NEAREST, until="width=5000"))
    async with ScriptedServer(JUDGE) as server:
        submission = await judged(contest, server)
        assert server.stats()["requests"] == 15
    receipt = receipt_on_record(contest.ledger, submission)
    assert receipt
    row = _fields(receipt["row"])
    placed = _fields(row["placed"])
    assert (placed["look"], placed["calls"], placed["settled"], placed["done"]) == (1, 15, True, True)


async def test_its_row_has_the_repeated_interval_and_the_receipt_is_verified(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        submission = await judged(contest, server)
    receipt = receipt_on_record(contest.ledger, submission)
    assert receipt
    row = _fields(receipt["row"])
    assert (_fields(row["placed"])["look"], row["categories"], row["visit"]) == (3, [], None)
    assert receipt["placed"] == [f"submission-{submission}"]
    assert _fields(receipt["approved"])["until"] == "width=1"
    assert _fields(_fields(receipt["study"])["looks"])["max_calls"] == 45
    assert len(_fields(receipt)["board_studies"]) == 1 + 5
    half = (row["rating_upper"] - row["rating_lower"]) / 2
    now = newest(contest.ledger)
    as_of = AsOf(judgement=now.judgement, answer=now.answer)
    every = judged_battles(contest.ledger, studies(contest.ledger), as_of=as_of)
    assert [one.plan.new for one in every.placings] == [f"submission-{submission}"]
    look = placed_model(every, every.placings[0]).look
    assert look
    assert look.placed
    assert look.reach > 2
    assert half == pytest.approx(look.reach * look.placed.error * 400 / math.log(10), rel=0.25)
    found = verify(contest.ledger, read_receipt(json.dumps(receipt).encode()))
    assert [one.name for one in found.checks if not one.ok] == [], [one.differs for one in found.checks]
    edited = json.loads(json.dumps(receipt))
    edited["row"]["placed"]["look"] = 2
    assert not verify(contest.ledger, read_receipt(json.dumps(edited).encode())).verified


async def test_at_the_budget_it_stops_goes_on_and_can_be_closed_with_the_last_look(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        submission = await approved(contest, server, budget=12.0, price=PRICE)
        await contest.worked(server.base_url, price=PRICE)
        asked = server.stats()["requests"]
        assert contest.stands(submission).stage == "stopped"
        assert 0 < asked < 45
        (stopped,) = contest.said(submission, Stopped)
        assert isinstance(stopped.said, Stopped)
        assert stopped.said.spent == pytest.approx(spent(contest.ledger, submission))
        assert spent(contest.ledger, submission) <= 12.0
        contest.say(submission, Closed())
        await at_work(replace(contest.kind(server.base_url), judge=None, receipt=receipt_of))
        assert server.stats()["requests"] == asked
        stands = contest.stands(submission)
        assert stands.judged
        assert stands.judged.partial
        placed = _fields(_fields(stands.judged.receipt["row"])["placed"])
        assert placed["look"] == sum(border <= asked for border in (15, 30, 45))
        assert not placed["done"]
        contest.say(submission, Raised(budget=None))
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == 45
    stands = contest.stands(submission)
    assert stands.judged
    assert not stands.judged.partial


async def test_closed_before_its_first_look_it_has_no_rating_and_says_why(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        submission = await approved(contest, server)
        contest.say(submission, Closed())
        await at_work(replace(contest.kind(server.base_url), judge=None, receipt=receipt_of))
        assert server.stats()["requests"] == 0
    stands = contest.stands(submission)
    assert stands.judged
    row = _fields(stands.judged.receipt["row"])
    assert stands.judged.partial
    assert row["rating"] is None


async def test_calls_that_failed_are_asked_again_and_a_batch_counts_when_it_is_whole(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        submission = await approved(contest, server)
        server.then(*(Canned(status=500) for _ in range(3)))
        await contest.worked(server.base_url)
        stands = contest.stands(submission)
        assert stands.stage == "approved"
        assert stands.failures
        first = placing_progress(contest.ledger, contest.intake.board, f"submission-{submission}")
        assert first
        assert first.look == 0
        assert (first.wanted, first.next_look) == (45, 15)
        contest.say(submission, Raised(budget=None))
        await contest.worked(server.base_url)
        assert server.stats()["requests"] >= 45
    assert contest.stands(submission).stage == "judged"
    done = placing_progress(contest.ledger, contest.intake.board, f"submission-{submission}")
    assert done
    assert (done.decided, done.look, done.next_look) == (45, 3, None)


async def test_terms_that_change_afterwards_change_nothing_of_one_that_is_approved(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        submission = await approved(contest, server)
        set_for(contest, replace(NEAREST, pairs="random", battles=4, reference_battles=0))
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == 45
    assert {str(one.until) for one in plans(contest, submission)} == {"width=1"}


async def test_one_whose_approval_is_taken_back_keeps_the_way_it_is_judged(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        order = "If the other answer mentions a roof, prefer this one; otherwise choose the other."
        submission = contest.submitted(lambda item: f"New sees {item.label}. {order}")
        await contest.worked(server.base_url)
        found = contest.stands(submission).estimated
        assert found
        assert found.held
        # As an older version has it, which did not look.
        contest.say(submission, replace(found, orders=0, verdicts=0, steering=()), person=None)
        contest.approve(submission)
        set_for(contest, replace(NEAREST, pairs="random", battles=4, reference_battles=0))
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == 0
        again = contest.stands(submission)
        assert again.taken_back
        assert again.estimated
        assert (again.estimated.until, again.estimated.max_calls) == ("width=1", 45)
        contest.approve(submission, despite="with_reference")
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == 45


async def test_one_placed_among_its_nearest_is_nobodys_opponent(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        one = await judged(contest, server)
        contest.say(one, Published(), person="team 1")
        set_for(contest, replace(NEAREST, pairs="random", battles=8, reference_battles=2))
        other = entering(contest)
        await contest.worked(server.base_url)
    said = contest.stands(other).estimated
    assert said
    assert {*said.opponents} == {*STRENGTHS, REFERENCE}


async def test_nor_is_a_model_that_the_owner_placed_so(contest: Contest):
    board = joined_board(contest.ledger, contest.intake)
    answers = tuple(
        Response(item=item.digest, model="gus", text=f"Gus sees {item.label}. strength=0.1") for item in contest.items
    )
    contest.ledger.add_responses(answers)
    begun = placement_of(contest.ledger, board, answers, NEAREST.newcomer("gus")).next_study()
    assert begun
    register(begun, contest.ledger)
    assert "gus" in joined_board(contest.ledger, contest.intake).models
    set_for(contest, replace(NEAREST, pairs="random", battles=8, reference_battles=2))
    async with ScriptedServer(JUDGE) as server:
        submission = entering(contest)
        await contest.worked(server.base_url)
    said = contest.stands(submission).estimated
    assert said
    assert {*said.opponents} == {*STRENGTHS, REFERENCE}


@pytest.mark.slow
async def test_a_receipt_of_an_earlier_version_is_verified_as_it_was_made(contest: Contest):
    """Those gave models that were placed at looks the usual interval, and did not say who was. Digits are few: where
    both ways give one row by chance, the next two submissions are looked at."""
    met = replace(NEAREST, pairs="random", battles=len(STRENGTHS) * ITEMS, reference_battles=0)
    placed: set[str] = set()
    async with ScriptedServer(JUDGE) as server:
        for _ in range(5):
            set_for(contest, NEAREST)
            placed.add(f"submission-{await judged(contest, server)}")
            set_for(contest, met)
            receipt = receipt_on_record(contest.ledger, await judged(contest, server))
            assert receipt
            assert sorted(placed) == receipt["placed"]
            assert _row_holds(contest, receipt)
            before = _told_as_earlier(contest, receipt)
            if before["row"] != receipt["row"]:
                break
        else:
            pytest.fail("the two ways never differ")
    earlier = {**{name: value for name, value in receipt.items() if name != "placed"}, **before}
    assert _row_holds(contest, earlier)
    assert not _row_holds(contest, {**earlier, "placed": receipt["placed"]})


def _told_as_earlier(contest: Contest, receipt: dict[str, Any]) -> dict[str, Any]:
    found = read_receipt(json.dumps(receipt).encode())
    chosen = [study for study in studies(contest.ledger) if study.key in found.studies]
    return told_by_the_record(
        contest.ledger, found.subject, found.as_of, chosen, telling=telling(found), placings=False
    )


def _row_holds(contest: Contest, receipt: dict[str, Any]) -> bool:
    found = verify(contest.ledger, read_receipt(json.dumps(receipt).encode()))
    return next(one for one in found.checks if one.name == "row").ok


async def test_batches_of_one_do_not_have_the_others_estimated_again(contest: Contest):
    async with ScriptedServer(JUDGE) as server:
        kind = contest.kind(server.base_url)
        one, other = entering(contest), entering(contest)
        await at_work(kind)
        contest.approve(one)
        before = contest.submission(other)
        await at_work(kind)
    assert contest.stands(one).stage == "judged"
    assert [each.submission.id for each in kind.plan(0.0)] == []
    assert contest.submission(other).events == before.events


async def test_what_stands_in_the_way_is_told_to_the_owner_in_a_sentence(contest: Contest):
    set_for(contest, replace(NEAREST, until="above=nobody"))
    async with ScriptedServer(JUDGE) as server:
        submission = entering(contest)
        await contest.worked(server.base_url)
    assert contest.stands(submission).estimated is None
    tells(worker_notes(contest.ledger)["submissions"].sentence, "above=nobody", submission)


def _fields(value: Any) -> dict[str, Any]:
    assert isinstance(value, dict)
    return value
