"""Claims about what strangers try at the door and on the public pages: each attempt is refused and written down."""

import socket
from urllib.parse import urlsplit

import pytest

from evenhand.ledger.audit_log import events
from evenhand.ledger.record import Ledger
from evenhand.web.pages import Pages
from evenhand.web.paper import Cell, Paper, PaperTable, Row
from evenhand.web.site import Limits, site_at
from tests.web.house import SCRIPT, House, come_in, form_token, served


def spoken(house: House, words: bytes) -> bytes:
    """All that a connection answers to these bytes until it ends."""
    where = urlsplit(house.url)
    assert where.hostname
    assert where.port
    with socket.create_connection((where.hostname, where.port), timeout=60) as connection:
        connection.sendall(words.replace(b"HERE", where.netloc.encode()))
        return b"".join(iter(lambda: connection.recv(4096), b""))


def test_guessed_tokens_of_scripts_are_counted_and_then_nothing_is_answered(ledger: Ledger):
    with served(ledger, limits=Limits(guesses_per_minute=4)) as house:
        statuses = [house.visitor(authorization=f"Bearer guess-{n}").get("/api/me").status_code for n in range(7)]
        assert statuses == [401] * 4 + [429] * 3
        assert house.logged().count("refused: not signed in") == 4
        assert "refused: too many refused requests" not in house.logged()


def test_guessed_sessions_are_counted_too(ledger: Ledger):
    with served(ledger, limits=Limits(guesses_per_minute=4)) as house:
        statuses = [house.visitor(cookie=f"evenhand=guess-{n}").get("/account").status_code for n in range(6)]
        assert statuses == [401] * 4 + [429] * 2
        assert house.logged().count("refused: not signed in") == 4


def test_a_form_kept_from_a_session_that_ended_is_refused_and_logged(house: House):
    visitor = house.visitor()
    come_in(visitor, house.link("annotator"))
    token, session = form_token(visitor.get("/account")), visitor.cookies["evenhand"]
    assert visitor.post("/leave", data={"csrf": token}).status_code == 303
    replayed = house.visitor(cookie=f"evenhand={session}").post("/account/tokens", data={"csrf": token, "note": "x"})
    assert replayed.status_code == 403
    assert house.logged()[0] == "refused: form token"


def test_an_invitation_sent_twice_makes_one_person(house: House):
    link = house.link("annotator")
    visitor = house.visitor()
    fields = {"csrf": form_token(visitor.get(link)), "name": "Ada"}
    assert visitor.post(link, data=fields).status_code == 303
    assert visitor.post(link, data=fields).status_code in (403, 410)
    assert house.logged()[0].startswith("refused: ")
    assert house.logged().count("joined") == 1


@pytest.mark.parametrize(
    "asked",
    [
        b"GET / HTTP/1.1\r\nHost: HERE\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: evil.example\r\nHost: HERE\r\n\r\n",
        b"GET http://evil.example/ HTTP/1.1\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: HERE.evil.example\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: evil.example@HERE\r\n\r\n",
        b"GET / HTTP/1.1\r\nX-Forwarded-Host: HERE\r\nHost: evil.example\r\n\r\n",
        b"GET / HTTP/1.0\r\n\r\n",
    ],
)
def test_a_host_that_is_not_ours_is_refused_and_logged(house: House, asked: bytes):
    assert spoken(house, asked).startswith(b"HTTP/1.1 421 ")
    assert house.logged() == ["refused: host"]


@pytest.mark.parametrize(
    "asked",
    [
        b"POST /leave HTTP/1.1\r\nHost: HERE\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /leave HTTP/1.1\r\nHost: HERE\r\nContent-Length: 4\r\nContent-Length: 40\r\n\r\nabcd",
        b"POST /leave HTTP/1.1\r\nHost: HERE\r\nContent-Length: -4\r\n\r\nabcd",
        b"POST /leave HTTP/1.1\r\nHost: HERE\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabcd",
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(40),
        b"GET /\xff\xfe HTTP/1.1\r\nHost: HERE\r\n\r\n",
    ],
)
def test_a_request_with_two_ends_or_none_is_not_let_in(house: House, asked: bytes):
    """So that nobody smuggles a second request past a proxy inside the first."""
    hidden = b"GET /api/boards HTTP/1.1\r\nHost: HERE\r\nConnection: close\r\n\r\n"
    answer = spoken(house, asked + hidden)
    assert answer.startswith(b"HTTP/1.1 4"), answer
    assert b"boards" not in answer
    assert house.visitor().get("/").status_code == 200
    assert "refused: malformed request" in house.logged()


def test_what_is_written_down_of_an_attack_is_bounded(house: House):
    house.visitor().get("/images/" + "x" * 20_000)
    (event,) = events(house.ledger)
    assert len(event.detail) < 2000


def test_names_in_a_papers_tables_are_text():
    row = Row(model=SCRIPT, rank=1, cells=(Cell(words=SCRIPT, interval=SCRIPT),))
    paper = Paper(title=SCRIPT, tables=(PaperTable(caption=SCRIPT, headings=(SCRIPT,), rows=(row,)),), notes=(SCRIPT,))
    pages = Pages(site_at("127.0.0.1", 80))
    shown = pages.fragment("paper.html", {"papers": [paper], "on": _On(), "names": {}})
    assert SCRIPT not in shown
    assert shown.count("&lt;script&gt;") == 7


class _On:
    id, protocol, study_query = "board", "visit_pairwise", ""
