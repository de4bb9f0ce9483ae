"""One request to a model and its reply, as content: what is asked, of whom, under which settings."""

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal, NamedTuple, TypeAlias

from evenhand.domain.identity import Json, canonical_hash_after, canonical_json
from evenhand.domain.rater import Settings

Role: TypeAlias = Literal["system", "user", "assistant"]
Finish: TypeAlias = Literal["stop", "length", "refused", "other"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """An image as sent, named by its source's SHA-256 and how it is prepared: re-encoded bytes differ by machine."""

    digest: str
    detail: str | None = None
    max_edge: int | None = None


Part: TypeAlias = str | Picture


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    role: Role
    parts: tuple[Part, ...]

    @property
    def text(self) -> str:
        return "".join(part for part in self.parts if isinstance(part, str))


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """Constrained readout: the assistant's turn is begun with `begin` and must go on with one of `answers`."""

    begin: str
    answers: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    endpoint: str
    """Endpoint identity, not an address."""
    model: str
    messages: tuple[Message, ...]
    settings: Settings
    offer: Offer | None = None
    replicate: int = 0
    attempt: int = 0
    canonical: str = field(init=False, repr=False, compare=False)
    """Its content as canonical JSON: what the key is a hash of, and what is put on record."""
    key: str = field(init=False)
    pictures: tuple[Picture, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        pictures = tuple([part for message in self.messages for part in message.parts if isinstance(part, Picture)])
        object.__setattr__(self, "pictures", pictures)
        # Put together, as canonical_json(self.content()) writes it: turns sent every time are written and hashed once.
        begun = _begun(self.attempt, self.endpoint, self.messages[:-1])
        last = ",".join([_turn(message) for message in self.messages[-1:]])
        rest = f"{last}{_ended(self.model, self.offer, self.replicate, self.settings.canonical)}"
        object.__setattr__(self, "canonical", begun.text + rest)
        object.__setattr__(self, "key", begun.key(rest))

    def content(self) -> dict[str, Json]:
        return {
            "endpoint": self.endpoint,
            "model": self.model,
            "messages": [[m.role, [_part_content(p) for p in m.parts]] for m in self.messages],
            "settings": self.settings.as_json(),
            "offer": [self.offer.begin, list(self.offer.answers)] if self.offer else None,
            "replicate": self.replicate,
            "attempt": self.attempt,
        }


class _Begun(NamedTuple):
    """How the canonical JSON of requests begins."""

    text: str
    key: Callable[[str], str]
    """Of the request that goes on so."""


@lru_cache(maxsize=64)  # most turns of a protocol are the same for every trial
def _begun(attempt: int, endpoint: str, messages: tuple[Message, ...]) -> _Begun:
    turns = "".join([f"{_turn(message)}," for message in messages])
    text = f'{{"attempt":{attempt},"endpoint":{canonical_json(endpoint)},"messages":[{turns}'
    return _Begun(text, canonical_hash_after("call", text))


@lru_cache(maxsize=64)
def _ended(model: str, offer: Offer | None, replicate: int, settings: str) -> str:
    offered = canonical_json([offer.begin, list(offer.answers)]) if offer else "null"
    return f'],"model":{canonical_json(model)},"offer":{offered},"replicate":{replicate},"settings":{settings}}}'


def _turn(message: Message) -> str:
    parts = ",".join([canonical_json(part) if isinstance(part, str) else _shown(part) for part in message.parts])
    return f'["{message.role}",[{parts}]]'


@lru_cache(maxsize=4096)  # an item's are shown in trial after trial
def _shown(picture: Picture) -> str:
    return canonical_json(_part_content(picture))


def _part_content(part: Part) -> Json:
    if isinstance(part, str):
        return part
    return {"image": part.digest, "detail": part.detail, "max_edge": part.max_edge}


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens as the endpoint counted them; None where it did not say."""

    input: int | None = None
    output: int | None = None
    cached: int | None = None
    """Of the input."""
    reasoning: int | None = None
    """Of the output."""
    cache_written: int | None = None
    """Of the input: what was put into the provider's cache, where that has a price of its own."""
    tier: str | None = None
    """The service tier that the endpoint says it served under."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    text: str
    """The answer alone; reasoning is never read as a verdict."""
    finish: Finish = "stop"
    reasoning: str = ""
    usage: Usage = field(default_factory=Usage)
    model: str = ""
    """What the endpoint says it ran."""
    fingerprint: str = ""
    offered: tuple[float | None, ...] | None = None
    """Log-probability of each offered answer; None where the endpoint did not list it."""
    forced: bool = False
    """True where the continuations were forced, so that their mass is the whole by construction."""
    adapted: tuple[str, ...] = ()
    """Sentences: default settings the endpoint refused and how they were sent instead."""
    requests: int = 1
    """HTTP requests this reply took, retries included."""
    seconds: float = 0.0
