"""What the flags of a command that asks a model come to: settings, pace, price, and which key may go where.

And who reads the replies that have no readable decision: the judge itself, or the model of `--extractor`.
"""

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from pathlib import Path
from typing import cast

import click

from evenhand.api.asking import AskedModels, BatchTerms, Contact, Given, no_image
from evenhand.cli.ask.asking_options import (
    AskingAgainOptions,
    AskingOptions,
    ExtractorOptions,
    ModelAddress,
    PaceOptions,
    SamplingOptions,
    WorkerAskingOptions,
)
from evenhand.cli.environment import UNTRUSTED, Environment, WrongUse, refused_variable
from evenhand.cli.folder import chosen_by_folder, said_by
from evenhand.cli.notes import say_notes
from evenhand.cli.options import as_given
from evenhand.domain.identity import Json
from evenhand.domain.rater import Settings
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import UNREAD_MOST, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.retry import RetryRule
from evenhand.engine.tasks.judging import Showing
from evenhand.files.outputs import Target
from evenhand.images import ImageInfo
from evenhand.models.endpoint import INSECURE_HTTP
from evenhand.models.named import NamedModel, named_model
from evenhand.models.prices import PriceList, parse_price
from evenhand.models.wire.timeouts import Timeouts
from evenhand.models.wires import WIRES, built_in_names

_PROXIES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy")


def given_settings(sampling: SamplingOptions) -> Given:
    settings = Settings(
        temperature=sampling.temperature,
        top_p=sampling.top_p,
        max_tokens=sampling.max_tokens,
        seed=sampling.sampling_seed,
        stop=sampling.stop,
        reasoning_effort=sampling.reasoning_effort,
        extra_body=_extra_body(sampling.extra_body),
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


def pacing(pace: PaceOptions, *, embedded: bool, go_on: bool, wait: bool) -> Pacing:
    return Pacing(
        # An embedded model answers one call after the other; more in flight would only wait.
        max_connections=1 if embedded else pace.max_connections,
        rpm=pace.rpm,
        tpm=pace.tpm,
        retry=RetryRule(retries=pace.max_retries),
        unread_most=None if go_on else UNREAD_MOST,
        wait=wait,
    )


def contact(
    ctx: click.Context,
    address: ModelAddress,
    asking: AskingOptions | AskingAgainOptions | WorkerAskingOptions,
    *,
    defaults: Settings,
    image: Callable[[str], bytes | ImageInfo],
    image_detail: str | None = None,
    go_on: bool = True,
) -> Contact:
    """Raises WrongUse where a budget is set and no price is known: an unknown price is never taken as 0."""
    env = cast(Environment, ctx.obj)
    say_notes(WIRES.clashes(built_in_names(), used=address.model.partition("/")[0]))
    model = named_model(
        address.model,
        environment=env.environment,
        cache=env.cache,
        base_url=address.base_url,
        api_key_env=address.api_key_env,
        endpoint_name=address.endpoint_name,
        url_flag=address.url_flag,
        key_flag=address.key_flag,
    )
    guard(ctx, address, model)
    batching = asking.batching
    batch = BatchTerms.of(model, batch=batching.batch, wait=batching.batch_wait, resend=batching.batch_resend)
    model.check_tier(asking.service_tier, batch=batch is not None)
    given = given_settings(asking.sampling)
    prices = PriceList([parse_price(text) for text in asking.price])
    quote = Quote(
        model.endpoint,
        prices,
        image,
        tokenizer=model.tokenizer(),
        batch=batch is not None,
        tier=asking.service_tier,
    )
    _refuse_budget(ctx, asking.max_cost, quote, model)
    return Contact(
        model=model,
        settings=given.over(defaults),
        quote=quote,
        budget=Budget(asking.max_cost),
        pacing=pacing(asking.pace, embedded=model.endpoint is None, go_on=go_on, wait=not asking.no_wait),
        environment=keys_of(env, insecure_http=asking.insecure_http),
        proxies=env.environment,
        explicit=given.explicit | ({"image_detail"} if image_detail else set[str]()),
        timeouts=timeouts_of(asking.pace.timeout),
        batch=batch,
    )


def _refuse_budget(ctx: click.Context, max_cost: float | None, quote: Quote, model: NamedModel) -> None:
    if max_cost is None:
        return
    if not quote.known:
        said = said_by(ctx, "max_cost")
        raise WrongUse(
            f"--max-cost needs a price, and none is known for {model.name}; "
            f"give --price input=DOLLARS,output=DOLLARS (per million tokens). {said}".rstrip(),
            code="EH-PRICE-UNKNOWN",
        )


def timeouts_of(seconds: float) -> Timeouts:
    return Timeouts(total=seconds, connect=min(15.0, seconds))


def asked_models(
    ctx: click.Context, judge: Contact, showing: Showing, asking: AskingOptions, extraction: ExtractorOptions
) -> AskedModels:
    address = extraction.address()
    if address is None:
        return AskedModels(judge=judge)
    step = showing.protocol.extraction
    if step is None or showing.readout != "free":
        raise WrongUse(
            f"--extractor was given, but nothing is extracted under {showing.protocol.name} with {showing.readout} "
            "readout; leave it out."
        )
    # How the judge samples, and who serves it, says nothing of another model.
    own = replace(asking, sampling=SamplingOptions(), service_tier=None)
    return AskedModels(judge=judge, other=contact(ctx, address, own, defaults=step.settings, image=no_image))


def keys_of(env: Environment, *, insecure_http: bool) -> dict[str, str]:
    """Where a model's key is looked up, with the word on plain http where the user gave it."""
    environment = env.environment
    environment.pop(INSECURE_HTTP, None)
    return {**environment, INSECURE_HTTP: "1"} if insecure_http else environment


def guard(ctx: click.Context, address: ModelAddress, model: NamedModel) -> None:
    """Raises WrongUse where a folder's files would choose the key, the address, or who sees both."""
    env, endpoint = cast(Environment, ctx.obj), model.endpoint
    if endpoint is None:
        return
    environment, withheld = env.environment, env.withheld
    wanted: list[str] = []
    if address.base_url is None and endpoint.url_variable is None:
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
    one_named = (address.base_url is None) != (not address.api_key_env)
    if one_named and own_keys and _of_folder(ctx, address.model):
        raise WrongUse(
            f"A file in this folder chose the model {address.model}, for which {own_keys[0]} would be sent to "
            f"{endpoint.base_url}. Name the model yourself, or give --trust-folder if you trust this folder.",
            code=UNTRUSTED,
        )


def _of_folder(ctx: click.Context, name: str) -> bool:
    return any(name in _several(ctx.params.get(flag)) and chosen_by_folder(ctx, flag) for flag in ("judge", "model"))


def _several(given: object) -> tuple[object, ...]:
    return cast("tuple[object, ...]", given) if isinstance(given, tuple) else (given,)


def recorded(options: object, *, only: Collection[str] | None = None) -> dict[str, Json]:
    """The options as they are kept with a run, but for what may hold a secret: the store, a URL's query."""
    given = {name: value for name, value in as_given(options) if only is None or name in only}
    kept = {name: _plain(value) for name, value in given.items() if value not in (None, ()) and name != "store"}
    for name, value in kept.items():
        if name.endswith("base_url") and isinstance(value, str):
            kept[name] = value.partition("?")[0]
    return kept


def _plain(value: object) -> Json:
    if isinstance(value, tuple):
        return [_plain(one) for one in cast("tuple[object, ...]", value)]
    return str(value) if isinstance(value, Path | Target) else cast(Json, value)
