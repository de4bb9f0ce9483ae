"""A scripted server that takes batches too, over real HTTP: OpenAI's files and batches, Anthropic's message batches,
Mistral's batch jobs. Shapes are those that the providers document.

`async with BatchServer(script, batching=Batching(...)) as server: ...`; what a test wants to happen at a moment it says
by `server.at["created"] = ...`, a function that is called with the number of times that moment has come.
"""

import asyncio
import hashlib
import re
import time
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, Literal, TypeAlias
from urllib.parse import parse_qs

import orjson
from aiohttp import web

from tests.scripted_server import Script, ScriptedServer

Wire: TypeAlias = Literal["openai", "anthropic", "mistral"]
EntryFault: TypeAlias = Literal["expired", "cancelled", "500", "400", "missing", "twice", "garbled", "html", "huge"]
Faulty: TypeAlias = Callable[[str, int], EntryFault | None]
"""By an entry's custom_id, and how often it has come before."""
Moment: TypeAlias = Literal[
    "uploading", "uploaded", "creating", "created", "polled", "listed", "importing", "imported"
]  # fmt: skip
_PAGE = 20
_HUGE = 33 * 2**20
"""Bytes: a longer result than is read."""


class Refusal(Exception):
    """What a function of `server.at` raises so that the server answers with this status and nothing more."""

    def __init__(self, status: int, *, wait: float | None = None) -> None:
        """`wait`: seconds that it asks for."""
        super().__init__(status)
        self.status = status
        self.headers = {} if wait is None else {"Retry-After": f"{wait:g}"}


def faultless(_id: str, _before: int) -> EntryFault | None:
    return None


@dataclass(frozen=True, kw_only=True)
class Batching:
    """How batches go."""

    wire: Wire = "openai"
    polls: int = 1
    """A batch has ended when it is asked for so many times."""
    fault: Faulty = faultless
    backwards: bool = False
    """Results come in the other order."""
    strangers: int = 0
    """Results of entries that nobody sent, before the others."""
    most: int = 50_000
    """A batch of more requests is refused: when it is created, or (`late`) when it is checked."""
    late: bool = False
    metadata: bool = True
    """Whether a batch keeps what is said of it."""
    ends: str = "completed"
    models: frozenset[str] = frozenset()
    """Where given, a batch for any other is refused whole."""
    padding: int = 0
    """Bytes that every result is longer by."""
    offered: bool = True
    short: int = 0
    """So many times a file of results ends after half of its entries' lines, as if that were all."""
    mixed: bool = False
    """Results of other batches stand before the batch's own, each with the words that one has."""
    ahead: float = 0.0
    """Seconds that its clock is ahead of ours."""
    pages_repeat: bool = False
    """Every page of the list is the first, and says that there are more."""
    files_late: int = 0
    """Its files of results are named when a batch that has ended was asked for so many times more."""
    hides: bool = False
    """The list holds nothing."""
    misnamed: bool = False
    """Whoever asks for a batch is told another's name."""
    counts: bool = True
    """Whether it says how many requests a batch has."""
    enqueued: int | None = None
    """Entries that may wait in all batches together: one that would make it more is refused when it is checked."""
    cache_written: int = 0
    """Of the tokens of each prompt, those put into a cache."""
    oldest_first: bool = False
    """The order of the list."""
    tardy: bool = False
    """The connection of the first creation ends, and it goes on only when `server.go_on` is set."""
    deletion: int = 200
    """The status of one of a file; with any other nothing is deleted."""
    cut: frozenset[Moment] = frozenset()
    """The first answer at such a moment is never heard: the connection ends after the work is done."""


@dataclass(kw_only=True)
class Made:
    """A batch on the server."""

    id: str
    entries: list[dict[str, Any]]
    document: dict[str, Any]
    faults: dict[str, EntryFault | None]
    polls: int = 0
    at: float = field(default_factory=time.time)


class BatchServer(ScriptedServer):
    def __init__(self, script: Script | None = None, *, batching: Batching | None = None, port: int = 0) -> None:
        super().__init__(script, port=port)
        self.batching = batching or Batching()
        self.files: dict[str, bytes] = {}
        self.batches: list[Made] = []
        self.came: Counter[str] = Counter()
        """Entries of batches that were made, by custom_id: a second one was paid for again, unless it failed before."""
        self.paid: Counter[str] = Counter()
        """Entries that are answered, by custom_id: a second one is paid for in vain."""
        self.moments: Counter[Moment] = Counter()
        self.at: dict[Moment, Callable[[int], Awaitable[None] | None]] = {}
        self.headers: list[Mapping[str, str]] = []
        self.go_on = asyncio.Event()
        """That a tardy creation waits for."""
        self.creations = 0
        """Of which it is known by now whether there is anything to make a batch of."""

    async def _handle(self, request: web.BaseRequest) -> web.StreamResponse:
        path = request.path.removeprefix("/v1")
        if not path.startswith(("/files", "/batch", "/messages")):
            return await super()._handle(request)
        try:
            return await self._batched(request, path)
        except ConnectionResetError:  # whoever asked is gone
            return web.Response(status=503)
        except Refusal as refusal:
            said = self._error(refusal.status, "Not now.", code="refused")
            said.headers.update(refusal.headers)
            return said
        except FileNotFoundError:
            return self._error(404, "No such file.", code="not_found")

    async def _batched(self, request: web.BaseRequest, path: str) -> web.StreamResponse:
        self.headers.append(dict(request.headers))
        if not self.batching.offered:
            return web.Response(status=404, text="not found")
        key = request.headers.get("x-api-key") or request.headers.get("Authorization", "").removeprefix("Bearer ")
        if self.script.key is not None and key != self.script.key:
            return self._error(401, f"Incorrect API key provided: {key}.", code="invalid_api_key")
        root = {"openai": "/batches", "anthropic": "/messages/batches", "mistral": "/batch/jobs"}[self.batching.wire]
        if (request.method, path) == ("POST", "/files"):
            return await self._upload(request)
        if (request.method, path) == ("POST", root):
            return await self._create(request)
        if (request.method, path) == ("GET", root):
            return await self._list(request)
        if request.method == "DELETE" and path.startswith("/files/"):
            if self.batching.deletion != 200:
                return self._error(self.batching.deletion, "No.", code="no")
            self.files.pop(path.removeprefix("/files/"), None)
            return _answer({"id": path.removeprefix("/files/"), "object": "file", "deleted": True})
        if found := re.fullmatch(r"/files/([^/]+)/content|/messages/batches/([^/]+)/results", path):
            return await self._results(request, found[1] or found[2])
        if request.method == "GET" and path.startswith(f"{root}/"):
            return await self._poll(request, path.removeprefix(f"{root}/"))
        return web.Response(status=404, text="not found")

    async def _come(self, moment: Moment, request: web.BaseRequest) -> None:
        self.moments[moment] += 1
        if (then := self.at.get(moment)) is not None and (waited := then(self.moments[moment])) is not None:
            await waited
        if moment in self.batching.cut and self.moments[moment] == 1 and request.transport is not None:
            request.transport.abort()
            raise ConnectionResetError

    async def _upload(self, request: web.BaseRequest) -> web.StreamResponse:
        await self._come("uploading", request)
        fields = {part.name: bytes(await part.read()) async for part in await request.multipart()}  # type: ignore[union-attr]
        assert fields["purpose"] == b"batch", fields["purpose"]
        name = f"file-{self.moments['uploading']}-{hashlib.sha256(fields['file']).hexdigest()[:8]}"
        self.files[name] = fields["file"]
        await self._come("uploaded", request)
        return _answer({"id": name, "object": "file", "purpose": "batch", "bytes": len(fields["file"])})

    async def _create(self, request: web.BaseRequest) -> web.StreamResponse:
        await self._come("creating", request)
        wanted = orjson.loads(await request.content.read())
        if self.batching.tardy and self.moments["creating"] == 1 and request.transport is not None:
            request.transport.abort()
            await self.go_on.wait()
        try:
            entries = self._entries(wanted)
        finally:
            self.creations += 1
        ids = [entry["custom_id"] for entry in entries]
        assert len(set(ids)) == len(ids), "no provider takes one custom_id twice in a batch"
        assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", one) for one in ids)
        model = wanted.get("model") or _asked_of(entries[0])["model"]
        if self.batching.models and model not in self.batching.models:
            return self._error(400, f"The provided model {model!r} is not supported by the Batch API.", code="invalid")
        large = len(entries) > self.batching.most
        full = self.batching.enqueued is not None and len(entries) + self._enqueued() > self.batching.enqueued
        if large and not self.batching.late:
            return self._error(413, "Request exceeds the maximum size.", code="request_too_large")
        faults: dict[str, EntryFault | None] = {one: self.batching.fault(one, self.came[one]) for one in ids}
        made = Made(id=f"batch_{len(self.batches)}", entries=entries, document=wanted, faults=faults)
        made.at += self.batching.ahead
        if large or full:
            made.document["refused"] = True
        else:
            self.came.update(ids)
            self.paid.update(one for one in ids if faults[one] in (None, "twice"))
        self.batches.append(made)
        await self._come("created", request)
        return _answer(self._shown(made))

    def _enqueued(self) -> int:
        waiting = (one for one in self.batches if one.polls < self.batching.polls and "refused" not in one.document)
        return sum(len(one.entries) for one in waiting)

    def _entries(self, wanted: dict[str, Any]) -> list[dict[str, Any]]:
        if self.batching.wire == "anthropic":
            return wanted["requests"]
        name = wanted["input_file_id"] if self.batching.wire == "openai" else wanted["input_files"][0]
        if name not in self.files:
            raise FileNotFoundError
        return [orjson.loads(line) for line in self.files[name].splitlines() if line.strip()]

    async def _poll(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        made = next((one for one in self.batches if one.id == name), None)
        if made is None:
            return self._error(404, f"No such batch {name}.", code="not_found")
        made.polls += 1
        await self._come("polled", request)
        return _answer({**self._shown(made), **({"id": "batch_other"} if self.batching.misnamed else {})})

    async def _list(self, request: web.BaseRequest) -> web.StreamResponse:
        await self._come("listed", request)
        given = {name: value[0] for name, value in parse_qs(request.query_string).items()}
        newest = [] if self.batching.hides else self.batches[:: 1 if self.batching.oldest_first else -1]
        repeats = self.batching.pages_repeat
        for one in newest:
            one.polls += 1  # time goes on
        if self.batching.wire == "mistral":
            size = min(_PAGE, int(given["page_size"]))
            start = 0 if repeats else int(given.get("page", 0)) * size
            some = newest[start : start + size]
            return _answer({"object": "list", "total": len(newest), "data": [self._shown(one) for one in some]})
        after = None if repeats else given.get("after") or given.get("after_id")
        start = next((place + 1 for place, one in enumerate(newest) if one.id == after), 0)
        some = newest[start : start + min(_PAGE, int(given.get("limit", _PAGE)))]
        more = repeats or start + len(some) < len(newest)
        last = some[-1].id if some else None
        return _answer({"data": [self._shown(one) for one in some], "has_more": more, "last_id": last})

    def _shown(self, made: Made) -> dict[str, Any]:
        refused = "refused" in made.document
        ended = made.polls >= (1 if refused else self.batching.polls)
        named = ended and not refused and made.polls >= self.batching.polls + self.batching.files_late
        total, done = len(made.entries), len(made.entries) if ended else 0
        match self.batching.wire:
            case "openai":
                status = "in_progress" if not ended else "failed" if refused else self.batching.ends
                return {
                    "id": made.id, "object": "batch", "endpoint": made.document["endpoint"], "status": status,
                    "input_file_id": made.document["input_file_id"], "completion_window": "24h",
                    "output_file_id": f"out-{made.id}" if named else None,
                    "error_file_id": f"err-{made.id}" if named else None,
                    "errors": {"object": "list", "data": [
                        {"code": "token_limit_exceeded", "message": "Enqueued token limit reached.", "line": None}
                    ]} if refused and ended else None,
                    "created_at": int(made.at), "expires_at": int(made.at) + 86_400,
                    "metadata": made.document.get("metadata") if self.batching.metadata else None,
                    "request_counts": {"total": total, "completed": done, "failed": 0},
                }  # fmt: skip
            case "anthropic":
                counts = {"processing": total - done, "succeeded": done, "errored": 0, "canceled": 0, "expired": 0}
                return {
                    "id": made.id, "type": "message_batch", "request_counts": counts if self.batching.counts else None,
                    "processing_status": "ended" if ended else "in_progress",
                    "created_at": _moment(made.at), "expires_at": _moment(made.at + 86_400),
                    "results_url": f"https://api.anthropic.com/v1/messages/batches/{made.id}/results",
                }  # fmt: skip
            case "mistral":
                how = {"completed": "SUCCESS", "expired": "TIMEOUT_EXCEEDED", "cancelled": "CANCELLED"}
                status = "RUNNING" if not ended else "FAILED" if refused else how[self.batching.ends]
                return {
                    "id": made.id, "object": "batch", "status": status, "input_files": made.document["input_files"],
                    "model": made.document["model"], "endpoint": made.document["endpoint"],
                    "output_file": f"out-{made.id}" if named else None,
                    "error_file": f"err-{made.id}" if named else None,
                    "errors": [{"message": "Too many requests.", "count": 1}] if refused and ended else [],
                    "metadata": made.document.get("metadata") if self.batching.metadata else None,
                    "created_at": int(made.at), "total_requests": total, "completed_requests": done,
                    "succeeded_requests": done, "failed_requests": 0,
                }  # fmt: skip

    async def _results(self, request: web.BaseRequest, name: str) -> web.StreamResponse:
        made = next(one for one in self.batches if name.endswith(one.id))
        kind = name.removesuffix(made.id)
        response = web.StreamResponse(headers={"Content-Type": "application/binary"})
        await self._come("importing", request)
        await response.prepare(request)
        half = len(made.entries) // 2 + (self.batching.strangers if kind != "err-" else 0)
        number = 0
        short = kind != "err-" and self.moments["importing"] <= self.batching.short
        async for line in self._lines(made, kind):
            if short and number == half:
                await response.write(line[: len(line) // 2])
                break
            await response.write(line)
            number += 1
            if number == half:
                await asyncio.sleep(0)
                await self._come("imported", request)
        await response.write_eof()
        return response

    async def _lines(self, made: Made, kind: str) -> AsyncIterator[bytes]:
        """Of the file of results, or of errors; Anthropic has them in one."""
        if kind != "err-":
            for number in range(self.batching.strangers):
                yield self._line({"custom_id": f"stranger-{number}"}, None)
            for one in self.batches if self.batching.mixed else ():
                for entry in one.entries if one is not made else ():
                    yield self._line(entry, None)
        for entry in made.entries[::-1] if self.batching.backwards else made.entries:
            fault = made.faults[entry["custom_id"]]
            wrong = fault in ("expired", "cancelled")
            if fault == "missing" or (kind == "out-" and wrong) or (kind == "err-" and not wrong):
                continue
            line = self._line(entry, fault)
            if fault == "twice":
                yield line
            yield line[: len(line) // 2] + b"\n" if fault == "garbled" else line

    def _line(self, entry: dict[str, Any], fault: EntryFault | None) -> bytes:
        call = entry["custom_id"]
        length = _HUGE if fault == "huge" else self.batching.padding
        padding = {"padding": "x" * length} if length else {}
        body = _asked_of(entry) if len(entry) > 1 else {"model": "m", "messages": []}
        if self.batching.wire == "anthropic":
            return orjson.dumps({"custom_id": call, "result": self._result(body, fault), **padding}) + b"\n"
        if fault in ("expired", "cancelled"):
            error = {"code": f"batch_{fault}", "message": f"The batch {fault}."}
            return orjson.dumps({"id": "r", "custom_id": call, "response": None, "error": error}) + b"\n"
        status, document = 200, self._completion(body, None) if len(entry) > 1 else {}
        if fault in ("500", "400"):
            status, document = int(fault), {"error": {"message": "It failed.", "type": "server_error", "code": None}}
        elif (refused := self._refused_setting(body)) is not None:
            status, document = refused.status, orjson.loads(refused.body)  # type: ignore[arg-type]
        shown: Any = "<html></html>" if fault == "html" else document
        response = {"status_code": status, "request_id": "req", "body": shown}
        return orjson.dumps({"id": "r", "custom_id": call, "response": response, "error": None, **padding}) + b"\n"

    def _result(self, params: dict[str, Any], fault: EntryFault | None) -> dict[str, Any]:
        match fault:
            case "expired":
                return {"type": "expired"}
            case "cancelled":
                return {"type": "canceled"}
            case "500" | "400":
                kind = "api_error" if fault == "500" else "invalid_request_error"
                inner = {"type": kind, "message": "It failed."}
                return {"type": "errored", "error": {"type": "error", "error": inner, "request_id": "req"}}
            case _:
                pass
        chat = self._completion({**params, "messages": _as_chat(params)}, None) if params["messages"] else {}
        choice = chat["choices"][0] if chat else {"message": {"content": "?"}}
        usage = chat.get("usage", {"prompt_tokens": 1, "completion_tokens": 1})
        message = {
            "type": "message", "role": "assistant", "model": params["model"], "stop_reason": "end_turn",
            "content": [{"type": "text", "text": choice["message"]["content"]}],
            "usage": {
                "input_tokens": usage["prompt_tokens"] - self.batching.cache_written,
                "output_tokens": usage["completion_tokens"],
                "cache_read_input_tokens": 0, "cache_creation_input_tokens": self.batching.cache_written,
            },
        }  # fmt: skip
        return {"type": "succeeded", "message": message}


def _asked_of(entry: dict[str, Any]) -> dict[str, Any]:
    return entry.get("body") or entry["params"]


def _as_chat(params: dict[str, Any]) -> list[dict[str, Any]]:
    """Anthropic's messages as OpenAI's, for the judge to read."""
    system = [{"role": "system", "content": "".join(block["text"] for block in params.get("system", []))}]
    turns = [
        {"role": turn["role"], "content": "".join(block.get("text", "") for block in turn["content"])}
        for turn in params["messages"]
    ]
    return (system if params.get("system") else []) + turns


def _moment(at: float) -> str:
    return datetime.fromtimestamp(at, tz=UTC).isoformat().replace("+00:00", "Z")


def _answer(document: dict[str, Any]) -> web.Response:
    return web.Response(body=orjson.dumps(document), content_type="application/json")
