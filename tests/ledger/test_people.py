"""Claims about people and what lets them in: tokens are shown once, names can go, the record stays."""

import threading
import time
from contextlib import closing
from pathlib import Path

import pytest
from sqlalchemy import select, update

from evenhand.ledger.read.newest import newest
from evenhand.ledger.read.public_benchmarks import close_benchmark, open_benchmark, opened_benchmarks
from evenhand.ledger.store import schema
from evenhand.ledger.store.record import Ledger
from evenhand.site.accounts.store import (
    IDLE_SECONDS,
    SESSION_SECONDS,
    AccessKind,
    InvitationRefused,
    Invite,
    Person,
    Role,
    access_keys,
    end_access,
    erase_name,
    find_invitation,
    find_person,
    grant_token,
    hashed,
    invitations,
    invite,
    join,
    people,
    revoke_invitation,
    signed_in_with,
)
from evenhand.site.http.audit_log import LogEvent, events, write_down
from tests.database import ON_POSTGRESQL, rows_in, url_in
from tests.ledger import scene


def came_in(ledger: Ledger, name: str = "Ada") -> Person:
    return join(ledger, invite(ledger, Invite(role="annotator", note=f"for {name}")).token, name).person


def person_of(ledger: Ledger, token: str, *, kind: AccessKind) -> Person | None:
    found = signed_in_with(ledger, token, kind=kind)
    return None if found is None else found.person


def refused(ledger: Ledger, token: str) -> str:
    with pytest.raises(InvitationRefused) as caught:
        find_invitation(ledger, token)
    with pytest.raises(InvitationRefused):
        join(ledger, token, "Eve")
    return caught.value.fault


def test_an_invitation_for_one_lets_one_in_of_two_that_come_to_two_servers(tmp_path: Path):
    url, came = url_in(tmp_path), list[str]()
    with closing(Ledger(url, in_turn=True)) as here, closing(Ledger(url, in_turn=True)) as there:
        token = invite(here, Invite(role="annotator")).token

        def come() -> None:
            try:
                came.append(join(there, token, "Bob").person.name)
            except InvitationRefused as error:
                came.append(error.fault)

        other = threading.Thread(target=come)
        with here.writing():
            join(here, token, "Ada")
            other.start()
            waiting(tmp_path)
        other.join()
        assert came == ["used up"]
        assert [one.name for one in people(here)] == ["Ada"]


def waiting(folder: Path) -> None:
    """Until somebody waits for a lock, where the database can tell."""
    query = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    while ON_POSTGRESQL and not rows_in(folder, query)[0][0]:
        time.sleep(0.01)


def test_an_invitation_lets_in_as_many_as_it_says(ledger: Ledger):
    granted = invite(ledger, Invite(role="team", uses=2))
    for name in ("Ada", "Grace"):
        assert join(ledger, granted.token, name).person.role == "team"
    assert refused(ledger, granted.token) == "used up"
    assert [person.name for person in people(ledger)] == ["Ada", "Grace"]


def test_of_many_who_use_one_invitation_at_once_one_comes_in(ledger: Ledger):
    token = invite(ledger, Invite(role="annotator")).token
    came: list[str] = []

    def try_it(name: str) -> None:
        try:
            join(ledger, token, name)
            came.append(name)
        except InvitationRefused:
            pass

    threads = [threading.Thread(target=try_it, args=(str(n),)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(came) == 1
    assert [person.name for person in people(ledger)] == came


def test_each_fault_of_an_invitation_is_named(ledger: Ledger):
    expired, revoked = invite(ledger, Invite(role="owner", lasts=0.0)), invite(ledger, Invite(role="owner"))
    assert revoke_invitation(ledger, revoked.id)
    assert not revoke_invitation(ledger, revoked.id)
    assert not revoke_invitation(ledger, "none")
    assert refused(ledger, expired.token) == "expired"
    assert refused(ledger, revoked.token) == "revoked"
    assert refused(ledger, "\ud800") == "unknown"
    assert refused(ledger, hashed(revoked.token)) == "unknown"  # what is stored opens nothing
    assert not people(ledger)


def test_a_grant_does_not_show_its_token_when_printed(ledger: Ledger):
    granted = invite(ledger, Invite(role="owner"))
    assert granted.token not in repr(granted)


def test_sessions_and_tokens_are_not_taken_for_each_other(ledger: Ledger):
    joined = join(ledger, invite(ledger, Invite(role="owner")).token, "Ada")
    token = grant_token(ledger, joined.person.id, note="script").token
    assert person_of(ledger, token, kind="token") == joined.person
    assert person_of(ledger, joined.key.token, kind="session") == joined.person
    assert person_of(ledger, token, kind="session") is None
    assert person_of(ledger, joined.key.token, kind="token") is None


def test_access_ends_one_by_one_by_time_or_all_at_once(ledger: Ledger):
    ada, grace = came_in(ledger), came_in(ledger, "Grace")
    one, other = (grant_token(ledger, ada.id, note=note) for note in ("one", "other"))
    theirs = grant_token(ledger, grace.id, note="theirs").token
    over = grant_token(ledger, ada.id, note="over", lasts=0.0).token
    assert person_of(ledger, over, kind="token") is None
    assert {key.note for key in access_keys(ledger, ada.id) if key.kind == "token"} == {"one", "other"}
    assert end_access(ledger, person=grace.id, key=one.id) == 0
    assert end_access(ledger, person=ada.id, key=one.id) == 1
    assert person_of(ledger, one.token, kind="token") is None
    assert end_access(ledger, person=ada.id, token=other.token) == 1
    assert end_access(ledger, person=ada.id) == 2  # the session, and the token whose time is over
    assert person_of(ledger, theirs, kind="token") == grace


@pytest.mark.sqlite("of the bytes of a file")
def test_an_erased_name_is_in_no_byte_of_the_file(tmp_path: Path):
    """Where SQLite is built so as to leave what was deleted; many builds are."""
    with closing(Ledger(url_in(tmp_path))) as ledger:
        person = came_in(ledger, "Wilhelmina " * 6)
        assert b"elmina" in b"".join(file.read_bytes() for file in tmp_path.glob("ledger.db*"))
        erase_name(ledger, person.id)
    assert b"elmina" not in b"".join(file.read_bytes() for file in tmp_path.glob("ledger.db*"))


def test_an_erased_name_is_nowhere_and_the_label_stays(ledger: Ledger):
    ada, grace = came_in(ledger), came_in(ledger, "Grace")
    back = invite(ledger, Invite(role="annotator", note="Ada again", person=ada.id)).token
    token = grant_token(ledger, ada.id, note="Ada's").token
    assert erase_name(ledger, ada.id)
    assert not erase_name(ledger, "none")
    found = find_person(ledger, ada.id)
    assert found is not None
    assert (found.name, found.erased, found.rater, found.shown) == ("", True, ada.rater, ada.label)
    assert refused(ledger, back) == "revoked"
    assert person_of(ledger, token, kind="token") is None
    with ledger.reading() as connection:
        written = [
            str(row)
            for table in (schema.people, schema.invitations, schema.access_keys, schema.audit_log)
            for row in connection.execute(select(table))
        ]
    assert not any("Ada" in row for row in written)
    assert find_person(ledger, grace.id) == grace
    assert {one.note for one in invitations(ledger)} == {"", "for Grace"}


def test_a_person_comes_back_as_themselves(ledger: Ledger):
    ada = came_in(ledger)
    link = invite(ledger, Invite(role="annotator", person=ada.id))
    assert join(ledger, link.token, "Somebody else").person == ada
    assert people(ledger) == [ada]


def test_the_log_is_read_backwards_in_pages(ledger: Ledger):
    write_down(ledger, *(LogEvent(what=f"event {n}", detail="x" * 2000) for n in range(5)))
    first = events(ledger, most=2)
    assert [one.what for one in first] == ["event 4", "event 3"]
    assert [one.what for one in events(ledger, before=first[-1].seq)] == ["event 2", "event 1", "event 0"]
    assert len(first[0].detail) == 500
    assert first[0].at > 0


def test_a_benchmark_is_opened_and_closed(ledger: Ledger):
    open_benchmark(ledger, "abc", by=None)
    open_benchmark(ledger, "abc", by="again")
    open_benchmark(ledger, "def", by=None)
    assert opened_benchmarks(ledger) == {"abc", "def"}
    close_benchmark(ledger, "abc")
    assert opened_benchmarks(ledger) == {"def"}


def test_what_is_newest_changes_with_judgements_answers_and_studies(ledger: Ledger):
    states = [newest(ledger)]
    scene.set_up(ledger)
    states.append(newest(ledger))
    scene.record(ledger, scene.TRIALS[:1], [scene.prefers(scene.TRIALS[0], 1)])
    states.append(newest(ledger))
    assert states[0].judgement == 0
    assert len(set(states)) == 3
    assert newest(ledger) == states[-1]


def aged(ledger: Ledger, *, since: float, unused: float, role: str) -> None:
    """As if all had come in `since` seconds ago, and had been here last `unused` seconds ago."""
    keys = schema.access_keys
    ends = min(SESSION_SECONDS - since, IDLE_SECONDS[role] - unused)
    with ledger.writing() as connection:
        connection.execute(update(keys).values(at=time.time() - since, expires=time.time() + ends))


@pytest.mark.parametrize(("role", "hours"), [("owner", 12), ("annotator", 7 * 24), ("team", 7 * 24)])
def test_a_session_that_is_not_used_ends_and_one_that_is_used_lasts_for_thirty_days(
    ledger: Ledger, role: Role, hours: int
):
    day, hour = 86_400.0, 3_600.0
    session = join(ledger, invite(ledger, Invite(role=role, note="Birds")).token, "Birds").key.token
    aged(ledger, since=5 * day, unused=hours * hour - 60, role=role)
    assert person_of(ledger, session, kind="session") is not None
    (key,) = access_keys(ledger, people(ledger)[0].id)
    assert key.expires == pytest.approx(time.time() + hours * hour, abs=60)
    aged(ledger, since=5 * day, unused=hours * hour + 60, role=role)
    assert person_of(ledger, session, kind="session") is None
    aged(ledger, since=30 * day - 60, unused=0, role=role)
    assert person_of(ledger, session, kind="session") is not None
    aged(ledger, since=30 * day + 60, unused=0, role=role)
    assert person_of(ledger, session, kind="session") is None


def test_a_session_of_an_older_version_ends_as_one_of_this(ledger: Ledger):
    session = join(ledger, invite(ledger, Invite(role="owner")).token, "Ada").key.token
    with ledger.writing() as connection:
        connection.execute(update(schema.access_keys).values(expires=time.time() + SESSION_SECONDS))
    assert person_of(ledger, session, kind="session") is not None
    (key,) = access_keys(ledger, people(ledger)[0].id)
    assert key.expires == pytest.approx(time.time() + IDLE_SECONDS["owner"], abs=60)
