"""A small server on loopback that takes submissions as Evenhand's own does: the same paths, bodies and words."""

import asyncio
import hashlib
import json
import threading
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from evenhand.benchmarks.answers.checked import Checked
from evenhand.benchmarks.answers.submitted import check_submitted
from evenhand.domain.item import Benchmark, Item
from tests.warm import LONG

TOKEN = "tok-5EcReT-of-team-zero"
POLICY = "Do not train on this data.\nAsk before you share it. ☂"
BENCHMARK = Benchmark(
    name="visit-bench",
    items=tuple(Item(label=label, instruction=f"What is {label}?") for label in ("dog", "cat")),
    licence="",
    citation="",
    protocols=(),
)
RECEIPT = b'{"schema": 1, "receipt": "caf\xc3\xa9"}\n'
BATTLES = b'{"item": "dog"}\n{"item": "cat"}\n'


@dataclass
class Office:
    """What the server holds, and what it was asked."""

    url: str = ""
    intakes: list[dict[str, Any]] = field(default_factory=lambda: [intake("i1")])
    submission: dict[str, Any] | None = None
    checked: Checked | None = None
    uploaded: bytes = b""
    asked: list[str] = field(default_factory=list[str])
    """Method and path with its query."""
    bodies: list[Any] = field(default_factory=list[Any])
    """The JSON that came."""
    tokens: set[str | None] = field(default_factory=set[str | None])
    stages: list[dict[str, Any] | None] = field(default_factory=list[dict[str, Any] | None])
    """What the next looks at the submission find, one after the other, None being trouble; the last stays."""
    canned: web.Response | None = None
    """Answers everything where it is set."""
    files: bool = True
    """Whether receipts and battles can be had."""


def intake(name: str, *, benchmark: str = "visit-bench", takes: bool = True, policy: str = POLICY) -> dict[str, Any]:
    return {
        "intake": name,
        "benchmark": benchmark,
        "title": f"{benchmark}, judged by gpt-4o",
        "open": takes,
        "items": 2,
        "policy": policy,
        "policy_hash": hashlib.sha256(POLICY.encode()).hexdigest(),
        "per_team": 3,
        "days": 30,
    }


@contextmanager
def open_office() -> Generator[Office]:
    office = Office()
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    def there(coroutine: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(coroutine, loop).result(timeout=LONG)

    runner = web.AppRunner(_app(office))
    there(_begun(runner))
    office.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield office
    finally:
        there(runner.cleanup())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _begun(runner: web.AppRunner) -> None:
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()


def _app(office: Office) -> web.Application:
    @web.middleware
    async def heard(request: web.Request, handler: Any) -> web.StreamResponse:
        office.asked.append(f"{request.method} {request.raw_path}")
        office.tokens.add(request.headers.get("Authorization"))
        if request.content_type == "application/json":
            office.bodies.append(await request.json())
        if office.canned is not None:
            canned, office.canned = office.canned, None
            return canned
        known = request.headers.get("Authorization") == f"Bearer {TOKEN}"
        if not known and request.path != "/api/submit":  # which everybody may read
            return _refused(401, "Sign in, or send a token.")
        return await handler(request)

    app = web.Application(middlewares=[heard], client_max_size=100 * 2**20)
    counter = _Counter(office)
    app.router.add_get("/api/submit", counter.list)
    app.router.add_post("/api/submit/{intake}", counter.begin)
    app.router.add_get("/api/submissions", counter.mine)
    app.router.add_put("/api/submissions/{id}/file", counter.upload)
    app.router.add_post("/api/submissions/{id}/confirm", counter.confirm)
    app.router.add_get("/api/submissions/{id}", counter.status)
    app.router.add_get("/api/submissions/{id}/receipt", counter.receipt)
    app.router.add_get("/api/submissions/{id}/battles", counter.battles)
    app.router.add_post("/api/submissions/{id}/publish", counter.publish)
    app.router.add_post("/api/submissions/{id}/withdraw", counter.withdraw)
    return app


def _refused(status: int, sentence: str) -> web.Response:
    return _json({"schema": 1, "error": sentence}, status)


def _json(document: dict[str, Any], status: int = 200) -> web.Response:
    return web.Response(body=json.dumps(document).encode(), status=status, content_type="application/json")


class _Counter:
    def __init__(self, office: Office) -> None:
        self.office = office

    async def list(self, _: web.Request) -> web.Response:
        return _json({"schema": 1, "intakes": self.office.intakes})

    async def mine(self, _: web.Request) -> web.Response:
        return _json({"schema": 1, "submissions": []})

    async def begin(self, request: web.Request) -> web.Response:
        assert request.match_info["intake"] in {one["intake"] for one in self.office.intakes}
        said = await request.json()
        if said["policy_hash"] != hashlib.sha256(POLICY.encode()).hexdigest():
            return _refused(409, "The policy that was accepted is not the one that stands here now.")
        self.office.submission = {"submission": "5ab1", "stage": "draft", **said}
        return _json({"schema": 1, **self.office.submission}, 201)

    async def upload(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        assert request.content_type == "application/octet-stream"
        data = self.office.uploaded = await request.read()
        found = self.office.checked = check_submitted(
            data, request.query["name"], BENCHMARK, label="submission-5ab1", missing_allowed=0
        )
        assert self.office.submission is not None
        self.office.submission["upload"] = {
            "upload": 7,
            "faults": found.faults,
            "sha256": hashlib.sha256(data).hexdigest(),
        }
        return _json({"schema": 1, "submission": "5ab1", "upload": 7, "faults": found.faults, "check": found.as_json()})

    async def confirm(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        if self.office.checked is None or self.office.checked.faults or (await request.json()) != {"upload": 7}:
            return _refused(409, "This file has faults; correct them, and upload it again.")
        return self._stage("confirmed")

    async def status(self, request: web.Request) -> web.Response:
        if (refusal := self._refusal(request)) is not None:
            return refusal
        assert self.office.submission is not None
        if self.office.stages:
            found = self.office.stages[0] if len(self.office.stages) == 1 else self.office.stages.pop(0)
            if found is None:
                return web.Response(status=503, text="<html>busy</html>", content_type="text/html")
            self.office.submission |= found
        return _json({"schema": 1, **self.office.submission})

    async def receipt(self, request: web.Request) -> web.Response:
        return self._file(request, web.Response(body=RECEIPT, content_type="application/json"))

    async def battles(self, request: web.Request) -> web.Response:
        return self._file(request, web.Response(body=BATTLES, content_type="application/jsonl"))

    def _file(self, request: web.Request, file: web.Response) -> web.Response:
        gone = None if self.office.files else _refused(409, "There is none at this moment.")
        return self._refusal(request) or gone or file

    async def publish(self, request: web.Request) -> web.Response:
        return self._refusal(request) or self._stage("judged", published=True)

    async def withdraw(self, request: web.Request) -> web.Response:
        return self._refusal(request) or self._stage("withdrawn")

    def _refusal(self, request: web.Request) -> web.Response | None:
        known = self.office.submission is not None and request.match_info["id"] == "5ab1"
        return None if known else _refused(404, "There is no such submission of yours.")

    def _stage(self, stage: str, **more: Any) -> web.Response:
        assert self.office.submission is not None
        self.office.submission |= {"stage": stage, "place": None, **more}
        return _json({"schema": 1, **self.office.submission})
