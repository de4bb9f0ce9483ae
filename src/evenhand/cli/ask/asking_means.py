"""What the flags of a command that asks a model come to: settings, pace, price, and which key may go where."""

import json
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, cast

import click
from click.core import ParameterSource

from evenhand.api.asking import Contact, Given
from evenhand.cli.environment import UNTRUSTED, Environment, WrongUse, refused_variable
from evenhand.cli.folder import said_by
from evenhand.cli.notes import say_notes
from evenhand.domain.identity import Json
from evenhand.domain.rater import Settings
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.retry import RetryRule
from evenhand.files.outputs import Target
from evenhand.models.endpoint import INSECURE_HTTP
from evenhand.models.named import NamedModel, named_model
from evenhand.models.prices import PriceList, parse_price
from evenhand.models.wire.timeouts import Timeouts
from evenhand.models.wires import WIRES, built_in_names

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


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
    return Given.of(settings)


def _extra_body(text: str | None) -> dict[str, Json] | None:
    if text is None:
        return None
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
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


def contact(
    ctx: click.Context,
    name: str,
    env: Environment,
    flags: Mapping[str, Any],
    *,
    url_flag: str,
    key_flag: str,
    defaults: Settings,
    image: Callable[[str], bytes],
) -> Contact:
    """Raises WrongUse where a budget is set and no price is known: an unknown price is never taken as 0."""
    say_notes(WIRES.clashes(built_in_names(), used=name.partition("/")[0]))
    model = named_model(
        name,
        environment=env.environment,
        cache=env.cache,
        base_url=flags[url_flag],
        api_key_env=flags[key_flag],
        endpoint_name=flags["endpoint_name"],
        url_flag=f"--{url_flag.replace('_', '-')}",
        key_flag=f"--{key_flag.replace('_', '-')}",
    )
    guard(ctx, name, model, env, flags, url_flag=url_flag, key_flag=key_flag)
    given = given_settings(flags)
    quote = Quote(model.endpoint, PriceList([parse_price(text) for text in flags["price"]]), image)
    if flags["max_cost"] is not None and not math.isfinite(flags["max_cost"]):
        raise WrongUse(
            f"--max-cost is a number of dollars, not {flags['max_cost']}. {said_by(ctx, 'max_cost')}".rstrip()
        )
    if flags["max_cost"] is not None and not quote.known:
        raise WrongUse(
            f"--max-cost needs a price, and none is known for {model.name}; "
            f"give --price input=DOLLARS,output=DOLLARS (per million tokens). {said_by(ctx, 'max_cost')}".rstrip()
        )
    return Contact(
        model=model,
        settings=given.over(defaults),
        quote=quote,
        budget=Budget(flags["max_cost"]),
        pacing=pacing(flags, embedded=model.endpoint is None),
        environment=keys_of(env, flags),
        proxies=env.environment,
        explicit=given.explicit | ({"image_detail"} if flags["image_detail"] else set[str]()),
        timeouts=Timeouts(total=flags["timeout"], connect=min(15.0, flags["timeout"])),
    )


def keys_of(env: Environment, flags: Mapping[str, Any]) -> dict[str, str]:
    """Where a model's key is looked up, with the word on plain http where the user gave it."""
    environment = env.environment
    environment.pop(INSECURE_HTTP, None)
    return {**environment, INSECURE_HTTP: "1"} if flags["insecure_http"] else environment


def guard(
    ctx: click.Context,
    name: str,
    model: NamedModel,
    env: Environment,
    flags: Mapping[str, Any],
    *,
    url_flag: str = "base_url",
    key_flag: str = "api_key_env",
) -> None:
    """Raises WrongUse where a folder's files would choose the key, the address, or who sees both."""
    endpoint = model.endpoint
    if endpoint is None:
        return
    environment, withheld = env.environment, env.withheld
    wanted: list[str] = []
    if flags[url_flag] is None and endpoint.url_variable is None:
        wanted += endpoint.provider.url_variables
    if not any(environment.get(variable) for variable in endpoint.key_variables):
        wanted += endpoint.key_variables
    if not endpoint.loopback:
        wanted += [variable for variable in withheld if variable.lower() in _PROXIES]
    for variable in wanted:
        if variable in withheld:
            raise WrongUse(refused_variable(variable), code=UNTRUSTED)
    own_keys = [variable for variable in endpoint.key_variables if environment.get(variable)]
    # The provider in a model's name chooses the key, or the address: where the user named the other, both are theirs.
    one_named = (flags[url_flag] is None) != (not flags[key_flag])
    if one_named and own_keys and _of_folder(ctx, name, env, flags):
        raise WrongUse(
            f"A file in this folder chose the model {name}, for which {own_keys[0]} would be sent to "
            f"{endpoint.base_url}. Name the model yourself, or give --trust-folder if you trust this folder.",
            code=UNTRUSTED,
        )


def _of_folder(ctx: click.Context, name: str, env: Environment, flags: Mapping[str, Any]) -> bool:
    return any(
        flags.get(flag) == name
        and flag in env.of_folder
        and ctx.get_parameter_source(flag) is ParameterSource.DEFAULT_MAP
        for flag in ("judge", "model")
    )


def recorded(flags: Mapping[str, Any]) -> dict[str, Json]:
    """The resolved flags, as they are kept with a run, but for what may hold a secret: the store, a URL's query."""
    kept = {name: _plain(value) for name, value in flags.items() if value not in (None, ()) and name != "store"}
    for name, value in kept.items():
        if name.endswith("base_url") and isinstance(value, str):
            kept[name] = value.partition("?")[0]
    return kept


def _plain(value: Any) -> Json:
    if isinstance(value, tuple):
        return [_plain(one) for one in cast(tuple[Any, ...], value)]
    return str(value) if isinstance(value, Path | Target) else value
