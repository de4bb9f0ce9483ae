"""The bytes of a chat-completions request: settings as this endpoint calls them, messages, images spliced in."""

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol, TypeAlias, runtime_checkable

import orjson

from evenhand.domain.call import Message, Offer, Picture, Request
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.rater import Settings
from evenhand.models.endpoint import Endpoint
from evenhand.models.provider import BegunTurn, MaxTokensField

Pictures: TypeAlias = Callable[[Picture], bytes]
"""Gives the data URL of a picture, as prepared."""


@runtime_checkable
class PicturesInMemory(Protocol):
    """Of a source of pictures that keeps some of what it gave in memory."""

    def at_hand(self, picture: Picture) -> bool:
        """Whether it is given at once, without a file or a place elsewhere."""
        ...


# Unguessable, so that no text in a message can be taken for a picture's place.
_PLACE = f"picture-{secrets.token_hex(12)}"
_SPLIT = _PLACE.encode()

OFFER = "offer"
"""Stands for a setting where a field is there because answers are offered."""

TIER = "service_tier"
"""Of a field that says under which terms a request is served: it changes what is paid, and nothing that is asked."""

# What extra_body must not replace: the question itself, and shapes of reply that are not read.
_RESERVED = frozenset({"model", "messages", "stream", "n"})


@dataclass(frozen=True, slots=True, kw_only=True)
class BodyShape:
    """How this endpoint takes requests, as far as is known; what it refuses makes a new Shape."""

    max_tokens_field: MaxTokensField
    dropped: frozenset[str] = frozenset()
    """Default settings that are not sent."""

    @classmethod
    def of(cls, endpoint: Endpoint) -> "BodyShape":
        # A server of one's own may be old and ignore the newer name, which would leave the length unbounded.
        newer = endpoint.provider.max_tokens_field
        return cls(
            max_tokens_field="max_tokens" if endpoint.own else newer,
            dropped=endpoint.provider.unsupported,
        )

    def without(self, setting: str) -> "BodyShape":
        return replace(self, dropped=self.dropped | {setting})

    def renamed(self) -> "BodyShape":
        other: MaxTokensField = (
            "max_tokens" if self.max_tokens_field == "max_completion_tokens" else "max_completion_tokens"
        )
        return replace(self, max_tokens_field=other)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fixed:
    """The part of a body that is the same for all requests with the same settings, and what was left out of it."""

    tail: bytes
    """From the comma after the messages to the closing brace."""
    settings_of_fields: Mapping[str, str]
    """The fields sent, each with the setting it carries."""
    adapted: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Spliced:
    """A body in pieces, so that images are neither escaped nor copied."""

    chunks: Sequence[bytes]
    size: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", sum(map(len, self.chunks)))


class BodyWriter:
    """Writes bodies for one endpoint; keeps the fixed part of the settings it saw last."""

    def __init__(
        self, endpoint: Endpoint, *, explicit: frozenset[str], pictures: Pictures | None, tier: str | None = None
    ) -> None:
        self._endpoint = endpoint
        self._tier = tier
        self._explicit = explicit
        self._pictures = pictures
        self._in_memory = pictures if isinstance(pictures, PicturesInMemory) else None
        self._last: tuple[tuple[Settings, str | None, str, BodyShape], Fixed] | None = None

    def fixed(self, request: Request, shape: BodyShape) -> Fixed:
        cause = (request.settings, request.offer and request.offer.begin, request.model, shape)
        if self._last is not None and self._last[0] == cause:
            return self._last[1]
        fixed = self._fixed(request, shape)
        self._last = (cause, fixed)
        return fixed

    def at_hand(self, request: Request) -> bool:
        """Whether a body is made at once: it shows no pictures, or those alone that are in memory."""
        return all(self._in_memory is not None and self._in_memory.at_hand(one) for one in request.pictures)

    def body(self, request: Request, fixed: Fixed) -> bytes | Spliced:
        marks = cache_marks(request) if self._endpoint.marks_caches else {}
        messages = [_message(message, marks.get(place)) for place, message in enumerate(request.messages)]
        if request.offer is not None:
            messages.extend(_begun(request.offer, self._endpoint.provider.begun_turn))
        head = b'{"messages":' + orjson.dumps(messages)
        pictures = request.pictures
        if not pictures:
            return head + fixed.tail
        if self._pictures is None:
            raise Misuse("This request shows images, and the client was made without a source of images.")
        return _spliced(head, (self._pictures(picture) for picture in pictures), fixed.tail)

    def _fixed(self, request: Request, shape: BodyShape) -> Fixed:
        provider = self._endpoint.provider
        fields: dict[str, Json] = {"model": request.model}
        settings_of_fields: dict[str, str] = {}
        adapted: list[str] = []
        settings = request.settings
        for name, value in settings.as_json().items():
            if name == "extra_body" or (request.offer is not None and name in ("max_tokens", "top_logprobs")):
                continue
            if name in shape.dropped:
                adapted.append(f"{self._endpoint.name} does not take {name}: its default was used instead of {value}.")
                continue
            if name == "temperature":
                value = self._temperature(settings.temperature, adapted)
            for wire_name, wire_value in self._fields_of(name, value, shape).items():
                fields[wire_name] = wire_value
                settings_of_fields[wire_name] = name
        if request.offer is not None:
            offer_fields = self._offer_fields(request.offer, settings, shape)
            fields |= offer_fields
            settings_of_fields |= dict.fromkeys(offer_fields, OFFER) | {shape.max_tokens_field: "max_tokens"}
        usual = BodyShape.of(self._endpoint).max_tokens_field
        if shape.max_tokens_field in fields and shape.max_tokens_field != usual:
            other = shape.max_tokens_field
            adapted.append(
                f"{self._endpoint.name} does not take {usual}: it was sent as {other}, which means the same."
            )
        if provider.demand and (self._explicit or request.offer is not None):
            fields.update(provider.demand)
        if self._tier is not None:
            fields[TIER] = self._tier
            settings_of_fields[TIER] = TIER
        self._add_extra_body(settings.extra_body or {}, fields, settings_of_fields)
        return Fixed(
            tail=b"," + orjson.dumps(fields)[1:],
            settings_of_fields=settings_of_fields,
            adapted=tuple(adapted),
        )

    def _fields_of(self, name: str, value: Json, shape: BodyShape) -> dict[str, Json]:
        if name == "max_tokens":
            return {shape.max_tokens_field: value}
        if name == "top_logprobs":
            assert isinstance(value, int)
            return self._logprobs(value)
        return {self._endpoint.provider.renamed.get(name, name): value}

    def _temperature(self, value: float | None, adapted: list[str]) -> float | None:
        most = self._endpoint.provider.most_temperature
        if value is None or most is None or value <= most:
            return value
        if "temperature" in self._explicit:
            raise Misuse(
                f"{self._endpoint.provider.name} caps temperature at {most:g}: {value:g} would be ignored.",
                code="EH-SETTING-REFUSED",
            )
        adapted.append(f"{self._endpoint.name} caps temperature at {most:g}: that was sent instead of {value:g}.")
        return most

    def _logprobs(self, count: int) -> dict[str, Json]:
        most = self._endpoint.provider.top_logprobs
        if count > most:
            raise Misuse(f"{self._endpoint.name} gives at most {most} top_logprobs, not {count}.")
        return (
            {"logprobs": count} if self._endpoint.provider.logprobs_count else {"logprobs": True, "top_logprobs": count}
        )

    def _offer_fields(self, offer: Offer, settings: Settings, shape: BodyShape) -> dict[str, Json]:
        provider = self._endpoint.provider
        if not provider.top_logprobs:
            raise Misuse(
                f"{provider.name} gives no log-probabilities, which a constrained readout needs: "
                "use --readout free or another endpoint.",
                code="EH-LOGPROBS-MISSING",
            )
        # Where the turn cannot be begun for it, the model writes the beginning itself: at most a token for every byte.
        tokens = 1 if provider.begun_turn != "none" else 1 + len(offer.begin.encode())
        count = settings.top_logprobs or min(20, provider.top_logprobs)
        fields: dict[str, Json] = {shape.max_tokens_field: tokens, **self._logprobs(count)}
        if provider.begun_turn == "continue":
            fields |= {"continue_final_message": True, "add_generation_prompt": False}
        return fields

    def _add_extra_body(
        self, extra: Mapping[str, Json], fields: dict[str, Json], settings_of_fields: dict[str, str]
    ) -> None:
        reserved = sorted(_RESERVED.intersection(extra))
        if reserved:
            raise Misuse(f"extra_body must not set {', '.join(reserved)}: these are Evenhand's own.")
        for name, value in extra.items():
            fields[name] = value
            settings_of_fields[name] = "extra_body"


def cache_marks(request: Request) -> dict[int, int]:
    """By message, the part up to which the prompt begins as others do: the fixed turns, and the item's images."""
    last = max(place for place, message in enumerate(request.messages) if message.role == "user")
    marks = {last - 1: len(request.messages[last - 1].parts) - 1} if last else {}
    shown = [place for place, part in enumerate(request.messages[last].parts) if isinstance(part, Picture)]
    return marks | ({last: shown[-1]} if shown else {})


def _message(message: Message, marked: int | None) -> dict[str, Any]:
    # Plain text as one string: chat templates of text-only models know no lists of parts.
    parts = message.parts
    if marked is None and len(parts) == 1 and isinstance(parts[0], str):
        return {"role": message.role, "content": parts[0]}
    words_only = all(isinstance(part, str) for part in parts)
    if marked is not None:
        content: Any = [_part(part) for part in ((message.text,) if words_only else parts)]
        content[0 if words_only else marked]["cache_control"] = {"type": "ephemeral"}
    elif words_only:
        content = message.text
    else:
        content = [_part(part) for part in parts]
    return {"role": message.role, "content": content}


def _part(part: str | Picture) -> dict[str, Any]:
    if isinstance(part, str):
        return {"type": "text", "text": part}
    image: dict[str, Json] = {"url": _PLACE}
    if part.detail is not None:
        image["detail"] = part.detail
    return {"type": "image_url", "image_url": image}


def _begun(offer: Offer, how: BegunTurn) -> list[dict[str, Any]]:
    if how == "none" or not offer.begin:
        return []
    message: dict[str, Json] = {"role": "assistant", "content": offer.begin}
    if how == "prefix":
        message["prefix"] = True
    return [message]


def _spliced(head: bytes, pictures: Iterable[bytes], tail: bytes) -> Spliced:
    first, *texts = head.split(_SPLIT)
    chunks = [first]
    for url, text in zip(pictures, texts, strict=True):
        chunks += (url, text)
    chunks[-1] += tail
    return Spliced(chunks=chunks)
