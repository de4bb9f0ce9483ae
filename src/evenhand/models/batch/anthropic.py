"""Anthropic's message batches, on Anthropic's own wire: images as blocks, what all requests begin with marked for its
cache."""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import aclosing
from dataclasses import replace
from datetime import datetime
from typing import Any
from urllib.parse import quote

import orjson

from evenhand.domain.call import Message, Picture, Reply, Request, Usage
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.identity import Json
from evenhand.models.batch.record import OpenBatch
from evenhand.models.batch.service import PAGE, BatchService, line_of
from evenhand.models.batch.wire import BatchLine, BatchStatus, Gone, Spool, Undecided
from evenhand.models.wire.body import BodyShape, BodyWriter, Pictures
from evenhand.models.wire.document import count, mapping, text
from evenhand.models.wire.errors import ServerError, error_of, status_of
from evenhand.models.wire.reply import answer, credible, usage

VERSION = {"anthropic-version": "2023-06-01"}
_LONGEST = 4096
"""Output tokens where no limit is set: this wire wants one."""
_CACHED: dict[str, Json] = {"type": "ephemeral"}
_COUNTS = ("succeeded", "errored", "canceled", "expired")
_SKEW = 26 * 3600.0
"""Seconds that two clocks may differ by: one may be set to the time of another place."""
_LOOKED_AT = 20
"""Results by which a batch is known: the first may be nobody's."""
_RENAMED = {"stop": "stop_sequences"}
_TAKEN = ("temperature", "top_p", "max_tokens", "stop")


class AnthropicBatches:
    """Requests go up with the creation, and no mark of ours stays on a batch."""

    between = b",\n"

    def __init__(self, service: BatchService, *, pictures: Pictures, explicit: frozenset[str]) -> None:
        self._service = service
        self._pictures = pictures
        self._plain = BodyWriter(service.endpoint, explicit=explicit, pictures=None)
        offer = service.offer
        self.most_requests, self.most_bytes, self.who = offer.most_requests, offer.most_bytes, service.who
        self.mark, self.is_marked = service.mark, service.is_marked
        self._before: tuple[Message, ...] = ()
        """The messages of the request written last."""

    def entry(self, request: Request) -> Sequence[bytes]:
        self._adapted(request)
        params = {"model": request.model, **self._settings(request), **self._content(request)}
        self._before = request.messages
        return (orjson.dumps({"custom_id": request.key, "params": params}),)

    def _adapted(self, request: Request) -> tuple[str, ...]:
        """What is said of its settings when it is a plain call. Misuse where that would be refused."""
        return self._plain.fixed(request, BodyShape.of(self._service.endpoint)).adapted

    def _settings(self, request: Request) -> dict[str, Json]:
        given = request.settings.as_json()
        fields = {_RENAMED.get(name, name): given[name] for name in _TAKEN if name in given}
        fields.setdefault("max_tokens", _LONGEST)
        temperature, most = request.settings.temperature, self._service.endpoint.provider.most_temperature
        if temperature is not None and most is not None:
            fields["temperature"] = min(temperature, most)
        return {**fields, **(request.settings.extra_body or {})}

    def _content(self, request: Request) -> dict[str, Any]:
        """What requests begin with alike is marked where it ends: the last of the leading messages that are the same as
        in the request before."""
        shared = 0
        for one, other in zip(request.messages, self._before, strict=False):
            if one != other:
                break
            shared += 1
        written = [[self._block(part) for part in message.parts] for message in request.messages]
        if shared:
            written[shared - 1][-1]["cache_control"] = _CACHED
        pairs = list(zip(request.messages, written, strict=True))
        system = [block for message, blocks in pairs if message.role == "system" for block in blocks]
        turns = [{"role": message.role, "content": blocks} for message, blocks in pairs if message.role != "system"]
        return {"messages": turns, **({"system": system} if system else {})}

    def _block(self, part: str | Picture) -> dict[str, Any]:
        if isinstance(part, str):
            return {"type": "text", "text": part}
        kind, _, data = self._pictures(part).decode("ascii").partition(";base64,")
        source = {"type": "base64", "media_type": kind.removeprefix("data:"), "data": data}
        return {"type": "image", "source": source}

    async def upload(self, spool: Spool) -> str | None:  # noqa: ARG002
        return None

    async def create(self, batch: OpenBatch, spool: Spool) -> BatchStatus:  # noqa: ARG002
        body = spool.within(b'{"requests":[', b"]}")
        return self._status(await self._service.ask("POST", "/messages/batches", body))

    async def poll(self, name: str) -> BatchStatus:
        return self._status(await self._service.ask("GET", f"/messages/batches/{quote(name, safe='')}"))

    async def find(self, batch: OpenBatch, others: set[str]) -> str | None:
        """By what it holds: nothing else is kept of ours. A batch that could be it and has not ended hides its calls
        until it has: Undecided."""

        def address(_: int, last: str) -> str:
            return f"/messages/batches?limit={PAGE}" + (f"&after_id={last}" if last else "")

        since: float | None = None
        async for one in self._service.listed(address):
            if since is None:  # the newest; a clock that is days ahead of the provider's must not hide it
                since = min(batch.at, _seconds(one.get("created_at")) or batch.at) - _SKEW
            if one["id"] in others or not self._could_be(one, batch.entries, since):
                continue
            if text(one.get("processing_status")) != "ended":
                raise Undecided(f"A batch at {self.who} that may be this one has not ended.")
            if await self._holds(self._status(one), batch):
                return one["id"]
        return None

    def _could_be(self, document: Mapping[str, Any], entries: int, since: float) -> bool:
        counts = mapping(document.get("request_counts"))
        total = sum(count(counts.get(name)) or 0 for name in ("processing", *_COUNTS))
        made = _seconds(document.get("created_at"))
        return (not counts or total == entries) and (made is None or made >= since)

    async def _holds(self, status: BatchStatus, batch: OpenBatch) -> bool:
        looked_at = 0
        try:
            async with aclosing(self.results(status)) as lines:
                async for line in lines:
                    looked_at += 1
                    if line.call in batch.calls or looked_at >= _LOOKED_AT:
                        return line.call in batch.calls
        except Gone:  # another's, and older
            pass
        return False

    async def withdraw(self, batch: OpenBatch) -> None:
        """Nothing of it lies there that could be taken away."""

    async def results(self, status: BatchStatus) -> AsyncGenerator[BatchLine]:
        # Not where `results_url` points: the key goes to the address that the user chose, and to no other.
        async for raw in self._service.lines(f"/messages/batches/{quote(status.name, safe='')}/results"):
            line = line_of(raw)
            if line is not None:
                yield line

    def read(self, request: Request, line: BatchLine) -> Reply:
        if line.cut:
            raise self._service.too_long()
        result = mapping(line.content.get("result"))
        match text(result.get("type")):
            case "succeeded":
                return replace(self._reply(mapping(result.get("message"))), adapted=self._adapted(request))
            case "errored":
                # As a plain call's error, which is wrapped once more here.
                error = mapping(result.get("error"))
                raise self._errored(error_of(error if mapping(error.get("error")) else {"error": error}))
            case other:
                raise self._service.entry_failed(other, "")

    def _errored(self, said: ServerError) -> CallFailure | Misuse:
        status = status_of(said) or (400 if "invalid_request_error" in said.codes else 500)
        return self._service.faults.of_status(status, said)

    def _reply(self, message: dict[str, Any]) -> Reply:
        said = answer({"finish_reason": message.get("stop_reason")}, message)
        used = credible(usage(message.get("usage")), said)
        if not said.text.strip() and said.finish not in ("length", "refused"):
            billed = None if used == Usage() else used
            raise CallFailure(
                f"{self.who} gave no text.", reason="empty-reply", transient=True, status=200, usage=billed
            )
        scrub = self._service.faults.scrub
        return Reply(
            text=scrub(said.text),
            finish=said.finish,
            reasoning=scrub(said.reasoning),
            usage=used,
            model=text(message.get("model")),
        )

    async def close(self) -> None:
        await self._service.close()

    def _status(self, document: Mapping[str, Any]) -> BatchStatus:
        counts = mapping(document.get("request_counts"))
        how = text(document.get("processing_status"))
        return BatchStatus(
            name=self._service.name_in(document),
            ended=how == "ended",
            done=sum(count(counts.get(name)) or 0 for name in _COUNTS),
            expires=_seconds(document.get("expires_at")),
            how=how,
        )


def _seconds(moment: object) -> float | None:
    try:
        return datetime.fromisoformat(text(moment)).timestamp()
    except (ValueError, OverflowError):
        return None
