"""Claims about who judges a submission and whom it meets: as its board has it, else nothing is asked."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from evenhand.domain.rater import Rater
from evenhand.domain.response import REFERENCE
from evenhand.domain.submission import (
    Published,
    Raised,
    Withdrawn,
    label,
)
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.worker_notes import worker_notes
from evenhand.ledger.submissions.placements import PlacementProgress, placing_progress
from evenhand.protocols.catalog import load_protocol
from tests.database import ledger_in
from tests.engine.contest import PRICE, TEAM, at_work, founded, model_at
from tests.refusals import tells
from tests.scripted_server import Script, ScriptedServer


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = ledger_in(tmp_path)
    yield opened
    opened.close()


async def test_opponents_are_the_founding_models_and_published_submissions_alone(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        hidden, known, gone = await contest.approved_ones(server.base_url, 3)
        await contest.worked(server.base_url)
        for submission in (known, gone):
            contest.say(submission, Published(), person=TEAM)
        contest.say(gone, Withdrawn(), person=TEAM)
        later = contest.submitted()
        await contest.worked(server.base_url)
        estimated = contest.stands(later).estimated
        assert estimated
        assert estimated.opponents == ("ann", "ben", label(known), REFERENCE)
        assert label(hidden) not in estimated.opponents
        contest.approve(later)
        contest.say(known, Withdrawn(), person=TEAM)
        before = len(server.requests)
        await contest.worked(server.base_url)
        assert len(server.requests) > before
        assert not any(b"Submitted 2 sees" in seen.raw for seen in server.requests[before:])
    assert contest.stands(later).stage == "judged"


async def test_a_teams_own_other_submission_is_no_opponent_of_it(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        earlier = contest.submitted(team="birds")
        await contest.worked(server.base_url)
        contest.approve(earlier)
        await contest.worked(server.base_url)
        contest.say(earlier, Published(), person="birds")
        later, other = contest.submitted(team="birds"), contest.submitted(team="fish")
        await contest.worked(server.base_url)
        met = [contest.stands(one).estimated for one in (later, other)]
    assert all(met)
    assert [label(earlier) in one.opponents for one in met if one] == [False, True]


async def test_an_opponent_withdrawn_in_the_middle_is_replaced_and_progress_is_of_the_last_placing(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        known = await contest.approved(server.base_url)
        await contest.worked(server.base_url)
        contest.say(known, Published(), person=TEAM)
        later = await contest.approved(server.base_url, budget=3.0, price=PRICE)
        await contest.worked(server.base_url, price=PRICE)
        assert contest.stands(later).stage == "stopped"
        contest.say(known, Withdrawn(), person=TEAM)
        contest.say(later, Raised(budget=None))
        await contest.worked(server.base_url)
    progress = placing_progress(ledger, contest.intake.board, label(later))
    assert progress == PlacementProgress(wanted=24, reached=24, decided=24, no_verdict=0)


async def test_another_judge_than_the_boards_is_refused_with_what_to_start_the_worker_with(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = contest.submitted()
        before = server.stats()["requests"]
        for given in ({"name": "openai/gpt-4.1"}, {"endpoint_name": "elsewhere"}):
            await contest.worked(server.base_url, **given)
            said = worker_notes(ledger)["submissions"].sentence
            assert submission in said
            tells(said, "openai/gpt-4o at scripted")
            assert "--judge openai/gpt-4o --judge-base-url ADDRESS --judge-endpoint-name scripted" in said
        await at_work(replace(contest.kind(server.base_url), judge=None))
        assert "given no judge" in worker_notes(ledger)["submissions"].sentence
        assert contest.stands(submission).estimated is None
        await contest.worked(server.base_url)
        assert worker_notes(ledger)["submissions"].sentence == ""
        contest.approve(submission)
        await contest.worked(server.base_url, name="openai/gpt-4.1")
        assert server.stats()["requests"] == before
    assert contest.stands(submission).stage == "approved"


async def test_words_that_changed_since_the_board_was_judged_are_refused(ledger: Ledger):
    protocol = replace(load_protocol("visit_pairwise"), name="creation_preference")
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, showing=Showing(protocol=protocol))
        contest.submitted()
        await contest.worked(server.base_url)
        tells(worker_notes(ledger)["submissions"].sentence, "creation_preference", "words")


async def test_a_protocol_that_is_not_there_is_named(ledger: Ledger):
    protocol = replace(load_protocol("visit_pairwise"), name="my_own")
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url, showing=Showing(protocol=protocol))
        contest.submitted()
        await contest.worked(server.base_url)
    tells(worker_notes(ledger)["submissions"].sentence, "'my_own'")


async def test_a_file_that_was_altered_is_not_judged(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission, other = await contest.approved_ones(server.base_url, 2)
        upload = contest.stands(submission).upload
        assert upload
        ledger.places.submitted.put(upload.file, b"{}")
        await contest.worked(server.base_url)
    assert "was altered" in worker_notes(ledger)["submissions"].sentence
    assert contest.stands(submission).stage == "approved"
    assert contest.stands(other).stage == "judged"  # what stands in the way of one does not keep the next


async def test_a_wrong_key_is_told_to_the_owner_and_fails_nothing(ledger: Ledger):
    async with ScriptedServer() as server:
        contest = await founded(ledger, server.base_url)
        submission = await contest.approved(server.base_url)
    async with ScriptedServer(Script(key="another")) as server:
        await contest.worked(server.base_url)
    assert "key" in worker_notes(ledger)["submissions"].sentence
    stands = contest.stands(submission)
    assert (stands.stage, stands.failures) == ("approved", ())


async def test_the_boards_extractor_is_asked_and_another_is_refused(ledger: Ledger):
    protocol = load_protocol("visit_pairwise")
    assert protocol.extraction
    async with ScriptedServer() as server, ScriptedServer(Script(judge="hesitant")) as hesitant:
        other = model_at(ledger, server.base_url, name="openai/gpt-4.1", endpoint_name="second")
        rater = Rater(kind="model", name=other.name, endpoint=other.endpoint, settings=protocol.extraction.settings)
        extractor = Extractor(rater=rater, model=other.model)
        contest = await founded(ledger, server.base_url, showing=Showing(protocol=protocol, extractor=extractor))
        submission = contest.submitted()
        await contest.worked(hesitant.base_url)
        said = worker_notes(ledger)["submissions"].sentence
        tells(said, "openai/gpt-4.1 at second", "no extractor")
        assert "--extractor openai/gpt-4.1" in said
        third = model_at(ledger, server.base_url, name="openai/gpt-4.1", endpoint_name="third")
        await contest.worked(hesitant.base_url, extractor=third)
        tells(worker_notes(ledger)["submissions"].sentence, "openai/gpt-4.1 at third")
        await contest.worked(hesitant.base_url, extractor=other)
        contest.approve(submission)
        before = len(server.requests)
        await contest.worked(hesitant.base_url, extractor=other)
        assert len(server.requests) > before
        assert all(seen.body["model"] == "gpt-4.1" for seen in server.requests[before:])
        assert all(seen.body["model"] == "gpt-4o" for seen in hesitant.requests)
    assert contest.stands(submission).stage == "judged"
