"""Claims about what strangers try at the door and on the public pages: each attempt is refused and written down."""

import socket
from contextlib import suppress
from dataclasses import replace
from urllib.parse import urlsplit

import pytest

from evenhand.ledger.store.record import Ledger
from evenhand.reports.papers.paper import PaperCell, PaperPage, PaperRow, PaperTable
from evenhand.site.http.audit_log import events
from evenhand.site.http.pages import Pages
from evenhand.site.http.rate_limits import RateLimits
from evenhand.site.http.refusal import Refusal
from evenhand.site.http.settings import VisitorLimits, site_at
from evenhand.site.http.visitor import Visitor
from tests.site.house import (
    GENEROUS,
    SCRIPT,
    SECONDS,
    House,
    come_in,
    form_token,
    served,
    standing_still,
    until,
)


def spoken(house: House, words: bytes) -> bytes:
    """All that a connection answers to these bytes until it ends."""
    where = urlsplit(house.url)
    assert where.hostname
    assert where.port
    said = list[bytes]()
    # Reset where it is ended before all of the words were read.
    with (
        socket.create_connection((where.hostname, where.port), timeout=SECONDS) as connection,
        suppress(ConnectionResetError),
    ):
        with suppress(BrokenPipeError, ConnectionResetError):
            connection.sendall(words.replace(b"HERE", where.netloc.encode()))
        said.extend(iter(lambda: connection.recv(4096), b""))
    return b"".join(said)


def test_guessed_tokens_of_scripts_are_counted_and_then_nothing_is_answered(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, guesses_per_minute=4, clock=standing_still)) as house:
        statuses = [house.visitor(authorization=f"Bearer guess-{n}").get("/api/me").status_code for n in range(7)]
        assert statuses == [401] * 4 + [429] * 3
        assert house.logged().count("refused: not signed in") == 4
        assert house.logged().count("locked out: too many refused requests") == 1
        assert len(house.logged()) == 5


class Hand:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


async def turned_away(watch: RateLimits, visitor: Visitor, times: int) -> None:
    for _ in range(times):
        with pytest.raises(Refusal, match="refused"):
            await watch.admit(visitor)


def written(ledger: Ledger) -> list[tuple[str, str]]:
    """The first first."""
    return [(event.what, event.detail) for event in reversed(events(ledger, most=1000))]


async def test_a_lock_out_is_one_line_when_it_begins_and_one_when_it_is_over(ledger: Ledger):
    clock, visitor = Hand(), Visitor(address="203.0.113.7")
    watch = RateLimits(ledger, VisitorLimits(guesses_per_minute=4, clock=clock))
    for number in range(4):
        await watch.admit(visitor)
        await watch.attacked(visitor, "refused: guess", f"{number}")
    guesses = [("refused: guess", f"{number}") for number in range(4)]
    begins = ("locked out: too many refused requests", "for 15 s at least")
    assert written(ledger) == [*guesses, begins]
    await turned_away(watch, visitor, 37)
    await watch.admit(visitor, harmless=True)
    await watch.admit(Visitor(address="203.0.113.8"))  # somebody else
    clock.now = 16.0
    await watch.admit(visitor)  # there is one to take again, and the lock-out not over yet
    assert written(ledger) == [*guesses, begins]
    clock.now = 31.0
    await watch.admit(visitor)
    await watch.admit(visitor)
    over = ("refused: while locked out", "37 requests")
    assert written(ledger) == [*guesses, begins, over]
    for number in range(4, 6):
        await watch.attacked(visitor, "refused: guess", f"{number}")
    assert written(ledger)[6:] == [("refused: guess", "4"), ("refused: guess", "5"), begins]


async def test_whoever_goes_on_guessing_through_a_lock_out_has_one_line_a_guess_that_tells_how_many_were_turned_away(
    ledger: Ledger,
):
    clock, visitor = Hand(), Visitor(address="203.0.113.7")
    watch = RateLimits(ledger, VisitorLimits(guesses_per_minute=4, clock=clock))
    for _ in range(4):
        await watch.attacked(visitor, "refused: guess", "")
    await watch.attacked(visitor, "refused: guess", "under way with the last")
    before = written(ledger)
    assert len(before) == 5
    for number in range(1, 6):
        await turned_away(watch, visitor, 99)
        clock.now = 15.5 * number
        await watch.admit(visitor)
        await watch.attacked(visitor, "refused: guess", "host")
    told = "host; {} requests turned away before".format
    assert written(ledger)[5:] == [("refused: guess", told(100)), *[("refused: guess", told(99))] * 4]
    await turned_away(watch, visitor, 1)
    clock.now += 15.5
    await watch.attacked(visitor, "refused: guess", "")
    assert written(ledger)[-1] == ("refused: guess", "1 request turned away before")


def test_guessed_sessions_are_counted_too(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, guesses_per_minute=4, clock=standing_still)) as house:
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
    until(lambda: "refused: malformed request" in house.logged(), "a line of the log that tells it")


@pytest.mark.parametrize(
    ("status", "asked"),
    [
        (b"400 Bad Request", b"GET / HTTP/9\r\n\r\n"),
        (b"431 Request Header Fields Too Large", b"GET / HTTP/1.1\r\nX: " + b"x" * 70_000),
        (b"408 Request Timeout", b"GET / HTTP/1.1\r\nHost: HERE\r\n"),
        (b"408 Request Timeout", b""),
    ],
)
def test_an_answer_to_what_is_no_request_carries_the_security_headers_too(ledger: Ledger, status: bytes, asked: bytes):
    public = "https://board.example.org"
    # Who sends something that is refused at once is not to be too slow, however long they are held up.
    limits = replace(GENEROUS, seconds=0.5) if status.startswith(b"408") else GENEROUS
    with served(ledger, limits=limits, public_url=public) as house:
        head, _, body = spoken(house, asked).partition(b"\r\n\r\n")
    with served(ledger, public_url=public) as house:
        secured = {name.encode(): value.encode() for name, value in passing_headers(house).items()}
    first, *lines = head.split(b"\r\n")
    assert first == b"HTTP/1.1 " + status
    headers = dict(line.split(b": ", 1) for line in lines)
    assert len(headers) == len(lines)  # each once
    assert b"strict-transport-security" in headers
    assert secured.items() <= headers.items()
    assert (headers[b"connection"], int(headers[b"content-length"])) == (b"close", len(body))
    assert b"date" in headers


def passing_headers(house: House) -> dict[str, str]:
    """Those of any other refusal that tell a browser what it may do."""
    answer = house.visitor(host="elsewhere.example").get("/")
    assert answer.status_code == 421
    own = ("content-length", "content-type", "connection", "date")
    return {name: value for name, value in answer.headers.items() if name not in own}


def test_what_is_written_down_of_an_attack_is_bounded(house: House):
    house.visitor().get("/images/" + "x" * 20_000)
    (event,) = events(house.ledger)
    assert len(event.detail) < 2000


def test_names_in_a_papers_tables_are_text():
    row = PaperRow(model=SCRIPT, rank=1, cells=(PaperCell(words=SCRIPT, interval=SCRIPT),))
    table = PaperTable(caption=SCRIPT, headings=(SCRIPT,), rows=(row,), rows_of=SCRIPT, ranked_by=SCRIPT)
    paper = PaperPage(title=SCRIPT, tables=(table,), notes=(SCRIPT,))
    pages = Pages(site_at("127.0.0.1", 80))
    shown = pages.fragment("paper.html", {"papers": [paper], "on": _On(), "names": {}})
    assert SCRIPT not in shown
    assert shown.count("&lt;script&gt;") == 9


class _On:
    id, protocol, study_query = "board", "visit_pairwise", ""
