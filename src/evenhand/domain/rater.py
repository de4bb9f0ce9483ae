"""Who judges: a person, or a model with its settings. The kind selects; it never changes how numbers are computed."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import Literal

from evenhand.domain.identity import Json, canonical_json, content_hash

PEOPLE = "people"
"""All people together, and those who are not named."""
_SCRIPTED = "scripted/"


def is_scripted(name: str | None) -> bool:
    """Whether a rater's verdicts are made up by a script, which tells of no real judge."""
    return name is not None and name.startswith(_SCRIPTED)


@dataclass(frozen=True, kw_only=True)
class Settings:
    """Sampling settings of a call; None is not sent. All of them are part of a call's identity."""

    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int | None = None
    seed: int | None = None
    stop: tuple[str, ...] = ()
    top_logprobs: int | None = None
    response_format: Mapping[str, Json] | None = None
    reasoning_effort: str | None = None
    extra_body: Mapping[str, Json] | None = None

    def as_json(self) -> dict[str, Json]:
        """Only what is set, with 0 and 0.0 written alike."""
        written: dict[str, Json] = {}
        for name in _SETTING_NAMES:
            value = getattr(self, name)
            if value is None or value == ():
                continue
            if name in ("temperature", "top_p"):
                value = float(value)
            written[name] = list(self.stop) if name == "stop" else value
        return written

    def chosen(self, defaults: "Settings") -> frozenset[str]:
        """Names of those that are set otherwise than by default: what whoever asked so set explicitly."""
        return frozenset(name for name in self.as_json() if getattr(self, name) != getattr(defaults, name))

    @cached_property
    def canonical(self) -> str:
        """Its canonical JSON, written once for all requests."""
        return canonical_json(self.as_json())


_SETTING_NAMES = tuple(f.name for f in fields(Settings))


@dataclass(frozen=True, slots=True, kw_only=True)
class Rater:
    kind: Literal["model", "human"]
    name: str
    """`provider/model`, or a person's label."""
    endpoint: str = ""
    """Endpoint identity: provider name, a user's base URL or its given name, or the SHA-256 of embedded weights."""
    settings: Settings = field(default_factory=Settings)
    key: str = field(init=False)

    def __post_init__(self) -> None:
        content: Json = [self.kind, self.name, self.endpoint, self.settings.as_json()]
        object.__setattr__(self, "key", content_hash("rater", content))
