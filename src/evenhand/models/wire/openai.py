"""A client for every endpoint that speaks the OpenAI chat-completions wire. Asks once: retrying is the engine's."""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any, NamedTuple, NoReturn
from urllib.parse import urlsplit

import orjson

from evenhand.domain.call import Offer, Reply, Request, Usage
from evenhand.domain.errors import CallFailure, Misuse
from evenhand.models.endpoint import Endpoint
from evenhand.models.wire import errors as wire_errors
from evenhand.models.wire import reply as wire_reply
from evenhand.models.wire.body import OFFER, TIER, BodyShape, BodyWriter, Fixed, Pictures, Spliced
from evenhand.models.wire.document import mapping, text
from evenhand.models.wire.errors import Faults
from evenhand.models.wire.timeouts import Timeouts
from evenhand.models.wire.transport import Received, Transport

_MOST_ADAPTATIONS = 8


class _Sent(NamedTuple):
    """How a request went: what a Reply tells of it besides the words."""

    adapted: tuple[str, ...]
    requests: int
    seconds: float


class OpenAIWire:
    """Safe to share between tasks of one event loop; which defaults the endpoint refused is remembered for all."""

    def __init__(
        self,
        endpoint: Endpoint,
        *,
        environment: Mapping[str, str],
        proxies: Mapping[str, str] | None = None,
        explicit: frozenset[str] = frozenset(),
        pictures: Pictures | None = None,
        timeouts: Timeouts | None = None,
        tier: str | None = None,
    ) -> None:
        """`environment` holds the keys, `proxies` the variables http_proxy, https_proxy, all_proxy and no_proxy.

        They are apart because a proxy sees the key.
        `explicit`: the settings the user set, which are never changed. `tier`: the service tier to ask for. Misuse
        where a key or a setting is wrong.
        """
        endpoint.check_settings(explicit)
        endpoint.check_tier(tier)
        key = endpoint.key(environment)
        self.endpoint = endpoint
        self._explicit = explicit
        self._faults = Faults(endpoint, key)
        self._bodies = BodyWriter(endpoint, explicit=explicit, pictures=pictures, tier=tier)
        self._tier = tier
        self._transport = Transport(
            endpoint, self._faults, key=key, proxies=proxies or {}, timeouts=timeouts or Timeouts()
        )
        self._shape = BodyShape.of(endpoint)
        self._gave_logprobs = False

    def __repr__(self) -> str:
        return f"OpenAIWire({self._faults.who})"

    async def complete(self, request: Request) -> Reply:
        """As ModelClient says; a request is sent more than once only where a refused default was adapted."""
        begun = perf_counter()
        for requests in range(1, _MOST_ADAPTATIONS + 1):
            shape = self._shape
            fixed = self._bodies.fixed(request, shape)
            received = await self._transport.post(await self._body(request, fixed))
            sent = _Sent(adapted=fixed.adapted, requests=requests, seconds=perf_counter() - begun)
            if 200 <= received.status < 300:
                return self._reply(request, received, sent)
            reply = self._refused(received, shape, fixed, sent)
            if reply is not None:
                return reply
        raise self._faults.misuse(f"{self._faults.who} refuses one setting after the other.")

    async def _body(self, request: Request, fixed: Fixed) -> bytes | Spliced:
        if self._bodies.at_hand(request):
            return self._bodies.body(request, fixed)
        # Images may be fetched from far away for it, and the other calls go on meanwhile.
        return await asyncio.to_thread(self._bodies.body, request, fixed)

    async def close(self) -> None:
        await self._transport.close()

    def body(self, request: Request) -> Sequence[bytes]:
        """What is posted for a request, in pieces, as far as it is known how this endpoint takes it."""
        body = self._bodies.body(request, self._bodies.fixed(request, self._shape))
        return (body,) if isinstance(body, bytes) else body.chunks

    def read(self, request: Request, received: Received) -> Reply:
        """What came of a request that was posted by somebody else, some time ago. Raises as `complete`; where a default
        was refused, a failure that the next try cures."""
        usual = BodyShape.of(self.endpoint)
        fixed = self._bodies.fixed(request, usual)
        # When it was written nobody tells.
        sent = _Sent(adapted=self._bodies.fixed(request, self._shape).adapted, requests=1, seconds=0.0)
        if 200 <= received.status < 300:
            return self._reply(request, received, sent)
        reply = self._refused(received, usual, fixed, sent)
        if reply is None:
            said = self._faults.quoted(wire_errors.read_error(received.body).message)
            raise self._faults.failure(
                f"{self._faults.who} refused a default setting, which is left out from here on. It says: {said}",
                reason="api-error", transient=True, status=received.status,
            )  # fmt: skip
        return reply

    def _refused(self, received: Received, shape: BodyShape, fixed: Fixed, sent: _Sent) -> Reply | None:
        """None where a refused default is now adapted and the request is to be sent again."""
        status, faults = received.status, self._faults
        if status < 400:
            raise faults.misuse(self._redirected(received))
        said = wire_errors.read_error(received.body)
        if wire_errors.refused_by_filter(status, said):
            return Reply(
                text=faults.quoted(said.message), finish="refused",
                adapted=sent.adapted, requests=sent.requests, seconds=sent.seconds,
            )  # fmt: skip
        field = wire_errors.refused_field(status, said, fixed.settings_of_fields)
        if field is None:
            raise faults.of_status(status, said, wait=wire_errors.retry_after(received.headers, said))
        self._adapt(fixed.settings_of_fields[field], shape, faults.quoted(said.message))
        return None

    def _adapt(self, setting: str, sent: BodyShape, words: str) -> None:
        """Changes a refused default for all requests to come; Misuse where the setting must stay.

        Only what was refused is changed, whatever other tasks have changed since this request was sent.
        """
        faults = self._faults
        if setting == "max_tokens":
            if sent.max_tokens_field != BodyShape.of(self.endpoint).max_tokens_field:
                raise faults.misuse(
                    f"{faults.who} takes no limit of tokens by either name. It says: {words}", code="EH-SETTING-REFUSED"
                )
            self._shape = replace(self._shape, max_tokens_field=sent.renamed().max_tokens_field)
        elif setting == OFFER:
            raise faults.misuse(
                f"{faults.who} cannot do a constrained readout: use --readout free. It says: {words}",
                code="EH-LOGPROBS-MISSING",
            )
        elif setting in self._explicit or setting in ("extra_body", TIER):
            raise faults.misuse(
                f"{faults.who} refuses the setting {setting}: leave it out. It says: {words}", code="EH-SETTING-REFUSED"
            )
        else:
            self._shape = self._shape.without(setting)

    def _redirected(self, received: Received) -> str:
        if "Location" not in received.headers:
            return (
                f"{self._faults.who} answered {received.status}, which is neither an answer nor an error: "
                "is the base URL right? It usually ends in /v1."
            )
        host = urlsplit(received.headers["Location"]).hostname
        to = f"to {self._faults.quoted(host)}" if host and host != self.endpoint.host else "to another address there"
        return f"{self._faults.who} redirects {to} ({received.status}), which is not followed: give the final base URL."

    def _reply(self, request: Request, received: Received, sent: _Sent) -> Reply:
        document = self._document(received)
        usage = wire_reply.usage(document.get("usage"), tier=text(document.get("service_tier")) or self._tier)
        try:
            return self._read(request, document, usage, sent)
        except (CallFailure, Misuse) as failure:
            failure.usage = (
                usage if usage != Usage(tier=usage.tier) else None
            )  # a reply of no use is billed all the same
            if isinstance(failure, CallFailure):
                failure.maybe_billed = True
            raise

    def _read(self, request: Request, document: dict[str, Any], usage: Usage, sent: _Sent) -> Reply:
        choice, message = self._choice(document)
        answer = wire_reply.answer(choice, message)
        reply = Reply(
            text=self._faults.scrub(answer.text),
            finish=answer.finish,
            reasoning=self._faults.scrub(answer.reasoning),
            usage=wire_reply.credible(usage, answer),
            model=text(document.get("model")),
            fingerprint=text(document.get("system_fingerprint")),
            adapted=sent.adapted,
            requests=sent.requests,
            seconds=sent.seconds,
        )
        if answer.finish == "refused":
            return reply
        if request.offer is not None:
            return self._with_offered(reply, choice.get("logprobs"), request.offer)
        if not answer.text.strip() and answer.finish != "length":
            raise self._faults.failure(f"{self._faults.who} gave no text.", reason="empty-reply", transient=True)
        return reply

    def _with_offered(self, reply: Reply, logprobs: object, offer: Offer) -> Reply:
        offered = wire_reply.offered(logprobs, offer)
        if offered is None:
            sentence = f"{self._faults.who} gave no log-probabilities, which a constrained readout needs"
            if self._gave_logprobs:
                raise self._bad_reply(f"{sentence}; it gave them before.")
            raise self._faults.misuse(
                f"{sentence}: use --readout free or another endpoint.", code="EH-LOGPROBS-MISSING"
            )
        self._gave_logprobs = True
        # One token was asked for, so that stopping there cuts nothing off.
        return replace(reply, finish="stop" if reply.finish == "length" else reply.finish, offered=offered)

    def _document(self, received: Received) -> dict[str, Any]:
        if not received.body.strip():
            meaning = " (no content)" if received.status == 204 else ""
            raise self._faults.failure(
                f"{self._faults.who} answered {received.status}{meaning} with nothing in it.",
                reason="bad-reply", transient=True, status=received.status, unheard=True,
            )  # fmt: skip
        try:
            document: object = orjson.loads(received.body)
        except orjson.JSONDecodeError:
            if wire_errors.looks_like_html(received.body):
                raise self._bad_reply(
                    f"{self._faults.who} answered with a page of HTML: is the base URL right? It usually ends in /v1."
                ) from None
            start = self._faults.quoted(received.body[:200].decode("utf-8", "replace"))
            raise self._bad_reply(f"{self._faults.who} did not answer in JSON, but with: {start}") from None
        return mapping(document)

    def _choice(self, document: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        choice = wire_reply.first_choice(document.get("choices"))
        for holder in (document, choice):  # OpenRouter passes on a backend's failure in the choice
            if holder.get("error"):
                self._raise_error_object(holder)
        if "message" not in choice:
            raise self._bad_reply(f"{self._faults.who} answered with JSON that is no chat completion: no choice in it.")
        return choice, mapping(choice["message"])

    def _raise_error_object(self, holder: dict[str, Any]) -> NoReturn:
        said = wire_errors.error_of(holder)
        status = wire_errors.status_of(said)
        if status is None:
            raise self._faults.failure(
                f"{self._faults.who} answered 200 with an error: {self._faults.quoted(said.message)}",
                reason="bad-reply", transient=False, status=200,
            )  # fmt: skip
        raise self._faults.of_status(status, said, wait=said.retry_after, reason="bad-reply")

    def _bad_reply(self, sentence: str) -> CallFailure:
        return self._faults.failure(sentence, reason="bad-reply", transient=True, status=200)
