"""What a refused or failed request means: ask again after a wait, give up on it, stop the run, change a default."""

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from time import time
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import orjson

from evenhand.domain.errors import CallFailure, Misuse
from evenhand.domain.verdict import CallFailed
from evenhand.format.printable import printable
from evenhand.models.endpoint import Endpoint
from evenhand.models.wire.document import count, mapping, sequence, text

Headers: TypeAlias = Mapping[str, str]

_SHOWN = 400  # characters of a server's own words in a message

_UNSUPPORTED_CODES = {"unsupported_parameter", "unsupported_value", "unknown_parameter", "extra_forbidden"}
_COMPLAINT = (
    r"(unsupported|not supported|does not support|unknown (name|parameter|field)|unrecognized|unexpected|"
    r"extra (inputs|fields)|extra_forbidden|not permitted|not allowed|only the default|deprecated)"
)
_NO_MODEL = re.compile(r"invalid model|model.{0,80}?(not exist|not found|does not exist)", re.IGNORECASE | re.DOTALL)
_BAD_KEY = re.compile(r"(incorrect|invalid) api key|api key (not valid|expired)|invalid x-api-key", re.IGNORECASE)
_NO_MONEY = re.compile(
    r"insufficient_quota|insufficient (balance|credit|funds)|credit balance is too low", re.IGNORECASE
)
# Said of the model; what is said of one image (its format, its size) is that item's own failure.
_NO_EYES = re.compile(
    r"image_url\W{0,3} is only supported by"  # OpenAI
    r"|unknown variant `?image_url"  # DeepSeek
    r"|support image input|required for image input"  # OpenRouter ("no endpoints found that …"), Ollama
    r"|(does not|doesn't|cannot|can't) (support|accept|process|take) (any )?"
    r"(image|vision|multi-?modal)(_url)?s?( inputs?| content| data)?\b(?! (format|type|file|of|in|with|larger|size))"
    r"|\bimages?(_url)?( inputs?| content)? (is|are) not (supported|accepted|enabled)"  # llama.cpp
    r"|not a (multi-?modal|vision) model|at most 0 image",  # vLLM
    re.IGNORECASE,
)
# OpenAI's flex tier, and Groq's (498): the provider has no room for calls that may wait, whoever sends them.
_NO_ROOM = re.compile(r"resource[ _]unavailable|capacity_exceeded", re.IGNORECASE)
_FILTERED = {"content_filter", "content_policy_violation", "responsibleaipolicyviolation"}

# Somebody on the way waited no longer for a model that may have gone on writing, or lost what it wrote.
_MAYBE_WRITTEN = (408, 502, 504, 524)

_STATUS_OF_CODE = {
    "rate_limit_exceeded": 429, "rate_limit_error": 429, "rate_limited": 429, "resource_exhausted": 429,
    "resource_unavailable": 429, "capacity_exceeded": 498, "too_many_requests": 429, "tokens": 429, "requests": 429,
    "overloaded_error": 529, "overloaded": 529, "server_error": 500, "internal_server_error": 500,
    "internal_error": 500, "api_error": 500, "internal": 500, "service_unavailable": 503, "unavailable": 503,
    "timeout": 504, "timeout_error": 504, "deadline_exceeded": 504,
    "authentication_error": 401, "invalid_api_key": 401, "unauthenticated": 401, "permission_error": 403,
    "permission_denied": 403, "insufficient_quota": 402, "billing_error": 402,
    "model_not_found": 404, "not_found_error": 404, "not_found": 404,
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerError:
    """What the server said, in whichever envelope."""

    message: str
    codes: frozenset[str] = frozenset()
    """Its code, type and status, in lower case."""
    param: str | None = None
    status: int | None = None
    """A number the error object itself carries."""
    retry_after: float | None = None
    flagged: bool = False
    """A moderator stood before the model."""


class _Stop(NamedTuple):
    """Why a run stops at once."""

    sentence: str
    code: str | None = None


class Faults:
    """Makes sentences and failures for one endpoint; knows the key only to keep it out of them."""

    def __init__(self, endpoint: Endpoint, key: str | None) -> None:
        self._endpoint = endpoint
        # What a server of one's own takes for a key ("x", "EMPTY") may be part of any word, and is no secret.
        self._key = key if key and len(key) > 7 else None
        self._key_bytes = (self._key or "").encode()
        self._has_key = key is not None

    def __repr__(self) -> str:
        return f"Faults({self._endpoint.name})"

    def scrub(self, words: str) -> str:
        return words.replace(self._key, "***") if self._key else words

    def scrub_bytes(self, body: bytes) -> bytes:
        return body.replace(self._key_bytes, b"***") if self._key_bytes and self._key_bytes in body else body

    def quoted(self, words: str) -> str:
        """A server's words in one line, without the key and control characters, cut where they run on."""
        line = printable(" ".join(self.scrub(words).split()))
        return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"

    def misuse(self, sentence: str, *, code: str | None = None) -> Misuse:
        return Misuse(self.scrub(sentence), code=code)

    def failure(
        self,
        sentence: str,
        *,
        reason: CallFailed,
        transient: bool,
        retry_after: float | None = None,
        status: int | None = None,
        unheard: bool = False,
    ) -> CallFailure:
        return CallFailure(
            self.scrub(sentence),
            reason=reason, transient=transient, retry_after=retry_after, status=status, unheard=unheard,
        )  # fmt: skip

    @property
    def who(self) -> str:
        return f"{self._endpoint.name} at {self._endpoint.base_url}"

    def of_status(
        self, status: int, said: ServerError, *, wait: float | None = None, reason: CallFailed = "api-error"
    ) -> CallFailure | Misuse:
        """The failure that a status, or an error object that stands for one, calls for."""
        words = f" It says: {self.quoted(said.message)}" if said.message else ""
        stop = self._stopping(status, said)
        if stop is not None:
            return self.misuse(stop.sentence + words, code=stop.code)
        if status == 498 or (status == 429 and _NO_ROOM.search(f"{said.message} {' '.join(said.codes)}")):
            failure = self.failure(
                f"{self.who} has no room for calls of this service tier at the moment ({status}).{words}",
                reason=reason, transient=True, retry_after=wait, status=status,
            )  # fmt: skip
            failure.no_room = True
            return failure
        if status == 429:
            return self.failure(
                f"{self.who} limits the rate of calls (429).{words}",
                reason=reason, transient=True, retry_after=wait, status=status,
            )  # fmt: skip
        transient = status in (408, 409, 425) or (status >= 500 and status not in (501, 505))
        said_so = "failed" if status >= 500 else "refused the request"
        return self.failure(
            f"{self.who} {said_so} ({status}).{words}",
            reason=reason, transient=transient, retry_after=wait, status=status, unheard=status in _MAYBE_WRITTEN,
        )  # fmt: skip

    def _stopping(self, status: int, said: ServerError) -> _Stop | None:
        """With what a run stops, where every further call would fail alike."""
        bad_request = status in (400, 422)
        if status in (401, 403, 407) or (bad_request and _BAD_KEY.search(said.message)):
            return self._no_entry(status)
        if status != 429 and _NO_EYES.search(said.message):
            return _Stop(
                f"{self.who} cannot see images ({status}): choose a model that can, or send none (--see none lets a "
                "judge do without, --variant text-only a model that answers).",
                "EH-MODEL-BLIND",
            )
        codes = " ".join(said.codes)
        # Gemini says "exceeded your current quota" of plain rate limits, so that only the code counts with a 429.
        if status == 402 or "insufficient_quota" in codes or (bad_request and _NO_MONEY.search(said.message)):
            return _Stop(f"The account for {self.who} has no credit left ({status}).")
        no_model = "model_not_found" in codes or _NO_MODEL.search(said.message)
        if status in (404, 405, 410) or (bad_request and no_model):
            return _Stop(self._not_found(status), "EH-MODEL-UNKNOWN")
        return None

    def _no_entry(self, status: int) -> _Stop:
        if status == 407:
            return _Stop("The proxy on the way wants to be logged in to (407): check HTTPS_PROXY.")
        variables = " or ".join(self._endpoint.key_variables)
        if not variables:
            wanted = f"name the variable that holds it with {self._endpoint.key_flag}"
            return _Stop(f"{self.who} wants a key ({status}): {wanted}.", "EH-KEY-MISSING")
        if not self._has_key:
            return _Stop(f"{self.who} wants a key ({status}): set {variables}.", "EH-KEY-MISSING")
        return _Stop(f"{self.who} does not accept the key ({status}): check {variables}.", "EH-KEY-REFUSED")

    def _not_found(self, status: int) -> str:
        sentence = (
            f"There is no model {self._endpoint.model!r}, or no chat completions, at {self._endpoint.base_url} "
            f"({status}): check the model's name and the base URL"
        )
        last = urlsplit(self._endpoint.base_url).path.rpartition("/")[2]
        if self._endpoint.own and not re.fullmatch(r"v\d\w*|openai", last):
            return sentence + ", which usually ends in /v1."
        return sentence + "."


def read_error(body: bytes) -> ServerError:
    """The error in a body of any of the known envelopes; of a body that is none, its text."""
    try:
        document: object = orjson.loads(body)
    except orjson.JSONDecodeError:
        said = "a page of HTML." if looks_like_html(body) else body[:4000].decode("utf-8", "replace")
        return ServerError(message=said)
    wrapped = sequence(document)  # Gemini's is a list of one
    return error_of(mapping(wrapped[0] if wrapped else document))


def error_of(document: dict[str, Any]) -> ServerError:
    inner = document.get("error")
    if isinstance(inner, str):
        return ServerError(message=inner)
    error = mapping(inner) or document
    message = next((error[name] for name in ("message", "detail", "msg") if error.get(name)), "")
    names = (error.get("code"), error.get("type"), error.get("status"))
    code = count(error.get("code")) or 0
    return ServerError(
        message=message if isinstance(message, str) else orjson.dumps(message).decode(),
        codes=frozenset(text(name).lower() for name in names),
        param=text(error.get("param")) or None,
        status=code if 400 <= code <= 599 else None,
        retry_after=_retry_info(error.get("details")),
        flagged="flagged_input" in mapping(error.get("metadata")),
    )


def status_of(said: ServerError) -> int | None:
    """The status an error object under a 200 stands for, where its code tells."""
    if said.status is not None:
        return said.status
    return next((_STATUS_OF_CODE[code] for code in sorted(said.codes) if code in _STATUS_OF_CODE), None)


def refused_by_filter(status: int, said: ServerError) -> bool:
    """Azure and OpenRouter answer with an error where a filter, not the model, declined."""
    return status in (400, 403) and (said.flagged or not _FILTERED.isdisjoint(said.codes))


def refused_field(status: int, said: ServerError, sent: Collection[str]) -> str | None:
    """Which of the fields sent the endpoint does not know, or does not take with this model."""
    if status not in (400, 422):
        return None
    if said.param is not None:
        complains = not said.codes.isdisjoint(_UNSUPPORTED_CODES) or re.search(_COMPLAINT, said.message, re.IGNORECASE)
        return said.param if complains and said.param in sent else None
    places = [(place, name) for name in sent if (place := _complained_of(name, said.message)) is not None]
    # The field complained of comes first; one after it may be advice ("use max_completion_tokens instead").
    return min(places)[1] if places else None


def _complained_of(name: str, message: str) -> int | None:
    """Where the message complains of this name, within a few words of it: errors also echo what was asked."""
    word = rf"\b{re.escape(name)}\b"
    found = re.search(rf"{word}.{{0,60}}?{_COMPLAINT}|{_COMPLAINT}.{{0,60}}?{word}", message, re.IGNORECASE | re.DOTALL)
    return None if found is None else found.start()


def retry_after(headers: Headers, said: ServerError) -> float | None:
    """Seconds to wait, from whichever header or body field says so; None where nothing does."""
    milliseconds = _number(headers.get("retry-after-ms"))
    if milliseconds is not None:
        return milliseconds / 1000
    value = headers.get("Retry-After", "").strip()
    seconds = _number(value)
    if seconds is not None:
        return seconds
    if value:
        try:
            return max(0.0, parsedate_to_datetime(value).timestamp() - time())
        except ValueError:
            pass
    if said.retry_after is not None:
        return said.retry_after
    resets = [
        _duration(headers[f"x-ratelimit-reset-{what}"])
        for what in ("requests", "tokens")
        if headers.get(f"x-ratelimit-remaining-{what}") == "0" and f"x-ratelimit-reset-{what}" in headers
    ]
    return max((reset for reset in resets if reset is not None), default=None)


def _retry_info(details: object) -> float | None:
    for detail in map(mapping, sequence(details)):
        if "retryDelay" in detail:
            return _duration(text(detail["retryDelay"]))
    return None


def _number(words: str | None) -> float | None:
    return float(words) if words and re.fullmatch(r"\d{1,9}(\.\d+)?", words.strip()) else None


def _duration(words: str) -> float | None:
    """Seconds of "6m0s", "1.5s", "20ms", "12"."""
    plain = _number(words)
    if plain is not None:
        return plain
    if not re.fullmatch(r"(\d+(\.\d+)?(ms|h|m|s))+", words):
        return None
    unit = {"h": 3600.0, "m": 60.0, "s": 1.0, "ms": 0.001}
    return sum(float(number) * unit[name] for number, _, name in re.findall(r"(\d+(\.\d+)?)(ms|h|m|s)", words))


def looks_like_html(body: bytes) -> bool:
    return body[:200].lstrip().lower().startswith((b"<!doctype", b"<html", b"<head", b"<body"))
