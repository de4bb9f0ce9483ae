"""Judging from Python: what `evenhand judge` does, as one call."""

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from platformdirs import user_cache_path

from evenhand.benchmarks.answers.responses_file import reference_responses
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Rater, Settings
from evenhand.domain.response import Response
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import CallContext, Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.run.stopping import StopSign
from evenhand.engine.session import run_study
from evenhand.engine.tasks.extraction import Extractor
from evenhand.engine.tasks.judging import Matching, Showing, prepare
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.ledger.read.projection import studies
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.models.named import NamedModel, named_model
from evenhand.models.prices import Price, PriceList
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeRun:
    run: str
    study: str
    ledger: Ledger
    summary: Mapping[str, Json]
    """The document that `evenhand judge --json` prints."""

    def battles(self) -> JudgedBattles:
        """What the run's study holds, as `evenhand.rank` takes it."""
        return judged_battles(self.ledger, [one for one in studies(self.ledger) if one.key == self.study])


@dataclass(frozen=True, slots=True, kw_only=True)
class Terms:
    """Where the judge is, how it samples, how much it may be asked and what it costs."""

    base_url: str | None = None
    api_key_env: str | None = None
    endpoint_name: str | None = None
    settings: Settings | None = None
    """Explicit ones: a provider that refuses one is an error. None: the protocol's."""
    prices: Sequence[Price] = ()
    max_cost: float | None = None
    """Dollars for judge and extractor together."""
    extractor: str | None = None
    """Finds the decision in a reply that has no readable one; None: the judge itself."""
    extractor_base_url: str | None = None
    extractor_api_key_env: str | None = None
    pacing: Pacing | None = None
    cache: Path | None = None
    """Where embedded models' weights lie; the user's cache by default."""


async def judge(
    benchmark: Benchmark,
    responses: Sequence[Response],
    *,
    judge: str,
    ledger: Ledger,
    protocol: Protocol | str | None = None,
    showing: Showing | None = None,
    matching: Matching | None = None,
    terms: Terms | None = None,
) -> JudgeRun:
    """Asks what the ledger does not know yet; the same call again asks nothing.

    `showing` holds a protocol of its own; `protocol` is the short way. Raises Misuse, LedgerError or ProtocolError.
    """
    terms = terms or Terms()
    benchmark = with_fetched(benchmark, ledger.images)
    showing = showing or Showing(protocol=_protocol(benchmark, protocol))
    model = named_model(
        judge,
        environment=os.environ,
        cache=terms.cache or user_cache_path("evenhand"),
        base_url=terms.base_url,
        api_key_env=terms.api_key_env,
        endpoint_name=terms.endpoint_name,
    )
    extractor = _extractor(terms)
    if extractor and showing.protocol.extraction:
        showing = replace(showing, extractor=_as_extractor(extractor, showing.protocol.extraction.settings))
    everyone = [*responses, *reference_responses(benchmark)]
    prepared = prepare(
        benchmark,
        everyone,
        items=benchmark.items,
        judge=_rater(model, terms.settings or showing.protocol.settings),
        model=model.model,
        showing=showing,
        matching=matching or _published_matching(showing.protocol),
        fence_secret=ledger.fence_secret(),
    )
    explicit = frozenset(terms.settings.as_json()) if terms.settings else frozenset[str]()
    context = _call_context(model, terms, ledger, budget=Budget(terms.max_cost), explicit=explicit)
    if extractor:
        context = replace(
            context, second=_call_context(extractor, terms, ledger, budget=context.budget, explicit=frozenset())
        )
    ledger.register_benchmark(benchmark)
    ledger.add_responses(everyone)
    ended = await run_study(prepared, ledger=ledger, context=context, stop=StopSign(), command="judge (Python)")
    if ended.error is not None:
        raise ended.error
    return JudgeRun(run=ended.run, study=prepared.study.key, ledger=ledger, summary=ended.tally.as_json(ended.run))


def _extractor(terms: Terms) -> NamedModel | None:
    if terms.extractor is None:
        return None
    return named_model(
        terms.extractor,
        environment=os.environ,
        cache=terms.cache or user_cache_path("evenhand"),
        base_url=terms.extractor_base_url,
        api_key_env=terms.extractor_api_key_env,
    )


def _as_extractor(model: NamedModel, settings: Settings) -> Extractor:
    return Extractor(rater=_rater(model, settings), model=model.model)


def _rater(model: NamedModel, settings: Settings) -> Rater:
    return Rater(kind="model", name=model.name, endpoint=model.identity, settings=settings)


def _call_context(
    model: NamedModel, terms: Terms, ledger: Ledger, *, budget: Budget, explicit: frozenset[str]
) -> CallContext:
    quote = Quote(model.endpoint, PriceList(terms.prices), ledger.images.get)
    if terms.max_cost is not None and not quote.known:
        raise Misuse(f"A budget needs a price, and none is known for {model.name}; give `prices`.")
    client = model.client(
        environment=os.environ,
        explicit=explicit,
        proxies=os.environ,
        pictures=lambda picture: ledger.images.data_url(picture.digest, max_edge=picture.max_edge),
    )
    pacing = terms.pacing or Pacing(max_connections=1 if model.endpoint is None else 64)
    return CallContext(client=client, pricing=quote, budget=budget, pacing=pacing)


def _published_matching(protocol: Protocol) -> Matching:
    return Matching(pairing="against", against=protocol.against) if protocol.against else Matching()


def _protocol(benchmark: Benchmark, given: Protocol | str | None) -> Protocol:
    if isinstance(given, Protocol):
        return given
    if given is None and not benchmark.protocols:
        raise Misuse(f"{benchmark.name} has no protocol of its own; give one.")
    return load_protocol(given or benchmark.protocols[0])
