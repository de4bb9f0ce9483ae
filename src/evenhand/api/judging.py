"""Judging from Python: what `evenhand judge` does, as one call."""

import math
import os
import warnings
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from platformdirs import user_cache_path

from evenhand.api.asking import AskedModels, Contact, Given
from evenhand.api.jobs import AskedProtocol, JudgingPlan, carry_out_all, document_of, published_matching, refuse_adapted
from evenhand.api.ledgers import GivenLedger, ledger_at
from evenhand.api.running import plain
from evenhand.benchmarks.answers.responses_file import ResponseSet, reference_responses
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.rater import Settings
from evenhand.domain.response import Response
from evenhand.engine.run.budget import Budget
from evenhand.engine.run.calling import Pacing
from evenhand.engine.run.quote import Quote
from evenhand.engine.tasks.judging import Matching, Showing
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.format.result import Result
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.models.named import NamedModel, named_model
from evenhand.models.prices import Price, PriceList
from evenhand.protocols.catalog import load_protocol
from evenhand.protocols.protocol import Protocol
from evenhand.reports.board.choosing import Choice, choose
from evenhand.reports.page.studies import boards_among

COMMAND = "judge (Python)"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JudgeRun(Result):
    """What a judging came to, and where it is on record."""

    table: ClassVar[str] = "runs"
    shown: ClassVar[tuple[str, ...]] = (
        "protocol", "planned", "known", "called", "verdicts", "no_verdict", "failed", "cost_usd",
    )  # fmt: skip

    run: str
    study: str
    """Of the first protocol."""
    studies: tuple[str, ...]
    """One for each protocol."""
    ledger: Ledger
    summary: Mapping[str, Json]
    """The document that `evenhand judge --json` prints."""
    notes: tuple[str, ...] = ()
    """Sentences about what was not asked and why."""
    complete: bool = True
    """All that was wanted is asked; the same call again asks the rest."""

    @property
    def headline(self) -> str:
        told = self.summary
        rest = "" if self.complete else "; not all was asked, the same call again asks the rest"
        return (
            f"Judged: {told['verdicts']} of {told['planned']} trials have a verdict, {told['called']} asked now{rest}"
        )

    @property
    def sentences(self) -> tuple[str, ...]:
        return self.notes

    def as_json(self) -> Mapping[str, Json]:
        return self.summary

    def rows(self) -> list[dict[str, Json]]:
        runs = self.summary.get("runs", [self.summary])
        return [dict(one) for one in runs if isinstance(one, Mapping)] if isinstance(runs, list) else []

    def __await__(self) -> Generator[None, None, "JudgeRun"]:
        """For one release: `await eh.judge(…)` is how it was called."""
        warnings.warn("eh.judge is a plain call now: leave out await, or await eh.judge_async.", DeprecationWarning, 2)
        yield from ()
        return self

    def on_record(self) -> list[StudyOnRecord]:
        return [one for one in studies(self.ledger) if one.key in self.studies]

    def battles(self, choice: Choice | None = None) -> JudgedBattles:
        """What the run's board is made of, as `evenhand.rank` takes it; grades beside preferences make none.

        Raises MixedError where the run's protocols make several boards and `choice` names none of them.
        """
        found = self.on_record()
        among = found if choice is not None and choice.protocol else boards_among(found)
        return judged_battles(self.ledger, choose(among, choice or Choice()) if len(among) > 1 or choice else among)


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
    max_cost: float | None = None
    """Dollars for judge and extractor together."""
    extractor: str | None = None
    """Finds the decision in a reply that has no readable one; None: the judge itself."""
    extractor_base_url: str | None = None
    extractor_api_key_env: str | None = None
    pacing: Pacing | None = None
    cache: Path | None = None
    """Where embedded models' weights lie; the user's cache by default."""

    def but(self, **given: object) -> "Terms":
        """With those that are not None in the place of these."""
        return replace(self, **{name: value for name, value in given.items() if value is not None})


async def judge_async(
    benchmark: Benchmark,
    responses: ResponseSet | Sequence[Response],
    *,
    judge: str,
    ledger: "GivenLedger | None" = None,
    protocol: Protocol | str | Sequence[Protocol | str] | None = None,
    showing: Showing | None = None,
    matching: Matching | None = None,
    base_url: str | None = None,
    api_key_env: str | None = None,
    settings: Settings | None = None,
    max_cost: float | None = None,
    prices: Sequence[Price] | None = None,
    extractor: str | None = None,
    extractor_base_url: str | None = None,
    pacing: Pacing | None = None,
    terms: Terms | None = None,
) -> JudgeRun:
    """Asks what the ledger does not know yet; the same call again asks nothing.

    Every protocol of the benchmark is asked, or those of `protocol`; a `showing` holds one of its own. `judge` is
    provider/model at `base_url`, or local/smollm2; `settings` go over the protocol's own. `ledger` is one that is open,
    a path or a URL: by default what EVENHAND_STORE says, else .evenhand/ledger.db. `terms` holds the same settings as
    one value, and more of them; those given by name go before it. `judge` is the plain call, which works in a notebook
    too, and `judge_async` its twin to be awaited.

    >>> bench = eh.load_benchmark("visit-bench-sample")
    >>> answers = eh.read_responses(eh.bundled_answers(bench), bench)
    >>> few = eh.Matching(pairing="random", battles=2)
    >>> run = eh.judge(bench, answers, judge="openai/gpt-4o", base_url=server, matching=few)
    >>> run
    Judged: 4 of 4 trials have a verdict, 4 asked now

    Raises Misuse, LedgerError or ProtocolError; what was answered before is on record.
    """
    book = ledger_at(ledger)
    asked = (terms or Terms()).but(
        base_url=base_url,
        api_key_env=api_key_env,
        max_cost=max_cost,
        prices=prices,
        extractor=extractor,
        extractor_base_url=extractor_base_url,
        pacing=pacing,
    )
    benchmark = with_fetched(benchmark, book.images)
    given = list(responses.responses if isinstance(responses, ResponseSet) else responses)
    everyone = [*given, *reference_responses(benchmark)]
    plan = JudgingPlan(
        benchmark=benchmark,
        items=benchmark.items,
        responses=everyone,
        protocols=[
            _asked_under(judge, one, matching, asked, settings, book, benchmark)
            for one in ([showing] if showing else showings(benchmark, protocol))
        ],
        settings={"benchmark": benchmark.name, "judge": judge},
    )
    jobs = plan.jobs(book)
    book.register_benchmark(benchmark)
    book.add_responses(everyone)
    done = await carry_out_all(jobs, command=COMMAND)
    for one in done:
        if one.ended.error is not None:
            raise one.ended.error
    return JudgeRun(
        run=done[0].ended.run,
        study=jobs[0].prepared.study.key,
        studies=tuple(job.prepared.study.key for job in jobs),
        ledger=book,
        summary=document_of(done),
        notes=tuple(note for job in jobs for note in job.notes),
        complete=len(done) == len(jobs) and all(one.ended.complete for one in done),
    )


judge = plain(judge_async)


def showings(benchmark: Benchmark, protocol: Protocol | str | Sequence[Protocol | str] | None) -> list[Showing]:
    """One for each protocol named, else for each of the benchmark's own."""
    named = [protocol] if isinstance(protocol, Protocol | str) else list(protocol or benchmark.protocols)
    if not named:
        raise Misuse(f"{benchmark.name} has no protocol of its own; give one.")
    return [Showing(protocol=one if isinstance(one, Protocol) else load_protocol(one)) for one in dict.fromkeys(named)]


def _asked_under(
    judge: str,
    showing: Showing,
    matching: Matching | None,
    terms: Terms,
    settings: Settings | None,
    ledger: Ledger,
    benchmark: Benchmark,
) -> AskedProtocol:
    asked = asked_models(judge, showing, terms, settings, ledger, benchmark)
    return AskedProtocol(
        asked=asked, showing=asked.asking(showing), matching=matching or published_matching(showing.protocol)
    )


def asked_models(
    judge: str, showing: Showing, terms: Terms, settings: Settings | None, ledger: Ledger, benchmark: Benchmark
) -> AskedModels:
    """The judge, and the extractor where it is another. Raises Misuse."""
    own = showing.protocol.settings
    given = Given.of(settings or terms.settings)
    # A Terms has the settings whole; those given by name go over the protocol's.
    settled = given.over(own) if settings or not terms.settings else terms.settings
    model = _named(judge, terms, base_url=terms.base_url, api_key_env=terms.api_key_env, name=terms.endpoint_name)
    contact = _contact(
        model,
        terms,
        settings=settled,
        explicit=given.explicit | ({"image_detail"} if showing.image_detail else set[str]()),
        image=lambda digest: benchmark.pictures.get(digest) or ledger.images.get(digest),
    )
    refuse_adapted(contact, ledger)
    extraction = showing.protocol.extraction
    if terms.extractor is None:
        return AskedModels(judge=contact)
    if extraction is None or showing.readout != "free":
        raise Misuse(
            f"An extractor was given, but nothing is extracted under {showing.protocol.name} with {showing.readout} "
            "readout; leave it out."
        )
    other = _named(
        terms.extractor, terms, base_url=terms.extractor_base_url, api_key_env=terms.extractor_api_key_env, name=None
    )
    return AskedModels(judge=contact, other=_contact(other, terms, settings=extraction.settings))


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


def _no_image(digest: str) -> bytes:
    raise AssertionError(f"An extraction shows no image, not even {digest}.")


def _contact(
    model: NamedModel,
    terms: Terms,
    *,
    settings: Settings,
    explicit: frozenset[str] = frozenset(),
    image: Callable[[str], bytes] = _no_image,
) -> Contact:
    quote = Quote(model.endpoint, PriceList(terms.prices), image)
    if terms.max_cost is not None and not math.isfinite(terms.max_cost):
        raise Misuse(f"max_cost is a number of dollars, not {terms.max_cost}.")
    if terms.max_cost is not None and not quote.known:
        raise Misuse(f"A budget needs a price, and none is known for {model.name}; give `prices`.")
    return Contact(
        model=model,
        settings=settings,
        quote=quote,
        budget=Budget(terms.max_cost),
        pacing=terms.pacing or Pacing(max_connections=1 if model.endpoint is None else 64),
        environment=os.environ,
        proxies=os.environ,
        explicit=explicit,
    )
