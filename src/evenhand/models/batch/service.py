"""A provider's batches over HTTP: what is asked about a batch, and what a refusal of all of it means."""

import hashlib
import re
import secrets
from collections.abc import AsyncGenerator, Callable, Mapping
from typing import Any
from urllib.parse import quote

import orjson

from evenhand.domain.errors import CallFailure, Misuse
from evenhand.models.batch.wire import BatchLine, Gone, TooLarge
from evenhand.models.endpoint import Endpoint
from evenhand.models.provider import BatchOffer
from evenhand.models.wire.document import count, mapping, sequence, text
from evenhand.models.wire.errors import Faults, read_error, retry_after
from evenhand.models.wire.timeouts import Timeouts
from evenhand.models.wire.transport import MOST_BYTES, CutLine, Pieces, Transport

FILES = "/files"
"""Where requests are uploaded."""
PAGE = 100
"""Batches that a list is asked for at once."""
_MOST_PAGES = 100
_GONE = (404, 410)
_NO_BATCHES = (*_GONE, 405, 501)
_LARGE = re.compile(
    r"token_limit_exceeded|request_limit_exceeded|request_too_large|enqueued|too (large|big|many)|"
    r"(exceed|greater|more)\w* (than )?(the )?(max|limit|\d)|maximum (number|size)",
    re.IGNORECASE,
)

_CALL = re.compile(rb'"custom_id"\s*:\s*"([\w-]+)"')
"""In JSON that is cut; quotation marks within a text have a backslash before them."""
_QUEUE_FULL = re.compile(r"token_limit_exceeded|enqueued|in_progress batches", re.IGNORECASE)


class BatchService:
    """One endpoint's batches. Raises CallFailure, Misuse and TooLarge."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        key: str | None,
        proxies: Mapping[str, str],
        timeouts: Timeouts,
        own_headers: Mapping[str, str] | None = None,
    ) -> None:
        offer = endpoint.provider.batch
        assert offer is not None, "who offers no batches is refused before"
        self.endpoint = endpoint
        self.offer: BatchOffer = offer
        self.faults = Faults(endpoint, key)
        self.who = self.faults.who
        # The same for all batches: with a salt of its own each would tell more of the key.
        self._seal = hashlib.sha256(f"evenhand batches {key or ''}".encode()).hexdigest()[:4]
        """Tells keys apart, and no key: one in 65,536 has the same."""
        self._transport = Transport(
            endpoint, self.faults, key=key, proxies=proxies, timeouts=timeouts, own_headers=own_headers
        )

    def mark(self) -> str:
        return secrets.token_hex(14) + self._seal

    def is_marked(self, mark: str) -> bool:
        return mark.endswith(self._seal)

    async def ask(
        self, method: str, path: str, body: bytes | Pieces | None = None, *, content_type: str = "application/json"
    ) -> dict[str, Any]:
        received = await self._transport.send(method, path, body, content_type=content_type)
        if received.status in _GONE and method == "GET" and "?" not in path:
            raise Gone(f"{self.who} knows nothing of {path.rpartition('/')[2]} any more ({received.status}).")
        if received.status != 200 and received.status != 201:
            uploaded = method == "POST" and path != FILES
            raise self._refused(
                received.status, received.body, received.headers, made=method == "POST", uploaded=uploaded
            )
        try:
            return mapping(orjson.loads(received.body))
        except orjson.JSONDecodeError:
            raise self.faults.failure(
                f"{self.who} did not answer in JSON when it was asked about a batch.",
                reason="bad-reply", transient=True, unheard=True,
            ) from None  # fmt: skip

    async def delete(self, path: str) -> None:
        """As far as that can be done there."""
        received = await self._transport.send("DELETE", path)
        if received.status == 429 or (received.status >= 500 and received.status not in _NO_BATCHES):
            raise self._refused(received.status, received.body, received.headers, made=False)

    async def lines(self, path: str) -> AsyncGenerator[bytes]:
        try:
            async for line in self._transport.lines(path):
                yield line
        except Misuse as error:
            if error.code != "EH-MODEL-UNKNOWN":
                raise
            raise Gone(f"{self.who} keeps the results of a batch no longer.") from None

    async def listed(self, address: Callable[[int, str], str]) -> AsyncGenerator[dict[str, Any]]:
        """The provider's batches, each once, as long as pages bring others. `address`: of the page of this number, from
        0, which follows the batch of this name."""
        seen: set[str] = set()
        last = ""
        for number in range(_MOST_PAGES):
            page = await self.ask("GET", address(number, quote(last, safe="")))
            if not isinstance(page.get("data"), list) and page.get("total") != 0:
                raise self.faults.failure(
                    f"{self.who} gave no list of its batches.", reason="bad-reply", transient=True, unheard=True
                )
            found = {text(one.get("id")): one for one in map(mapping, sequence(page.get("data")))}
            fresh = {name: one for name, one in found.items() if name and name not in seen}
            for one in fresh.values():
                yield one
            seen |= fresh.keys()
            more = len(seen) < (count(page.get("total")) or 0) or len(found) >= PAGE
            if not fresh or not page.get("has_more", more):
                return
            last = text(page.get("last_id")) or next(reversed(found))

    async def close(self) -> None:
        await self._transport.close()

    def name_in(self, document: Mapping[str, Any]) -> str:
        if name := text(document.get("id")):
            return name
        raise self.faults.failure(
            f"{self.who} named neither a file nor a batch.", reason="bad-reply", transient=True, unheard=True
        )

    def means_too_large(self, code: str, words: str) -> bool:
        return bool(_LARGE.search(f"{code} {words}"))

    def refusal(self, words: str) -> Misuse:
        return self.faults.misuse(
            f"{self.who} refuses the batch: {self.faults.quoted(words)} Leave out --batch to ask call by call.",
            code="EH-BATCH-REFUSED",
        )

    def too_long(self) -> CallFailure:
        """What a result is that was cut."""
        return self.faults.failure(
            f"{self.who} sent a result of more than {MOST_BYTES // 2**20} MB for this call, which is not read.",
            reason="bad-reply", transient=False, unheard=True,
        )  # fmt: skip

    def entry_failed(self, code: str, words: str) -> CallFailure:
        """What a request's own error in the results means."""
        said = f" It says: {self.faults.quoted(words)}" if words else ""
        if "expired" in code:
            return self.faults.failure(
                f"The batch at {self.who} ended before this call's turn came.{said}", reason="timeout", transient=True
            )
        if "cancel" in code:
            return self.faults.failure(
                f"The batch at {self.who} was cancelled before this call's turn came.{said}",
                reason="interrupted", transient=False,
            )  # fmt: skip
        return self.faults.failure(
            f"{self.who} failed on this call of a batch ({self.faults.quoted(code)}).{said}",
            reason="timeout" if "timeout" in code else "api-error", transient=True,
        )  # fmt: skip

    def _refused(
        self, status: int, body: bytes, headers: Mapping[str, str], *, made: bool, uploaded: bool = False
    ) -> CallFailure | Misuse | TooLarge:
        said = read_error(body)
        codes = " ".join(said.codes)
        if made and (status == 413 or (status in (400, 422) and self.means_too_large(codes, said.message))):
            words = f"{self.who} takes no batch of this size ({status}): {self.faults.quoted(said.message)}"
            return TooLarge(words, queue_full=bool(_QUEUE_FULL.search(f"{codes} {said.message}")))
        if uploaded and status in _GONE and "file" in said.message.casefold():
            return self.faults.failure(
                f"{self.who} does not know the uploaded requests yet ({status}): {self.faults.quoted(said.message)}",
                reason="api-error", transient=True, status=status,
            )  # fmt: skip
        if made and status in _NO_BATCHES and "model" not in said.message:
            return self.faults.misuse(
                f"{self.who} offers no batches ({status}): leave out --batch.", code="EH-BATCH-REFUSED"
            )
        if made and status in (400, 422):  # not 409: it may be there already
            return self.refusal(said.message)
        return self.faults.of_status(status, said, wait=retry_after(headers, said))


def line_of(raw: bytes) -> BatchLine | None:
    """None of what is no result: an empty line, broken JSON, one without the mark of a call."""
    if isinstance(raw, CutLine):
        found = _CALL.search(raw)
        return BatchLine(found[1].decode(), {}, cut=True) if found else None
    if not raw.strip():
        return None
    try:
        content = mapping(orjson.loads(raw))
    except orjson.JSONDecodeError:
        return None
    call = text(content.get("custom_id"))
    return BatchLine(call, content) if call else None
