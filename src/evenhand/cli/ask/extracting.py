"""Who reads the replies that have no readable decision: the judge itself, or the model of `--extractor`."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import click

from evenhand.cli.ask.asking_means import Contact, contact
from evenhand.cli.environment import Environment, WrongUse
from evenhand.domain.rater import Settings
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext
from evenhand.engine.run.quote import Quote
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Showing
from evenhand.ledger.store.record import Ledger

OF_THE_JUDGE: Mapping[str, Any] = {
    "temperature": None, "top_p": None, "max_tokens": None, "sampling_seed": None, "stop": (),
    "reasoning_effort": None, "extra_body": None, "endpoint_name": None, "image_detail": None,
}  # fmt: skip
"""Flags that say how the judge is asked, and nothing of another model."""
_SETTINGS = frozenset(setting.name for setting in fields(Settings))


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedModels:
    """The models that a study asks."""

    judge: Contact
    other: Contact | None = None
    """The extractor, where it is not the judge itself."""

    @property
    def known_price(self) -> bool:
        return self.judge.quote.known and self.second_quote.known

    @property
    def second_quote(self) -> Quote:
        return (self.other or self.judge).quote

    def on_budget(self, budget: Budget) -> "AskedModels":
        other = replace(self.other, budget=budget) if self.other else None
        return AskedModels(judge=replace(self.judge, budget=budget), other=other)

    def call_context(self, ledger: Ledger) -> CallContext:
        context = self.judge.call_context(ledger)
        return replace(context, second=self.other.call_context(ledger)) if self.other else context

    def extractor(self, defaults: Settings) -> Extractor:
        """`defaults`: the extraction's own settings; the judge's explicit ones go over them if it extracts itself."""
        if self.other:
            return Extractor(rater=self.other.rater, model=self.other.model.model)
        given = {name: getattr(self.judge.settings, name) for name in self.judge.explicit & _SETTINGS}
        rater = replace(self.judge.rater, settings=replace(defaults, **given))
        return Extractor(rater=rater, model=self.judge.model.model)


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
