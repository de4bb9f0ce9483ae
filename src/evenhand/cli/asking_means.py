"""What the flags of a command that asks a model come to: settings, pace, price, and which key may go where."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import click
from click.core import ParameterSource

from evenhand.cli.surroundings import Surroundings, WrongUse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Settings
from evenhand.engine.budget import Budget
from evenhand.engine.quote import Quote
from evenhand.engine.retry import RetryRule
from evenhand.engine.run import Pacing
from evenhand.images import ImageStore
from evenhand.models.named import NamedModel
from evenhand.models.prices import PriceList, parse_price
from evenhand.models.wire_transport import Timeouts


@dataclass(frozen=True, slots=True, kw_only=True)
class Given:
    """The settings a user gave; the names of those given explicitly are kept, for they are never adapted."""

    settings: Settings
    explicit: frozenset[str]

    def over(self, defaults: Settings) -> Settings:
        """The protocol's or benchmark's defaults with the given ones in their place."""
        return replace(defaults, **{name: getattr(self.settings, name) for name in self.explicit})


def given_settings(flags: Mapping[str, Any]) -> Given:
    settings = Settings(
        temperature=flags["temperature"],
        top_p=flags["top_p"],
        max_tokens=flags["max_tokens"],
        seed=flags["sampling_seed"],
        stop=tuple(flags["stop"]),
        reasoning_effort=flags["reasoning_effort"],
        extra_body=_extra_body(flags["extra_body"]),
    )
    return Given(settings=settings, explicit=frozenset(settings.as_json()))


def _extra_body(text: str | None) -> dict[str, Json] | None:
    if text is None:
        return None
    try:
        document = json.loads(text)
    except json.JSONDecodeError as error:
        raise WrongUse(f"--extra-body is not JSON: {error}.") from error
    if not isinstance(document, dict):
        raise WrongUse("--extra-body must be a JSON object, such as '{\"top_k\": 1}'.")
    return cast(dict[str, Json], document)


def pacing(flags: Mapping[str, Any], *, embedded: bool) -> Pacing:
    return Pacing(
        # An embedded model answers one call after the other; more in flight would only wait.
        max_connections=1 if embedded else flags["max_connections"],
        rpm=flags["rpm"],
        tpm=flags["tpm"],
        retry=RetryRule(retries=flags["max_retries"]),
    )


def timeouts(flags: Mapping[str, Any]) -> Timeouts:
    return Timeouts(total=flags["timeout"], connect=min(15.0, flags["timeout"]))


def quote_and_budget(
    model: NamedModel, flags: Mapping[str, Any], benchmark: Benchmark, images: ImageStore
) -> tuple[Quote, Budget]:
    """Raises WrongUse where a budget is set and no price is known: an unknown price is never taken as 0."""
    prices = PriceList([parse_price(text) for text in flags["price"]])
    quote = Quote(model.endpoint, prices, lambda digest: benchmark.pictures.get(digest) or images.get(digest))
    if flags["max_cost"] is not None and not quote.known:
        raise WrongUse(
            f"--max-cost needs a price, and none is known for {model.name}; "
            "give --price input=DOLLARS,output=DOLLARS (per million tokens)."
        )
    return quote, Budget(flags["max_cost"])


def guard_key(
    ctx: click.Context, model: NamedModel, surroundings: Surroundings, *, flag: str, trust_folder: bool
) -> None:
    """A key from the real environment does not go to an address that a file in this folder chose."""
    endpoint = model.endpoint
    if endpoint is None or trust_folder or not endpoint.own:
        return
    source = ctx.get_parameter_source(flag)
    variable = "EVENHAND_" + flag.upper()
    from_file = (
        source is ParameterSource.DEFAULT_MAP
        or (source is ParameterSource.ENVIRONMENT and variable in surroundings.from_folder)
        or (endpoint.url_variable is not None and endpoint.url_variable in surroundings.from_folder)
    )
    own_keys = [
        name for name in endpoint.key_variables
        if surroundings.environment.get(name) and name not in surroundings.from_folder
    ]  # fmt: skip
    if from_file and own_keys:
        raise WrongUse(
            f"The address {endpoint.base_url} comes from a file in this folder, and {own_keys[0]} from your own "
            "environment: it is not sent there. Give --trust-folder if you trust this folder."
        )
