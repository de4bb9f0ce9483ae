"""Batches of chat completions, by files: OpenAI's wire and its copies, and Mistral's, which differs in names."""

import secrets
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

import orjson

from evenhand.domain.call import Reply, Request
from evenhand.domain.errors import CallFailure
from evenhand.models.batch.record import OpenBatch
from evenhand.models.batch.service import FILES, PAGE, BatchService, line_of
from evenhand.models.batch.wire import BatchLine, BatchStatus, Spool
from evenhand.models.wire.document import count, mapping, moment, sequence, text
from evenhand.models.wire.openai import OpenAIWire
from evenhand.models.wire.transport import Received

_PATH = "/v1/chat/completions"
"""As a batch calls it, wherever the service listens."""
MARK = "evenhand"
"""The field of a batch's metadata that carries our own mark."""


class _ChatBatches(ABC):
    between = b"\n"

    def __init__(self, service: BatchService, chat: OpenAIWire) -> None:
        """`chat` writes requests and reads replies; it sends nothing."""
        self._service = service
        self._chat = chat
        offer = service.offer
        self.most_requests, self.most_bytes, self.who = offer.most_requests, offer.most_bytes, service.who
        self.mark, self.is_marked = service.mark, service.is_marked

    def entry(self, request: Request) -> Sequence[bytes]:
        return (self._opening(request.key), *self._chat.body(request), b"}")

    @abstractmethod
    def _opening(self, call: str) -> bytes:
        """A request's line up to its body."""

    async def upload(self, spool: Spool) -> str | None:
        boundary = secrets.token_hex(16)
        head = (
            f'--{boundary}\r\nContent-Disposition: form-data; name="purpose"\r\n\r\nbatch\r\n'
            f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="requests.jsonl"\r\n'
            "Content-Type: application/jsonl\r\n\r\n"
        )
        body = spool.within(head.encode(), f"\n\r\n--{boundary}--\r\n".encode())
        form = f"multipart/form-data; boundary={boundary}"
        document = await self._service.ask("POST", FILES, body, content_type=form)
        return self._service.name_in(document)

    async def withdraw(self, batch: OpenBatch) -> None:
        await self._service.delete(f"{FILES}/{quote(batch.file or '', safe='')}")

    async def results(self, status: BatchStatus) -> AsyncGenerator[BatchLine]:
        for name in status.results:
            async for raw in self._service.lines(f"{FILES}/{quote(name, safe='')}/content"):
                line = line_of(raw)
                if line is not None:
                    yield line

    def read(self, request: Request, line: BatchLine) -> Reply:
        if line.cut:
            raise self._service.too_long()
        error, response = mapping(line.content.get("error")), mapping(line.content.get("response"))
        status = count(response.get("status_code"))
        if error and not status:
            raise self._service.entry_failed(text(error.get("code")), text(error.get("message")))
        body = response.get("body")
        content = body.encode() if isinstance(body, str) else orjson.dumps(body if body is not None else {})
        if status is None:
            raise CallFailure(f"{self.who} gave a result without a reply.", reason="bad-reply", transient=True)
        return self._chat.read(request, Received(status or 500, {}, content))

    async def close(self) -> None:
        await self._chat.close()
        await self._service.close()


class OpenAIBatches(_ChatBatches):
    """Files and batches."""

    def _opening(self, call: str) -> bytes:
        return f'{{"custom_id":"{call}","method":"POST","url":"{_PATH}","body":'.encode()

    async def create(self, batch: OpenBatch, spool: Spool) -> BatchStatus:  # noqa: ARG002
        wanted: dict[str, Any] = {
            "input_file_id": batch.file,
            "endpoint": _PATH,
            "completion_window": "24h",
            "metadata": {MARK: batch.id},
        }
        return self._status(await self._service.ask("POST", "/batches", orjson.dumps(wanted)))

    async def poll(self, name: str) -> BatchStatus:
        return self._status(await self._service.ask("GET", f"/batches/{quote(name, safe='')}"))

    async def find(self, batch: OpenBatch, others: set[str]) -> str | None:
        def address(_: int, last: str) -> str:
            return f"/batches?limit={PAGE}" + (f"&after={last}" if last else "")

        async for one in self._service.listed(address):
            marked = mapping(one.get("metadata")).get(MARK) == batch.id
            if (marked or one.get("input_file_id") == batch.file) and one["id"] not in others:
                return one["id"]
        return None

    def _status(self, document: Mapping[str, Any]) -> BatchStatus:
        how = text(document.get("status")).lower()
        counts = mapping(document.get("request_counts"))
        problems = [mapping(one) for one in sequence(mapping(document.get("errors")).get("data"))]
        said = "; ".join(f"{text(one.get('message'))} ({text(one.get('code'))})" for one in problems[:3])
        files = (text(document.get("output_file_id")), text(document.get("error_file_id")))
        return BatchStatus(
            name=self._service.name_in(document),
            ended=how in ("failed", "completed", "expired", "cancelled"),
            done=(count(counts.get("completed")) or 0) + (count(counts.get("failed")) or 0),
            expires=moment(document.get("expires_at")),
            refused=(said or "it gives no reason") if how == "failed" and not any(files) else "",
            too_large=any(self._service.means_too_large(str(one.get("code")), said) for one in problems),
            how=how,
            results=tuple(filter(None, files)),
        )


_MISTRAL_SECONDS = 86_400.0
"""After which a job expires that is created without `timeout_hours`."""
_MISTRAL_ENDED = {"SUCCESS": "completed", "FAILED": "failed", "TIMEOUT_EXCEEDED": "expired", "CANCELLED": "cancelled"}


class MistralBatches(_ChatBatches):
    """Files and batch jobs, of one model each."""

    def _opening(self, call: str) -> bytes:
        return f'{{"custom_id":"{call}","body":'.encode()

    async def create(self, batch: OpenBatch, spool: Spool) -> BatchStatus:  # noqa: ARG002
        wanted: dict[str, Any] = {
            "input_files": [batch.file],
            "model": self._service.endpoint.model,
            "endpoint": _PATH,
            "metadata": {MARK: batch.id},
        }
        return self._status(await self._service.ask("POST", "/batch/jobs", orjson.dumps(wanted)))

    async def poll(self, name: str) -> BatchStatus:
        return self._status(await self._service.ask("GET", f"/batch/jobs/{quote(name, safe='')}"))

    async def find(self, batch: OpenBatch, others: set[str]) -> str | None:
        async for one in self._service.listed(lambda number, _: f"/batch/jobs?page={number}&page_size={PAGE}"):
            marked = mapping(one.get("metadata")).get(MARK) == batch.id
            if (marked or batch.file in sequence(one.get("input_files"))) and one["id"] not in others:
                return one["id"]
        return None

    def _status(self, document: Mapping[str, Any]) -> BatchStatus:
        how = text(document.get("status")).upper()
        problems = [mapping(one) for one in sequence(document.get("errors"))]
        said = "; ".join(text(one.get("message")) for one in problems[:3])
        files = tuple(filter(None, (text(document.get("output_file")), text(document.get("error_file")))))
        return BatchStatus(
            name=self._service.name_in(document),
            ended=how in _MISTRAL_ENDED,
            done=count(document.get("completed_requests")) or 0,
            expires=None if (made := moment(document.get("created_at"))) is None else made + _MISTRAL_SECONDS,
            refused=(said or "it gives no reason") if how == "FAILED" and not files else "",
            too_large=self._service.means_too_large("", said),
            how=_MISTRAL_ENDED.get(how, how.lower()),
            results=files,
        )
