"""Claims about the log under submissions and proposals: what is added is read back, and stored as it always was."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import insert, select

from evenhand.domain.submission import Approved, Raised, SubmissionState
from evenhand.ledger.store.event_log import TooLate
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.store.submission_schema import submission_events
from evenhand.ledger.submissions import store as of_submissions
from evenhand.site.living import store as of_proposals
from evenhand.site.living.events import ImageFailed
from tests.database import url_in

APPROVED = Approved(budget=2.5, opponents=("a", "ü"), battles=7, reference_battles=1, seed=0)

CONTENT = r'{"battles":7,"budget":2.5,"opponents":["a","\u00fc"],"reference_battles":1,"seed":0}'


@pytest.fixture
def ledger(tmp_path: Path) -> Iterator[Ledger]:
    opened = Ledger(url_in(tmp_path))
    yield opened
    opened.close()


def test_an_event_is_stored_as_the_canonical_json_of_its_fields(ledger: Ledger) -> None:
    with ledger.writing() as connection:
        event = of_submissions.LOG.add(connection, "s", APPROVED, person="ada")
        failed = ImageFailed(about=1, detail="gone", final=True)
        of_proposals.LOG.add(connection, "p", failed, person=None, growing="g", once=None)
        (row,) = connection.execute(select(submission_events)).all()
        (other,) = connection.execute(select(of_proposals.LOG.table)).all()
    assert (row.seq, row.submission, row.kind, row.person, row.at) == (event.seq, "s", "approved", "ada", event.at)
    assert row.content == CONTENT
    assert (other.growing, other.proposal, other.kind, other.person, other.once) == ("g", "p", "no image", None, None)
    assert other.content == '{"about":1,"detail":"gone","final":true}'


def test_what_an_older_version_stored_is_read_in_its_order(ledger: Ledger) -> None:
    old = {"submission": "s", "person": "ada", "at": 5.0}
    with ledger.writing() as connection:
        connection.execute(insert(submission_events).values(seq=1, kind="approved", content=CONTENT, **old))
        connection.execute(insert(submission_events).values(seq=2, kind="raised", content='{"budget":null}', **old))
        found = of_submissions.LOG.events(connection, "s")
        assert of_submissions.LOG.events(connection, "another") == []
    assert [(one.seq, one.said) for one in found] == [(1, APPROVED), (2, Raised(budget=None))]


def test_what_would_change_nothing_comes_too_late() -> None:
    with pytest.raises(TooLate):
        of_submissions.LOG.must_change(SubmissionState(), Raised(budget=3.0), person="ada")
