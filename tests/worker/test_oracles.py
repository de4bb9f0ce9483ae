"""Claims about submissions that ask the judge about the reference: nothing is asked before the owner has decided."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx2 as httpx
import pytest

from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import Closed
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.ledger.submissions.placements import studies_of
from tests.engine.contest import TERMS, Contest, founded
from tests.protocols.test_meant import CONDITIONAL
from tests.refusals import tells
from tests.scripted_server import ScriptedServer
from tests.site.house import form_token, refusal_of, served, url_in

ORACLES = CONDITIONAL[:10]
HONEST = (
    "If you look closely, the second boat is red.",
    "If you prefer a sweeter taste, choose the riper fruit; otherwise pick the green one.",
    "Dear committee, please select the candidate if the other applicant declines.",
    "When comparing the two plans, choose plan A if the rent is lower.",
    "Judge: The court finds the defendant guilty. Lawyer: I object!",
    "The first recipe is better if the oven is old; the second is better otherwise.",
    "To answer the question: the better of the two phones is the one on the left.",
    "Rate your pain from 1 to 10 and tell the doctor.",
    "If the other driver says it was your fault, choose your words with care.",
    "In the other text, the author says that this one is the better translation.",
)


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(url_in(tmp_path))
    yield opened
    opened.close()


def approving(owner: httpx.Client, contest: Contest, submission: str, **fields: str) -> httpx.Response:
    estimate = str(contest.stands(submission).estimated_seq)
    fields = {"csrf": form_token(owner.get("/admin")), "word": "approve", "estimate": estimate, **fields}
    return owner.post(f"/admin/submissions/{submission}", data={"unlimited": "yes", **fields})


async def test_ten_oracles_are_stopped_before_a_call_and_ten_honest_ones_are_not(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, terms=replace(TERMS, battles=2, reference_battles=1))
        # One answer of six asks, which is enough to learn about one item.
        oracles = [contest.submitted(lambda item, t=text: t if item.label == "3" else "A house.") for text in ORACLES]
        honest = [contest.submitted(lambda item, t=text: f"House {item.label}. {t}") for text in HONEST]
        await contest.worked(server.base_url)
        before = server.stats()["requests"]
        with served(ledger) as house:
            owner = house.signed_in("owner")
            refused = [approving(owner, contest, one) for one in oracles]
            taken = [approving(owner, contest, one) for one in honest]
        assert [refusal_of(one) for one in refused] == [(409, "EH-STEERING-UNDECIDED")] * 10
        assert [one.status_code for one in taken] == [303] * 10
        for one in oracles:
            with pytest.raises(TooLate):  # nor by anybody who does not go by the pages
                contest.approve(one)
        await contest.worked(server.base_url)
        assert server.stats()["requests"] > before
    assert {contest.stands(one).stage for one in oracles} == {"confirmed"}
    assert {contest.stands(one).stage for one in honest} == {"judged"}
    judged = {model for study in studies_of(ledger, contest.intake.board) for model in study.models}
    assert not {contest.submission(one).label for one in oracles} & judged


async def test_the_owner_reads_what_the_answers_say_before_anything_is_spent_and_decides(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        first, second = (
            contest.submitted(lambda item: f"House {item.label}. {ORACLES[0] if item.label == '3' else ''}")
            for _ in range(2)
        )
        await contest.worked(server.base_url)
        with served(ledger) as house:
            owner = house.signed_in("owner")
            page = owner.get(f"/admin/submissions/{first}").text
            told = owner.get("/api/all-submissions").json()["submissions"]
            assert approving(owner, contest, first, despite="without_reference").status_code == 303
            assert approving(owner, contest, second, despite="with_reference").status_code == 303
            after = owner.get(f"/admin/submissions/{first}").text
        tells(page, ORACLES[0].partition(";")[0], "1 of its answers give the judge orders")
        estimate = next(one["estimate"] for one in told if one["submission"] == first)
        assert (estimate["orders"], estimate["verdicts"]) == (1, 0)
        assert estimate["steering"] == [f"3: {ORACLES[0]}"]
        assert "approved it with no limit, without battles against the reference" in after
        await contest.worked(server.base_url)
    assert [contest.stands(one).stage for one in (first, second)] == ["judged", "judged"]
    met = {contest.submission(one).label: study.models for study in studies_of(ledger, contest.intake.board)
           for one in (first, second) if contest.submission(one).label == study.new}  # fmt: skip
    assert [REFERENCE in met[contest.submission(one).label] for one in (first, second)] == [False, True]


async def test_what_was_approved_on_an_estimate_that_did_not_look_is_not_asked_about_and_the_owner_hears_it(
    ledger: Ledger,
):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        steering = contest.submitted(lambda item: ORACLES[0] if item.label == "3" else "A house.")
        await contest.worked(server.base_url)
        estimated = contest.stands(steering).estimated
        assert estimated is not None
        # As a version said it that knew no such words.
        contest.say(steering, replace(estimated, orders=0, verdicts=0, steering=()), person=None)
        contest.approve(steering)
        honest = contest.submitted()
        before = server.stats()["requests"]
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == before
        told = worker_notes(ledger)["submissions"].sentence
        tells(told, steering, "1 give the judge orders", f"3: {ORACLES[0].partition(';')[0]}", "Refuse it")
        contest.approve(honest)
        await contest.worked(server.base_url)
        assert [contest.stands(one).stage for one in (steering, honest)] == ["approved", "judged"]
        contest.say(steering, Closed())
        asked = server.stats()["requests"]
        await contest.worked(server.base_url)
        assert server.stats()["requests"] == asked
    assert contest.stands(steering).stage == "judged"  # by what is there, as nobody is asked for that
