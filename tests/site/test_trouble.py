"""Claims about what happens when something goes wrong: a sentence, never a traceback, and the server goes on."""

import asyncio
import logging
import socket
import threading
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from pathlib import Path
from urllib.parse import urlsplit

import httpx2 as httpx
import pytest
from fastapi import APIRouter, Request
from starlette.responses import Response, StreamingResponse

from evenhand.ledger.read.projection import items_of
from evenhand.ledger.store.record import Ledger
from evenhand.site.http.request_guard import begun_in_time
from evenhand.site.http.service import Serving
from tests.database import held, url_in
from tests.site.house import (
    GENEROUS,
    SECONDS,
    House,
    come_in,
    fill,
    form_token,
    links,
    own_token,
    refusal_of,
    served,
    until,
)


def test_an_unexpected_error_is_a_sentence_with_the_security_headers(ledger: Ledger, caplog: pytest.LogCaptureFixture):
    more = APIRouter()

    @more.get("/fails")
    @more.get("/api/fails")
    def fails() -> None:
        raise ZeroDivisionError("inner workings")

    with caplog.at_level(logging.CRITICAL + 1), served(ledger, more=more) as house:
        visitor = house.visitor()
        page, document = visitor.get("/fails"), visitor.get("/api/fails")
        assert visitor.get("/").status_code == 200
    assert (page.status_code, document.status_code) == (500, 500)
    assert "Unexpected error" in page.text
    assert document.json()["code"] == "EH-UNEXPECTED"
    assert "inner workings" not in page.text + document.text
    assert "default-src 'none'" in page.headers["content-security-policy"]


def test_a_ledger_that_another_process_holds_is_told_without_its_place_on_disk(tmp_path: Path):
    ledger = Ledger(url_in(tmp_path), wait_seconds=0.1)
    with closing(ledger), served(ledger) as house:
        visitor, link = house.visitor(), house.link("owner")
        token = form_token(visitor.get(link))
        with held(ledger.url):
            busy = visitor.post(link, data={"csrf": token, "name": ""})
            assert busy.status_code == 503
            assert "locked" not in busy.text
            assert ledger.where not in busy.text
            assert "ledger.db" not in busy.text
            assert visitor.get("/").status_code == 200  # readers do not wait for writers
        assert visitor.post(link, data={"csrf": token, "name": ""}).status_code == 303


def test_a_request_that_never_ends_is_ended(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, seconds=0.3)) as house:

        def logged() -> list[str]:
            with connected(house) as slow:
                slow.sendall(
                    b"POST /leave HTTP/1.1\r\nHost: %s\r\nContent-Length: 100\r\n"
                    b"Content-Type: application/x-www-form-urlencoded\r\n\r\ncsrf="
                    % urlsplit(house.url).netloc.encode()
                )
                assert slow.recv(100).startswith(b"HTTP/1.1 408 ")
            return house.logged()  # nothing where we were held up before we had said anything

        assert until(logged, "a request that begins in time") == ["refused: slow request"]


def connected(house: House) -> socket.socket:
    where = urlsplit(house.url)
    assert where.hostname
    assert where.port
    return socket.create_connection((where.hostname, where.port), timeout=SECONDS)


def everything(connection: socket.socket) -> bytes:
    return b"".join(iter(lambda: connection.recv(1000), b""))


@pytest.mark.parametrize("before", [b"", b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"], ids=["first", "kept alive"])
def test_headers_that_never_end_are_ended_and_logged(ledger: Ledger, before: bytes):
    with served(ledger, limits=replace(GENEROUS, seconds=0.5)) as house:
        tries = 0

        def logged() -> list[str]:
            """Nothing where we were held up before we had said anything, or nothing yet."""
            nonlocal tries
            tries += 1
            with connected(house) as slow, suppress(ConnectionResetError):
                if before:
                    slow.sendall(before)
                    assert slow.recv(12) in (b"HTTP/1.1 200", b"HTTP/1.1 408")
                slow.sendall(b"GET / HTTP/1.1\r\nHost: x\r\nX-Slow: ")
                assert b" 408 Request Timeout" in everything(slow)
            return house.logged()

        found = until(logged, "headers that begin in time")
        assert {*found} == {"refused: slow headers"}
        assert len(found) <= tries
        until(lambda: house.visitor().get("/healthz").status_code == 200, "an answer for somebody who is quicker")


def test_a_connection_that_says_nothing_is_closed_and_nobody_is_blamed(ledger: Ledger):
    with served(ledger, limits=replace(GENEROUS, seconds=0.3)) as house, connected(house) as silent:
        assert everything(silent).startswith(b"HTTP/1.1 408 ")
    assert house.logged() == []


def test_headers_without_end_are_not_kept(ledger: Ledger):
    with served(ledger) as house, connected(house) as talkative:
        talkative.sendall(b"GET / HTTP/1.1\r\nHost: x\r\n")
        with suppress(OSError):  # it may hang up while this is still being sent
            talkative.sendall(b"X-Long: " + b"x" * 200_000)
        with suppress(ConnectionResetError):
            assert everything(talkative).startswith(b"HTTP/1.1 431 ")
        assert house.visitor().get("/").status_code == 200
        assert until(house.logged, "a line of the log") == ["refused: headers too large"]


def test_a_board_that_takes_long_is_announced_and_then_there(ledger: Ledger):
    fill(ledger)
    with served(ledger, limits=replace(GENEROUS, patience=0.0, glance=0.5)) as house:
        visitor = house.visitor()
        page = visitor.get("/")
        assert page.status_code == 202
        assert 'http-equiv="refresh"' in page.text
        assert "The list of boards is being worked out" in page.text
        assert page.headers["retry-after"] == "5"
        while (page := visitor.get("/")).status_code == 202:
            pass
        assert page.status_code == 200
        assert "openai/judge" in page.text
        board = links(page, "/boards/")[0]
        document = visitor.get(f"/api{board}")
        assert document.status_code == 503
        assert "ask again" in document.json()["error"]
        # Each of a view that nobody has asked for yet.
        for path, method, status in ((f"{board}/board.csv", "elo", 503), (board, "win-rate", 202)):
            waiting = visitor.get(path, params={"method": method})
            assert waiting.status_code == status
            assert "This board is being worked out" in waiting.text


def test_words_that_cannot_be_encoded_are_shown_as_far_as_they_can(ledger: Ledger):
    data = fill(ledger, sample=True)
    asked = {"item": items_of(ledger, data)[0].digest, "a": "amber", "b": "=cmd()"}
    with served(ledger) as house:
        visitor = house.visitor()
        board = visitor.get("/api/boards").json()["boards"][0]["board"]
        assert "half ? a pair" in visitor.get(f"/boards/{board}/battle", params=asked).text
        document = visitor.get(f"/api/boards/{board}/battle", params=asked).json()
        assert "half \ud83d a pair" in document["answers"][0]["response"]


def test_a_name_with_a_character_that_nobody_sees_is_refused_in_a_sentence(house: House):
    owner, link = house.visitor(), house.link("owner")
    refused = come_in(owner, link, "Ada \x00")
    assert refusal_of(refused, "character") == (422, "EH-INVALID")
    assert come_in(owner, link, "Ada").status_code == 303


@pytest.mark.parametrize(
    ("content", "words"),
    [(b"", "the request"), (b"{", "JSON"), (b'{"role": "god"}', "role"), (b'{"role": "team", "uses": 1e9}', "uses")],
)
def test_a_document_that_does_not_fit_is_told_in_a_sentence(house: House, content: bytes, words: str):
    owner = house.signed_in("owner")
    headers = {"X-CSRF-Token": own_token(owner), "Content-Type": "application/json"}
    refused = owner.post("/api/invitations", content=content, headers=headers)
    assert refused.status_code == 422
    assert words.lower() in refused.json()["error"].lower()


@pytest.mark.slow
def test_a_download_that_has_begun_may_take_longer_than_a_request(ledger: Ledger):
    more, over = APIRouter(), threading.Event()

    async def slowly() -> AsyncIterator[bytes]:
        yield b"begun "
        await asyncio.to_thread(over.wait, SECONDS)
        yield b"done"

    @more.get("/download")
    def download(request: Request) -> Response:
        begun_in_time(request)
        return StreamingResponse(slowly())

    @more.get("/page")
    def page() -> Response:
        return StreamingResponse(slowly())

    @more.get("/late")
    async def late(request: Request) -> Response:
        begun_in_time(request)
        await asyncio.sleep(2 * SECONDS)
        return Response()

    with served(ledger, limits=replace(GENEROUS, seconds=2.0), more=more) as house, ExitStack() as leaving:
        visitor = house.visitor()

        def begun(path: str) -> httpx.Response | None:
            """Unless we were held up for so long that it did not begin in time."""
            answer = leaving.enter_context(house.visitor().stream("GET", path))
            return answer if answer.status_code == 200 else None

        download_begun = until(lambda: begun("/download"), "a download that begins in time")
        page_begun = until(lambda: begun("/page"), "a page that begins in time")
        # Which ends when a request that began after them has taken too long.
        until(lambda: visitor.get("/late").status_code == 503, "a request that is ended as it takes too long")
        over.set()
        assert download_begun.read() == b"begun done"
        with pytest.raises(httpx.RemoteProtocolError):
            page_begun.read()


def test_what_takes_long_leaves_the_pages_their_threads(ledger: Ledger):
    more, begun, go = APIRouter(), threading.Semaphore(0), threading.Event()

    def work() -> bool:
        begun.release()
        return go.wait(timeout=SECONDS)

    @more.get("/long")
    async def long(serving: Serving) -> Response:
        assert await serving.at_length(work)
        return Response()

    with served(ledger, more=more) as house, ThreadPoolExecutor(50) as pool:
        answers = [pool.submit(house.visitor().get, "/long") for _ in range(50)]
        for _ in range(2):
            assert begun.acquire(timeout=SECONDS)
        page = house.visitor().get("/")
        go.set()
        assert page.status_code == 200
        assert {answer.result().status_code for answer in answers} == {200}
