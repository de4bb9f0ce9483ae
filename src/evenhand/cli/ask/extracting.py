"""Who reads the replies that have no readable decision: the judge itself, or the model of `--extractor`."""

from collections.abc import Mapping
from typing import Any

import click

from evenhand.api.asking import AskedModels, Contact
from evenhand.cli.ask.asking_means import contact
from evenhand.cli.environment import Environment, WrongUse
from evenhand.engine.tasks.judging import Showing

OF_THE_JUDGE: Mapping[str, Any] = {
    "temperature": None, "top_p": None, "max_tokens": None, "sampling_seed": None, "stop": (),
    "reasoning_effort": None, "extra_body": None, "endpoint_name": None, "image_detail": None,
}  # fmt: skip
"""Flags that say how the judge is asked, and nothing of another model."""


def asked_models(
    ctx: click.Context, judge: Contact, showing: Showing, env: Environment, flags: Mapping[str, Any]
) -> AskedModels:
    extraction = showing.protocol.extraction
    name = flags["extractor"]
    if name is None:
        for flag in ("extractor_base_url", "extractor_api_key_env"):
            if flags[flag] is not None:
                raise WrongUse(f"--{flag.replace('_', '-')} goes with --extractor, which names the model.")
        return AskedModels(judge=judge)
    if extraction is None or showing.readout != "free":
        raise WrongUse(
            f"--extractor was given, but nothing is extracted under {showing.protocol.name} with {showing.readout} "
            "readout; leave it out."
        )
    other = contact(
        ctx,
        name,
        env,
        {**flags, **OF_THE_JUDGE},
        url_flag="extractor_base_url",
        key_flag="extractor_api_key_env",
        defaults=extraction.settings,
        image=no_image,
    )
    return AskedModels(judge=judge, other=other)


def no_image(digest: str) -> bytes:
    raise AssertionError(f"An extraction shows no image, not even {digest}.")
