"""Where a judge is and how much it may be asked, as a notebook says it; and the models that are asked on such terms."""

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path

from platformdirs import user_cache_path

from evenhand.api.asking import AskedModels, BatchTerms, Contact, Given, is_number, no_image
from evenhand.api.jobs import AskedShowing, refuse_adapted
from evenhand.api.ledgers import GivenLedger, ledger_at
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Rater, Settings
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.tasks.judging import Showing
from evenhand.images import ImageInfo
from evenhand.images.unpacked import found_in
from evenhand.ledger.store.record import Ledger
from evenhand.models.named import NamedModel, named_model
from evenhand.models.prices import Price, PriceList


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Where the judge is, how it samples, how much it may be asked and what it costs: the settings of a call as one
    value, for whoever asks several times."""

    base_url: str | None = None
    api_key_env: str | None = None
    endpoint_name: str | None = None
    settings: Settings | None = None
    """Explicit ones: a provider that refuses one is an error. None: the protocol's."""
    prices: Sequence[Price] = ()
    service_tier: str | None = None
    """The judge's, where its provider has some; part of what it costs, not of what is asked."""
    max_cost: float | None = None
    """Dollars for judge and extractor together."""
    extractor: str | None = None
    """Finds the decision in a reply that has no readable one; None: the judge itself."""
    extractor_base_url: str | None = None
    extractor_api_key_env: str | None = None
    pacing: Pacing | None = None
    batch: bool | None = None
    """Calls go out in the provider's batches."""
    batch_wait: float | None = None
    """Seconds for which batches are waited for; None: until they end."""
    batch_resend: bool | None = None
    """What another key has sent in a batch that is not known with this one is sent again."""
    cache: Path | None = None
    """Where embedded models' weights lie; the user's cache by default."""

    def as_json(self) -> dict[str, Json]:
        """Where the models are, as it is kept with a run: under the names of the flags, without a URL's query, which
        may hold a key."""
        urls = {"judge_base_url": self.base_url, "extractor_base_url": self.extractor_base_url}
        named = {
            **{name: url and url.partition("?")[0] for name, url in urls.items()},
            "judge_api_key_env": self.api_key_env,
            "endpoint_name": self.endpoint_name,
            "service_tier": self.service_tier,
            "extractor": self.extractor,
            "extractor_api_key_env": self.extractor_api_key_env,
        }
        return {name: value for name, value in named.items() if value}

    def before(self, others: "Terms | None") -> "Terms":
        """These where they are given, else the others."""
        given = {one.name: getattr(self, one.name) for one in fields(self)}
        return replace(others or Terms(), **{name: value for name, value in given.items() if value not in (None, ())})


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookAsker:
    """How the models of one call are asked, and where it is put on record."""

    ledger: Ledger
    terms: Terms
    settings: Settings | None
    """Given by name, these go over the protocol's own; those of the terms stand whole."""

    @classmethod
    def of(
        cls, named: Terms, others: Terms | None, *, ledger: "GivenLedger | None", settings: Settings | None
    ) -> "NotebookAsker":
        """`named`: what was given by name, which goes before the `others`."""
        return cls(ledger=ledger_at(ledger), terms=named.before(others), settings=settings)

    def without_extractor(self) -> "NotebookAsker":
        return replace(self, terms=replace(self.terms, extractor=None))

    def asked(self, judge: str, showing: Showing, benchmark: Benchmark) -> AskedShowing:
        """The judge, and the extractor where it is another. Raises Misuse."""
        terms, given = self.terms, Given.of(self.settings or self.terms.settings)
        whole = terms.settings if self.settings is None else None
        address = _named(judge, terms, base_url=terms.base_url, api_key_env=terms.api_key_env, name=terms.endpoint_name)
        contact = _contact(
            address,
            terms,
            settings=whole or given.over(showing.protocol.settings),
            explicit=given.explicit | ({"image_detail"} if showing.image_detail else set[str]()),
            image=lambda digest: found_in(benchmark.pictures, digest) or self.ledger.images.get(digest),
        )
        refuse_adapted(contact, self.ledger)
        asked = AskedModels(judge=contact, other=_extractor(terms, showing))
        return AskedShowing(asked=asked, showing=asked.asking(showing.of(benchmark.items)))

    def asked_again(self, judge: str, rater: Rater, explicit: frozenset[str], extractor: Rater | None) -> AskedModels:
        """The judge, and the extractor where it is another, with the settings they have on record. Raises Misuse."""
        terms = self.terms
        address = _named(judge, terms, base_url=terms.base_url, api_key_env=terms.api_key_env, name=terms.endpoint_name)
        contact = _contact(address, terms, settings=rater.settings, explicit=explicit, image=self.ledger.images.get)
        if extractor is None or terms.extractor is None:
            return AskedModels(judge=contact)
        other = _named(
            terms.extractor,
            terms,
            base_url=terms.extractor_base_url,
            api_key_env=terms.extractor_api_key_env,
            name=None,
        )
        return AskedModels(
            judge=contact, other=_contact(other, replace(terms, service_tier=None), settings=extractor.settings)
        )


def _extractor(terms: Terms, showing: Showing) -> Contact | None:
    """None where the judge itself finds the decision."""
    if terms.extractor is None:
        return None
    step = showing.protocol.extraction
    if step is None or showing.readout != "free":
        raise Misuse(
            f"An extractor was given, but nothing is extracted under {showing.protocol.name} with {showing.readout} "
            "readout; leave it out."
        )
    other = _named(
        terms.extractor, terms, base_url=terms.extractor_base_url, api_key_env=terms.extractor_api_key_env, name=None
    )
    return _contact(other, replace(terms, service_tier=None), settings=step.settings)


def _named(model: str, terms: Terms, *, base_url: str | None, api_key_env: str | None, name: str | None) -> NamedModel:
    return named_model(
        model,
        environment=os.environ,
        cache=terms.cache or user_cache_path("evenhand"),
        base_url=base_url,
        api_key_env=api_key_env,
        endpoint_name=name,
        url_flag="base_url",
        key_flag="api_key_env",
    )


def _contact(
    model: NamedModel,
    terms: Terms,
    *,
    settings: Settings,
    explicit: frozenset[str] = frozenset(),
    image: Callable[[str], bytes | ImageInfo] = no_image,
) -> Contact:
    batch = BatchTerms.of(model, batch=terms.batch, wait=terms.batch_wait, resend=terms.batch_resend)
    model.check_tier(terms.service_tier, batch=batch is not None)
    quote = Quote(
        model.endpoint,
        PriceList(terms.prices),
        image,
        tokenizer=model.tokenizer(),
        batch=batch is not None,
        tier=terms.service_tier,
    )
    if terms.max_cost is not None and not is_number(terms.max_cost):
        raise Misuse(f"max_cost is a number of dollars, not {terms.max_cost}.")
    if terms.max_cost is not None and not quote.known:
        raise Misuse(
            f"A budget needs a price, and none is known for {model.name}; give `prices`.", code="EH-PRICE-UNKNOWN"
        )
    return Contact(
        model=model,
        settings=settings,
        quote=quote,
        budget=Budget(terms.max_cost),
        pacing=terms.pacing or Pacing(max_connections=1 if model.endpoint is None else 64),
        environment=os.environ,
        proxies=os.environ,
        explicit=explicit,
        batch=batch,
    )
