"""What is known about each service that speaks the OpenAI wire, read from providers.toml."""

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from evenhand.domain.identity import Json

BegunTurn: TypeAlias = Literal["none", "trailing", "prefix", "continue"]
MaxTokensField: TypeAlias = Literal["max_tokens", "max_completion_tokens"]
BatchWireName: TypeAlias = Literal["openai", "anthropic", "mistral"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BatchOffer:
    """Work that may wait, as a service takes it."""

    wire: BatchWireName = "openai"
    share: float | None = None
    """Of the price of a plain call; None where no other is known, and the full price is counted."""
    most_requests: int = 50_000
    most_bytes: int = 200_000_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Provider:
    """A service by name; the fields are explained at the head of providers.toml."""

    name: str
    base_url: str = ""
    key_variables: tuple[str, ...] = ()
    key_required: bool = True
    url_variables: tuple[str, ...] = ()
    unsupported: frozenset[str] = frozenset()
    renamed: Mapping[str, str] = field(default_factory=dict[str, str])
    max_tokens_field: MaxTokensField = "max_tokens"
    most_temperature: float | None = None
    begun_turn: BegunTurn = "none"
    top_logprobs: int = 0
    logprobs_count: bool = False
    demand: Mapping[str, Json] = field(default_factory=dict[str, Json])
    prices: str | None = None
    tiers: Mapping[str, float | None] = field(default_factory=dict[str, float | None])
    cache_marks: tuple[str, ...] = ()
    batch: BatchOffer | None = None


CUSTOM = Provider(name="custom", key_required=False, top_logprobs=20, batch=BatchOffer())
"""A server known only by the base URL the user gave: nothing is assumed but the wire."""


@cache
def providers() -> Mapping[str, Provider]:
    text = files("evenhand.models").joinpath("providers.toml").read_text(encoding="utf-8")
    return {name: _provider(name, row) for name, row in tomllib.loads(text).items()}


def _provider(name: str, row: dict[str, Any]) -> Provider:
    row["key_variables"] = tuple(row["key_variables"])
    row["url_variables"] = tuple(row["url_variables"])
    row["unsupported"] = frozenset(row.get("unsupported", ()))
    row["tiers"] = {tier: None if share == "unknown" else share for tier, share in row.get("tiers", {}).items()}
    row["cache_marks"] = tuple(row.get("cache_marks", ()))
    if "batch" in row:
        row["batch"] = BatchOffer(**row["batch"])
    return Provider(name=name, **row)
