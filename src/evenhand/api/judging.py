"""Judging from Python: what `evenhand judge` does, as one call."""

import warnings
from collections.abc import Generator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from evenhand.api.asking import AskedModels
from evenhand.api.items import ItemChoice
from evenhand.api.jobs import (
    AskedProtocol,
    JudgingPlan,
    answers_in,
    carry_out_all,
    document_of,
    finished,
    published_matching,
)
from evenhand.api.ledgers import GivenLedger
from evenhand.api.placing import carry_out_placements, plan_placements
from evenhand.api.running import plain
from evenhand.api.terms import NotebookAsker, Terms
from evenhand.benchmarks.answers.responses_file import ResponseSet, reference_responses
from evenhand.benchmarks.catalog import OWN_PROTOCOL
from evenhand.domain.errors import Misuse
from evenhand.domain.identity import Json
from evenhand.domain.item import Benchmark
from evenhand.domain.placing import Newcomer
from evenhand.domain.rater import Settings
from evenhand.domain.response import Response
from evenhand.engine.run.calling import UNREAD_MOST, Pacing
from evenhand.engine.tasks.judging import Matching, Showing
from evenhand.engine.tasks.pictures import with_fetched
from evenhand.exchange.responses import remember_empty
from evenhand.format.result import Result
from evenhand.format.words import in_python
from evenhand.ledger.read.projection import StudyOnRecord, studies
from evenhand.ledger.read.results import results_of
from evenhand.ledger.read.votes import JudgedBattles, judged_battles
from evenhand.ledger.store.record import Ledger
from evenhand.ledger.submissions.submitted_models import may_be_shown
from evenhand.models.prices import Price
from evenhand.protocols.catalog import load_protocol, protocol_names
from evenhand.protocols.protocol import Protocol
from evenhand.reports.board.choosing import Choice, boards_among, choose
from evenhand.reports.board.trust.audit_hint import IN_MEMORY, JUDGED_IN_PYTHON


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
    verdicts: int = 0
    """On record of what was wanted, those of earlier runs included; the document's are of this run."""

    @property
    def headline(self) -> str:
        told = self.summary
        rest = "" if self.complete else "; not all was asked, the same call again asks the rest"
        if waiting := told.get("in_batches"):
            rest = f"; {waiting} wait in batches, and the same call again collects them"
        return f"Judged: {self.verdicts} of {told['planned']} trials have a verdict, {told['called']} asked now{rest}"

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

    def battles(self, choice: Choice | None = None, *, soft: bool = False) -> JudgedBattles:
        """What the run's board is made of, as `evenhand.rank` takes it; grades beside preferences make none. `soft`:
        with how likely the judge was to prefer each side, which rank(soft=True) needs.

        Raises MixedError where the run's protocols make several boards and `choice` names none of them.
        """
        found = self.on_record()
        among = found if choice is not None and choice.protocol else boards_among(found)
        chosen = choose(among, choice or Choice()) if len(among) > 1 or choice else among
        return judged_battles(self.ledger, chosen, soft=soft)


async def judge_async(
    benchmark: Benchmark,
    responses: ResponseSet | Sequence[Response],
    *,
    judge: str,
    ledger: "GivenLedger | None" = None,
    protocol: Protocol | str | Sequence[Protocol | str] | None = None,
    showing: Showing | None = None,
    matching: Matching | None = None,
    newcomers: Newcomer | Sequence[Newcomer] = (),
    items: ItemChoice | Sequence[str] | None = None,
    replace: bool = False,
    base_url: str | None = None,
    api_key_env: str | None = None,
    settings: Settings | None = None,
    max_cost: float | None = None,
    prices: Sequence[Price] | None = None,
    service_tier: str | None = None,
    extractor: str | None = None,
    extractor_base_url: str | None = None,
    pacing: Pacing | None = None,
    batch: bool = False,
    batch_wait: float | None = None,
    go_on: bool = False,
    terms: Terms | None = None,
) -> JudgeRun:
    """Asks what the ledger does not know yet; the same call again asks nothing.

    Every protocol of the benchmark is asked, or those of `protocol`; a `showing` holds one of its own. `items` are the
    labels of those that are asked about, or an ItemChoice (a limit, a sample drawn with the matching's seed, a
    category); all by default. `replace` uses the given answers where the ledger holds others. `judge` is provider/model
    at `base_url`, or local/smollm2; `settings` go over the protocol's own. `ledger` is one that is open, a path or a
    URL: by default what EVENHAND_STORE says, else .evenhand/ledger.db. After 20 replies of which none could be read it
    stops, unless it is to `go_on`. `service_tier` is the judge's, such as OpenAI's "flex". `batch` sends the calls in
    the provider's batches, which cost less and may take a day; `batch_wait` is for how many seconds they are waited
    for: the same call again collects the rest. `terms` holds the same settings as one value, and more of them; those
    given by name go before it. `newcomers` join the board on record, each against its nearest until enough is known.
    `judge` is the plain call, which works in a notebook too, and `judge_async` its twin to be awaited.

    >>> bench = eh.load_benchmark("visit-bench-sample")
    >>> answers = eh.read_responses(eh.bundled_answers(bench), bench)
    >>> few = eh.Matching(pairing="random", battles=2)
    >>> run = eh.judge(bench, answers, judge="scripted/judge", base_url=server, matching=few)
    >>> run
    Judged: 4 of 4 trials have a verdict, 4 asked now

    Raises Misuse, LedgerError or ProtocolError; what was answered before is on record.
    """
    named = Terms(
        base_url=base_url,
        api_key_env=api_key_env,
        max_cost=max_cost,
        prices=prices or (),
        service_tier=service_tier,
        extractor=extractor,
        extractor_base_url=extractor_base_url,
        pacing=pacing,
        batch=batch or None,
        batch_wait=batch_wait,
    )
    asker = NotebookAsker.of(named, terms, ledger=ledger, settings=settings)
    subject, choice = with_fetched(benchmark, asker.ledger.images), ItemChoice.given(items)
    plan = JudgingPlan(
        benchmark=subject,
        items=choice.of(subject, seed=matching.seed if matching else 0),
        responses=[*answers_in(responses), *reference_responses(subject)],
        protocols=_asked(
            asker, judge, subject, [showing] if showing else showings(subject, protocol), matching, go_on=go_on
        ),
        settings={
            "benchmark": subject.name,
            **(subject.flags or {IN_MEMORY: True}),
            "judge": judge,
            "protocol": _known_names([showing.protocol] if showing else protocol),
            **({"see": showing.see} if showing and showing.see else {}),
            **asker.terms.as_json(),
            **choice.as_json(),
        },
    )
    joining = [newcomers] if isinstance(newcomers, Newcomer) else list(newcomers)
    if joining and matching is not None:
        raise Misuse("A matching says who meets whom, and newcomers meet their nearest: give one of the two.")
    run = await (_placed(plan, asker.ledger, joining, replace=replace) if joining else
                 _judged(plan, asker.ledger, replace=replace))  # fmt: skip
    if isinstance(responses, ResponseSet):
        remember_empty(asker.ledger, subject, responses)
    return run


judge = plain(judge_async)


def showings(benchmark: Benchmark, protocol: Protocol | str | Sequence[Protocol | str] | None) -> list[Showing]:
    """One for each protocol named, else for each of the benchmark's own."""
    own = benchmark.protocols or (OWN_PROTOCOL,)
    named = [protocol] if isinstance(protocol, Protocol | str) else list(protocol or own)
    return [Showing(protocol=one if isinstance(one, Protocol) else load_protocol(one)) for one in dict.fromkeys(named)]


def _known_names(protocol: Protocol | str | Sequence[Protocol | str] | None) -> list[Json]:
    """By which a command could name those given; none where the benchmark's own are asked."""
    given = [protocol] if isinstance(protocol, Protocol | str) else list(protocol or ())
    known = protocol_names()
    return [one if isinstance(one, str) else one.name for one in given if isinstance(one, str) or one.name in known]


def _asked(
    asker: NotebookAsker,
    judge: str,
    benchmark: Benchmark,
    showings: Sequence[Showing],
    matching: Matching | None,
    *,
    go_on: bool,
) -> list[AskedProtocol]:
    """One for each showing; without a matching, as its protocol was published."""
    asked = [asker.asked(judge, shown, benchmark) for shown in showings]
    return [
        AskedProtocol(
            asked=one.asked if go_on else _stopping_early(one.asked),
            showing=one.showing,
            matching=matching or published_matching(one.showing.protocol),
        )
        for one in asked
    ]


def _stopping_early(asked: AskedModels) -> AskedModels:
    pacing = asked.judge.pacing
    most = UNREAD_MOST if pacing.unread_most is None else pacing.unread_most
    return replace(asked, judge=replace(asked.judge, pacing=replace(pacing, unread_most=most)))


async def _judged(plan: JudgingPlan, ledger: Ledger, *, replace: bool) -> JudgeRun:
    """The plan carried out, once all of it is found possible."""
    jobs = plan.jobs(ledger)
    ledger.register_benchmark(plan.benchmark)
    ledger.add_responses(plan.responses, replace=replace, benchmark=plan.benchmark)
    done = finished(await carry_out_all(jobs, command=JUDGED_IN_PYTHON))
    return JudgeRun(
        run=done[0].ended.run,
        study=jobs[0].prepared.study.key,
        studies=tuple(job.prepared.study.key for job in jobs),
        ledger=ledger,
        summary=document_of(done),
        verdicts=int(results_of(ledger, [job.prepared.study.key for job in jobs]).decided.sum()),
        notes=tuple(in_python(note) for job in jobs for note in job.notes),
        complete=len(done) == len(jobs) and all(one.ended.complete for one in done),
    )


async def _placed(plan: JudgingPlan, ledger: Ledger, newcomers: Sequence[Newcomer], *, replace: bool) -> JudgeRun:
    """Against the models on record, whose answers need not be given again."""
    plan = _with_opponents(plan, ledger)
    placements = plan_placements(plan, newcomers, ledger)
    ledger.register_benchmark(plan.benchmark)
    ledger.add_responses(plan.responses, replace=replace, benchmark=plan.benchmark)
    if replace:
        placements = plan_placements(plan, newcomers, ledger)
    done = finished(await carry_out_placements(placements, command=JUDGED_IN_PYTHON))
    outcomes = [one.outcome() for one in placements]
    asked_in = [study for one in placements for study in one.studies]
    return JudgeRun(
        run=done[0].ended.run,
        study=asked_in[0],
        studies=tuple(asked_in),
        ledger=ledger,
        summary={**document_of(done), "placings": [one.as_json() for one in outcomes]},
        verdicts=int(results_of(ledger, asked_in).decided.sum()),
        notes=tuple(
            in_python(note)
            for one, came in zip(placements, outcomes, strict=True)
            for note in (*one.notes, *came.sentences())
        ),
        complete=all(one.placed.done for one in placements),
    )


def _with_opponents(plan: JudgingPlan, ledger: Ledger) -> JudgingPlan:
    given = {one.model for one in plan.responses}
    held = ledger.responses_to([item.digest for item in plan.items], variant=plan.protocols[0].matching.variant)
    shown = may_be_shown(ledger, {one.model for one in held})
    more = [one for one in held if one.model in shown - given and not one.empty]
    return replace(plan, responses=[*plan.responses, *more])
