"""Claims about what a team is called: as the owner accepted it, and as nobody else here is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import select

from evenhand.domain.submission import Entered, SubmissionTerms
from evenhand.format.look_alikes import at_a_glance
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import access_requests, submissions
from evenhand.ledger.submissions.intakes import BoardIdentity, find_intake, open_intake
from evenhand.ledger.submissions.store import begin_submission
from evenhand.ledger.submissions.team_names import NameRefused
from evenhand.site.accounts.requests import ask_for_data, ask_to_join, decide, find_request
from evenhand.site.accounts.store import Invite, erase_name, find_invitation, invite, join, people

BOARD = BoardIdentity(data="d", rater="r", condition="c")


def accepted(ledger: Ledger, name: str) -> str:
    """The token of a request that the owner accepted."""
    asked = ask_to_join(ledger, name=name, about="We make parrots in Birdland.")
    assert decide(ledger, asked.id, accepted=True, by="owner")
    return asked.token


def begun(ledger: Ledger, *, person: str, team: str) -> str:
    intake = find_intake(ledger, open_intake(ledger, "b", BOARD, SubmissionTerms(policy="p"), by="owner"))
    assert intake is not None
    return begin_submission(ledger, intake, Entered(model="Parrot", version="1", team=team), person=person)


@pytest.mark.parametrize("given_name", ["", "Honest Wolves", "  honest\twolves ", "HONEST WOLVES"])
def test_a_team_is_called_as_the_owner_accepted_it(ledger: Ledger, given_name: str):
    assert join(ledger, accepted(ledger, "Honest Wolves"), given_name).person.name == "Honest Wolves"


def test_another_name_than_the_accepted_one_is_refused_and_uses_nothing_up(ledger: Ledger):
    token = accepted(ledger, "Honest Wolves")
    with pytest.raises(NameRefused, match="as 'Honest Wolves'"):
        join(ledger, token, "Birds")
    assert find_invitation(ledger, token).uses_left == 1
    assert not people(ledger)


@pytest.mark.parametrize("name", ["", " ", "\u200b", "\u3164"])
def test_a_team_without_a_name_is_refused(ledger: Ledger, name: str):
    with pytest.raises(NameRefused, match="missing"):
        join(ledger, invite(ledger, Invite(role="team")).token, name)


@pytest.mark.parametrize(
    "name",
    [
        "Birds",
        "bIRDS",
        "Ｂｉｒｄｓ",
        "Bir\u200bds",
        "Bir\u034fds",
        "\u00a0Birds ",
        "Вirds",
        "Bırds",
        "B1rds",
        "Birds.",
        "B irds",
        "B-irds",
    ],
)
def test_a_name_that_reads_like_another_teams_is_refused(ledger: Ledger, name: str):
    join(ledger, accepted(ledger, "Birds"), "")
    with pytest.raises(NameRefused, match="Another team"):
        join(ledger, invite(ledger, Invite(role="team")).token, name)
    asked = ask_to_join(ledger, name=name, about="We too.")
    with pytest.raises(NameRefused, match="Another team"):
        decide(ledger, asked.id, accepted=True, by="owner")
    waiting = find_request(ledger, asked.id)
    assert waiting is not None
    assert waiting.decided is None
    assert decide(ledger, asked.id, accepted=False, by="owner", reason="That is theirs.")


def test_annotators_may_be_called_alike_and_not_at_all(ledger: Ledger):
    join(ledger, accepted(ledger, "Birds"), "")
    for name in ("Birds", "Birds", ""):
        assert join(ledger, invite(ledger, Invite(role="annotator", note="for Eve")).token, name).person.name == name


def test_what_was_published_under_a_name_keeps_it_from_others_when_the_account_is_erased(ledger: Ledger):
    birds = join(ledger, accepted(ledger, "Birds"), "").person
    submission = begun(ledger, person=birds.id, team="Birds")
    with ledger.writing() as connection:
        receipt = {"event": 1, "submission": submission, "content": "{}"}
        connection.execute(schema.metadata.tables["receipts"].insert(), [receipt])
    assert erase_name(ledger, birds.id)
    with ledger.reading() as connection:
        assert connection.execute(select(submissions.c.team)).scalars().all() == ["Birds"]
    with pytest.raises(NameRefused, match="Another team"):
        join(ledger, invite(ledger, Invite(role="team")).token, "Birds")


def test_an_erased_team_is_named_neither_in_its_requests_nor_in_what_has_no_receipt(ledger: Ledger):
    birds = join(ledger, accepted(ledger, "Birds"), "").person
    fish = join(ledger, accepted(ledger, "Fish"), "").person
    begun(ledger, person=birds.id, team="Birds")
    ask_for_data(ledger, person=birds.id, name="Birds", intake="i", about="Birds ask.", policy_hash="p")
    assert erase_name(ledger, birds.id)
    with ledger.reading() as connection:
        rows = [*connection.execute(select(access_requests)), *connection.execute(select(submissions))]
    assert not [row for row in rows if "Birds" in str(row)]
    assert [row for row in rows if "Fish" in str(row)]
    assert {one.name for one in people(ledger)} == {"", fish.name}


@given(st.text())
def test_reading_twice_reads_the_same(name: str):
    assert at_a_glance(at_a_glance(name)) == at_a_glance(name)


@pytest.mark.parametrize(
    ("name", "other"),
    [("gernini-pro", "gemini-pro"), ("qvven", "qwen"), ("gpt\u20144o", "gpt-4o"), ("Team A", "Team A\u2800")],
)
def test_letters_and_marks_that_look_like_others_are_these(name: str, other: str):
    assert at_a_glance(name) == at_a_glance(other)
